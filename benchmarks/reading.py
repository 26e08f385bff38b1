"""Measure reading and comparing: the readers, each metric's kernel, evaluation beside other programs, long sentences.

    python benchmarks/reading.py [--repeats 5]

CPU seconds (user and system), medians of turns in one process that is warm as a worker is. The readers stand beside
cutting the same text into its columns or tokens with Python alone.
TREESCORE_CONLL18 names the file conll18_ud_eval.py of the CoNLL 2018 shared task, which `make bench` fetches.
"""

from __future__ import annotations

import importlib.util
import os
import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from constituency import tree_lines
from field import COLUMNS
from table import KERNEL, READ, READING, Goal, Measure, cpu_of, interleaved, machine, not_measured, options, report
from texts import Pair, english, raw_text

from treescore.core.registry import METRICS
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import Vocabulary
from treescore.errors import LimitError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Spec, parse_format, parse_spec
from treescore.warm import warm

NO_SCRIPT = "TREESCORE_CONLL18 names no conll18_ud_eval.py"
LONG = 100_000
LINES = {"name": "bracketed", "layout": "lines", "unreadable": "sentence"}


def conll18() -> ModuleType | None:
    """Load the evaluation script of the CoNLL 2018 shared task; None where TREESCORE_CONLL18 does not name it."""
    path = os.environ.get("TREESCORE_CONLL18")
    if path is None or not Path(path).exists():
        return None
    spec = importlib.util.spec_from_file_location("conll18_ud_eval", path)
    assert spec is not None  # noqa: S101 - the file is there
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_script(script: Any, folder: Path, pair: Pair) -> Callable[[], Any]:
    """Return a run of conll18_ud_eval.py over two files."""
    paths = folder / "gold.conllu", folder / "system.conllu"
    for path, text in zip(paths, (pair.gold, pair.system), strict=True):
        path.write_bytes(text)
    return lambda: script.evaluate(*(script.load_conllu_file(str(path)) for path in paths))


def trees(size: int) -> Pair:
    """Return constituency trees: GUM, or generated ones."""
    name, gold, system = tree_lines()
    sides = ("".join((lines * (size // len(lines) + 1))[:size]).encode() for lines in (gold, system))
    return Pair(f"{name}, {size:,} sentences", *sides)


def evaluations(repeats: int) -> None:
    """Measure kernels and whole evaluations, and the script of the shared task."""
    script = conll18()
    for pair in (english(), raw_text()):
        spec = parse_spec({"format": "conllu", "metrics": ["ud"]})
        runs = _runs(spec, pair)
        with tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
            if script is not None:
                runs["script"] = by_script(script, Path(folder), pair)
            taken = interleaved(runs, repeats)
        speed = {name: pair.words / seconds for name, seconds in taken.items()}
        report(_kernel("ud", pair, taken))
        what, beside = f"`ud`, {pair.name}", "conll18_ud_eval.py"
        if script is None:
            not_measured(what, READ, beside, NO_SCRIPT)
            continue
        figures = f"{speed['whole']:,.0f} and {speed['script']:,.0f} words a CPU second"
        report(Measure(what, READ, beside, speed["whole"] / speed["script"], None, figures))
    for metric in ("parseval", "leaf_ancestor"):
        pair = trees(3_467)
        taken = interleaved(_runs(parse_spec({"format": LINES, "metrics": [metric]}), pair), repeats)
        report(_kernel(metric, pair, taken))


def _runs(spec: Any, pair: Pair) -> dict[str, Callable[[], Any]]:
    evaluation = Evaluation(spec, pair.gold)
    system = evaluation.read(pair.system, spec.format)
    return {
        "kernel": lambda: evaluation.compare(system, spec.format),
        "whole": lambda: Evaluation(spec, pair.gold).score(pair.system),
    }


def _kernel(metric: str, pair: Pair, taken: dict[str, float]) -> Measure:
    figures = f"{1000 * taken['kernel']:.1f} and {1000 * taken['whole']:.1f} ms"
    beside = "reading both texts and comparing them"
    return Measure(f"`{metric}` compares, {pair.name}", KERNEL, beside, taken["kernel"] / taken["whole"], None, figures)


def readers(repeats: int) -> None:
    """Measure the readers beside cutting the same text into its columns or tokens with Python alone."""
    for name, (what, choice, make, cut) in TEXTS.items():
        text = make().gold
        reader = parse_format(choice).format
        treebank: Any = reader.read(text, Vocabulary(), DEFAULT_LIMITS)
        taken = interleaved(
            {"read": partial(reader.read, text, Vocabulary(), DEFAULT_LIMITS), "cut": partial(_cut, cut, text)}, repeats
        )
        words = int(treebank.word_offsets[-1])
        figures = f"{words / taken['read']:,.0f} and {words / taken['cut']:,.0f} words a CPU second"
        ratio = taken["cut"] / taken["read"]
        report(Measure(f"reader `{name}`, {what}", READING, "cutting the text in Python", ratio, None, figures))


def _cut(cut: Callable[[str], Any], text: bytes) -> None:
    cut(text.decode())


def _columns(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


TEXTS: dict[str, tuple[str, Any, Callable[[], Pair], Callable[[str], Any]]] = {
    "conllu": ("gold tokens", "conllu", english, _columns),
    "conllu, ranges": ("raw text with multiword tokens", "conllu", raw_text, _columns),
    "bracketed": ("12,000 trees", LINES, lambda: trees(12_000), re.compile(r"[()]|[^\s()]+").findall),
}


def _scored(spec: Spec, gold: bytes, system: bytes) -> None:
    Evaluation(spec, gold).score(system)


def long_sentences(words: int) -> None:
    """Measure one sentence of many words under every metric, reading included."""
    for metric in METRICS:
        example = METRICS[metric].examples[0]
        gold, system = LONG_TEXTS[example.format](words)
        spec = parse_spec(example.request(metric))
        what, goal = f"`{metric}`, one sentence of {words:,} words", Goal(2.0)
        try:
            seconds = cpu_of(partial(_scored, spec, gold, system))
        except LimitError as refused:
            not_measured(what, READ, "-", f"refused: {refused}", goal)
        else:
            report(Measure(what, READ, "-", seconds, goal, "CPU seconds, both texts read", "s"))


def _long_conllu(words: int) -> tuple[Any, Any]:
    def side(relation: str) -> bytes:
        rows = []
        for word in range(1, words + 1):
            name = "root" if word == 1 else relation if word % 7 == 0 else "dep"
            enhanced = f"{word // 2}:{name}"
            rows.append(f"{word}\tw{word % 999}\t_\tX\t_\t_\t{word // 2}\t{name}\t{enhanced}\t_")
        return ("\n".join(rows) + "\n\n").encode()

    return side("obj"), side("nmod")


def _long_brackets(words: int) -> tuple[Any, Any]:
    def side(width: int) -> bytes:
        leaves = [f"(N w{word % 999})" for word in range(words)]
        while len(leaves) > 1:
            leaves = [f"(P {' '.join(leaves[at : at + width])})" for at in range(0, len(leaves), width)]
        return f"(S {leaves[0]})\n".encode()

    return side(3), side(4)


def _long_links(words: int) -> tuple[Any, Any]:
    gold = " ".join(f"{word}-{word}" for word in range(words))
    system = " ".join(f"{word}-{word ^ (word % 5 == 0)}" for word in range(words))
    return f"{gold}\n".encode(), f"{system}\n".encode()


def _long_parallel(words: int) -> tuple[Any, Any]:
    (gold, system), (links, others) = _long_conllu(words), _long_links(words)
    return (
        {"source": gold, "target": gold, "alignment": links},
        {"source": system, "target": system, "alignment": others},
    )


def _long_expressions(words: int) -> tuple[Any, Any]:
    def side(every: int) -> bytes:
        rows = [f"# global.columns = {COLUMNS}"]
        for word in range(1, words + 1):
            first, within = divmod(word - 1, 10)
            code = f"{first + 1}:VID" if within == 0 else f"{first + 1}" if within % every == 0 else "*"
            rows.append(f"{word}\tw{word % 999}\t_\tX\t_\t_\t_\t_\t_\t_\t{code}")
        return ("\n".join(rows) + "\n\n").encode()

    return side(2), side(3)


def _long_graph(words: int) -> tuple[Any, Any]:
    def side(role: str) -> bytes:
        rows = ["#SDP 2015", "#1"]
        for word in range(1, words + 1):
            top = "+" if word == 1 else "-"
            roles = role if word % 7 == 0 else "ARG1"
            rows.append(f"{word}\tw{word % 999}\t_\tX\t{top}\t{top}\t_\t{roles}")
        return ("\n".join(rows) + "\n\n").encode()

    return side("ARG2"), side("ARG3")


def _long_gaps(words: int) -> tuple[Any, Any]:
    def side(width: int) -> bytes:
        halves = words // 2
        pairs = [f"(P {word}=w{word % 999} {word + halves}=w{word % 997})" for word in range(halves)]
        while len(pairs) > 1:
            pairs = [f"(Q {' '.join(pairs[at : at + width])})" for at in range(0, len(pairs), width)]
        return f"(S {pairs[0]})\n".encode()

    return side(3), side(4)


LONG_TEXTS: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "conllu": _long_conllu,
    "bracketed": _long_brackets,
    "pharaoh": _long_links,
    "parallel": _long_parallel,
    "cupt": _long_expressions,
    "sdp": _long_graph,
    "discbracket": _long_gaps,
}


def main() -> None:
    """Measure."""
    given = options(__doc__, repeats=(5, 1, "turns of each measurement"), long=(LONG, 10_000, "words of one sentence"))
    print(machine("numpy", "numba", "udtools", "udapi"))
    warm()
    evaluations(given.repeats)
    readers(given.repeats)
    long_sentences(given.long)


if __name__ == "__main__":
    main()
