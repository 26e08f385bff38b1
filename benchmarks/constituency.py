"""Measure sentences a second of constituency scoring, with PYEVALB and NLTK's reader if they are installed.

    python benchmarks/constituency.py [GOLD SYSTEM] [--repeats N]

GOLD and SYSTEM are bracketed files, one tree a line; without them GUM is used where it is, otherwise trees are
generated, of the size and shape of newspaper sentences. They are repeated to the sizes wanted. Every measurement is a
process of its own, in CPU seconds; "steady" is what remains when a small run is taken from a large one.
The peers are optional: pip install PYEVALB nltk

EVALB itself is measured where TREESCORE_EVALB names its program (gcc -O2 -o evalb evalb.c): CPU seconds of the whole
process, beside those of parseval in a warm process, reading included, in turns; once with the usual choices for the
Penn Treebank, once with EVALB's own, which delete and equate no labels.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from dependency import peak
from table import DATA, PROCESS, READ, Goal, Measure, cpu_seconds, interleaved, machine, not_measured, report

SIZES = {
    "parseval": (10_000, 100_000),
    "leaf_ancestor": (10_000, 100_000),
    "leaf_ancestor, diagnosed": (10_000, 100_000),
    "nltk": (1_000, 10_000),
    "pyevalb": (200, 2_000),
}
COLLINS = "".join(f"DELETE_LABEL {label}\n" for label in ("TOP", "-NONE-", ",", ":", "``", "''", "."))
PARAMETERS = {
    "Collins": f"LABELED 1\nCUTOFF_LEN 40\n{COLLINS}DELETE_LABEL_FOR_LENGTH -NONE-\nEQ_LABEL ADVP PRT\n",
    "EVALB's": "LABELED 1\nCUTOFF_LEN 40\n",
}
NEEDS = {"nltk": "nltk", "pyevalb": "PYEVALB"}
LABELS = {
    "parseval": "`parseval` (labelled, unlabelled, crossing, tags)",
    "leaf_ancestor": "`leaf_ancestor`, counts alone",
    "leaf_ancestor, diagnosed": "`leaf_ancestor` with its diagnosis",
    "nltk": "NLTK's reader with a Counter",
    "pyevalb": "PYEVALB",
}


def score(metric: str, gold: Path, system: Path, *, diagnosed: bool = False) -> str:
    """Return the main score by Treescore; `diagnosed` makes its diagnosis too."""
    from treescore.evaluation.evaluate import Evaluation  # noqa: PLC0415 - each process imports what it measures
    from treescore.evaluation.spec import parse_spec  # noqa: PLC0415

    layout = {"name": "bracketed", "layout": "lines", "unreadable": "sentence"}
    spec = parse_spec({"format": layout, "metrics": [metric]})
    outcomes, _ = Evaluation(spec, gold.read_bytes()).score(system.read_bytes())
    if diagnosed:
        outcomes[metric].extra()
    table = spec.entries[0].metric.table
    return f"{table.scores[0].name} {float(table.scores[0].of(table.count_names, outcomes[metric].totals)):.4f}"


def score_with_nltk(gold: Path, system: Path) -> str:
    """Return labelled F1 of all brackets but preterminals, with NLTK's reader and a Counter."""
    from nltk import Tree  # noqa: PLC0415

    def brackets(line: str) -> Counter[tuple[str, int, int]]:
        found: Counter[tuple[str, int, int]] = Counter()

        def walk(tree: Tree, start: int) -> int:
            end = start
            for child in tree:
                end = walk(child, end) if isinstance(child, Tree) else end + 1
            if any(isinstance(child, Tree) for child in tree):
                found[tree.label(), start, end] += 1
            return end

        walk(Tree.fromstring(line), 0)
        return found

    matched = golds = systems = 0
    with gold.open(encoding="utf-8") as gold_lines, system.open(encoding="utf-8") as system_lines:
        for one, other in zip(gold_lines, system_lines, strict=True):
            first, second = brackets(one), brackets(other)
            matched += (first & second).total()
            golds += first.total()
            systems += second.total()
    return f"F1 {2 * matched / (golds + systems):.4f}"


def score_with_pyevalb(gold: Path, system: Path) -> str:
    """Run PYEVALB as in its documentation."""
    from PYEVALB import scorer  # noqa: PLC0415

    result = gold.with_suffix(".pyevalb")
    scorer.Scorer().evalb(str(gold), str(system), str(result))
    return f"{sum(1 for _ in result.open(encoding='utf-8'))} lines"


RUNS: dict[str, Callable[[Path, Path], str]] = {
    "parseval": lambda gold, system: score("parseval", gold, system),
    "leaf_ancestor": lambda gold, system: score("leaf_ancestor", gold, system),
    "leaf_ancestor, diagnosed": lambda gold, system: score("leaf_ancestor", gold, system, diagnosed=True),
    "nltk": score_with_nltk,
    "pyevalb": score_with_pyevalb,
}


def generated(sentences: int, seed: int) -> list[str]:
    """Make trees of 1 to 60 words, about 20, with binary and flat constituents mixed."""
    rng = random.Random(seed)  # noqa: S311 - no secrets here
    words = [f"w{number}" for number in range(20_000)]
    lines = []
    for _ in range(sentences):
        length = min(60, max(1, int(rng.lognormvariate(2.8, 0.6))))
        items = [f"({rng.choice(('NN', 'DT', 'IN', 'VBD', 'JJ'))} {rng.choice(words)})" for _ in range(length)]
        for _ in range(length):
            start = rng.randrange(len(items))
            width = min(len(items) - start, rng.choice((1, 2, 2, 2, 3)))
            items[start : start + width] = [
                f"({rng.choice(('NP', 'VP', 'PP', 'S'))} {' '.join(items[start : start + width])})"
            ]
        lines.append(f"(ROOT (S {' '.join(items)}))\n")
    return lines


def relabelled(lines: list[str]) -> list[str]:
    """Make a system's output: the same words with some other labels, and without one bracket in ten."""
    return [line.replace("(PP ", "(ADVP ", 1) for line in lines]


def tree_lines(files: list[Path] | None = None) -> tuple[str, list[str], list[str]]:
    """Return the name and the lines of gold and an output: these files, GUM where it is, or generated trees."""
    folder = DATA / "gum"
    if not files and folder.is_dir():
        files = [folder / "gold.mrg", folder / "corenlp.mrg"]
    if files:
        gold, system = (path.read_text(encoding="utf-8").splitlines(keepends=True) for path in files)
        return "GUM" if files[0].parent == folder else "given trees", gold, system
    gold = generated(1_200, seed=1)
    return "generated trees", gold, relabelled(gold)


def measure(run: str, gold: Path, system: Path) -> tuple[float, float, str]:
    """Return the CPU seconds of a whole process, its peak memory in MB, and its result."""
    begin = cpu_seconds()
    done = subprocess.run(
        [sys.executable, __file__, "--run", run, str(gold), str(system)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    seconds = cpu_seconds() - begin
    megabytes, found = done.stdout.strip().splitlines()[-1].split(" ", 1)
    return seconds, float(megabytes), found


def beside_evalb(gold: list[str], system: list[str], folder: Path, repeats: int) -> None:
    """Measure parseval, with EVALB's choices, beside EVALB."""
    program = os.environ.get("TREESCORE_EVALB")
    if not program:
        reason = "set TREESCORE_EVALB to its program, built with gcc -O2 -o evalb evalb.c"
        not_measured("`parseval`", READ, "EVALB", reason, Goal(1.0))
        return
    from treescore.evaluation.evaluate import Evaluation  # noqa: PLC0415 - not where a process measures a peer
    from treescore.evaluation.spec import Spec, parse_spec  # noqa: PLC0415
    from treescore.warm import warm  # noqa: PLC0415

    warm()
    layout = {"name": "bracketed", "layout": "lines", "unreadable": "sentence"}
    parameters, *paths = (folder / f"evalb.{kind}" for kind in ("prm", "gold", "system"))
    command = [program, "-p", *map(str, (parameters, *paths))]

    def mine(spec: Spec) -> None:
        Evaluation(spec, paths[0].read_bytes()).score(paths[1].read_bytes())

    for copies in (1, 4, 16):
        for path, lines in zip(paths, (gold, system), strict=True):
            path.write_text("".join(varied(lines, copies)), encoding="utf-8")
        for name, text in PARAMETERS.items():
            parameters.write_text(f"MAX_ERROR 1000000000\n{text}", encoding="utf-8")
            spec = parse_spec({"format": layout, "metrics": [{"name": "parseval", "params": {"prm": text}}]})
            taken = interleaved(
                {
                    "mine": partial(mine, spec),
                    "evalb": lambda: subprocess.run(command, check=True, capture_output=True),
                },
                2 * repeats + 1,
            )
            what = f"`parseval`, warm, both texts read, {copies * len(gold):,} sentences, {name} choices"
            figures = f"{1000 * taken['mine']:.1f} and {1000 * taken['evalb']:.1f} ms of CPU"
            report(Measure(what, READ, "EVALB, the process", taken["mine"] / taken["evalb"], Goal(1.0), figures))


def varied(lines: list[str], copies: int) -> list[str]:
    """Repeat the lines; in each copy but the first one the words with a certain letter carry its number."""
    texts = [lines]
    for copy in range(1, copies):
        letter = "bcdfghklmnprstvwy"[copy % 17]
        texts.append([re.sub(rf" ([a-z]*{letter}[a-z]*)\)", rf" \g<1>{copy})", line) for line in lines])
    return [line for text in texts for line in text]


def grown(lines: list[str], size: int, path: Path) -> Path:
    """Repeat the lines to `size`."""
    path.write_text("".join((lines * (size // len(lines) + 1))[:size]), encoding="utf-8")
    return path


def compare(gold: list[str], system: list[str], folder: Path, repeats: int, *, quick: bool) -> None:
    """Print a line for each run."""
    steady: dict[str, float] = {}
    for run, sizes in SIZES.items():
        small, large = (size // (4 if quick else 1) for size in sizes)
        if run in NEEDS and importlib.util.find_spec(NEEDS[run]) is None:
            print(f"{run:14} not installed: pip install {NEEDS[run]}")
            continue
        files = {
            size: (grown(gold, size, folder / f"{size}.gold"), grown(system, size, folder / f"{size}.system"))
            for size in (small, large)
        }
        measure(run, *files[small])  # compiles, fills caches
        times: dict[int, float] = {}
        for size, pair in files.items():
            runs = [measure(run, *pair) for _ in range(repeats)]
            times[size] = statistics.median(seconds for seconds, _, _ in runs)
        megabytes = sum(path.stat().st_size for path in files[large]) / 1e6
        steady[run] = (large - small) / (times[large] - times[small])
        print(
            f"{run:14} {steady[run]:10,.0f} sentences/s steady; whole {times[small]:.2f} s for {small:,}, "
            f"{times[large]:.2f} s for {large:,} ({megabytes:.0f} MB, peak memory {runs[0][1]:.0f} MB); {runs[0][2]}"
        )
    for run in [run for run in steady if run not in NEEDS]:
        for peer, package in NEEDS.items():
            what, beside = f"{LABELS[run]}, sentences a second", LABELS[peer]
            if peer not in steady:
                not_measured(what, READ, beside, f"{package} is not installed")
                continue
            figures = f"{steady[run]:,.0f} and {steady[peer]:,.0f}"
            report(Measure(what, READ, beside, steady[run] / steady[peer], None, figures))


def extremes(folder: Path, repeats: int) -> None:
    """Print the times of a single sentence of 20,000 words, and of one of depth 20,000."""
    sentences = {
        "20,000 words": "(S " + "(NP (N n)) " * 20_000 + ")\n",
        "depth 20,000": "(S (N n) " * 20_000 + ")" * 20_000 + "\n",
    }
    for name, text in sentences.items():
        path = folder / "one"
        path.write_text(text, encoding="utf-8")
        seconds = statistics.median(measure("parseval", path, path)[0] for _ in range(repeats))
        report(
            Measure(
                f"`parseval`, one sentence of {name}", PROCESS, "-", seconds, None, "CPU seconds, start included", "s"
            )
        )


def main() -> None:
    """Measure, or run one scorer for a measuring process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="GOLD SYSTEM")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--run", choices=RUNS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        found = RUNS[arguments.run](*arguments.files)
        print(peak(), found)
        return
    name, gold, system = tree_lines(arguments.files)
    print(machine("numpy", "numba", "PYEVALB", "nltk"))
    print(f"{name}: {len(gold):,} sentences, medians of {arguments.repeats}")
    with tempfile.TemporaryDirectory() as folder:
        beside_evalb(gold, system, Path(folder), arguments.repeats)
        compare(gold, system, Path(folder), arguments.repeats, quick=arguments.quick)
        extremes(Path(folder), arguments.repeats)


if __name__ == "__main__":
    main()
