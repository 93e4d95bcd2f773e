"""The experiment `kernels`, quick."""

from iln_stream.research.experiments import kernels


def test_more_features_err_less(result, legend):
    """Every map's largest error falls with M, and the fitted exponents of unbiased maps are near
    -1/2 even in a quick run."""
    for name, found in result.figures["maps"].items():
        errors = [point["mean"] for point in found["sup_error"]]
        assert errors == sorted(errors, reverse=True), name
        if name != kernels.NYSTROEM:
            assert -0.75 < found["exponent"]["exponent"] < -0.25, name
    assert legend
