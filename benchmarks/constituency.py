"""Measure sentences a second of constituency scoring, with PYEVALB and NLTK's reader if they are installed.

    python benchmarks/constituency.py [GOLD SYSTEM] [--repeats N]

GOLD and SYSTEM are bracketed files, one tree a line; without them trees are generated, of the size and shape of
newspaper sentences. They are repeated to the sizes wanted. Every measurement is a process of its own, so that
whole-process times include start and imports; "steady" is what remains when a small run is taken from a large one.
The peers are optional: pip install PYEVALB nltk

EVALB itself is measured where TREESCORE_EVALB names its program (gcc -O2 -o evalb evalb.c): CPU seconds of the whole
process, beside those of parseval in a warm process, reading included, in turns; once with the usual choices for the
Penn Treebank, once with EVALB's own, which delete and equate no labels.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

SIZES = {
    "parseval": (10_000, 100_000),
    "leaf_ancestor": (10_000, 100_000),
    "nltk": (1_000, 10_000),
    "pyevalb": (200, 2_000),
}
COLLINS = "".join(f"DELETE_LABEL {label}\n" for label in ("TOP", "-NONE-", ",", ":", "``", "''", "."))
PARAMETERS = {
    "Collins": f"LABELED 1\nCUTOFF_LEN 40\n{COLLINS}DELETE_LABEL_FOR_LENGTH -NONE-\nEQ_LABEL ADVP PRT\n",
    "EVALB's": "LABELED 1\nCUTOFF_LEN 40\n",
}
NEEDS = {"nltk": "nltk", "pyevalb": "PYEVALB"}


def score(metric: str, gold: Path, system: Path) -> str:
    """Return the main score by Treescore."""
    from treescore.evaluation.evaluate import Evaluation  # noqa: PLC0415 - each process imports what it measures
    from treescore.evaluation.spec import parse_spec  # noqa: PLC0415

    layout = {"name": "bracketed", "layout": "lines", "unreadable": "sentence"}
    spec = parse_spec({"format": layout, "metrics": [metric]})
    outcomes, _ = Evaluation(spec, gold.read_bytes()).score(system.read_bytes())
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


def measure(run: str, gold: Path, system: Path) -> tuple[float, float, str]:
    """Return the seconds of a whole process, its peak memory in MB, and its result."""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--run", run, str(gold), str(system)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    seconds = time.perf_counter() - begin
    peak, found = done.stdout.strip().splitlines()[-1].split(" ", 1)
    return seconds, float(peak), found


def cpu(who: int) -> float:
    """Return the user and system seconds of this process, or of its ended children."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def beside_evalb(gold: list[str], system: list[str], folder: Path, repeats: int) -> None:
    """Print the CPU seconds of parseval, with EVALB's choices, and of EVALB."""
    program = os.environ.get("TREESCORE_EVALB")
    if not program:
        print("EVALB not measured: set TREESCORE_EVALB to its program, built with gcc -O2 -o evalb evalb.c")
        return
    from treescore.evaluation.evaluate import Evaluation  # noqa: PLC0415 - not where a process measures a peer
    from treescore.evaluation.spec import parse_spec  # noqa: PLC0415
    from treescore.warm import warm  # noqa: PLC0415

    warm()
    layout = {"name": "bracketed", "layout": "lines", "unreadable": "sentence"}
    for copies in (1, 4, 16):
        paths = folder / "evalb.gold", folder / "evalb.system"
        for path, lines in zip(paths, (gold, system), strict=True):
            path.write_text("".join(varied(lines, copies)), encoding="utf-8")
        for name, text in PARAMETERS.items():
            parameters = folder / "evalb.prm"
            parameters.write_text(f"MAX_ERROR 1000000000\n{text}", encoding="utf-8")
            spec = parse_spec({"format": layout, "metrics": [{"name": "parseval", "params": {"prm": text}}]})
            command = [program, "-p", *map(str, (parameters, *paths))]
            mine, peer = [], []
            for _ in range(2 * repeats + 1):
                begin = cpu(resource.RUSAGE_SELF)
                outcomes, _ = Evaluation(spec, paths[0].read_bytes()).score(paths[1].read_bytes())
                mine.append(cpu(resource.RUSAGE_SELF) - begin)
                begin = cpu(resource.RUSAGE_CHILDREN)
                shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                peer.append(cpu(resource.RUSAGE_CHILDREN) - begin)
            f1 = next(line.split()[-1] for line in shown.splitlines() if line.startswith("Bracketing FMeasure"))
            scores = spec.entries[0].metric.table.values(outcomes["parseval"].totals)
            print(
                f"{copies * len(gold):,} sentences, {name} choices: parseval, warm, {min(mine):.4f} s of CPU "
                f"(median {statistics.median(mine):.4f}), EVALB {min(peer):.4f} s ({statistics.median(peer):.4f}): "
                f"{min(peer) / min(mine):.2f} x EVALB; F1 {100 * float(scores['labelled_f1']):.2f} and {f1}"
            )


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


def compare(gold: list[str], system: list[str], folder: Path, repeats: int) -> None:
    """Print a line for each run."""
    steady: dict[str, float] = {}
    for run, (small, large) in SIZES.items():
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
            f"{run:14} {steady[run]:10,.0f} sentences/s steady; whole process {times[small]:.2f} s for {small:,}, "
            f"{times[large]:.2f} s for {large:,} ({megabytes:.0f} MB, peak memory {runs[0][1]:.0f} MB); {runs[0][2]}"
        )
    for run, rate in steady.items():
        ratios = [f"{rate / steady[peer]:.1f} x {peer}" for peer in NEEDS if peer in steady and peer != run]
        if run not in NEEDS and ratios:
            print(f"{run}: {', '.join(ratios)}")


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
        print(f"parseval, one sentence of {name}: {seconds:.2f} s, process start included")


def main() -> None:
    """Measure, or run one scorer for a measuring process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="GOLD SYSTEM")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--run", choices=RUNS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        found = RUNS[arguments.run](*arguments.files)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000, found)
        return
    if arguments.files:
        gold, system = (path.read_text(encoding="utf-8").splitlines(keepends=True) for path in arguments.files)
    else:
        gold = generated(1_200, seed=1)
        system = relabelled(gold)
    versions = [
        f"{name} {importlib.metadata.version(name)}"
        for name in ("numpy", "numba", "PYEVALB", "nltk")
        if importlib.util.find_spec(name) is not None
    ]
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {', '.join(versions)}")
    print(
        f"{'given' if arguments.files else 'generated'} trees: {len(gold):,} sentences, medians of {arguments.repeats}"
    )
    with tempfile.TemporaryDirectory() as folder:
        beside_evalb(gold, system, Path(folder), arguments.repeats)
        compare(gold, system, Path(folder), arguments.repeats)
        extremes(Path(folder), arguments.repeats)


if __name__ == "__main__":
    main()
