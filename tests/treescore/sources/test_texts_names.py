"""Names of systems from the paths of their outputs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.sources.texts import named_outputs, names_of_paths


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["out.conllu"], ["out"]),
        (["a.conllu", "b/c.conllu.gz"], ["a", "c"]),
        (["giza.union.pharaoh", "giza.intersection.pharaoh"], ["giza.union", "giza.intersection"]),
        (["a/out.conllu", "b/out.conllu"], ["a", "b"]),
        (["/x/a/out.conllu", "/x/b/out.conllu.gz"], ["a", "b"]),
        (["x/a/en/out.mrg", "x/b/en/out.mrg"], ["a", "b"]),
        (["a/1/out", "b/2/out"], ["a/1", "b/2"]),
        (["a/out", "b/out", "c/other"], ["a/out", "b/out", "c/other"]),
        (["runs/a/out", "b/out"], ["runs/a", "b"]),
        (["out", "a/out"], ["out", "a/out"]),
        (["/out", "a/out"], ["out", "a/out"]),
        (["out.conllu", "out.conllx"], ["out.conllu", "out.conllx"]),
        (["./a/out", "a/out"], ["a/out", "a/out"]),
        ([".conllu", "b/.conllu"], [".conllu", "b/.conllu"]),
    ],
)
def test_names_are_stems_or_what_differs(paths: list[str], names: list[str]) -> None:
    found = names_of_paths(paths)
    if paths == ["/out", "a/out"]:
        assert len(set(found)) == 2
    else:
        assert found == names


def test_a_folder_has_its_whole_name(tmp_path: Path) -> None:
    (tmp_path / "v1.2").mkdir()
    assert names_of_paths([tmp_path / "v1.2", tmp_path / "v1.3.zip"]) == ["v1.2", "v1"]


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "out.conllu", "out", "x.gz"]), min_size=1, max_size=4).map("/".join),
        min_size=1,
        max_size=5,
        unique=True,
    )
)
def test_different_paths_have_different_names_that_are_not_empty(paths: list[str]) -> None:
    names = names_of_paths(paths)
    assert len(set(names)) == len(names)
    assert all(names)


def test_outputs_without_paths_are_numbered_and_runs_are_only_what_is_stated() -> None:
    found = named_outputs(["a/out.conllu", b"text", "b/out.conllu"])
    assert [(name, run_of) for name, _, run_of in found] == [("a", None), ("2", None), ("b", None)]
    stated = named_outputs({"A": ["a/out.conllu", "b/out.conllu"]})
    assert [(name, run_of) for name, _, run_of in stated] == [("A", None), ("A.2", "A")]
