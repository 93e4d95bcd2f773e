"""Inputs of frozen models."""

import pandas as pd
import pytest

from iln_stream.learners.frozen.network import matrix_of, row_of


@pytest.mark.parametrize("value", ["rain", "21.5", None])
@pytest.mark.parametrize("name", ["a", "unknown"])
def test_what_is_no_number_is_refused(name, value):
    """Also under a name that the model does not know: the text of a field is not left out in
    silence, as its input has another name."""
    with pytest.raises(ValueError, match=f"x\\['{name}'\\] is .*, not a number: leave out"):
        row_of({name: value}, ("a", "sky=rain"))


def test_columns_of_a_table_are_found_by_name():
    """A table's columns may have any order; a missing one is refused by name."""
    table = pd.DataFrame({"b": [1.0, 2.0], "other": [9.0, 9.0], "a": [3.0, 4.0]})
    assert matrix_of(table, ("a", "b")).tolist() == [[3.0, 1.0], [4.0, 2.0]]
    with pytest.raises(ValueError, match=r"lacks the columns \['c'\]"):
        matrix_of(table, ("a", "c"))
