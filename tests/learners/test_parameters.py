"""Constructor arguments in a state; tests/learners/test_restoring.py restores whole learners."""

from dataclasses import dataclass, field

import pytest

from iln_stream.errors import StateError
from iln_stream.features import GaussianFourier, Mixture
from iln_stream.learners.estimators.growing_pool import GrowingPool
from iln_stream.learners.restoring import (
    add_component,
    check_argument,
    read_argument,
    unserializable_parameters,
    write_argument,
)
from iln_stream.learners.shrinking_gradient import ShrinkingGradient


class Unregistered(GaussianFourier):
    """A user's family that a state can't store."""


@pytest.mark.parametrize(
    "argument",
    [
        None,
        0.25,
        "sampled",
        GaussianFourier(0.3),
        GrowingPool(8, 1.0, 99),
        Mixture((Mixture.of_bandwidths((1.0,)),), weights=(2.0,)),
    ],
)
def test_arguments_are_restored_by_value(argument):
    """Numbers, families and estimators, nested ones too, come back equal."""
    stored = write_argument(argument)
    assert read_argument(stored, "features") == argument
    check_argument(stored, "features", argument)


def test_an_unregistered_component_is_reported():
    """The state has the name of its class and of the parameter, and the error the remedy."""
    state = ShrinkingGradient(Unregistered(0.5), seed=1).state()
    assert list(unserializable_parameters({"steps": [state]})) == [("features", "Unregistered")]
    stored = write_argument(Unregistered(0.5))
    with pytest.raises(StateError, match=r"features was a Unregistered.*give it again"):
        read_argument(stored, "features")
    check_argument(stored, "features", Unregistered(0.7))
    with pytest.raises(StateError, match=r"GaussianFourier.* but the state is of a Unregistered"):
        check_argument(stored, "features", GaussianFourier())


def test_our_components_are_all_stored():
    """Nothing of a model of our components must be given again."""
    state = ShrinkingGradient(GaussianFourier(), "pool").state()
    assert list(unserializable_parameters(state)) == []


def test_an_argument_must_be_the_stored_one():
    """An argument that differs from the stored one is refused."""
    stored = write_argument(GaussianFourier(0.5))
    with pytest.raises(StateError, match=r"gamma=0.7.* was given, but the state has .*gamma=0.5"):
        check_argument(stored, "features", GaussianFourier(0.7))


def test_an_unknown_component_is_refused():
    """A class that nobody registered in this process is named, with the remedy."""
    stored = {**write_argument(GaussianFourier(0.5)), "class": "elsewhere.Family"}
    with pytest.raises(StateError, match=r"features is a 'elsewhere.Family'.*@restorable"):
        read_argument(stored, "features")


def test_only_dataclasses_of_their_arguments_can_be_registered():
    """A state stores fields, so a class with other attributes is refused."""

    class Plain:
        pass

    @dataclass
    class Hidden:
        gamma: float = field(init=False, default=1.0)

    for cls in (Plain, Hidden):
        with pytest.raises(TypeError, match=f"{cls.__name__} must be a dataclass"):
            add_component(cls, None)
