"""The example benchmark is well formed: the same words in every file, and a tree for each sentence."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
TREES = [EXAMPLES / "trees" / "gold.mrg", *sorted((EXAMPLES / "trees" / "systems").glob("*.mrg"))]
DEPENDENCIES = [
    EXAMPLES / "dependencies" / "gold.conllu",
    *sorted((EXAMPLES / "dependencies" / "systems").glob("*.conllu")),
]
ALIGNMENTS = sorted((EXAMPLES / "alignments" / "systems").glob("*.pharaoh"))
TOKEN = re.compile(r"\(([^\s()]+)|([^\s()]+)\)|\)")
SENTENCES = 60


def rows(path: Path) -> list[list[list[str]]]:
    """Each sentence's word rows (ten columns), multiword tokens left out."""
    sentences = path.read_text(encoding="utf-8").removesuffix("\n").split("\n\n")
    return [
        [line.split("\t") for line in sentence.splitlines() if re.match(r"\d+\t", line)]
        for sentence in sentences
        if sentence
    ]


def words_of_tree(line: str) -> Iterator[str]:
    """The words of one tree, in order."""
    return (match[2] for match in TOKEN.finditer(line) if match[2])


def test_trees_and_dependencies_hold_the_same_words_and_tags_everywhere() -> None:
    gold = [[row[1] for row in sentence] for sentence in rows(DEPENDENCIES[0])]
    for path in DEPENDENCIES:
        assert [[row[1] for row in sentence] for sentence in rows(path)] == gold, path
    for path in TREES:
        assert [list(words_of_tree(line)) for line in path.read_text(encoding="utf-8").splitlines()] == gold, path
    tags = [re.findall(r"\((\S+) [^()]+\)", line) for line in TREES[0].read_text(encoding="utf-8").splitlines()]
    assert [[row[4] for row in sentence] for sentence in rows(DEPENDENCIES[0])] == tags


@pytest.mark.parametrize("path", DEPENDENCIES, ids=lambda path: path.stem)
def test_comments_name_every_sentence_and_its_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    names = re.findall(r"(?m)^# sent_id = (\S+)$", text)
    assert len(names) == len(set(names)) == SENTENCES
    assert len(re.findall(r"(?m)^# newdoc id = ", text)) == 7
    for block in text.removesuffix("\n").split("\n\n"):
        found = re.search(r"(?m)^# text = (.+)$", block)
        if block:
            assert found
            assert surface(block) == found[1]


def surface(block: str) -> str:
    """The text that FORM, multiword tokens and SpaceAfter=No spell."""
    text, hidden = "", 0
    for line in block.splitlines():
        columns = line.split("\t")
        if "-" in columns[0] and columns[0][0].isdigit():
            hidden = int(columns[0].split("-")[1])
        elif not columns[0].isdigit() or int(columns[0]) <= hidden:
            continue
        text += columns[1] + ("" if columns[9] == "SpaceAfter=No" else " ")
    return text.strip()


def test_the_generator_writes_the_committed_systems_again(tmp_path: Path) -> None:
    copy = tmp_path / "examples"
    shutil.copytree(EXAMPLES, copy, ignore=shutil.ignore_patterns("systems", "__pycache__"))
    subprocess.run([sys.executable, str(copy / "make_systems.py")], check=True, capture_output=True)
    for path in (*TREES[1:], *DEPENDENCIES[1:], *ALIGNMENTS):
        assert (copy / path.relative_to(EXAMPLES)).read_bytes() == path.read_bytes(), path
    assert len(TREES) > 4
    assert len(DEPENDENCIES) > 4
    assert len(ALIGNMENTS) > 2


def test_alignments_link_words_that_are_there() -> None:
    source, target, gold = (
        (EXAMPLES / "alignments" / name).read_text(encoding="utf-8").splitlines()
        for name in ("source.txt", "target.txt", "gold.pharaoh")
    )
    assert len(source) == len(target) == len(gold)
    english = {" ".join(words_of_tree(line)) for line in TREES[0].read_text(encoding="utf-8").splitlines()}
    assert set(source) <= english
    for path in ALIGNMENTS:
        assert len(path.read_text(encoding="utf-8").splitlines()) == len(gold)
    for lines in (gold, *(path.read_text(encoding="utf-8").splitlines() for path in ALIGNMENTS)):
        for words, translated, links in zip(source, target, lines, strict=True):
            for left, right in re.findall(r"(\d+)[-p](\d+)", links):
                assert int(left) < len(words.split())
                assert int(right) < len(translated.split())
