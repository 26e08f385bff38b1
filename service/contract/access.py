"""Teams of a benchmark, and invites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, TypeAlias

from typing_extensions import TypedDict

from service.contract import fields
from service.contract.common import Moment, Name, Slug
from service.contract.derive import APART, Named, Null
from service.contract.fields import length
from service.requests import MAX_TEAMS, Request
from treescore.errors import Problem

MAX_SECRET = 200


@dataclass(frozen=True, slots=True)
class TeamRequest(Request):
    """A new team.

    Attributes:
        contact: Whom to ask, for organisers alone. Printable characters, not only spaces.
    """

    id: Slug
    name: Name
    contact: Name | Null = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamsRequest(Request):
    """Several new teams.

    Attributes:
        teams: The teams, each with an id of its own.
    """

    teams: Annotated[Sequence[TeamRequest], length(1, MAX_TEAMS, "teams")]
    places: Sequence[tuple[int, int]] | None = field(
        default=None, metadata=APART
    )  # lines and columns of ids in a table

    def id_fault(self, number: int, code: str, detail: str) -> Problem:
        """Return a problem of the id of one of them."""
        if self.places is None:
            return Problem(code=code, pointer=f"/teams/{number}/id", detail=detail)
        line, column = self.places[number]
        return Problem(code=code, line=line, column=column, detail=detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteRequest(Request):
    """A new invite, with its limits.

    Attributes:
        expires_at: A time in the future, with an offset from UTC.
        teams_at_most: How many teams may be made with it.
    """

    expires_at: datetime
    teams_at_most: Annotated[int, fields.bounded(1, MAX_TEAMS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest(Request):
    """A team that its own members make.

    Attributes:
        invite: The secret, which is the end of the address that the organisers sent.
        contact: Whom the organisers can ask; only they see it. Printable characters, not only spaces.
    """

    invite: Annotated[str, length(1, MAX_SECRET, "characters")]
    id: Slug
    name: Name
    contact: Name


class Team(TypedDict):
    """A team of a benchmark.

    Attributes:
        contact: Only organisers see it.
    """

    id: str
    name: str
    contact: str | None
    created_at: Moment


class NewTeam(Team):
    """A team with its token.

    Attributes:
        token: Shown only in this answer.
    """

    token: str


class JoinedTeam(NewTeam):
    """A team that joined, with its token and its benchmark."""

    benchmark: str


class Invite(TypedDict):
    """What lets strangers make teams.

    Attributes:
        teams: Teams that were made with it.
    """

    id: str
    benchmark: str
    created_at: Moment
    expires_at: Moment
    teams_at_most: int
    teams: int


class NewInvite(Invite):
    """An invite with its secret.

    Attributes:
        secret: Shown only in this answer.
        address: Page where those who have it make a team; without a host if the service does not know its own.
    """

    secret: str
    address: str


class NewTeams(TypedDict):
    """Several new teams."""

    teams: Sequence[NewTeam]


TeamOrTeams: TypeAlias = Annotated[TeamRequest | TeamsRequest, Named("TeamOrTeams")]


NewTeamOrTeams: TypeAlias = Annotated[NewTeam | NewTeams, Named("NewTeamOrTeams")]
