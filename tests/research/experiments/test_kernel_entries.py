"""The experiment `kernel_entries`, in its quick mode."""

from iln_stream.research.experiments.kernel_entries import METHODS


def test_entries_seen(result):
    """Each way sees the entries that its name says: all pairs, m for each event but the first, or
    those of the newest points."""
    seen = {each["method"]: each["entries"] for each in result.figures["runs"]}
    pairs = (100 * 99 / 2, 316 * 315 / 2)
    assert seen["every entry"] == list(pairs)
    assert seen["one sampled entry an event"] == [99, 315]
    assert seen["√T estimates an event"] == [99 * 10, 315 * 18]
    assert seen["newest √T points"] == [45 + 90 * 10, 153 + 298 * 18]


def test_fewer_entries_cost_more(result):
    """Sampled entries leave f with the regret of all entries, and E with more the fewer there are;
    an estimate of an entry costs more than the entry."""
    runs = {(each["stream"], each["method"]): each for each in result.figures["runs"]}

    def regret(kind, name, of="regret_of_E"):
        return runs[kind, name][of][-1]["mean"]

    for kind in ("smooth", "coins"):
        exact = regret(kind, "every entry")
        many, some, one = (f"{m} sampled entries an event" for m in ("T", "√T", "one"))
        one = one.replace("entries", "entry")
        assert abs(regret(kind, many, "regret_of_f") - exact) < 0.1 * exact
        assert exact < regret(kind, many) < regret(kind, some) < regret(kind, one)
        assert regret(kind, some) < regret(kind, "√T estimates an event")


def test_notes_and_plot(result, legend):
    """Each way has a note for each stream, and a line."""
    assert len(result.notes) == 2 * len(METHODS) == len(legend) - 1
