"""Score all outputs of a shared task through the API, as its teams would send them, and wait for the final board.

    .venv/bin/python benchmarks/conll2018.py [--gold FOLDER --outputs FOLDER | --copies 39] [--workers 2] [--together 4]

FOLDER of --gold holds a file for each treebank, TREEBANK.conllu; that of --outputs a folder for each team with files
of the same names, which is how the archive of the CoNLL 2018 shared task is laid out (docs/operate/benchmarks.md says
where it is). A team's missing treebanks stay missing. Without folders, the eight outputs for English EWT are cut into
parts and repeated with errors for 26 teams.

One benchmark has all treebanks as its parts; each team sends all its outputs in one submission. Then the same texts
are read and compared in one process, gold read once. CPU seconds are of all processes of the service, ended ones
included; the client's, which stands for the teams, are shown apart.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import psutil
from services import Service
from table import DATA, PROCESS, Goal, Measure, cpu_seconds, machine, not_measured, report
from texts import numbered, words_of

from tests.fixtures.service_process import until
from treescore.client import Client
from treescore.errors import ScoringError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.warm import warm

SLUG = "conll2018"
EWT = DATA / "ud_en_ewt" / "conll2018"
PATIENCE = 3600.0
WHOLE = 29_000_000
"""Words of all outputs of the shared task, for which the goal in seconds was set."""
SPEC: dict[str, Any] = {"format": "conllu", "metrics": ["ud"]}
CUTS = 2
"""Parts into which the outputs of English EWT are cut where there are no folders: of 12,500 words,
as those of the shared task have 15,200 on average."""


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
        service_cpu: CPU seconds of all processes of the service.
        client_cpu: CPU seconds of the teams' client.
        rows: of the board.
        documents: team -> its submission, scored.
    """

    seconds: float = 0.0
    board_seconds: float = 0.0
    service_cpu: float = 0.0
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


def cut(source: Path, folder: Path, teams: int, parts: int = CUTS, copies: int = 1) -> SharedTask:
    """Cut gold and the outputs of one treebank into parts, in folders like the archive's; no two files are equal.

    Outputs have sentences of their own: a part ends where gold and every output end a sentence. Where there are more
    teams than outputs, the further ones send the same outputs with some wrong relations more.
    """
    paths = {path.stem: path for path in sorted(source.glob("*.conllu"))}
    sentences = {name: _sentences(path.read_bytes()) for name, path in paths.items()}
    ends = {name: _ends(found) for name, found in sentences.items()}
    common = sorted(set.intersection(*(set(found) for found in ends.values())))
    bounds = [common[len(common) * number // parts - 1] for number in range(1, parts + 1)]
    systems = [name for name in paths if name != "gold"]
    sides = [("gold", "gold", 0)]
    for number in range(teams):
        system, again = systems[number % len(systems)], number // len(systems)
        sides.append((f"outputs/{system}" + (f"-{again}" if again else ""), system, again))
    for where, name, again in sides:
        (folder / where).mkdir(parents=True)
        begin = 0
        for number, bound in enumerate(bounds):
            end = ends[name].index(bound) + 1
            text = _spoilt(b"".join(sentences[name][begin:end]), again)
            for copy in range(copies):
                part = folder / where / f"part-{number + copy * parts:02d}.conllu"
                part.write_bytes(numbered(text, 100 * again + copy))
            begin = end
    return of_folders(folder / "gold", folder / "outputs")


def _spoilt(text: bytes, often: int) -> bytes:
    """Change the relation of each word of a few numbers, of more of them the larger `often` is."""
    lines = text.split(b"\n")
    for at, line in enumerate(lines):
        columns = line.split(b"\t")
        if at % 40 < often and len(columns) == 10 and columns[6] != b"0":
            lines[at] = b"\t".join([*columns[:7], b"dep", *columns[8:]])
    return b"\n".join(lines)


def _sentences(text: bytes) -> list[bytes]:
    return [block + b"\n\n" for block in text.replace(b"\r", b"").strip(b"\n").split(b"\n\n")]


def _ends(sentences: list[bytes]) -> list[int]:
    """Return the number of characters, without spaces, up to the end of each sentence."""
    found, size = [], 0
    for sentence in sentences:
        inside = 0
        for line in sentence.decode().splitlines():
            identifier, _, rest = line.partition("\t")
            if line.startswith("#") or not identifier or "." in identifier:
                continue
            first, _, last = identifier.partition("-")
            if last:
                inside = int(last)
            elif int(first) <= inside:
                continue
            else:
                inside = 0
            size += len("".join(rest.partition("\t")[0].split()))
        found.append(size)
    return found


def through_the_api(task: SharedTask, folder: Path, workers: int, together: int) -> Run:
    """Have a service score a shared task; a few teams send at the same time.

    Raises:
        RuntimeError: a submission has no score.
    """
    service = Service(folder, workers=workers, TREESCORE_MAX_QUEUED="0")
    service.start()
    run = Run()
    try:
        with Client(service.address, service.token, PATIENCE) as client:
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
    return run


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


def show(task: SharedTask, run: Run, workers: int, name: str) -> None:
    """Report the lines of the table."""
    warm()
    used, words, _ = alone(task)
    outputs = sum(map(len, task.teams.values()))
    what = f"{name}: {outputs} outputs of {len(task.teams)} teams, {len(task.gold)} parts, {words:,} words"
    figures = (
        f"{run.service_cpu:.1f} s of the service and {used:.1f} s, {words / run.service_cpu:,.0f} and "
        f"{words / used:,.0f} words a CPU second; client {run.client_cpu:.1f} s"
    )
    report(Measure(f"{what}, CPU of all processes", PROCESS, "reading and comparing alone", run.service_cpu / used,
                   Goal(3.0), figures))  # fmt: skip
    report(Measure(f"the same, seconds on {os.cpu_count()} cores with {workers} workers", PROCESS, "-", run.seconds,
                   Goal(105.0) if words > WHOLE else None, "from the first POST to the final board", "s"))  # fmt: skip
    report(Measure(f"the same, board of {run.rows} rows final after the last score", PROCESS, "-", run.board_seconds,
                   Goal(10.0), "", "s"))  # fmt: skip


def main() -> None:
    """Run the shared task, then its reference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=Path, default=_folder("TREESCORE_CONLL2018_GOLD"))
    parser.add_argument("--outputs", type=Path, default=_folder("TREESCORE_CONLL2018_OUTPUTS"))
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--together", type=int, default=4, help="teams that send at the same time")
    parser.add_argument("--copies", type=int, default=39, help="without folders: copies of each half of English EWT")
    parser.add_argument("--quick", action="store_true", help="without folders: few teams and parts")
    given = parser.parse_args()
    print(machine("rq", "gunicorn", "sqlalchemy"))
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as name:
        folder = Path(name)
        (folder / "service").mkdir()
        if given.gold and given.outputs:
            label, task = "CoNLL 2018 whole", of_folders(given.gold, given.outputs)
        elif EWT.is_dir():
            label, task = (
                "CoNLL 2018, English EWT in parts",
                cut(EWT, folder, *((3, 2) if given.quick else (26, CUTS, given.copies))),
            )
        else:
            not_measured("CoNLL 2018", PROCESS, "reading and comparing alone", "neither --gold and --outputs nor "
                         f"{EWT.relative_to(DATA.parent)} in the data", Goal(3.0))  # fmt: skip
            return
        run = through_the_api(task, folder / "service", given.workers, given.together)
        show(task, run, given.workers, label)


def _folder(variable: str) -> Path | None:
    return Path(os.environ[variable]) if variable in os.environ else None


if __name__ == "__main__":
    main()
