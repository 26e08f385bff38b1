"""Make and withdraw invites to a benchmark, and make teams with them."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import LONGEST_SHOWN, Forbidden, Gone, NotFound, invalid
from service.ids import new_id, new_invite, token_hash
from service.requests import InviteRequest, JoinRequest, PageQuery, TeamRequest
from service.store import invites
from service.store.benchmarks import Benchmark
from service.store.invites import Invite
from service.usecases.access.access import benchmark_of, storable
from service.usecases.access.throttle import count_failure
from service.usecases.benchmarks.teams import add_team
from service.usecases.events.record import record_event
from service.usecases.runs.views import Page, moment, page_of


def create_invite(context: Context, caller: Caller, slug: str, request: InviteRequest) -> dict[str, object]:
    """Create an invite. Only this answer has its secret, and the address for those who are invited.

    Raises:
        Unprocessable: it would expire in the past.
    """
    caller.require("organise")
    now = context.now()
    if request.expires_at <= now:
        raise invalid("past-moment", "/expires_at", "This must be a time in the future.")
    secret = new_invite()
    expires_at = request.expires_at.astimezone(UTC)
    invite = Invite(new_id("inv", now), slug, token_hash(secret), now, expires_at, request.teams_at_most)
    with context.store.write() as db:
        benchmark_of(db, slug)
        invites.add(db, invite)
        record_event(db, context, "invite.created", slug, actor=caller.owner, subject=invite.id)
    address = f"{context.config.public_url.rstrip('/')}/join/{secret}"
    return {**_invite_document(invite), "secret": secret, "address": address}


def list_invites(context: Context, caller: Caller, slug: str, query: PageQuery) -> Page:
    """List the invites of a benchmark, newest first, without their secrets."""
    caller.require("organise")
    with context.store.read() as db:
        benchmark_of(db, slug)
        rows = invites.listing(db, slug, query.cursor, query.limit + 1)
    return page_of(rows, query.limit, _invite_document)


def delete_invite(context: Context, caller: Caller, slug: str, invite_id: str) -> None:
    """Withdraw an invite; the teams that were made with it stay.

    Raises:
        NotFound: the benchmark does not have the invite.
    """
    caller.require("organise")
    with context.store.write() as db:
        benchmark_of(db, slug)
        if not storable(invite_id) or not invites.withdraw(db, slug, invite_id, context.now()):
            raise NotFound(f"Unknown invite {invite_id[:LONGEST_SHOWN]!r} of benchmark {slug!r}.")
        record_event(db, context, "invite.deleted", slug, actor=caller.owner, subject=invite_id)


def view_invite(context: Context, caller: Caller, secret: str) -> dict[str, object]:
    """Show who holds an invite's secret what it is for.

    Raises:
        Forbidden, Gone, TooManyRequests: as for `join`.
    """
    invite = _known(context, caller, secret)
    with context.store.read() as db:
        benchmark = _open_benchmark(db, invite, context.now())
    return {
        "benchmark": benchmark.id,
        "title": benchmark.title,
        "expires_at": moment(invite.expires_at),
        "teams_left": invite.teams_at_most - invite.teams,
    }


def join(context: Context, caller: Caller, request: JoinRequest) -> dict[str, object]:
    """Make a team with an invite. Only this answer has the team's token.

    Raises:
        Forbidden: the secret is unknown, or the benchmark is closed.
        Gone: the invite expired, was withdrawn or is used up, or the benchmark was deleted.
        Conflict: the id is taken.
        TooManyRequests: too many unknown secrets came from this address.
    """
    known = _known(context, caller, request.invite)
    slug = known.benchmark_id
    with context.store.write() as db:
        benchmark_of(db, slug, lock=True)
        invite = invites.by_hash(db, known.hash) or known
        _open_benchmark(db, invite, context.now())
        if not invites.use(db, invite.id):
            raise _used_up(invite)
        team = TeamRequest(request.id, request.name, request.contact)
        made = add_team(db, context, slug, team, caller.token_id, {"invite": invite.id})
    return {"benchmark": slug, **made}


def _open_benchmark(db: Connection, invite: Invite, now: datetime) -> Benchmark:
    """Return the benchmark of an invite that can be used.

    Raises:
        Forbidden: the benchmark is closed.
        Gone: the invite cannot be used any more.
    """
    benchmark = benchmark_of(db, invite.benchmark_id)
    if invite.deleted_at is not None:
        raise Gone("The organisers withdrew this invite. Ask them for another one.", slug="invite-withdrawn")
    if invite.expires_at <= now:
        raise Gone(f"This invite expired at {moment(invite.expires_at)}. Ask for another one.", slug="invite-expired")
    if invite.teams >= invite.teams_at_most:
        raise _used_up(invite)
    if benchmark.closed(now):
        raise Forbidden(
            f"The benchmark {benchmark.id!r} closed at {benchmark.settings['closes_at']} and takes no more teams.",
            slug="joining-closed",
        )
    return benchmark


def _used_up(invite: Invite) -> Gone:
    detail = f"This invite has made all of its {invite.teams_at_most} teams. Ask the organisers for another one."
    return Gone(detail, slug="invite-used-up")


def _known(context: Context, caller: Caller, secret: str) -> Invite:
    """Return the invite of a secret. An unknown one counts as a failed authentication of the address.

    Raises:
        TooManyRequests: it is unknown, and one too many.
        Forbidden: it is unknown.
    """
    with context.store.read() as db:
        invite = invites.by_hash(db, token_hash(secret))
    if invite is None:
        count_failure(context, caller.address)
        raise Forbidden("Unknown invite. Use the whole address that the organisers sent.", slug="unknown-invite")
    return invite


def _invite_document(invite: Invite) -> dict[str, object]:
    return {
        "id": invite.id,
        "benchmark": invite.benchmark_id,
        "created_at": moment(invite.created_at),
        "expires_at": moment(invite.expires_at),
        "teams_at_most": invite.teams_at_most,
        "teams": invite.teams,
    }
