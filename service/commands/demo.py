"""`treescore demo` (`make run`): start the service, score the example benchmark, print the results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import httpx

from service.commands.example_boards import make_boards
from service.config import load_config
from treescore.evaluation.report import percent_scores
from treescore.evaluation.spec import parse_spec
from treescore.render import render_comparisons
from treescore.render.scores import score_tables
from treescore.render.tables import text_table

EXAMPLES = Path(__file__).parents[2] / "examples"
BENCHMARKS: Mapping[str, tuple[str, str, list[str]]] = {
    "trees": ("bracketed", ".mrg", ["parseval", "leaf_ancestor"]),
    "dependencies": ("conllu", ".conllu", ["attachment"]),
}
WAIT_SECONDS = 60


@click.command()
@click.option("--once", is_flag=True, help="End after printing.")
@click.option("--bind", default="127.0.0.1:8000", show_default=True, help="Address and port of the API.")
@click.option("--data-dir", type=click.Path(path_type=Path), default=Path(".treescore"), show_default=True)
def demo(bind: str, data_dir: Path, *, once: bool) -> None:
    """Start the service, score the example benchmarks over HTTP, print scores and name the page."""
    if not EXAMPLES.is_dir():
        raise click.ClickException("The example benchmark is part of a checkout. Run `make run` there.")
    command = [sys.executable, "-m", "service", "serve", "--bind", bind, "--data-dir", str(data_dir)]
    quiet = {}
    if once:
        command.append("--no-compiler")  # nothing is done later
        quiet = {"TREESCORE_LOG_LEVEL": "error"}
    server = subprocess.Popen(  # noqa: S603 - our own command line
        command, env={**quiet, **os.environ}, stdout=subprocess.PIPE, text=True
    )
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda number, _: server.send_signal(number))
    try:
        line = (server.stdout.readline() if server.stdout else "").strip()
        if not line:
            raise click.ClickException("The service did not start. See the log above.")
        address, token = ready_address(line)
        shown = token or "the one that you gave"
        token = token or load_config().admin_token
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=120) as client:
            for name in BENCHMARKS:
                show_scores(name, client)
            board = make_boards(client, EXAMPLES)
        click.echo(f"Open in a browser: {address}/b/{board}   (reference: {address}/docs)")
        click.echo(f"Sign in:           {address}/sign-in   (then the teams' names lead to their sentences)")
        click.echo(f"Organise token:    {shown}")
        if not once:
            click.echo("The service continues; Ctrl-C stops it.")
            server.wait()
    finally:
        if server.poll() is None:
            server.terminate()
        server.wait()


def ready_address(ready_line: str) -> tuple[str, str]:
    """Return address and token from the line that `treescore serve` prints; no token if it was given from outside."""
    words = ready_line.split()
    return words[words.index("at") + 1], words[-1].rstrip(")") if "token:" in words else ""


def show_scores(name: str, client: httpx.Client) -> None:
    """Score one example benchmark and print it."""
    request = request_for(name)
    response = client.post("/v1/jobs", json=request, headers={"Prefer": f"wait={WAIT_SECONDS}"})
    response.raise_for_status()
    job = response.json()
    if job["state"] != "succeeded":
        raise click.ClickException(f"The example job {job['id']} is {job['state']}: {job['failure']}")
    click.echo(f"\n=== examples/{name}: job {job['id']} ===\n")
    spec, comparisons = parse_spec(request), job["results"]["comparisons"]
    for table in score_tables(spec, job["results"]["systems"], job["warnings"]):
        click.echo(text_table(table))
    shown = render_comparisons(comparisons, "text", shares=percent_scores(spec, comparisons))
    click.echo(shown.content.decode())


def request_for(name: str) -> dict[str, object]:
    """Return the job request of one example benchmark."""
    text_format, ending, metrics = BENCHMARKS[name]
    folder = EXAMPLES / name
    return {
        "format": text_format,
        "gold": (folder / f"gold{ending}").read_text(encoding="utf-8"),
        "systems": [
            {"name": path.stem, "output": path.read_text(encoding="utf-8")}
            for path in sorted((folder / "systems").glob(f"*{ending}"))
        ],
        "metrics": metrics,
    }
