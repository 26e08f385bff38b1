"""The example benchmarks of `make run`: made over HTTP as an organiser makes them, once for a data directory."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import httpx

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
    names = ("id", "title", "format", "metrics", "feedback", "leaderboard", "tracks", "about")
    gold = _parts(definition, (examples / definition["folder"] / "gold").with_suffix(definition["ending"]))
    request: dict[str, Any] = {name: definition[name] for name in names if name in definition}
    request["parts"] = {name: {"gold": text} for name, text in gold}
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
