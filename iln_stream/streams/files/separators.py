"""What separates the cells of a CSV file."""

import csv
from collections.abc import Sequence

SEPARATORS = {",": ",", ";": ";", "tab": "\t", "|": "|"}
"""Characters by the names that the setting `separator` has for them."""


def guessed_separator(lines: Sequence[str], preferred: str = ",") -> str | None:
    """Return the name of the separator that gives each line as many cells as the first has.

    Parameters
    ----------
    lines
        The beginning of a file; a quoted cell may have line breaks.
    preferred
        Taken if it fits, even if another one gives more cells.

    Returns
    -------
    str or None
        None if no separator gives at least two columns.

    Examples
    --------
    >>> from iln_stream.streams.files.separators import guessed_separator
    >>> guessed_separator(["temp;price", "21,5;12,5", "3,0;9"])
    ';'

    """
    widths = {name: _width(lines, character) for name, character in SEPARATORS.items()}
    if widths[preferred]:
        return preferred
    best = max(widths, key=lambda name: widths[name])
    return best if widths[best] else None


def _width(lines: Sequence[str], character: str) -> int:
    """Return the number of columns; 0 if rows differ, or have a single cell."""
    try:
        found = [len(row) for row in csv.reader(lines, delimiter=character) if row]
    except csv.Error:
        return 0
    if len(found) > 2:
        found.pop()  # the last line may be the first one of a quoted cell
    return found[0] if len(set(found)) == 1 and found[0] > 1 else 0
