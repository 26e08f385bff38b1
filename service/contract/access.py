"""Who takes part, and what is sent to them: teams, invites, tokens and their scopes; events, and webhooks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, TypeAlias

from typing_extensions import TypedDict

from service.contract import common, derive, fields
from service.requests import DEFAULT_LIMIT, EVENT_KINDS, MAX_TEAMS, SCOPES, Query, Request
from treescore.errors import Problem, ProblemList

MAX_SECRET = 200


@dataclass(frozen=True, slots=True)
class TeamRequest(Request):
    """A new team.

    Attributes:
        contact: Whom to ask, for organisers alone. Printable characters, not only spaces.
    """

    id: common.Slug
    name: common.Name
    contact: common.Name | derive.Null = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamsRequest(Request):
    """Several new teams.

    Attributes:
        teams: The teams, each with an id of its own.
    """

    teams: Annotated[Sequence[TeamRequest], fields.length(1, MAX_TEAMS, "teams")]
    places: Sequence[tuple[int, int]] | None = field(
        default=None, metadata=derive.APART
    )  # lines and columns of ids in a table
    faults: ProblemList | None = field(default=None, metadata=derive.APART)  # of its other fields

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

    invite: Annotated[str, fields.length(1, MAX_SECRET, "characters")]
    id: common.Slug
    name: common.Name
    contact: common.Name


class Team(TypedDict):
    """A team of a benchmark.

    Attributes:
        contact: Only organisers see it.
    """

    id: str
    name: str
    contact: str | None
    created_at: common.Moment


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
        joined: Names of those that are not erased, oldest first.
    """

    id: str
    benchmark: str
    created_at: common.Moment
    expires_at: common.Moment
    teams_at_most: int
    teams: int
    joined: Sequence[str]


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


TeamOrTeams: TypeAlias = Annotated[TeamRequest | TeamsRequest, derive.Named("TeamOrTeams")]


NewTeamOrTeams: TypeAlias = Annotated[NewTeam | NewTeams, derive.Named("NewTeamOrTeams")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest(Request):
    """A new token.

    Attributes:
        expires_at: Expiry time in the future, with an offset from UTC; null means never.
        name: Purpose of the token. Printable characters, not only spaces.
        benchmark: The one benchmark that the token organises, with the scope `organise` alone; null for all.
    """

    scopes: Annotated[Sequence[common.Scope], fields.length(1, len(SCOPES), "scopes")]
    expires_at: datetime | derive.Null = None
    name: common.Name | derive.Null = None
    benchmark: common.Slug | derive.Null = None


class Token(TypedDict):
    """A bearer token, without its secret.

    Attributes:
        benchmark: Benchmark of a team's token, or the one that it organises.
        team: Team of the token; null for other tokens.
    """

    id: str
    name: str | None
    scopes: Sequence[common.Scope]
    benchmark: str | None
    team: str | None
    created_at: common.Moment
    expires_at: common.Moment | None
    last_used_at: common.Moment | None
    revoked_at: common.Moment | None


class NewToken(Token):
    """A token with its secret.

    Attributes:
        token: Send it as `Authorization: Bearer ...`. Shown only in this answer.
    """

    token: str


MAX_URL = 1000

EventKind: TypeAlias = Annotated[str, fields.OneOf(EVENT_KINDS), derive.Named("EventKind", "What happened.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRequest(Request):
    """Where events are sent.

    Attributes:
        url: Address that receives events. Private addresses are refused unless the service is configured to allow
            them.
        kinds: Kinds of events; absent means all.
        benchmark: Only events of this benchmark.
    """

    url: Annotated[str, fields.length(1, MAX_URL, "characters")]
    kinds: Annotated[Sequence[EventKind], fields.length(None, len(EVENT_KINDS), "kinds of events")] = ()
    benchmark: common.Slug | derive.Null = None


@dataclass(frozen=True, kw_only=True)
class EventsQuery(Query):
    """Which events.

    Attributes:
        after: Id of the last event that you have.
        benchmark: Only events of this benchmark.
        limit: Maximum number of entries.
    """

    after: common.Cursor | None = None
    limit: Annotated[int, fields.whole(1, common.MAX_PAGE)] = DEFAULT_LIMIT
    benchmark: common.Slug | None = None


@derive.inline
class EventData(TypedDict, total=False):
    """More about the change; which members there are depends on `type`.

    Attributes:
        members: Names of the changed members.
        invite: The invite that a team was made with, for organisers.
    """

    members: Sequence[str]
    revision: int
    dry_run: bool
    attempt: int
    invite: str


class Event(TypedDict):
    """A change of what the service keeps."""

    id: str
    type: EventKind
    at: common.Moment
    benchmark: str | None
    team: str | None
    subject: str | None
    actor: str | None
    data: EventData


class Webhook(TypedDict):
    """An address to which events are sent."""

    id: str
    url: str
    kinds: Sequence[str]
    benchmark: str | None
    team: str | None
    created_at: common.Moment
    disabled_at: common.Moment | None
    failures: int


class Delivery(TypedDict):
    """An event on its way to a webhook.

    Attributes:
        event: Id of the event, and `webhook-id` of the delivery.
        state: `delivered` and `given_up` are final.
        attempts: How often it was tried.
        last_status: HTTP status of the last answer; null without one.
    """

    id: str
    event: str
    type: EventKind
    state: Annotated[str, fields.OneOf(("waiting", "delivered", "given_up"))]
    attempts: int
    last_status: int | None
    at: common.Moment
    attempted_at: common.Moment | None
    next_at: common.Moment | None


class NewWebhook(Webhook):
    """A webhook with its secret.

    Attributes:
        secret: Key of the signatures. Shown only in this answer.
    """

    secret: str
