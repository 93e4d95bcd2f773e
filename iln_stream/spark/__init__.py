"""Learning by key on Spark Structured Streaming; needs the extra `spark`.

Spark keeps the state, the positions and the recovery. This folder keeps the learner: what happens
to a key's records is the service's loop, so states and predictions are the same.
"""
