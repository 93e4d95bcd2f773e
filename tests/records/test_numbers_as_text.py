"""`NumbersAsText`: numbers in quotes, among the inputs of events."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.errors import IlnWarning
from iln_stream.records import NumbersAsText


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_each_number_is_recognised(number):
    """A number is recognised in the form in which Python and JSON write it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert NumbersAsText().watch({"a": str(number), "b": number}) == 1


@pytest.mark.parametrize("text", ["20,5", "-0,5", ",5", "1,5e3"])
def test_a_decimal_comma(text):
    """A number with a decimal comma is recognised, too; the warning names the setting for it."""
    with pytest.warns(IlnWarning, match='"number"} and decimal = ","'):
        assert NumbersAsText().watch({"a": text}) == 1


@pytest.mark.parametrize(
    "text", ["clear", "", "01067", "-007", "1-2", "1.2.3", "1,2,3", "1, 2", ",", "e5", ".", "true"]
)
def test_other_texts_are_categories(text):
    """Texts that are no numbers, and codes with leading zeros, are left in peace."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert NumbersAsText().watch({"a": text}) == 0


def test_one_warning_for_each_name():
    """Each name is warned of once, with the remedies; all texts are counted."""
    texts = NumbersAsText()
    with pytest.warns(IlnWarning) as caught:
        assert [texts.watch({"a": "1.5", "b": i}) for i in ("2", "x", "3")] == [2, 1, 2]
    assert [str(each.message)[:3] for each in caught] == ["x.a", "x.b"]
    assert 'types = {"x.a" = "number"}' in str(caught[0].message)
    with pytest.warns(IlnWarning) as caught:
        assert texts.watch({f"c{i}": "1" for i in range(50)}) == 50
    assert len(caught) == 18
