"""A shared task on a stage: benchmarks with teams, submissions and comparisons, made over HTTP."""

from __future__ import annotations

from itertools import count
from typing import Any

from tests.contract.checking import CheckedClient
from tests.contract.stage import Stage
from tests.fixtures.contexts import give_up
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.tasks import UNLIMITED

_NUMBERS = count(1)
BENCHMARK: dict[str, Any] = {
    "title": "Tiny English dependencies, test",
    "format": "conllu",
    "metrics": ["attachment"],
    "parts": {"en": {"gold": GOLD_CONLLU}},
    "feedback": "items",
    "quota": UNLIMITED,
}
FIX = {"parts": {"en": {"gold": ONE_WRONG}}, "reason": "a wrong head"}


class SharedTask:
    """One benchmark on a stage, and shorthands for what tests do with it."""

    def __init__(self, stage: Stage, **changes: Any) -> None:
        self.stage = stage
        self.organiser = stage.client()
        self.slug = f"demo-{next(_NUMBERS)}"
        made = self.organiser.post("/v1/benchmarks", json={**BENCHMARK, "id": self.slug, **changes})
        assert made.status_code == 201, made.text
        self.address = made.headers["Location"]

    def team(self, name: str = "lyon") -> CheckedClient:
        """A new team, as a client with its token."""
        made = self.organiser.post(f"{self.address}/teams", json={"id": name, "name": f"{name} Parsing Group"})
        assert made.status_code == 201, made.text
        return self.stage.client(made.json["token"])

    def submit(self, client: CheckedClient | None = None, text: str = ONE_WRONG, **more: Any) -> str:
        """The address of a new submission; a baseline where no team is given."""
        body = {"name": "biaffine-7", "outputs": {"en": text}, **more}
        made = (client or self.organiser).post(f"{self.address}/submissions", json=body)
        assert made.status_code in (201, 202), made.text
        return str(made.headers["Location"])

    def two(self) -> list[str]:
        """The ids of two scored submissions of two teams."""
        texts = {"lyon": GOLD_CONLLU, "oslo": ONE_WRONG}
        return [self.submit(self.team(name), text).rpartition("/")[2] for name, text in texts.items()]

    def waiting(self, client: CheckedClient | None = None) -> str:
        """The address of a submission that nobody works on."""
        with self.stage.asleep():
            return self.submit(client)

    def faulty(self, client: CheckedClient | None = None) -> str:
        """The address of a submission that a fault of the service has ended."""
        address = self.waiting(client)
        give_up(self.stage.context, address.rpartition("/")[2])
        return address

    def revised(self) -> str:
        """The address of a second revision, which is active."""
        made = self.organiser.post(f"{self.address}/revisions", json=FIX)
        assert made.status_code in (201, 202), made.text
        return str(made.headers["Location"])

    def comparison(self) -> str:
        """The address of an answered comparison."""
        asked = self.organiser.post(f"{self.address}/comparisons", json={"submissions": self.two()})
        return str(asked.headers["Location"])

    def delete(self) -> str:
        """Delete the benchmark with all that is in it; its address."""
        for each in self.organiser.get(f"{self.address}/submissions").json["items"]:
            assert self.organiser.delete(f"/v1/submissions/{each['id']}").status_code == 204
        assert self.organiser.delete(self.address).status_code == 204
        return self.address
