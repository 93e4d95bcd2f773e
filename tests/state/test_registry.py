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


def test_only_registered_classes_have_names():
    """Neither a subclass nor a replaced definition is taken for the registered class."""
    registry, replaced = Registry(), made("Thing", "a")
    registry.add(replaced)
    registry.add(made("Thing", "a"))
    assert registry.name_of(replaced) is None
    assert registry.name_of(type("Sub", (registry["a.Thing"],), {})) is None
