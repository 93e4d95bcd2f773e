"""The site's search finds the right page for the words that readers type.

The index and the scores are those of Sphinx's searchtools.js with docs/_static/scorer.js, computed
from the pages' Markdown, as a build of the site takes minutes.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest
import words
from sphinx.search.en import SearchEnglish
from support.document import DOCS

LANGUAGE = SearchEnglish({})

TITLE, PARTIAL_TITLE, TERM, PARTIAL_TERM = 15, 7, 5, 2
"""Sphinx's scores of a word in a heading, in a part of one, in the text, in a part of a word."""

LATER = 10
"""By what scores of pages that are not for users are divided."""

SEARCHES = {
    "A/B test": "champion_and_challengers restart",
    "alert": "metrics deploy",
    "anomaly": "troubleshooting",
    "authentication": "http_api sources",
    "api reference": "python_api",
    "backfill": "restart",
    "classification": "classes",
    "client": "http_api",
    "concept drift": "troubleshooting how_accurate",
    "dead letter queue": "troubleshooting",
    "csv": "fields",
    "delayed labels": "late_labels http_api",
    "disk full": "guarantees",
    "docker": "deploy",
    "drift detection": "metrics troubleshooting",
    "erase customer": "restart",
    "exactly once": "guarantees",
    "exit code": "commands",
    "explain": "river",
    "export": "river",
    "feature importance": "river",
    "forecast": "forecasts",
    "fraud": "fraud",
    "GDPR": "restart",
    "glossary": "concepts",
    "hyperparameters": "settings",
    "install": "installation",
    "kafka": "sources",
    "kubernetes": "deploy",
    "latency": "scaling",
    "memory": "scaling",
    "page": "deploy",
    "per-entity models": "keys scaling",
    "pickle": "river guarantees",
    "predictions": "http_api",
    "prometheus": "deploy metrics",
    "python": "river",
    "retrain": "restart",
    "rollback": "restart",
    "shadow": "restart champion_and_challengers",
    "slow": "troubleshooting",
    "spark": "scaling",
    "systemd": "deploy",
    "throughput": "scaling",
    "two replicas": "guarantees",
    "two topics": "sources",
    "upgrade": "restart",
    "warm start": "restart",
    "warning": "troubleshooting",
    "workers": "scaling",
}
"""What readers type, and pages of which one has the answer."""


class Page(NamedTuple):
    """A page in the index: its headings, and the stems of their words and of its text."""

    headings: list[str]
    title_terms: set[str]
    terms: set[str]


def stems(text: str) -> Iterator[str]:
    """Yield the stems of the words that the index has."""
    for word in LANGUAGE.split(text):
        stem = LANGUAGE.stem(word)
        if LANGUAGE.word_filter(stem):
            yield stem


@cache
def index() -> dict[str, Page]:
    """Return the pages of the site."""
    found = {}
    for file in DOCS.glob("*.md"):
        text = re.sub(r"</?[a-z]+[^>\n]*>|(?<=\])\([^)]*\)", " ", file.read_text(encoding="utf-8"))
        code = re.compile(r"^( *)```.*?^\1```$", re.M | re.S)
        headings = re.findall(r"^#+ (.+)$", code.sub("", text), re.M)
        headings = [re.sub(r"[`*]", "", each) for each in headings]
        body = re.sub(r"^#+ .+$", "", text, flags=re.M)
        found[file.stem] = Page(headings, {*stems(" ".join(headings))}, {*stems(body)})
    return found


def search(query: str) -> list[str]:
    """Return the pages that the site's search shows, the best first."""
    pages = index()
    scores: dict[str, float] = {}
    for name, page in pages.items():
        for heading in page.headings:
            if query.lower() in heading.lower() and len(query) >= len(heading) / 2:
                score = round(TITLE * len(query) / len(heading)) + (heading == page.headings[0])
                scores[name] = max(score, scores.get(name, 0))
    wanted = {*stems(query)}
    enough = {len(wanted), sum(len(word) > 2 for word in wanted)} - {0}
    for name, page in pages.items():
        found = [score for word in wanted if (score := of(word, page))]
        if len(found) in enough:
            scores[name] = max(scores.get(name, 0), *found)
    for name in scores:
        if words.kind(name) != "user":
            scores[name] /= LATER
    return sorted(scores, key=lambda name: (-scores[name], pages[name].headings[0].lower()))


@cache
def known(word: str) -> tuple[bool, bool]:
    """Return whether any page has the word in its headings, and in its text."""
    pages = index().values()
    return any(word in p.title_terms for p in pages), any(word in p.terms for p in pages)


def of(word: str, page: Page) -> int:
    """Return a page's score for a stem; parts of words count if no page has the word."""
    in_titles, in_texts = known(word)
    if word in page.title_terms:
        return TITLE
    if not in_titles and any(word in term for term in page.title_terms):
        return PARTIAL_TITLE
    if word in page.terms:
        return TERM
    if not in_texts and any(word in term for term in page.terms):
        return PARTIAL_TERM
    return 0


@pytest.mark.parametrize("query", SEARCHES)
def test_readers_find_the_page(query: str) -> None:
    """A page that answers the query is among the first three."""
    assert {*SEARCHES[query].split()} & {*search(query)[:3]}, search(query)


def test_the_site_scores_alike() -> None:
    """The site's scorer has the scores of this file, and puts the same pages later."""
    script = (DOCS / "_static" / "scorer.js").read_text(encoding="utf-8")
    scores = dict(re.findall(r"^  (title|partialTitle|term|partialTerm): (\d+),$", script, re.M))
    assert [int(each) for each in scores.values()] == [TITLE, PARTIAL_TITLE, TERM, PARTIAL_TERM]
    assert f"score / {LATER} " in script
    listed = {*re.findall(r'"(\w+)"', script)} - {"object"}
    assert {name for name in index() if words.kind(name) != "user"} <= listed
    assert listed <= {*words.RESEARCH, *words.CONTRIBUTING}
