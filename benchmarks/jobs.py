"""Measure what a worker does, beside reading and comparing the same texts, and what a submission takes in the store.

    python benchmarks/jobs.py [--parts 12] [--teams 3] [--sentences 3467] [--repeats 3]

Submissions of several parts under `ud`, the comparison of the board included, and single jobs under `parseval`, done
in this process by what a worker calls, on SQLite. CPU seconds, in turns with their references.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

from reading import LINES, NO_SCRIPT, by_script, conll18, trees
from shared_task import stored_bytes
from table import DATA, JOB, Goal, Measure, at_least, cpu_of, interleaved, machine, not_measured, options, report
from texts import Pair, numbered, raw_text, words_of

from service.config import load_config
from service.context import Context
from service.contract.jobs import JobRequest
from service.store import runs
from service.usecases.jobs import submit_job
from tests.fixtures.contexts import ADMIN_TOKEN, ORGANISER, opened, work_of
from tests.fixtures.requests import loaded
from tests.fixtures.servers import Valkey
from tests.fixtures.tasks import Task
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.warm import warm
from workers.entry import do

SPEC = {"format": "conllu", "metrics": ["ud"]}


@contextmanager
def context_here() -> Iterator[Context]:
    """Yield a service's context on an empty store, with a queue of its own."""
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as name:
        server = Valkey(Path(name))
        server.start()
        try:
            environment = {"DATA_DIR": name, "REDIS_URL": server.url, "ADMIN_TOKEN": ADMIN_TOKEN}
            with opened(load_config({f"TREESCORE_{key}": value for key, value in environment.items()})) as context:
                yield context
        finally:
            server.kill()


def _all_scored(evaluations: Iterable[Evaluation], text: bytes) -> None:
    for each in evaluations:
        each.score(text)


def worked(context: Context) -> Iterator[tuple[str, float]]:
    """Do all queued work; yield the kind and the CPU seconds of each run."""
    while True:
        with context.store.read() as db:
            waiting = runs.unfinished(db, context.now() + timedelta(days=1))
        if not waiting:
            return
        for run in waiting:
            yield run.kind, cpu_of(partial(do, context, run.id))


def outputs(teams: int) -> tuple[str, bytes, dict[str, bytes]]:
    """Return a name, gold, and the outputs of teams with tokenizations of their own."""
    folder = DATA / "ud_en_ewt" / "conll2018"
    if folder.is_dir():
        paths = sorted(path for path in folder.glob("*.conllu") if path.stem != "gold")[:teams]
        return "English EWT", (folder / "gold.conllu").read_bytes(), {path.stem: path.read_bytes() for path in paths}
    pair = raw_text()
    return pair.name, pair.gold, {f"team-{number}": pair.system for number in range(teams)}


def submissions(parts: int, teams: int) -> None:
    """Measure submissions of many parts, each text read once by the store as its own."""
    name, gold, systems = outputs(teams)
    names = [f"part-{number:02d}" for number in range(1, parts + 1)]
    golds = {part: numbered(gold, at) for at, part in enumerate(names)}
    evaluations = {part: Evaluation(parse_spec(SPEC), text) for part, text in golds.items()}
    words = sum(words_of(text) for text in systems.values()) * parts
    script = conll18()
    references: list[float] = []
    live: list[float] = []
    board = slow = 0.0
    with context_here() as context, tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
        task = Task(context, work_of(context))
        task.make({"id": "bench", "title": "Parts", **SPEC,
                   "parts": {part: {"gold": text.decode()} for part, text in golds.items()},
                   "quota": {"scored_per_day": None, "scored_total": None, "attempts_per_day": None}})  # fmt: skip
        sent = ""
        given: dict[str, bytes] = {}
        for number, (team, text) in enumerate(systems.items()):
            given = {part: numbered(text, 100 * number + at) for at, part in enumerate(names)}
            sent = task.submit(
                task.team(team.lower(), "bench"), {part: text.decode() for part, text in given.items()}, "bench"
            )
        for kind, seconds in worked(context):
            if kind != "submission":
                board += seconds
                continue
            text = list(systems.values())[len(live)]
            live.append(seconds)
            references.append(cpu_of(partial(_all_scored, evaluations.values(), text)))
            if script is not None:
                slow += cpu_of(by_script(script, Path(folder), Pair(name, gold, text)))
        stored = stored_bytes(context.store, sent)
    _show(name, (parts, words), references, live, board)
    _show_stored(name, parts, stored, sum(map(len, given.values())))
    what, goal = f"`ud`, {len(systems)} submissions of {parts} parts each and their comparison, {name}", at_least(5)
    if script is None:
        not_measured(what, JOB, "conll18_ud_eval.py", NO_SCRIPT, goal)
        return
    mine, theirs = words / (sum(live) + board), words / parts / slow
    figures = f"{mine:,.0f} and {theirs:,.0f} words a CPU second; the comparisons took {board:.2f} s of CPU"
    report(Measure(what, JOB, "conll18_ud_eval.py", mine / theirs, goal, figures))


def _show(name: str, size: tuple[int, int], references: list[float], live: list[float], board: float) -> None:
    parts, words = size
    reference, mine = statistics.median(references), statistics.median(live)
    figures = f"{mine:.2f} and {reference:.2f} s of CPU; {words / sum(live):,.0f} words a CPU second"
    what = f"`ud`, a submission of {parts} parts, {name}"
    report(
        Measure(what, JOB, "reading it and comparing it with gold that is read", mine / reference, Goal(2.5), figures)
    )
    whole = (sum(live) + board) / sum(references)
    report(Measure(f"{what}, with the board", JOB, "the same", whole, None, f"{board:.2f} s of CPU for the board"))


MOST_STORED = 0.185
"""What may be stored of a submission, a byte of its outputs."""


def _show_stored(name: str, parts: int, kinds: dict[str, int], sent: int) -> None:
    sizes = ", ".join(
        f"{kind} {size / 1000:,.0f} kB" for kind, size in sorted(kinds.items(), key=lambda each: -each[1])
    )
    what = f"`ud`, all that is stored of a submission of {parts} parts, {name}"
    value = sum(kinds.values()) / sent
    report(Measure(what, JOB, "its outputs as they were sent", value, Goal(MOST_STORED), sizes))


def single_jobs(sentences: int, repeats: int) -> None:
    """Measure a job of one system, beside the kernel and beside reading and comparing."""
    pair = trees(sentences)
    spec = parse_spec({"format": LINES, "metrics": ["parseval"]})
    evaluation = Evaluation(spec, pair.gold)
    system = evaluation.read(pair.system, spec.format)
    with context_here() as context:
        document = {"format": LINES, "gold": pair.gold.decode(), "metrics": ["parseval"],
                    "systems": [{"name": "one", "output": pair.system.decode()}]}  # fmt: skip
        request = loaded(JobRequest, document)
        live: list[float] = []
        for _ in range(repeats + 1):
            submit_job(context, ORGANISER, request)
            live.append(sum(seconds for _, seconds in worked(context)))
    taken = interleaved(
        {
            "kernel": lambda: evaluation.compare(system, spec.format),
            "whole": lambda: Evaluation(spec, pair.gold).score(pair.system),
        },
        2 * repeats,
    )
    mine = statistics.median(live[1:])
    what = f"`parseval`, a job of one system, {pair.name}"
    figures = f"{1000 * mine:.0f} and {1000 * taken['whole']:.0f} ms of CPU"
    report(Measure(what, JOB, "reading both texts and comparing them", mine / taken["whole"], Goal(4.0), figures))
    figures = f"{1000 * mine:.0f} and {1000 * taken['kernel']:.0f} ms of CPU"
    report(Measure(what, JOB, "its kernel", mine / taken["kernel"], None, figures))


def main() -> None:
    """Measure."""
    given = options(
        __doc__,
        parts=(12, 2, "parts of a submission"),
        teams=(3, 2, "submissions"),
        sentences=(3_467, 1_200, "sentences of a job"),
        repeats=(3, 1, "turns of each job"),
    )
    print(machine("numpy", "numba", "sqlalchemy", "zstandard"))
    warm()
    single_jobs(given.sentences, given.repeats)
    submissions(given.parts, given.teams)


if __name__ == "__main__":
    main()
