"""What a submission is asked with, checked before anything is stored."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from service.caller import Caller
from service.errors import Conflict, Forbidden, Unprocessable, counted, refuse
from service.store import revisions, teams
from service.store.benchmarks import Benchmark
from service.store.revisions import Revision
from service.store.submissions import BASELINE, SYSTEM
from service.usecases.access.access import storable, team_of
from service.usecases.benchmarks.settings import check_name, check_notes
from service.usecases.scoring.config import scoring_config
from service.usecases.scoring.part_texts import OUTPUTS, named_texts
from treescore.core.digests import digest_of
from treescore.core.params import escape
from treescore.errors import Problem, ProblemList


@dataclass(frozen=True, slots=True)
class Outputs:
    """Outputs of a request.

    Attributes:
        named: texts under the names by which they are kept.
        document: part -> digest and bytes.
        digest: of all of them together.
    """

    named: Mapping[str, bytes]
    document: Mapping[str, Mapping[str, Any]]
    digest: str


def require_open(benchmark: Benchmark, caller: Caller, now: datetime) -> None:
    """Refuse teams before a benchmark opens and after it has closed.

    Raises:
        Conflict: it is not open.
    """
    if caller.organiser:
        return
    if not benchmark.opened(now):
        raise Conflict(
            f"The benchmark {benchmark.id!r} opens at {benchmark.settings['opens_at']}.",
            slug="not-open",
            title="The benchmark is not open yet",
        )
    if benchmark.closed(now):
        raise Conflict(
            f"The benchmark {benchmark.id!r} closed at {benchmark.settings['closes_at']}.",
            slug="closed",
            title="The benchmark is closed",
        )


def team_and_role(db: Connection, caller: Caller, slug: str, request: Mapping[str, Any]) -> tuple[str | None, str]:
    """For which team a submission is, and its role. Organisers name a team, or send a baseline.

    Raises:
        Forbidden: the token is no team's of this benchmark, or sends what only organisers send.
        Unprocessable: there is no such team.
    """
    named = request.get("team")
    role = request.get("role") or (BASELINE if caller.organiser and named is None else SYSTEM)
    own = team_of(caller, slug)
    if not caller.organiser:
        if own is None:
            raise Forbidden(f"This token belongs to no team of the benchmark {slug!r}. Ask its organisers for one.")
        if role == BASELINE or named not in (None, own):
            raise Forbidden("Only organisers send baselines, or for other teams.")
        return own, SYSTEM
    problems = ProblemList()
    if role not in (SYSTEM, BASELINE):
        problems.add(Problem(code="bad-value", pointer="/role", detail="A role is system or baseline."))
    elif role == SYSTEM and named is None:
        detail = "Whose is it? Name the team, or send it as a baseline."
        problems.add(Problem(code="missing-field", pointer="/team", detail=detail))
    elif named is not None:
        team = teams.get(db, slug, str(named)) if storable(str(named)) else None
        if team is None or team.erased_at is not None:
            detail = f"The benchmark {slug!r} has no team {str(named)[:80]!r}."
            problems.add(Problem(code="unknown-team", pointer="/team", detail=detail))
    refuse(problems)
    return (None if role == BASELINE else str(named)), role


def check_texts(request: Mapping[str, Any]) -> None:
    """Name and notes.

    Raises:
        Unprocessable: with pointers.
    """
    problems = ProblemList()
    if request.get("name") is not None:
        check_name(problems, request["name"], "/name")
    if request.get("notes"):
        check_notes(problems, request["notes"], "/notes")
    refuse(problems)


def check_outputs(db: Connection, revision: Revision, request: Mapping[str, Any]) -> Outputs:
    """The outputs of a request: every part known, each text of the right shape. None of them is read.

    Raises:
        Unprocessable: with pointers.
    """
    choice = scoring_config(revision.scoring).spec.format
    known = [part.name for part in revisions.parts_of(db, revision.id)]
    problems = ProblemList()
    named: dict[str, bytes] = {}
    document: dict[str, dict[str, Any]] = {}
    given = request.get("outputs") or {}
    if not given:
        problems.add(Problem(code="no-outputs", pointer="/outputs", detail="Send the output of at least one part."))
    for part, value in given.items():
        if part not in known:
            detail = f"There is no part {part[:80]!r}. There are: {', '.join(known[:20])}."
            problems.add(Problem(code="unknown-part", pointer=f"/outputs/{escape(part)}", detail=detail))
            continue
        texts = named_texts(problems, OUTPUTS, part, value, choice, "/outputs")
        named.update(texts)
        digests = [digest_of(body) for body in texts.values()]
        document[part] = {
            "digest": digests[0] if len(digests) == 1 else digest_of("\n".join(digests).encode()),
            "bytes": sum(len(body) for body in texts.values()),
        }
    if problems.total:
        raise Unprocessable(counted(problems.total), problems=problems.problems, total=problems.total)
    together = "\n".join(f"{part} {document[part]['digest']}" for part in sorted(document))
    return Outputs(named, document, "sha256:" + hashlib.sha256(together.encode()).hexdigest())
