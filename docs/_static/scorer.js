// Scores of the site's search: Sphinx's own, but pages of research and for contributors, and
// objects of the Python API, come after pages for users. tests/test_search.py has the same scores.
const LATER = ["CHANGELOG", "accuracy", "architecture", "benchmarks", "endurance", "experiments", "lab_notebook", "paper", "research", "research_api"];

var Scorer = {
  score: ([page, title, anchor, description, score, file, kind]) =>
    LATER.includes(page) || kind === "object" ? score / 10 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
