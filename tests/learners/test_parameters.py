"""A learner's parameters as a state; tests/learners/test_restoring.py restores whole learners."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from iln_stream import GrowingPool, ShrinkingGradient, restorable
from iln_stream.errors import StateError
from iln_stream.features import GaussianFourier, Mixture
from iln_stream.learners.parameters import (
    make_known,
    parameters_of,
    state_of_parameters,
    unserializable_parameters,
)


class Unregistered(GaussianFourier):
    """A family of a user's own that a state can't store."""


def given(model):
    """The parameters with which a model was made."""
    return {name: getattr(model, name) for name in state_of_parameters(model)}


@pytest.mark.parametrize(
    "model",
    [
        ShrinkingGradient(),
        ShrinkingGradient(GaussianFourier(0.3), GrowingPool(8, 1.0, 99), budget=7),
        ShrinkingGradient(
            Mixture((Mixture.of_bandwidths((1.0,)),), weights=(2.0,)), seed=np.int64(3)
        ),
    ],
)
def test_parameters_come_back_equal(model):
    """Families and estimators, nested ones too, are restored by value."""
    assert parameters_of(state_of_parameters(model), ShrinkingGradient) == given(model)


def test_an_unregistered_part_must_be_given_again():
    """The state names the class of such a part; restoring needs an instance of that class."""
    state = state_of_parameters(ShrinkingGradient(Unregistered(0.5), seed=1))
    assert list(unserializable_parameters({"steps": [state]})) == [("features", "Unregistered")]
    with pytest.raises(StateError, match=r"features was a Unregistered.*give it again"):
        parameters_of(state, ShrinkingGradient)
    again = parameters_of(state, ShrinkingGradient, features=Unregistered(0.5))
    assert again["features"] == Unregistered(0.5)
    with pytest.raises(StateError, match=r"GaussianFourier.* but the state is of a Unregistered"):
        parameters_of(state, ShrinkingGradient, features=GaussianFourier())


def test_our_own_parts_are_all_stored():
    """A model of our parts has nothing that must be given again."""
    state = state_of_parameters(ShrinkingGradient(GaussianFourier(), "pool"))
    assert list(unserializable_parameters(state)) == []


def test_a_given_part_must_be_the_stored_one():
    """A part given although the state has it must agree with it."""
    state = state_of_parameters(ShrinkingGradient(GaussianFourier(0.5)))
    with pytest.raises(StateError, match=r"gamma=0.7.* was given, but the state has .*gamma=0.5"):
        parameters_of(state, ShrinkingGradient, features=GaussianFourier(0.7))


@pytest.mark.parametrize("change", [lambda s: s.pop("step"), lambda s: s.update(odd=1)])
def test_other_parameters_are_refused(change):
    """A state with more or fewer parameters than the class names them."""
    state = state_of_parameters(ShrinkingGradient())
    change(state)
    with pytest.raises(StateError, match=r"parameters of ShrinkingGradient.*: (step|odd)$"):
        parameters_of(state, ShrinkingGradient)


def test_only_dataclasses_of_their_arguments_can_be_registered():
    """A state stores fields, so a class with others, or with a name of ours, is refused."""

    class Plain:
        pass

    @dataclass
    class Hidden:
        gamma: float = field(init=False, default=1.0)

    for cls in (Plain, Hidden):
        with pytest.raises(TypeError, match=f"{cls.__name__} must be a dataclass"):
            make_known(cls)
    impostor = dataclass(type("GaussianFourier", (), {"__module__": "elsewhere"}))
    with pytest.raises(TypeError, match="GaussianFourier is already the name of a class of iln_s"):
        restorable(impostor)
