"""`treescore demo` (`make run`): start the service, make the example boards, score, print the results.

The example benchmarks are made over HTTP as an organiser makes them, once for a data directory.
"""

import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import httpx

from service.config import load_config
from treescore.evaluation.report import percent_scores
from treescore.evaluation.spec import parse_spec
from treescore.render.forms import render_comparisons, score_tables
from treescore.render.table import text_table

DEFINITIONS = "benchmarks.toml"
WAIT_SECONDS = 60
TAKEN = 409
_BLOCKS = {".conllu": "\n\n"}
"""What ends a sentence, by the ending of a file; else the end of a line."""


def make_boards(client: httpx.Client, examples: Path) -> str:
    """Make the example benchmarks with their submissions, as far as they are not there; return the id of the first.

    Raises:
        ClickException: the service refused one.
    """
    definitions = tomllib.loads((examples / DEFINITIONS).read_text(encoding="utf-8"))["benchmark"]
    for definition in definitions:
        _make(client, definition, examples)
        _submit_all(client, definition, examples)
        _revise(client, definition)
    return str(definitions[0]["id"])


def _make(client: httpx.Client, definition: Mapping[str, Any], examples: Path) -> None:
    """Make a benchmark unless it is there, and wait until it takes submissions."""
    names = ("id", "title", "format", "metrics", "feedback", "leaderboard", "tracks", "about", "publish_input")
    gold = _parts(definition, (examples / definition["folder"] / "gold").with_suffix(definition["ending"]))
    request: dict[str, Any] = {name: definition[name] for name in names if name in definition}
    request["parts"] = {name: {"gold": text} for name, text in gold}
    if "words" in definition:
        sides = [_parts(definition, examples / definition["folder"] / name) for name in definition["words"]]
        for (name, source), (_, target) in zip(*sides, strict=True):
            pairs = zip(source.splitlines(), target.splitlines(), strict=True)
            request["parts"][name]["items"] = {"words": [list(pair) for pair in pairs]}
    _require(client.post("/v1/benchmarks", json=request), TAKEN)
    _wait(client, f"/v1/benchmarks/{definition['id']}/revisions/1")


def _submit_all(client: httpx.Client, definition: Mapping[str, Any], examples: Path) -> None:
    """Send the output of each system that is not there yet, as its team or as a baseline; wait until all are scored."""
    slug, ending = definition["id"], definition["ending"]
    there = client.get(f"/v1/benchmarks/{slug}/submissions", params={"limit": 100})
    _require(there)
    names = {each["name"] for each in there.json()["items"]}
    sent = []
    for path in sorted((examples / definition["folder"] / "systems").glob(f"*{ending}")):
        if path.stem in names:
            continue
        lacks = definition.get("missing", {}).get(path.stem, ())
        outputs = {name: text for name, text in _parts(definition, path) if name not in lacks}
        request: dict[str, Any] = {"name": path.stem, "outputs": outputs}
        if path.stem in definition["baselines"]:
            request["role"] = "baseline"
        else:
            _require(client.post(f"/v1/benchmarks/{slug}/teams", json={"id": path.stem, "name": path.stem}), TAKEN)
            request["team"] = path.stem
        response = client.post(f"/v1/benchmarks/{slug}/submissions", json=request)
        _require(response)
        sent.append(response.headers["Location"])
    for address in sent:
        _wait(client, address)


def _revise(client: httpx.Client, definition: Mapping[str, Any]) -> None:
    """Make the second revision, where the definition has one and the benchmark has not."""
    if "revision" not in definition:
        return
    address = f"/v1/benchmarks/{definition['id']}/revisions"
    if client.get(f"{address}/2").is_success:
        return
    _require(client.post(address, json=definition["revision"]))
    _wait(client, f"{address}/2")


def _wait(client: httpx.Client, address: str) -> None:
    """Wait until the work behind an address is done, or WAIT_SECONDS."""
    _require(client.get(address, headers={"Prefer": f"wait={WAIT_SECONDS}"}))


def _parts(definition: Mapping[str, Any], path: Path) -> Iterator[tuple[str, str]]:
    """Yield the parts of a file by name."""
    block = _BLOCKS.get(definition["ending"], "\n")
    sentences = path.read_text(encoding="utf-8").rstrip("\n").split(block)
    for name, stretches in definition["parts"].items():
        yield name, "".join(sentence + block for sentence in _chosen(sentences, stretches))


def _chosen(sentences: Sequence[str], stretches: Sequence[tuple[int, int]]) -> Iterator[str]:
    for first, last in stretches:
        yield from sentences[first - 1 : last]


def _require(response: httpx.Response, *allowed: int) -> None:
    if response.is_error and response.status_code not in allowed:
        raise click.ClickException(f"The example benchmarks could not be made: {response.text}")


EXAMPLES = Path(__file__).parents[2] / "examples"
BENCHMARKS: Mapping[str, tuple[str, str, list[str]]] = {
    "trees": ("bracketed", ".mrg", ["parseval", "leaf_ancestor"]),
    "dependencies": ("conllu", ".conllu", ["attachment"]),
}


STOPS = (signal.SIGTERM, signal.SIGINT)


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
    try:
        for sign in STOPS:
            signal.signal(sign, lambda *_: sys.exit())  # wherever this is, without a word; the service stops below
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
        for sign in STOPS:
            signal.signal(sign, signal.SIG_IGN)
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
