"""Shapley values: what each input contributes to a prediction."""

from iln_stream.explaining.explain_one import explain_one
from iln_stream.explaining.explanation import Explanation

__all__ = ["Explanation", "explain_one"]
