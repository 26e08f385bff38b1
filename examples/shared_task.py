"""A shared task from beginning to end, over HTTP: gold and outputs in, a ranking with clusters out.

    python examples/shared_task.py GOLD SYSTEMS [options]

GOLD is a folder with a file for each part (`cs_pdt.conllu`, `en_ewt.conllu`, ...) and SYSTEMS a folder with a folder
for each system, with the same file names in it: so the CoNLL 2018 shared task can be downloaded. Or GOLD is one file,
and SYSTEMS a folder with one output for each system:

    python examples/shared_task.py examples/dependencies/gold.conllu examples/dependencies/systems

Without --url a service of its own is started for the time of the run, in a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

ROOT = Path(__file__).resolve().parent.parent
WAIT = {"Prefer": "wait=30"}
UNFINISHED = ("queued", "running")
SETTINGS = {
    "feedback": "scores",
    "quota": {"scored_per_day": 5, "scored_total": 100, "attempts_per_day": 20},
    # the claims are about these very documents: seven are too few for claims about others
    "leaderboard": {"unit": "sentence"},
}
"""What each team may see and send; these are the defaults too."""
Parts = Mapping[str, Path]


def main() -> int:
    """Run the task; return 0 where a ranking was made."""
    options = parsed()
    gold = gold_parts(options.gold)
    systems = system_parts(options.systems, gold, options.gold)
    if not gold or not systems:
        print("No gold file, or no output for it, was found in these paths.", file=sys.stderr)
        return 2
    began = monotonic()
    with ExitStack() as stack:
        url, token = (options.url, os.environ.get("TREESCORE_TOKEN", ""))
        if url is None:
            url, token = stack.enter_context(own_service())
        organiser = stack.enter_context(client(url, token))
        progress = stack.enter_context(bar())
        create_benchmark(organiser, options, gold)
        entries = submit_all(organiser, url, options, systems, progress)
        failed = wait_for_all(organiser, entries, progress)
        board = settled_board(organiser, options.id)
    names = {submission: name for name, submission in entries.items()}
    print(ranking(board))
    for name, why in failed.items():
        print(f"{name}: {why}")
    if options.json:
        found = {names[row["submission"]]: row for row in board["rows"]}
        options.json.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2))
    print(f"{len(entries)} systems, {len(gold)} part{'s' if len(gold) > 1 else ''}, {monotonic() - began:.1f} s")
    return 0 if board["rows"] else 1


def parsed() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("systems", type=Path)
    parser.add_argument("--id", default="shared-task", help="id of the benchmark")
    parser.add_argument("--title", default="A shared task")
    parser.add_argument("--format", default="conllu")
    parser.add_argument("--metric", default="ud")
    parser.add_argument("--main-score", help="as ud.las_f1; the metric's first score unless given")
    parser.add_argument("--baseline", action="append", default=[], metavar="SYSTEM", help="unranked; repeatable")
    parser.add_argument("--url", help="a running service; its organise token is read from TREESCORE_TOKEN")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows of the board, by system, there")
    return parser.parse_args()


def gold_parts(place: Path) -> dict[str, Path]:
    """Return part -> file."""
    if place.is_file():
        return {place.stem: place}
    return {path.stem: path for path in sorted(place.iterdir()) if path.is_file() and not path.name.startswith(".")}


def system_parts(folder: Path, gold: Parts, gold_place: Path) -> dict[str, dict[str, Path]]:
    """Return system -> part -> file. A part that a system has no file for counts as the worst value."""
    if gold_place.is_file():
        ending, (part,) = gold_place.suffix, gold
        outputs = (path for path in sorted(folder.glob(f"*{ending}")) if path.resolve() != gold_place.resolve())
        return {path.stem: {part: path} for path in outputs}
    found = {}
    for system in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = {part: system / path.name for part, path in gold.items()}
        found[system.name] = {part: path for part, path in files.items() if path.is_file()}
    return {system: parts for system, parts in found.items() if parts}


@contextmanager
def own_service() -> Iterator[tuple[str, str]]:
    """Start a service for the time of the run; yield its address and its organise token."""
    with tempfile.TemporaryDirectory(prefix="treescore-") as folder:
        command = [sys.executable, "-m", "treescore.cli.main", "serve", "--bind", f"127.0.0.1:{free_port()}"]
        command += ["--data-dir", folder]
        with Path(folder, "log").open("w") as log:
            server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT)  # noqa: S603 - our own command line
        try:
            words = (server.stdout.readline() if server.stdout else "").split()
            if not words:
                sys.exit(f"The service did not start:\n{Path(folder, 'log').read_text()[-2000:]}")
            yield words[words.index("at") + 1], words[-1].rstrip(")")
        finally:
            server.terminate()
            server.wait()
            if server.stdout:
                server.stdout.close()


def free_port() -> int:
    """Return a free port on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def client(url: str, token: str) -> httpx.Client:
    """Return a client with this token."""
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=120)


@contextmanager
def bar() -> Iterator[Progress]:
    """Show a progress bar on standard error, where that is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield progress


def answer(response: httpx.Response) -> dict[str, Any]:
    """Return the document of an answer; end the run with the problems of another."""
    document: dict[str, Any] = orjson.loads(response.content)
    if response.is_success:
        return document
    problems = [f"  {each.get('pointer', '')}: {each['detail']}" for each in document.get("errors", ())]
    sys.exit("\n".join([f"{response.status_code}: {document.get('detail', document['title'])}", *problems]))


def post_files(
    sender: httpx.Client, path: str, meta: Mapping[str, Any], parts: Parts, headers: Mapping[str, str]
) -> dict[str, Any]:
    """Send a form: the document `meta`, and a file for each part, streamed."""
    with ExitStack() as stack:
        files = {part: (file.name, stack.enter_context(file.open("rb"))) for part, file in parts.items()}
        return answer(sender.post(path, data={"meta": orjson.dumps(meta)}, files=files, headers=headers))


def create_benchmark(organiser: httpx.Client, options: argparse.Namespace, gold: Parts) -> None:
    """Make the benchmark and wait until its gold is checked."""
    meta: dict[str, Any] = {"id": options.id, "title": options.title, "format": options.format, **SETTINGS}
    meta["metrics"] = [options.metric]
    if options.main_score:
        meta["main_score"] = options.main_score
    benchmark = post_files(organiser, "/v1/benchmarks", meta, gold, WAIT)
    while benchmark["state"] in ("checking", "rescoring"):
        benchmark = answer(organiser.get(f"/v1/benchmarks/{options.id}", headers=WAIT))
    if benchmark["state"] != "active":
        problems = [f"  {each['detail']}" for each in (benchmark["failure"] or {}).get("errors", ())]
        sys.exit("\n".join(["The gold standard did not pass its check.", *problems]))


def submit_all(
    organiser: httpx.Client, url: str, options: argparse.Namespace, systems: Mapping[str, Parts], progress: Progress
) -> dict[str, str]:
    """Submit each system as a team of its own, baselines as the organisers; return system -> submission."""
    task = progress.add_task("submitting", total=len(systems))
    found = {}
    for system, parts in systems.items():
        path = f"/v1/benchmarks/{options.id}/submissions"
        if system in options.baseline:
            submission = post_files(organiser, path, {"name": system, "role": "baseline"}, parts, {})
        else:
            team = {"id": re.sub(r"[^A-Za-z0-9_.-]+", "-", system).lstrip("_.-")[:60], "name": system}
            token = answer(organiser.post(f"/v1/benchmarks/{options.id}/teams", json=team))["token"]
            with client(url, token) as sender:
                submission = post_files(sender, path, {"name": system}, parts, {})
        found[system] = submission["id"]
        progress.advance(task)
    return found


def wait_for_all(organiser: httpx.Client, entries: Mapping[str, str], progress: Progress) -> dict[str, str]:
    """Wait until all are scored; return why a system could not be scored, wholly or in part."""
    task = progress.add_task("scoring", total=len(entries))
    problems = {}
    for system, submission in entries.items():
        document = {"state": UNFINISHED[0]}
        while document["state"] in UNFINISHED:
            document = answer(organiser.get(f"/v1/submissions/{submission}", headers=WAIT))
        progress.update(task, description=f"scored {system}", advance=1)
        parts = (document["scores"] or {}).get("parts", {})
        failed = [part for part, found in parts.items() if found["state"] != "scored"]
        if document["state"] != "succeeded":
            problems[system] = f"{document['state']}: {(document['failure'] or {}).get('detail', '')}"
        elif failed:
            problems[system] = f"counted as the worst value, because missing or failed: {', '.join(failed)}"
    return problems


def settled_board(organiser: httpx.Client, slug: str) -> dict[str, Any]:
    """Return the leaderboard once the differences on it are tested; its rows are ready earlier."""
    pause = threading.Event()
    while True:
        response = organiser.get(f"/v1/benchmarks/{slug}/leaderboard")
        board = answer(response)
        if not board["significance"]["pending"]:
            return with_all_rows(organiser, slug, board)
        pause.wait(min(0.2, float(response.headers.get("Retry-After", 1))))


def with_all_rows(organiser: httpx.Client, slug: str, board: dict[str, Any]) -> dict[str, Any]:
    """Return a board with the rows of all its pages."""
    rows, cursor = list(board["rows"]), board["next"]
    while cursor is not None:
        page = answer(organiser.get(f"/v1/benchmarks/{slug}/leaderboard", params={"cursor": cursor}))
        rows, cursor = rows + page["rows"], page["next"]
    return {**board, "rows": rows, "next": None}


def ranking(board: Mapping[str, Any]) -> str:
    """Return the board as text, with a line where every system above differs significantly from every one below."""
    rows = [("rank", "could be", "cluster", "system", board["score"], "95 % interval", "p to next")]
    lines_above = set()
    cluster = None
    for row in board["rows"]:
        interval, ranks = row["ci95"], row["rank_interval"]
        if row["cluster"] is not None:
            if cluster is not None and row["cluster"] != cluster:
                lines_above.add(len(rows))
            cluster = row["cluster"]
        rows.append(
            (
                "-" if row["rank"] is None else str(row["rank"]),
                "" if ranks is None else "-".join(map(str, sorted(set(ranks)))),
                "" if row["cluster"] is None else str(row["cluster"]),
                f"{row['name']} (baseline)" if row["role"] == "baseline" else row["name"],
                "-" if row["score"] is None else f"{100 * row['score']:.2f}",
                "" if interval is None else f"{100 * interval['low']:.2f}-{100 * interval['high']:.2f}",
                "" if row["p_next"] is None else f"{row['p_next']:.3g}",
            )
        )
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        if number == 1 or number in lines_above:
            lines.append("-" * (sum(widths) + 2 * len(widths) - 2))
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
