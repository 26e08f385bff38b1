"""Measure the scorers of discontinuous trees, graphs, multiword expressions and SPMRL beside the originals.

    python benchmarks/field.py [--sentences 20000] [--quick]

The texts are generated. Each original is taken from a variable and skipped, with a line that says so, where it is not
set; a value may be a command with arguments:

    TREESCORE_DISCODOP       discodop, the command of disco-dop
    TREESCORE_IWPT20         python iwpt20_xud_eval.py
    TREESCORE_PARSEME        python parseme_evaluate.py
    TREESCORE_EVALB_SPMRL    evalb_spmrl, built with gcc -O2
    TREESCORE_MTOOL          python mtool/main.py

An original is measured as a whole process. Beside it stand the same score of a warm process, both texts read, and the
whole command `treescore score` with its peak memory.
"""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from constituency import generated, relabelled
from table import PROCESS, READ, ROOT, Goal, Measure, at_least, interleaved, machine, not_measured, options, report

LABELS = ("NP", "VP", "PP", "S", "AP")
TAGS = ("NN", "ART", "VVFIN", "ADV", "$,")
RELATIONS = ("nsubj", "obj", "obl", "conj", "advcl", "nmod")
ROLES = ("ARG1", "ARG2", "BV", "compound", "loc")
CATEGORIES = ("VID", "LVC.full", "VPC.full")
COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE"
PRM = "MAX_ERROR 1000000000\nCUTOFF_LEN 70\nLABELED 1\nDELETE_LABEL TOP\nDELETE_LABEL ROOT\n"
_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""


class Case(NamedTuple):
    """A scorer beside its original.

    Attributes:
        what: is scored.
        original: its name; the program that was run stands behind it.
        variable: that names its command.
        arguments: of the command after the program, from the paths of gold and output and the folder.
        request: of the same score.
        sides: makes the texts of gold and the output.
        goal: how many times as fast it should be.
    """

    what: str
    original: str
    variable: str
    arguments: Callable[[Path, Path, Path], Sequence[str]]
    request: dict[str, Any]
    sides: Callable[[int], tuple[str, str]]
    goal: Goal


def lengths(sentences: int, rng: random.Random) -> Iterator[int]:
    """Yield lengths of sentences, 2 to 60 words, about 20."""
    for _ in range(sentences):
        yield min(60, max(2, int(rng.lognormvariate(2.8, 0.6))))


def discontinuous(sentences: int) -> tuple[str, str]:
    """Return trees in NeGra's export, about one constituent in six with a gap; every third output has another tree."""
    rng = random.Random(1)  # noqa: S311 - no secret
    sides: tuple[list[str], list[str]] = ([], [])
    for number, length in enumerate(lengths(sentences, rng), 1):
        words = [(f"w{rng.randrange(20_000)}", rng.choice(TAGS)) for _ in range(length)]
        gold = _export(number, words, rng)
        sides[0].append(gold)
        sides[1].append(_export(number, words, rng) if number % 3 == 0 else gold.replace("\tPP\t", "\tAP\t"))
    return "".join(sides[0]), "".join(sides[1])


def _export(number: int, words: Sequence[tuple[str, str]], rng: random.Random) -> str:
    parents = [0] * len(words)
    tops: list[tuple[bool, int]] = [(False, index) for index in range(len(words))]
    nodes: list[str] = []
    above: list[int] = []
    while len(tops) > 1:
        first = rng.randrange(len(tops) - 1)
        second = min(len(tops) - 1, first + rng.choice((1, 1, 1, 1, 1, 2)))
        for is_node, index in (tops[first], tops[second]):
            (above if is_node else parents)[index] = 500 + len(nodes)
        del tops[second]
        tops[first] = (True, len(nodes))
        nodes.append(rng.choice(LABELS))
        above.append(0)
    lines = [f"{word}\t{word}\t{tag}\t--\tNK\t{parent}\n" for (word, tag), parent in zip(words, parents, strict=True)]
    lines += [f"#{500 + index}\t--\t{label}\t--\tHD\t{above[index]}\n" for index, label in enumerate(nodes)]
    return f"#BOS {number}\n{''.join(lines)}#EOS {number}\n"


def enhanced(sentences: int) -> tuple[str, str]:
    """Return enhanced graphs: one word in four has a second edge, one output edge in ten another relation."""
    rng = random.Random(2)  # noqa: S311 - no secret
    sides: tuple[list[str], list[str]] = ([], [])
    for length in lengths(sentences, rng):
        for word in range(1, length + 1):
            head = rng.randrange(word) if word > 1 else 0
            relation = rng.choice(RELATIONS) if head else "root"
            edges = [(head, relation)]
            if rng.random() < 0.25 and word > 1:
                edges.append((rng.randrange(1, word), f"{rng.choice(RELATIONS)}:and"))
            basic = 1 if word > 1 else 0
            row = f"{word}\tw{rng.randrange(20_000)}\t_\tX\t_\t_\t{basic}\t{'dep' if basic else 'root'}\t"
            for side, lines in enumerate(sides):
                wrong = side and rng.random() < 0.1
                deps = "|".join(f"{at}:{'dep' if wrong else name}" for at, name in sorted(set(edges)))
                lines.append(f"{row}{deps}\t_\n")
        for lines in sides:
            lines.append("\n")
    return "".join(sides[0]), "".join(sides[1])


def expressions(sentences: int) -> tuple[str, str]:
    """Return PARSEME's columns: one sentence in three has an expression, which the output misses or cuts at times."""
    rng = random.Random(3)  # noqa: S311 - no secret
    sides = ([f"# global.columns = {COLUMNS}\n"], [f"# global.columns = {COLUMNS}\n"])
    for number, length in enumerate(lengths(sentences, rng), 1):
        chosen = (
            sorted(rng.sample(range(1, length + 1), min(length, rng.choice((1, 2, 2, 3))))) if number % 3 == 0 else []
        )
        category = rng.choice(CATEGORIES)
        words = [f"w{rng.randrange(20_000)}" for _ in range(length)]
        for side, lines in enumerate(sides):
            kept = chosen[:-1] if side and rng.random() < 0.2 else [] if side and rng.random() < 0.1 else chosen
            codes = dict.fromkeys(kept, "1") | ({kept[0]: f"1:{category}"} if kept else {})
            lines.append(f"# source_sent_id = . . {number}\n# text = {' '.join(words)}\n")
            lines += [
                f"{word}\t{form}\t{form}\tX\t_\t_\t_\t_\t_\t_\t{codes.get(word, '*')}\n"
                for word, form in enumerate(words, 1)
            ]
            lines.append("\n")
    return "".join(sides[0]), "".join(sides[1])


def bracketed(sentences: int) -> tuple[str, str]:
    """Return trees a line, with features behind the labels; one label in some outputs is another."""
    gold = [line.replace("(NP ", "(NP##case=nom## ") for line in generated(sentences, seed=4)]
    return "".join(gold), "".join(relabelled(gold))


def graphs(sentences: int) -> tuple[str, str]:
    """Return semantic dependencies: half of the words are predicates, one role in ten is another in the output."""
    rng = random.Random(5)  # noqa: S311 - no secret
    sides: tuple[list[str], list[str]] = (["#SDP 2015\n"], ["#SDP 2015\n"])
    for number, length in enumerate(lengths(sentences, rng), 1):
        predicates = [word for word in range(length) if rng.random() < 0.5]
        top = rng.randrange(length)
        for lines in sides:
            lines.append(f"#{number}\n")
        for word in range(length):
            near = {rng.choice(predicates) for _ in range(rng.choice((0, 1, 1, 2)))} if predicates else set()
            roles = [rng.choice(ROLES) if each in near else "_" for each in predicates]
            flags = "+" if word == top else "-", "+" if word in predicates else "-"
            row = "\t".join([str(word + 1), f"w{word}", "w", "X", *flags, "_"])
            for side, lines in enumerate(sides):
                own = [rng.choice(ROLES) if role != "_" and side and rng.random() < 0.1 else role for role in roles]
                lines.append("\t".join([row, *own]) + "\n")
        for lines in sides:
            lines.append("\n")
    return "".join(sides[0]), "".join(sides[1])


def _mtool(gold: Path, system: Path, folder: Path) -> Sequence[str]:
    """Write the companion text, without which mtool takes all nodes for one."""
    lines: list[str] = []
    words: list[str] = []
    for line in gold.read_text(encoding="utf-8").splitlines()[1:]:
        if line.startswith("#"):
            words = [line[1:] + "\t"]
        elif line:
            words.append(line.split("\t", 2)[1])
        else:
            lines.append(words[0] + " ".join(words[1:]) + "\n")
    (folder / "companion").write_text("".join(lines), encoding="utf-8")
    asked = ["--read", "dm", "--score", "sdp", "--text", str(folder / "companion")]
    return [*asked, "--gold", str(gold), str(system), os.devnull]


def _spmrl(gold: Path, system: Path, folder: Path) -> Sequence[str]:
    (folder / "spmrl.prm").write_text(PRM, encoding="utf-8")
    return ["-p", str(folder / "spmrl.prm"), str(gold), str(system)]


CASES = (
    Case(
        "discontinuous F1 (`parseval`, preset `discodop`)", "disco-dop", "TREESCORE_DISCODOP",
        lambda gold, system, _: ["eval", str(gold), str(system)],
        {"format": "export", "metrics": [{"name": "parseval", "params": {"preset": "discodop"}}]},
        discontinuous, at_least(100),
    ),
    Case(
        "`enhanced`", "the IWPT script", "TREESCORE_IWPT20",
        lambda gold, system, _: ["-v", str(gold), str(system)],
        {"format": "conllu", "metrics": ["enhanced"]}, enhanced, at_least(20),
    ),
    Case(
        "`mwe`", "PARSEME's script", "TREESCORE_PARSEME",
        lambda gold, system, _: ["--gold", str(gold), "--pred", str(system)],
        {"format": "cupt", "metrics": ["mwe"]}, expressions, at_least(10),
    ),
    Case(
        "`parseval`, preset `spmrl`", "EVALB_SPMRL", "TREESCORE_EVALB_SPMRL", _spmrl,
        {"format": {"name": "bracketed", "layout": "lines"},
         "metrics": [{"name": "parseval", "params": {"preset": "spmrl"}}]},
        bracketed, at_least(0.5),
    ),
    Case(
        "`semantic_dependencies`", "mtool", "TREESCORE_MTOOL", _mtool,
        {"format": "sdp", "metrics": ["semantic_dependencies"]}, graphs, at_least(20),
    ),
)  # fmt: skip


def score(request: dict[str, Any], gold: Path, system: Path) -> None:
    """Read both texts and count, in this process."""
    from treescore.evaluation.evaluate import Evaluation  # noqa: PLC0415 - the options need no library
    from treescore.evaluation.spec import parse_spec  # noqa: PLC0415

    Evaluation(parse_spec(request), gold.read_bytes()).score(system.read_bytes())


def command_of(request: dict[str, Any], gold: Path, system: Path) -> list[str]:
    """Return the command that does the same."""
    chosen = [f"--{name}" for name in ("format", "metric")]
    values = [
        value if isinstance(value, str) else json.dumps(value) for value in (request["format"], request["metrics"][0])
    ]
    options_ = [word for pair in zip(chosen, values, strict=True) for word in pair]
    return [sys.executable, "-m", "treescore", "score", *options_, str(gold), str(system)]


def peak_of(command: Sequence[str]) -> float:
    """Return the peak megabytes of a command, from a parent that is smaller."""
    done = subprocess.run([sys.executable, "-c", _PEAK, *command], check=True, capture_output=True, text=True)
    return float(done.stdout)


def measure(case: Case, sentences: int, folder: Path) -> None:
    """Report a case."""
    gold, system = folder / "gold", folder / "system"
    for path, text in zip((gold, system), case.sides(sentences), strict=True):
        path.write_text(text, encoding="utf-8")
    mine = command_of(case.request, gold, system)
    what = f"{case.what}, {sentences:,} sentences"
    given = os.environ.get(case.variable)
    if not given:
        seconds = interleaved({"mine": lambda: score(case.request, gold, system)}, 3)["mine"]
        reason = f"set {case.variable}; Treescore takes {1000 * seconds:,.0f} ms of CPU"
        not_measured(f"{what}, warm, both texts read", READ, case.original, reason, case.goal)
        return
    program = shlex.split(given)
    original = f"{case.original} (`{Path(program[-1]).name}`)"
    theirs = [*program, *case.arguments(gold, system, folder)]
    taken = interleaved(
        {
            "warm": lambda: score(case.request, gold, system),
            "command": lambda: subprocess.run(mine, check=True, capture_output=True),
            "theirs": lambda: subprocess.run(theirs, check=True, capture_output=True),
        },
        1 if sentences < 1_000 else 3,
    )
    for kind, level, words in (("warm", READ, "warm, both texts read"), ("command", PROCESS, "the command")):
        figures = f"{1000 * taken['theirs']:,.0f} and {1000 * taken[kind]:,.0f} ms of CPU"
        beside = f"{original}, the process: times as fast"
        goal = case.goal if kind == "warm" else None
        report(Measure(f"{what}, {words}", level, beside, taken["theirs"] / taken[kind], goal, figures))
    own, other = peak_of(mine), peak_of(theirs)
    what, figures = f"{what}, peak memory of the command", f"{own:.0f} and {other:.0f} MB"
    report(Measure(what, PROCESS, original, own / other, Goal(1.0), figures))


def main() -> None:
    """Measure all cases."""
    given = options(__doc__, sentences=(20_000, 500, "sentences of each text"))
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    from treescore.warm import warm  # noqa: PLC0415 - the options need no library

    warm()
    print(machine("numpy", "numba", "disco-dop"))
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="ts-field-") as folder:
            measure(case, given.sentences, Path(folder))


if __name__ == "__main__":
    main()
