"""Events, and webhooks to which they are sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from typing_extensions import TypedDict

from service.contract.common import MAX_PAGE, Cursor, Moment, Slug
from service.contract.derive import Named, Null, inline
from service.contract.fields import OneOf, length, whole
from service.requests import DEFAULT_LIMIT, EVENT_KINDS, Query, Request

MAX_URL = 1000

EventKind: TypeAlias = Annotated[str, OneOf(EVENT_KINDS), Named("EventKind", "What happened.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRequest(Request):
    """Where events are sent.

    Attributes:
        url: Address that receives events. Private addresses are refused unless the service is configured to allow
            them.
        kinds: Kinds of events; absent means all.
        benchmark: Only events of this benchmark.
    """

    url: Annotated[str, length(1, MAX_URL, "characters")]
    kinds: Annotated[Sequence[EventKind], length(None, len(EVENT_KINDS), "kinds of events")] = ()
    benchmark: Slug | Null = None


@dataclass(frozen=True, kw_only=True)
class EventsQuery(Query):
    """Which events.

    Attributes:
        after: Id of the last event that you have.
        benchmark: Only events of this benchmark.
        limit: Maximum number of entries.
    """

    after: Cursor | None = None
    limit: Annotated[int, whole(1, MAX_PAGE)] = DEFAULT_LIMIT
    benchmark: Slug | None = None


@inline
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
    at: Moment
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
    created_at: Moment
    disabled_at: Moment | None
    failures: int
    old_secret_until: Moment | None


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
    state: Annotated[str, OneOf(("waiting", "delivered", "given_up"))]
    attempts: int
    last_status: int | None
    at: Moment
    attempted_at: Moment | None
    next_at: Moment | None


class NewWebhook(Webhook):
    """A webhook with its secret.

    Attributes:
        secret: Key of the signatures. Shown only in this answer.
    """

    secret: str
