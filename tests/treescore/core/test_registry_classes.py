"""Classes are loaded when they are asked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from treescore.core.registry import Classes

MODULE = """
from {package} import ANIMALS
class Animal:
    name = {name!r}
ANIMALS.add(Animal)
"""


@pytest.fixture
def animals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two classes, one of them in a module of another name; and the modules that are loaded."""
    package = "treescore_test_animals"
    folder = tmp_path / package
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from treescore.core.registry import Classes\nANIMALS = Classes(object)\nANIMALS.look_in(__name__)\n"
    )
    for module, name in (("grey_cat", "grey-cat"), ("z_dog", "dog")):
        (folder / f"{module}.py").write_text(MODULE.format(package=package, name=name))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__(package).ANIMALS, lambda: {name.partition(".")[2] for name in sys.modules if package in name}
    for name in [name for name in sys.modules if package in name]:
        del sys.modules[name]


def test_a_class_loads_the_module_of_its_name_only(animals):
    classes, loaded = animals
    assert classes["grey-cat"].name == "grey-cat"
    assert loaded() == {"", "grey_cat"}


def test_a_class_in_a_module_of_another_name_is_found(animals):
    classes, loaded = animals
    assert classes["dog"].name == "dog"
    assert loaded() == {"", "grey_cat", "z_dog"}


@pytest.mark.parametrize("name", ["cow", "", ".", "../z_dog", "grey_cat.x", "__init__"])
def test_an_unknown_name_is_no_class(animals, name):
    assert name not in animals[0]
    assert animals[0].get(name) is None


def test_a_list_has_all_in_order(animals):
    assert list(animals[0]) == ["dog", "grey-cat"]
    assert len(animals[0]) == 2


def test_two_classes_of_one_name_are_an_error():
    classes: Classes = Classes(object)
    first, second = (type("Animal", (), {"name": "cat"}) for _ in range(2))
    classes.add(first)
    classes.add(first)
    with pytest.raises(ValueError, match="'cat' is already registered"):
        classes.add(second)
