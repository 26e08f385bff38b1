"""Score all outputs of a shared task through the API, as its teams would send them, and wait for the final board.

    .venv/bin/python benchmarks/conll2018.py [--gold FOLDER --outputs FOLDER | --teams 26 --parts 78] [--workers 2]
                                             [--together 4]

FOLDER of --gold holds a file for each treebank, TREEBANK.conllu; that of --outputs a folder for each team with files
of the same names, which is how the archive of the CoNLL 2018 shared task is laid out (docs/operate/benchmarks.md says
where it is). A team's missing treebanks stay missing. Without folders, a likeness of that task is made
(`benchmarks/likeness.py`).

One benchmark has all treebanks as its parts; each team sends all its outputs in one submission. Then the same texts
are read and compared in one process, gold read once, and all scores of the service must be those of the library. CPU
seconds are of all processes of the service, ended ones included; the client's, which stands for the teams, are shown
apart. Machine code is kept before the service starts: what compiling costs is not part of this.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import psutil
from likeness import EWT, PARTS, TEAMS, base_name, write
from services import Service
from table import PROCESS, READ, Goal, Measure, cpu_seconds, machine, report
from texts import words_of

from tests.fixtures.service_process import until
from treescore.client import Client
from treescore.errors import ScoringError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.warm import warm

SLUG = "conll2018"
PATIENCE = 3600.0
WHOLE = 29_000_000
"""Words of all outputs of the shared task, for which the goals in seconds and bytes were set."""
SPEC: dict[str, Any] = {"format": "conllu", "metrics": ["ud"]}


@dataclass(frozen=True)
class SharedTask:
    """Files: gold by treebank, and the outputs of each team by treebank."""

    gold: Mapping[str, Path]
    teams: Mapping[str, Mapping[str, Path]]


@dataclass
class Run:
    """What the service did with a shared task.

    Attributes:
        seconds: from the first POST to the final board.
        board_seconds: from the last score to the final board.
        service_cpu: CPU seconds of all processes of the service in this time.
        total_cpu: theirs from the start to the stop of the service.
        largest: most bytes that one of them held, and its command.
        stored: bytes of the data directory in the end.
        client_cpu: CPU seconds of the teams' client.
        rows: of the board.
        documents: team -> its submission, scored.
    """

    seconds: float = 0.0
    board_seconds: float = 0.0
    service_cpu: float = 0.0
    total_cpu: float = 0.0
    largest: tuple[int, str] = (0, "")
    stored: int = 0
    client_cpu: float = 0.0
    rows: int = 0
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def of_folders(gold: Path, outputs: Path) -> SharedTask:
    """Return a shared task laid out as its archive."""
    golds = {path.stem: path for path in sorted(gold.glob("*.conllu"))}
    teams = {
        folder.name: {path.stem: path for path in sorted(folder.glob("*.conllu")) if path.stem in golds}
        for folder in sorted(outputs.iterdir())
        if folder.is_dir()
    }
    return SharedTask(golds, {team: files for team, files in teams.items() if files})


def through_the_api(task: SharedTask, folder: Path, workers: int, together: int) -> Run:
    """Have a service score a shared task; a few teams send at the same time.

    Raises:
        RuntimeError: a submission has no score.
    """
    service = Service(folder, workers=workers, TREESCORE_MAX_QUEUED="0")
    used = _cpu_of_children()
    service.start()
    run = Run()
    try:
        with _watched(service, run), Client(service.address, service.token, PATIENCE) as client:
            tokens = _benchmark(client, task)
            before, own, begun = service_cpu(service), cpu_seconds(), perf_counter()
            with ThreadPoolExecutor(together) as pool:
                sent = list(pool.map(lambda team: _submit(service, task.teams[team], team, tokens[team]), tokens))
            found = [client.submission(each).wait(check=False) for each in sent]
            scored = perf_counter()
            benchmark = client.benchmark(SLUG)
            until(lambda: not benchmark.board()["significance"]["pending"], "the significance of the board", PATIENCE)
            run.seconds, run.board_seconds = perf_counter() - begun, perf_counter() - scored
            run.client_cpu, run.service_cpu = cpu_seconds() - own, service_cpu(service) - before
            run.rows = len(benchmark.board()["rows"])
            run.documents = dict(zip(tokens, found, strict=True))
            lost = {team: each["state"] for team, each in run.documents.items() if not each.get("scores")}
            if lost:
                raise RuntimeError(f"no score of {lost}")
    finally:
        service.stop()
    run.total_cpu = _cpu_of_children() - used
    run.stored = sum(path.stat().st_size for path in (folder / "data").rglob("*") if path.is_file())
    return run


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _watched(service: Service, run: Run) -> Iterator[None]:
    """Note the most memory that a process of the service has held, looking twice a second."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.5):
            for process in service.family():
                with suppress(OSError, psutil.NoSuchProcess):
                    status = Path(f"/proc/{process.pid}/status").read_text()
                    held = re.search(r"VmHWM:\s*(\d+) kB", status)
                    size = int(held[1]) * 1024 if held else 0
                    if size > run.largest[0]:
                        run.largest = size, " ".join(process.cmdline()[1:4])

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def service_cpu(service: Service) -> float:
    """Return the CPU seconds of the service's processes, with those of their ended children."""
    used = 0.0
    for process in service.family():
        with suppress(psutil.NoSuchProcess):  # its parent has its time by now
            used += sum(process.cpu_times()[:4])
    return used


def _benchmark(client: Client, task: SharedTask) -> dict[str, str]:
    """Create the benchmark and its teams; return their tokens."""
    meta = {"id": SLUG, "title": "All treebanks", **SPEC,
            "quota": {"scored_per_day": None, "scored_total": None, "attempts_per_day": None}}  # fmt: skip
    benchmark = client.benchmark(client.benchmarks.create(meta, task.gold, wait=True))
    return {team: benchmark.add_team(team.lower(), team).token for team in task.teams}


def _submit(service: Service, outputs: Mapping[str, Path], team: str, token: str) -> str:
    """Send all outputs of a team; return the submission's id."""
    with Client(service.address, token, PATIENCE) as client:
        return client.benchmark(SLUG).submit(outputs, name=team).id


def alone(task: SharedTask) -> tuple[float, int, dict[str, dict[str, float]]]:
    """Read and compare all outputs in this process, gold read once: CPU seconds, words, and LAS by team and part."""
    words, used = 0, 0.0
    scores: dict[str, dict[str, float]] = {team: {} for team in task.teams}
    for treebank, path in task.gold.items():
        spec = parse_spec(SPEC)
        table = spec.entries[0].metric.table
        begun = cpu_seconds()
        evaluation = Evaluation(spec, path.read_bytes())
        used += cpu_seconds() - begun
        for team, files in task.teams.items():
            if treebank not in files:
                continue
            text = files[treebank].read_bytes()
            begun = cpu_seconds()
            try:
                outcomes, _ = evaluation.score(text)
            except ScoringError:
                continue  # a part that cannot be read has no score in the service either
            finally:
                used += cpu_seconds() - begun
            words += words_of(text)
            scores[team][treebank] = float(table.values(outcomes["ud"].totals)["las_f1"])
    return used, words, scores


def check(task: SharedTask, run: Run, expected: Mapping[str, Mapping[str, float]]) -> tuple[float, float]:
    """Check the scores of all parts, and the rows of the board; return the least and the largest LAS of a whole team.

    Raises:
        RuntimeError: the service says otherwise than the library.
    """
    whole = []
    for team, document in run.documents.items():
        parts = document["scores"]["metrics"]["ud"]["parts"]
        shown = {part: found["scores"]["las_f1"] for part, found in parts.items() if (found or {}).get("scores")}
        if shown != expected[team]:
            raise RuntimeError(f"other scores than the library's: {team}")
        if len(shown) == len(task.gold):
            whole.append(sum(shown.values()) / len(shown))
    if run.rows != len(task.teams):
        raise RuntimeError(f"the board has {run.rows} rows for {len(task.teams)} teams")
    return min(whole, default=0.0), max(whole, default=0.0)


def show(task: SharedTask, run: Run, workers: int, name: str) -> None:
    """Check the scores, and report the lines of the table."""
    beside = _english()
    used, words, expected = alone(task)
    beside += _english()  # before and after, since other work on the machine comes and goes
    least, most = check(task, run, expected)
    outputs = sum(map(len, task.teams.values()))
    what = (
        f"{name}: {outputs} outputs of {len(task.teams)} teams, {len(task.gold)} parts, {words:,} words, "
        f"LAS of teams with all parts {least:.2f} to {most:.2f}"
    )
    whole = words > WHOLE
    figures = (
        f"{run.service_cpu:.1f} s of the service and {used:.1f} s, {words / run.service_cpu:,.0f} and "
        f"{words / used:,.0f} words a CPU second; client {run.client_cpu:.1f} s"
    )
    rows = [
        ("CPU of all processes, start to stop of the service", run.total_cpu, 80, "all scores are the library's", "s"),
        (f"seconds on {os.cpu_count()} cores with {workers} workers", run.seconds, 42,
         f"from the first POST to the final board; {run.board_seconds:.1f} s of them after the last score", "s"),
        ("largest process", run.largest[0] / 1e6, 240, run.largest[1], "MB"),
        ("stored", run.stored / 1e6, 375, f"{run.stored / words:.1f} bytes a word", "MB"),
    ]  # fmt: skip
    report(Measure(f"{what}, CPU from the first POST to the final board", PROCESS, "reading and comparing alone",
                   run.service_cpu / used, Goal(2.0), figures))  # fmt: skip
    for row, value, bound, note, unit in rows:
        report(Measure(f"the same, {row}", PROCESS, "-", value, Goal(bound) if whole else None, note, unit))
    if beside:
        a_word, of_ewt = used / words, median(beside)
        report(Measure("the same, reading and comparing a word", READ, "English EWT", a_word / of_ewt, None,
                       f"{a_word * 1e6:.2f} and {of_ewt * 1e6:.2f} µs; 1.6 in the task itself"))  # fmt: skip


def _english() -> list[float]:
    """Read and compare the outputs for English EWT a few times: CPU seconds a word; nothing where they are absent."""
    if not EWT.is_dir():
        return []
    paths = {path.stem: path for path in EWT.glob("*.conllu")}
    gold = {"en_ewt": paths.pop("gold")}
    task = SharedTask(gold, {side: {"en_ewt": path} for side, path in paths.items()})
    taken = [alone(task)[:2] for _ in range(4)]
    return [used / words for used, words in taken[1:]]


def main() -> None:
    """Run the shared task, then its reference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=Path, default=_folder("TREESCORE_CONLL2018_GOLD"))
    parser.add_argument("--outputs", type=Path, default=_folder("TREESCORE_CONLL2018_OUTPUTS"))
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--together", type=int, default=4, help="teams that send at the same time")
    parser.add_argument("--teams", type=int, default=TEAMS, help="of the likeness")
    parser.add_argument("--parts", type=int, default=PARTS, help="of the likeness")
    parser.add_argument("--quick", action="store_true", help="a likeness of few teams and parts")
    given = parser.parse_args()
    print(machine("rq", "gunicorn", "sqlalchemy"))
    warm()
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as name:
        folder = Path(name)
        (folder / "service").mkdir()
        if given.gold and given.outputs:
            label, task = "CoNLL 2018 whole", of_folders(given.gold, given.outputs)
        else:
            label = f"likeness of CoNLL 2018 from {base_name()}"
            write(folder, *((3, 4) if given.quick else (given.teams, given.parts)))
            task = of_folders(folder / "gold", folder / "outputs")
        run = through_the_api(task, folder / "service", given.workers, given.together)
        show(task, run, given.workers, label)


def _folder(variable: str) -> Path | None:
    return Path(os.environ[variable]) if variable in os.environ else None


if __name__ == "__main__":
    main()
