"""The service's learner by key on Spark Structured Streaming; needs the extra `spark`.

Spark keeps the state, the positions and the recovery. This package keeps the learner: what it does
with a key's records is the service's loop, so states and predictions are the same.
"""

from iln_stream.spark.keys import KeyedLearners
from iln_stream.spark.plan import Plan, prior_of

__all__ = ["KeyedLearners", "Plan", "prior_of"]
