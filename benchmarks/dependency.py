"""Measure speed and memory of ud and attachment, and of udtools and udapi, in one run.

    python benchmarks/dependency.py [GOLD SYSTEM]

GOLD and SYSTEM are CoNLL-U files with the same words. Without them, English EWT is used where the tests find it,
otherwise generated trees. Peers are measured where they are installed (pip install udtools udapi).

Fresh processes score once, the files and ten times the files: their peak from the start of the interpreter to the
end, what of it they hold before they read, and their seconds. `ud` and `attachment` load no compiler for this, as
`treescore score` does not; `..., compiled` is a worker, which has loaded and warmed everything.

Steady speed: medians of whole evaluations (read both files, score), the contestants taking turns in one process
after a first turn that does not count; once without the compiler, once with it.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import logging
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from table import DATA, PROCESS, READ, Measure, machine, not_measured, report

ROOT = Path(__file__).parent.parent
Contestant = Callable[[Path, Path], None]
TIMES = 10


def treescore(metric: str, *, compiled: bool = False) -> Contestant:
    """Return a run from bytes to summed counts."""
    from treescore.evaluation.evaluate import Evaluation  # noqa: PLC0415 - a contestant imports only itself
    from treescore.evaluation.spec import parse_spec  # noqa: PLC0415

    if compiled:
        from treescore.warm import warm  # noqa: PLC0415

        warm()
    spec = parse_spec({"format": "conllu", "metrics": [metric]})

    def run(gold: Path, system: Path) -> None:
        outcomes, _ = Evaluation(spec, gold.read_bytes()).score(system.read_bytes())
        outcomes[metric].totals  # noqa: B018 - a property that adds up

    return run


def udtools() -> Contestant:
    """Run the treebank tools' evaluation, from PyPI."""
    from udtools import udeval  # noqa: PLC0415

    def run(gold: Path, system: Path) -> None:
        udeval.evaluate(udeval.load_conllu_file(str(gold)), udeval.load_conllu_file(str(system)))

    return run


def udapi(block_name: str) -> Contestant:
    """Run a block of udapi over both files."""
    from udapi.block.eval.conll18 import Conll18  # noqa: PLC0415
    from udapi.block.eval.parsing import Parsing  # noqa: PLC0415
    from udapi.block.read.conllu import Conllu  # noqa: PLC0415
    from udapi.core.document import Document  # noqa: PLC0415

    logging.disable(logging.WARNING)
    block = {"Conll18": Conll18, "Parsing": Parsing}[block_name]

    def run(gold: Path, system: Path) -> None:
        document = Document()
        Conllu(files=str(gold), zone="gold").apply_on_document(document)
        Conllu(files=str(system), zone="system", ignore_sent_id=1).apply_on_document(document)
        with contextlib.redirect_stdout(io.StringIO()):
            block(gold_zone="gold").apply_on_document(document)

    return run


CONTESTANTS: dict[str, tuple[str, Callable[[], Contestant]]] = {
    "ud": ("treescore", lambda: treescore("ud")),
    "attachment": ("treescore", lambda: treescore("attachment")),
    "ud, compiled": ("treescore", lambda: treescore("ud", compiled=True)),
    "attachment, compiled": ("treescore", lambda: treescore("attachment", compiled=True)),
    "udtools": ("udtools", udtools),
    "udapi eval.Conll18": ("udapi", lambda: udapi("Conll18")),
    "udapi eval.Parsing": ("udapi", lambda: udapi("Parsing")),
}
RACES = (("ud", "udtools"), ("ud", "udapi eval.Conll18"), ("attachment", "udapi eval.Parsing"))


def generated(sentences: int, seed: int = 1) -> tuple[str, str]:
    """Make random trees, and the same with every sixth head changed; no cycles."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    words = [f"w{n}" for n in range(5000)]
    texts: tuple[list[str], list[str]] = [], []
    for number in range(sentences):
        length = rng.randint(3, 22)
        order = rng.sample(range(1, length + 1), length)
        rank = {word: place for place, word in enumerate(order)}
        forms = [words[int(5000 * rng.random() ** 3)] for _ in range(length)]
        heads = {word: order[rng.randrange(place)] if place else 0 for place, word in enumerate(order)}
        for lines, error in zip(texts, (0.0, 1 / 6), strict=True):
            lines.append(f"# sent_id = s{number}")
            for word in range(1, length + 1):
                moved = heads[word] and rng.random() < error
                head = order[rng.randrange(rank[word])] if moved else heads[word]
                deprel = ("nsubj", "det", "case", "obl")[word % 4] if head else "root"
                form = forms[word - 1]
                lines.append(f"{word}\t{form}\t{form}\tNOUN\tNN\tNumber=Sing\t{head}\t{deprel}\t_\t_")
            lines.append("")
    return "\n".join(texts[0]) + "\n", "\n".join(texts[1]) + "\n"


def files(arguments: argparse.Namespace) -> tuple[str, bytes, bytes]:
    """Return name and contents of the scored files."""
    if arguments.files:
        gold, system = (Path(name) for name in arguments.files)
        return gold.name, gold.read_bytes(), system.read_bytes()
    folder = DATA / "ud_en_ewt" / "gold_tokens"
    if folder.is_dir():
        own, other = ((folder / f"{name}.conllu").read_bytes() for name in ("gold", "dev-swap-it3"))
        return "English EWT, gold tokens", own, other
    gold_text, system_text = generated(2000)
    return "generated", gold_text.encode(), system_text.encode()


def medians(names: list[str], gold: Path, system: Path, repeat: int) -> dict[str, float]:
    """Return the median seconds of each contestant; they alternate."""
    runs = {name: CONTESTANTS[name][1]() for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeat + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run(gold, system)
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


class Once(NamedTuple):
    """A fresh process that scores once: megabytes before reading and at the peak, seconds from start to end."""

    before: float
    peak: float
    seconds: float


def once(name: str, gold: Path, system: Path) -> Once:
    """Measure one such process."""
    command = [sys.executable, __file__, "--child", name, str(gold), str(system)]
    start = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    before, peak = json.loads(done.stdout)
    return Once(before, peak, time.perf_counter() - start)


def child(name: str, gold: Path, system: Path) -> None:
    """Score once in this process and print its memory."""
    run = CONTESTANTS[name][1]()
    before = peak()
    run(gold, system)
    print(json.dumps([before, peak()]))


def peak() -> float:
    """Return the peak megabytes of this process. `ru_maxrss` would include those of the parent."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM:")) / 1024


def installed() -> list[str]:
    """Return the contestants that can be imported; print which are missing."""
    missing = {package for package, _ in CONTESTANTS.values() if importlib.util.find_spec(package) is None}
    if missing:
        print(f"Not installed, not measured: pip install {' '.join(sorted(missing))}")
    return [name for name, (package, _) in CONTESTANTS.items() if package not in missing]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="GOLD SYSTEM")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, *(Path(name) for name in arguments.files))
        return
    print(machine("numpy", "numba", "udtools", "udapi"))
    names = installed()
    title, gold_bytes, system_bytes = files(arguments)
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for times in (1, TIMES):
            paths[times] = Path(folder) / f"gold{times}.conllu", Path(folder) / f"system{times}.conllu"
            paths[times][0].write_bytes(gold_bytes * times)
            paths[times][1].write_bytes(system_bytes * times)
        words = sum(line[:1].isdigit() for line in gold_bytes.decode().splitlines())
        print(f"{title}: {words} lines of words, {len(gold_bytes) / 1e6:.1f} + {len(system_bytes) / 1e6:.1f} MB\n")
        print_memory(names, paths)
        print_speed(names, paths, arguments.repeat)


def print_memory(names: list[str], paths: dict[int, tuple[Path, Path]]) -> None:
    """Measure fresh processes over the files and over ten times the files."""
    held = {(name, times): once(name, *paths[times]) for name in names for times in paths}
    print(f"{'a fresh process':22} {'MB before':>10} {'peak':>6} {'seconds':>8} {'peak, x10':>10} {'seconds':>8}")
    for name in names:
        small, large = held[name, 1], held[name, TIMES]
        print(
            f"{name:22} {small.before:10.0f} {small.peak:6.0f} {small.seconds:8.2f} {large.peak:10.0f} "
            f"{large.seconds:8.2f}"
        )
    print()
    for one, other in RACES:
        for times in paths:
            what = f"`{one}`, a fresh process scores {'the files' if times == 1 else f'{times} times the files'}"
            if other not in names:
                not_measured(what, PROCESS, other, "not installed")
                continue
            mine, theirs = held[one, times], held[other, times]
            figures = (
                f"{mine.peak:.0f} and {theirs.peak:.0f} MB, of which {mine.peak - mine.before:.0f} and "
                f"{theirs.peak - theirs.before:.0f} MB while scoring"
            )
            report(Measure(f"{what}, peak memory", PROCESS, other, mine.peak / theirs.peak, None, figures))
            figures = f"{mine.seconds:.2f} and {theirs.seconds:.2f} s"
            report(Measure(f"{what}, wall time", PROCESS, other, mine.seconds / theirs.seconds, None, figures))


def print_speed(names: list[str], paths: dict[int, tuple[Path, Path]], repeat: int) -> None:
    """Measure steady speed; without the compiler first, because it stays loaded."""
    print(f"{'steady':22} {'seconds':>8} {'x10':>8}")
    for kind in ("", ", compiled"):
        mine = [f"{name}{kind}" for name in ("ud", "attachment")]
        peers = [name for name in names if CONTESTANTS[name][0] != "treescore"]
        small = medians([*mine, *peers], *paths[1], repeat)
        large = medians(mine, *paths[TIMES], max(1, repeat // 2))
        for name, seconds in small.items():
            print(f"{name:22} {seconds:8.3f}" + (f" {large[name]:8.3f}" if name in large else ""))
        for one, other in RACES:
            if other in small:
                what = f"`{one}`, both files read, {'compiled as in a worker' if kind else 'no compiler'}, speed"
                mine_s, theirs_s = small[f"{one}{kind}"], small[other]
                report(Measure(what, READ, other, theirs_s / mine_s, None, f"{mine_s:.3f} and {theirs_s:.3f} s"))
        for name in mine:
            print(f"{name}: {TIMES} times the file takes {large[name] / small[name]:.1f} times the time")
        print()


if __name__ == "__main__":
    main()
