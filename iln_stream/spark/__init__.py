"""Learning by key on Spark Structured Streaming; needs the extra `spark`.

Spark keeps the state, the positions and the recovery. This folder keeps the learner: what happens
to a key's records is the service's loop, so states and predictions are the same.

From a micro-batch to the store:

- `query.py`: the streaming query, from a topic's rows to messages; `session.py`: Spark's settings;
- `gathered.py`: one row for many records of a key, made before the shuffle;
- `processor.py`: what Spark calls for each key, and the state's variables;
- `keys.py`: the learners of many keys on one worker, live or restored;
- `records.py`: a key's records in order, without those that were learned before;
- `one_key.py`: the service's loop over them;
- `stored.py`, `packed.py`, `blocks.py`: what the store keeps of a key;
- `sinks.py`: sinks to which a repeated micro-batch adds nothing;
- `job.py`, `settings.py`: the job for `spark-submit`.
"""
