"""What `benchmarks/pages.py` looks at: a board of many rows and parts, and outputs with sentences of known size."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from constituency import generated, relabelled
from shared_task import RELATIONS, Filler, finished, parsed, trees, written

from service.config import load_config
from service.store import benchmarks
from service.store.database import Store

WIDE = "wide"
SENTENCES_OF_A_PART = 10
FREE = {"scored_per_day": None, "scored_total": None, "attempts_per_day": None}


def wide_board(client: httpx.Client, data: Path, teams: int, parts: int) -> str:
    """Make a public board of so many teams and parts. Return the output that was sent whole, to send it again."""
    rng = np.random.default_rng(1)
    gold = [trees(rng, SENTENCES_OF_A_PART) for _ in range(parts)]
    names = [f"part_{number:03d}" for number in range(parts)]
    made(client, WIDE, "conllu", "ud", dict(zip(names, map(written, gold), strict=True)))
    outputs = {name: written(parsed(rng, part, 0.1)) for name, part in zip(names, gold, strict=True)}
    pattern = sent(client, WIDE, "first", outputs)
    store = Store(load_config({"TREESCORE_DATA_DIR": str(data)}).database_url)
    filler = Filler(store, pattern, WIDE, parts)
    for number in range(teams - 1):
        filler.team(number, 1, rng)
    with store.write() as db:
        benchmarks.touch_board(db, WIDE)
    store.close()
    del outputs[names[-1]]
    sent(client, WIDE, "first", outputs)
    return pattern


def touched(data: Path) -> None:
    """Count a change of the board, as a new submission does."""
    store = Store(load_config({"TREESCORE_DATA_DIR": str(data)}).database_url)
    with store.write() as db:
        benchmarks.touch_board(db, WIDE)
    store.close()


def dependencies(client: httpx.Client, words: int, sentences: int) -> str:
    """Make a benchmark of sentences of so many words, and send an output; return its submission."""
    rng = np.random.default_rng(words)
    gold = [sentence_of(rng, words) for _ in range(sentences)]
    slug = f"words-{words}"
    made(client, slug, "conllu", "attachment", {"all": written(gold)})
    return sent(client, slug, "one", {"all": written(parsed(rng, gold, 0.15))})


def sentence_of(rng: np.random.Generator, words: int) -> list[list[str]]:
    """Make a tree of so many words in CoNLL-U's columns: most heads are near, some far."""
    rows = []
    for word in range(1, words + 1):
        near = int(rng.geometric(0.35)) if rng.random() < 0.9 else int(rng.integers(1, words + 1))
        head = max(1, word - near) if word > 1 else 0
        relation = "root" if head == 0 else str(rng.choice(RELATIONS))
        rows.append([str(word), f"word{rng.integers(2_000)}", "_", "NOUN", "_", "_", str(head), relation, "_", "_"])
    return rows


def constituents(client: httpx.Client, sentences: int) -> str:
    """Make a benchmark of constituency trees of about 20 words, and send an output; return its submission."""
    lines = generated(sentences, seed=1)
    made(client, "constituents", "bracketed", "parseval", {"all": "".join(lines)})
    return sent(client, "constituents", "one", {"all": "".join(relabelled(lines))})


def made(client: httpx.Client, slug: str, form: str, metric: str, golds: dict[str, str]) -> None:
    """Create a public benchmark at level `scores`, and wait until its gold is checked."""
    meta: dict[str, Any] = {
        "id": slug, "title": f"Pages: {slug}", "format": form, "metrics": [metric], "quota": FREE, "feedback": "scores",
        "leaderboard": {"public": True, "unit": "sentence"},
        "parts": {name: {"gold": text} for name, text in golds.items()},
    }  # fmt: skip
    client.post("/v1/benchmarks", json=meta).raise_for_status()
    document = finished(client, f"/v1/benchmarks/{slug}")
    if document["state"] != "active":
        sys.exit(str(document["failure"]))


def sent(client: httpx.Client, slug: str, team: str, outputs: dict[str, str]) -> str:
    """Send an output of a team, which is made if it is new; return the submission once it is scored."""
    client.post(f"/v1/benchmarks/{slug}/teams", json={"id": team, "name": team.title()})
    answer = client.post(f"/v1/benchmarks/{slug}/submissions", json={"name": "run", "team": team, "outputs": outputs})
    answer.raise_for_status()
    document = finished(client, f"/v1/submissions/{answer.json()['id']}")
    if document["state"] != "succeeded":
        sys.exit(str(document["failure"]))
    return str(document["id"])
