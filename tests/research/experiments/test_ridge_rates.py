"""The experiment `ridge_rates`, quick."""

from iln_stream.research.experiments import ridge_rates


def test_excess_risks(result, legend):
    """Excess risks fall with n; the smallest number of features is the worst at the largest n, and
    accounts follow the numbers of units."""
    methods = result.figures["methods"]
    for name in ("sqrt(n), uniform", "sqrt(n) log n, uniform", ridge_rates.KERNEL):
        risks = [point["mean"] for point in methods[name]["excess_risk"]]
        assert risks[-1] < risks[0], name
    assert (
        methods["n^(1/4), uniform"]["ratio"]["mean"]
        > 2 * (methods["sqrt(n) log n, uniform"]["ratio"]["mean"])
    )
    assert methods["sqrt(n), leverage"]["psi"] == 4 * methods["sqrt(n), uniform"]["psi"]
    assert methods[ridge_rates.KERNEL]["psi"] == 0
    assert legend
