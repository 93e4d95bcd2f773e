"""Prints the words of each page, their sums by kind of page, and the limits: `make words`.

Words are those of `wc -w` without what nobody reads as text: fenced code, comments, anchors, and
the bars and rules of tables.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]

RESEARCH = (
    "accuracy", "benchmarks", "endurance", "experiments", "lab_notebook", "paper", "research",
    "research_api",
)  # fmt: skip
CONTRIBUTING = ("architecture", "CONTRIBUTING", "CHANGELOG", "SECURITY")

LIMITS = {"user": 35_000, "research": 20_000, "contributing": 6_500}
"""Most words of the pages of each kind."""


def kind(page: str) -> str:
    """Return for whom a page is."""
    if page in RESEARCH:
        return "research"
    return "contributing" if page in CONTRIBUTING else "user"


def words(text: str) -> int:
    r"""Return the number of words in a page.

    Examples
    --------
    >>> words("| a | b c |\n|---|---|\n```sh\nls\n```\n<!-- x -->- *d*")
    5

    """
    text = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->|<a id=[^>]*></a>", "", text, flags=re.S)
    text = re.sub(r"^\|[-:| ]*\|$", "", text, flags=re.M)
    return len(re.sub(r"(^| )\|(?= |$)", " ", text, flags=re.M).split())


def counted() -> dict[str, dict[str, int]]:
    """Return the words of each page, by kind."""
    found: dict[str, dict[str, int]] = {name: {} for name in LIMITS}
    for file in (*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))):
        found[kind(file.stem)][file.stem] = words(file.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    for name, pages in counted().items():
        for page, n in sorted(pages.items(), key=lambda each: -each[1]):
            print(f"{n:>7,}  {page}")
        total = f"{sum(pages.values()):>7,}  {name}: {len(pages)} pages"
        print(f"{total}, at most {LIMITS[name]:,} words\n")
