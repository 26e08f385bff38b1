"""Write the systems of the example benchmark: gold with the errors that real parsers make.

    python examples/make_systems.py

Nothing here is random: whether a system errs at a place follows from the digest of the place and the system's
name, so the same gold gives the same files on every machine. Run it again after a change of gold, and commit
what it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import errors_in_alignments as alignments
import errors_in_dependencies as dependencies
import errors_in_trees as trees
from dice import Dice

HERE = Path(__file__).parent

Change = Callable[..., None]

# How often each system errs at a place where the error is possible. The pairs chart/pcfg, shift-reduce/chart and
# neural-a/neural-b are meant to be close, the others far apart.
TREE_ERRORS: Sequence[tuple[str, Change]] = (
    ("high", trees.attach_high),
    ("low", trees.attach_low),
    ("coordination", trees.misread_coordination),
    ("noun phrase", trees.misread_noun_phrase),
    ("boundary", trees.move_boundary),
    ("unary", trees.drop_or_add_unary),
    ("label", trees.confuse_labels),
    ("tag", trees.confuse_tags),
)
TREE_SYSTEMS = {
    "pcfg": (0.80, 0.60, 0.70, 0.45, 0.16, 0.40, 0.30, 0.06),
    "chart": (0.60, 0.45, 0.55, 0.30, 0.10, 0.22, 0.16, 0.04),
    "shift-reduce": (0.45, 0.60, 0.50, 0.24, 0.10, 0.22, 0.14, 0.04),
    "neural-a": (0.26, 0.20, 0.28, 0.12, 0.030, 0.10, 0.06, 0.02),
    "neural-b": (0.22, 0.18, 0.26, 0.10, 0.025, 0.08, 0.05, 0.015),
}
TREE_BASELINES = {"baseline-right-branching": trees.right_branching, "baseline-chunks": trees.chunks}
TAGGER_RATE = 0.08
"""How often the tagger of the baselines errs."""

DEPENDENCY_ERRORS: Sequence[tuple[str, Change]] = (
    ("attachment", dependencies.misattach),
    ("coordination", dependencies.misread_coordination),
    ("swap", dependencies.swap_head),
    ("punctuation", dependencies.misattach_punctuation),
    ("relation", dependencies.confuse_relations),
    ("tag", dependencies.confuse_tags),
    ("lemma", dependencies.miss_lemmas),
)
DEPENDENCY_SYSTEMS = {
    "rules": (0.60, 0.60, 0.14, 0.50, 0.26, 0.12, 0.10),
    "transition": (0.42, 0.50, 0.08, 0.40, 0.14, 0.05, 0.04),
    "graph": (0.30, 0.40, 0.05, 0.40, 0.15, 0.05, 0.04),
    "neural-a": (0.18, 0.24, 0.03, 0.20, 0.07, 0.02, 0.01),
    "neural-b": (0.14, 0.20, 0.02, 0.14, 0.05, 0.02, 0.01),
}
PROJECTIVE = {"rules", "transition"}
"""Systems that cannot draw crossing arcs."""

ALIGNERS = {
    "ibm1-union": {"missed": 0.06, "added": 0.30, "moved": 0.10},
    "ibm1-intersection": {"missed": 0.30, "added": 0.00, "moved": 0.02},
    "hmm": {"missed": 0.14, "added": 0.08, "moved": 0.06},
    "neural": {"missed": 0.06, "added": 0.02, "moved": 0.01},
}


def main() -> None:
    """Write every system's file beside its gold."""
    write_tree_systems(HERE / "trees")
    write_dependency_systems(HERE / "dependencies")
    write_aligners(HERE / "alignments")


def write_tree_systems(folder: Path) -> None:
    """`systems/<name>.mrg`, one tree a line."""
    gold = (folder / "gold.mrg").read_text(encoding="utf-8").splitlines()
    for name, rates in TREE_SYSTEMS.items():
        lines = []
        for number, line in enumerate(gold, start=1):
            tree = trees.read(line)
            for (kind, change), rate in zip(TREE_ERRORS, rates, strict=True):
                change(tree, Dice(name, number, kind), rate)
            lines.append(trees.written(tree))
        save(folder / "systems" / f"{name}.mrg", lines)
    for name, baseline in TREE_BASELINES.items():
        lines = []
        for number, line in enumerate(gold, start=1):
            tree = baseline(trees.read(line))
            trees.confuse_tags(tree, Dice("tagger", number, "tag"), TAGGER_RATE)
            lines.append(trees.written(tree))
        save(folder / "systems" / f"{name}.mrg", lines)


def write_dependency_systems(folder: Path) -> None:
    """`systems/<name>.conllu`, comments and multiword tokens as in gold."""
    gold = dependencies.read((folder / "gold.conllu").read_text(encoding="utf-8"))
    for name, rates in DEPENDENCY_SYSTEMS.items():
        lines = []
        for number, sentence in enumerate(gold, start=1):
            changed = sentence.copy()
            for (kind, change), rate in zip(DEPENDENCY_ERRORS, rates, strict=True):
                change(changed, Dice(name, number, kind), rate)
            if name in PROJECTIVE:
                dependencies.lift_crossing_arcs(changed)
            lines += dependencies.written(changed)
        save(folder / "systems" / f"{name}.conllu", lines)
    lines = []
    for number, sentence in enumerate(gold, start=1):
        chained = dependencies.neighbours(sentence.copy())
        dependencies.confuse_tags(chained, Dice("tagger", number, "tag"), TAGGER_RATE)
        lines += dependencies.written(chained)
    save(folder / "systems" / "baseline-neighbours.conllu", lines)


def write_aligners(folder: Path) -> None:
    """`systems/<name>.pharaoh`, a pair a line."""
    source, target, links = (
        (folder / name).read_text(encoding="utf-8") for name in ("source.txt", "target.txt", "gold.pharaoh")
    )
    pairs = alignments.read(source, target, links)
    for name, rates in ALIGNERS.items():
        found = [alignments.aligned(pair, Dice(name, number, "links"), **rates) for number, pair in enumerate(pairs, 1)]
        save(folder / "systems" / f"{name}.pharaoh", [alignments.written(links) for links in found])
    baseline = [alignments.written(alignments.diagonal(pair)) for pair in pairs]
    save(folder / "systems" / "baseline-diagonal.pharaoh", baseline)


def save(path: Path, lines: Sequence[str]) -> None:
    """Write lines, each ended, and say so."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{path.relative_to(HERE)}: {len(lines)} lines")


if __name__ == "__main__":
    main()
