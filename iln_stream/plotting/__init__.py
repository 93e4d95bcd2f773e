"""Pictures of predictions, and of what a learner has learned.

`predictions.py` and `shares.py` have the public functions. `rows.py` reads predictions, from a loop
or from a file, `errors.py` computes their errors, and `figure.py`, the only module that imports
matplotlib, makes figures and saves them.
"""

from iln_stream.plotting.predictions import plot_predictions
from iln_stream.plotting.shares import plot_relevance, plot_weights

__all__ = ["plot_predictions", "plot_relevance", "plot_weights"]
