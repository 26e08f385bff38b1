"""A benchmark to attack: its gold, a rival and an attacker, each with one doubtful word a sentence.

All words but the doubtful ones are right in every output. So a sentence is right where its doubtful word is, and the
correctness of an output is one bit a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.contract.checking import CheckedClient
from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.contexts import steady_clock

WORDS = 5
"""Words of a sentence."""
SLUG = "target"
Bits = NDArray[np.bool_]


def conllu(doubtful: list[str]) -> str:
    """Return sentences of WORDS words, with these relations of their third words."""
    sentences = []
    for relation in doubtful:
        relations = ["det", "nsubj", relation, "punct"]
        rows = [f"{at}\tw{at}\t_\tX\t_\t_\t5\t{name}\t_\t_" for at, name in enumerate(relations, 1)]
        sentences.append("\n".join([*rows, "5\tw5\t_\tX\t_\t_\t0\troot\t_\t_"]))
    return "\n\n".join([*sentences, ""]) + "\n"


@dataclass
class Victim:
    """A benchmark on a stage.

    Attributes:
        stage: the service.
        attacker: the client of the attacking team.
        organiser: the client of the organisers.
        gold: relation of each doubtful word.
        rival: right or wrong of each sentence of the rival's picked output; the secret.
        rival_id: the id of that output.
    """

    stage: Stage
    attacker: CheckedClient
    organiser: CheckedClient
    gold: list[str]
    rival: Bits
    rival_id: str
    day: list[int]

    @property
    def sentences(self) -> int:
        """The number of gold's sentences."""
        return len(self.gold)

    def next_day(self) -> None:
        """Let a day pass, so that daily quotas are refilled."""
        self.day[0] += 1


@contextmanager
def victim(folder: Path, redis_url: str, level: str, sentences: int, seed: int, **settings: Any) -> Iterator[Victim]:
    """Make a benchmark of one part at a feedback level, with quotas by default."""
    chance = np.random.default_rng(seed)
    gold = [("obj", "obl")[bit] for bit in chance.integers(0, 2, sentences)]
    rival = chance.random(sentences) < 0.5
    stage = open_stage(folder, redis_url)
    day = [0]
    clock = steady_clock()
    now: Callable[[], Any] = lambda: clock() + timedelta(days=day[0])  # noqa: E731 - a clock is a function
    stage.context = replace(stage.context, now=now)
    stage.queue.context = stage.context
    stage.app.extensions["treescore"] = stage.context
    try:
        organiser = stage.client()
        benchmark = {"id": SLUG, "title": "Target", "format": "conllu", "metrics": ["attachment"], "feedback": level}
        _made(organiser, "/v1/benchmarks", {**benchmark, **settings, "parts": {"en": {"gold": conllu(gold)}}})
        tokens = [
            _made(organiser, f"/v1/benchmarks/{SLUG}/teams", {"id": name, "name": name})["token"]
            for name in ("rival", "attacker")
        ]
        theirs = [relation if right else "dep" for relation, right in zip(gold, rival, strict=True)]
        sent = _made(stage.client(tokens[0]), *submission("theirs", theirs))
        yield Victim(stage, stage.client(tokens[1]), organiser, gold, rival, sent["id"], day)
    finally:
        close_stage(stage)


def submission(name: str, doubtful: list[str]) -> tuple[str, dict[str, Any]]:
    """Return the address and the body of a submission with these relations of the doubtful words."""
    return f"/v1/benchmarks/{SLUG}/submissions", {"name": name, "outputs": {"en": conllu(doubtful)}}


def _made(client: CheckedClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    response = client.post(path, json=body)
    assert response.status_code in (201, 202), response.text
    answer: dict[str, Any] = response.json
    return answer
