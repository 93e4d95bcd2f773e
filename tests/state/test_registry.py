import pytest

from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.state import Registry


def made(name, module):
    return type(name, (), {"__module__": module, "__qualname__": name})


def test_qualified_names():
    """A class of ours has the same name whatever module it is in; another has its module's."""
    registry = Registry()
    theirs = made("Outer.Thing", "their.module")
    registry.add(ShrinkingGradient)
    registry.add(theirs)
    assert dict(registry) == {
        "iln_stream.ShrinkingGradient": ShrinkingGradient,
        "their.module.Outer.Thing": theirs,
    }
    assert registry.name_of(theirs) == "their.module.Outer.Thing"


def test_a_given_name():
    """A name that is given is stored instead."""
    registry, script = Registry(), made("Thing", "__main__")
    registry.add(script, "mine.Thing")
    assert registry.name_of(script) == "mine.Thing"
    assert "__main__.Thing" not in registry


def test_namesakes_of_other_modules():
    """Classes of the same name in other modules are told apart."""
    registry, first, second = Registry(), made("Thing", "a"), made("Thing", "b")
    registry.add(first)
    registry.add(second)
    assert (registry["a.Thing"], registry["b.Thing"]) == (first, second)


def test_one_class_a_name():
    """A class that is defined again replaces itself; none takes the name of another module's."""
    registry, again = Registry(), made("Thing", "a")
    registry.add(made("Thing", "a"))
    registry.add(again)
    assert registry["a.Thing"] is again
    with pytest.raises(TypeError, match=r"a\.Thing is already the name of a class of a: choose"):
        registry.add(made("Thing", "b"), "a.Thing")


def test_only_registered_classes_have_names():
    """Neither a subclass nor a replaced definition is taken for the registered class."""
    registry, replaced = Registry(), made("Thing", "a")
    registry.add(replaced)
    registry.add(made("Thing", "a"))
    assert registry.name_of(replaced) is None
    assert registry.name_of(type("Sub", (registry["a.Thing"],), {})) is None
