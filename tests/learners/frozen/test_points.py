"""Inputs of frozen models."""

import numpy as np
import pandas as pd
import pytest

from iln_stream.learners.frozen.network import in_blocks, matrix_of, row_of


def test_a_dict_becomes_a_row():
    """Absent inputs are nan, and others are ignored, in the order of the names."""
    row = row_of({"b": 2, "c": True, "a": np.float32(0.5)}, ("a", "x", "b"))
    assert row.shape == (1, 3)
    assert np.array_equal(row[0], [0.5, np.nan, 2.0], equal_nan=True)


@pytest.mark.parametrize("value", ["rain", "21.5", None])
@pytest.mark.parametrize("name", ["a", "unknown"])
def test_what_is_no_number_is_refused(name, value):
    """Also under a name that the model does not know: the text of a field is not left out in
    silence, as its input has another name."""
    with pytest.raises(ValueError, match=f"x\\['{name}'\\] is .*, not a number: leave out"):
        row_of({name: value}, ("a", "sky=rain"))


def test_bad_numbers_are_refused():
    """By name, or by shape."""
    with pytest.raises(ValueError, match=r"x\['a'\] is inf"):
        row_of({"a": np.inf}, ("a",))
    with pytest.raises(ValueError, match=r"must be \(n, 2\)"):
        matrix_of([[1.0]], ("a", "b"))
    with pytest.raises(ValueError, match="infinite entries"):
        matrix_of([[np.inf]], ("a",))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_blocks(n):
    """Blocks of any size give what one call gives, in order; none gives the empty result."""
    X = np.arange(2.0 * n).reshape(n, 2)
    found = in_blocks(lambda block: block.sum(axis=1), X, 2, np.zeros(0))
    assert np.array_equal(found, X.sum(axis=1))


def test_columns_of_a_table_are_found_by_name():
    """A table's columns may have any order; a missing one is refused by name."""
    table = pd.DataFrame({"b": [1.0, 2.0], "other": [9.0, 9.0], "a": [3.0, 4.0]})
    assert matrix_of(table, ("a", "b")).tolist() == [[3.0, 1.0], [4.0, 2.0]]
    with pytest.raises(ValueError, match=r"lacks the columns \['c'\]"):
        matrix_of(table, ("a", "c"))
