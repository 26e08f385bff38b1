"""Create, list and erase teams of a benchmark, make their tokens, and the invites with which strangers make teams."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from string import digits
from unicodedata import category, combining, normalize
from unicodedata import name as char_name

import orjson
from sqlalchemy import Connection

from service.caller import Caller, new_id, new_secret, new_token, token_hash
from service.context import Context
from service.contract import access, common
from service.errors import LONGEST_SHOWN, Conflict, Forbidden, Gone, NotFound, invalid, refuse
from service.store import benchmarks, runs, submissions, tokens
from service.store.tokens import Token
from service.usecases.access import benchmark_of, count_failure, storable, team_in
from service.usecases.boards.work import board_changed
from service.usecases.events import record_event
from service.usecases.runs import Page, moment, page_of, queue_runs, shown_members
from treescore.errors import Problem, ProblemList

TEAM_SCOPES = "read submit"
SHOWN = 20
"""Taken ids that the detail of an answer names."""


def create_team(context: Context, caller: Caller, slug: str, request: access.TeamRequest) -> dict[str, object]:
    """Create a team. Only this answer has its token.

    Raises:
        Conflict: the id is taken, perhaps by an erased team.
    """
    caller.require("organise", of=slug)
    with context.store.write() as db:
        benchmark_of(db, slug, lock=True)
        return add_team(db, context, slug, request, caller.owner)


def create_teams(context: Context, caller: Caller, slug: str, request: access.TeamsRequest) -> list[dict[str, object]]:
    """Create all teams of a request, or none. Only this answer has their tokens.

    Raises:
        Unprocessable: an id stands there twice, or a line of a table has faults.
        Conflict: ids are taken, perhaps by erased teams.
    """
    caller.require("organise", of=slug)
    with context.store.write() as db:
        benchmark_of(db, slug, lock=True)
        _check_ids(request, benchmarks.existing_teams(db, slug, [team.id for team in request.teams]))
        return [add_team(db, context, slug, team, caller.owner) for team in request.teams]


def add_team(
    db: Connection,
    context: Context,
    slug: str,
    request: access.TeamRequest,
    actor: str | None,
    invite_id: str | None = None,
) -> dict[str, object]:
    """Add a team to a locked benchmark, with a token that only this answer has.

    Args:
        db: the transaction.
        context: for the clock.
        slug: of the benchmark.
        request: the team.
        actor: of the event.
        invite_id: of the invite with which it joins.

    Raises:
        Conflict: the id is taken, perhaps by an erased team.
    """
    team = benchmarks.Team(slug, request.id, request.name, request.contact, context.now(), None, invite_id)
    _check_free(db, slug, team.id)
    benchmarks.add_team(db, team)
    token = _new_token(db, context, team)
    data = None if invite_id is None else {"invite": invite_id}
    record_event(db, context, "team.created", slug, actor=actor, team_id=team.id, subject=team.id, data=data)
    return {**_team_document(team), "token": token}


def _check_free(db: Connection, slug: str, team_id: str) -> None:
    """Check that no team has an id. Raises Conflict where one has, or had."""
    if benchmarks.get_team(db, slug, team_id) is not None:
        detail = f"The team id {team_id!r} is taken (ids of erased teams stay taken). Use another id."
        raise Conflict(detail, slug="id-taken")


def list_teams(context: Context, caller: Caller, slug: str, query: common.PageQuery) -> Page:
    """List the teams of a benchmark, by id."""
    caller.require("organise", of=slug)
    with context.store.read() as db:
        benchmark_of(db, slug)
        rows = benchmarks.teams_of(db, slug, query.cursor, query.limit + 1)
    return page_of(rows, query.limit, _team_document)


def rotate_token(context: Context, caller: Caller, slug: str, team_id: str) -> dict[str, object]:
    """Make a new token for a team and revoke its earlier ones."""
    caller.require("organise", of=slug)
    with context.store.write() as db:
        benchmark_of(db, slug)
        team = team_in(db, slug, team_id, lock=True)
        tokens.revoke_all(db, slug, team_id, context.now())
        token = _new_token(db, context, team)
        record_event(db, context, "team.token_rotated", slug, actor=caller.owner, team_id=team_id, subject=team_id)
    return {**_team_document(team), "token": token}


def erase_team(context: Context, caller: Caller, slug: str, team_id: str) -> None:
    """Erase a team's name, outputs, items and tokens. Its scores stay as anonymous rows of the board."""
    caller.require("organise", of=slug)
    now = context.now()
    with context.store.write() as db:
        benchmark_of(db, slug, lock=True)
        team_in(db, slug, team_id, lock=True)
        tokens.revoke_all(db, slug, team_id, now)
        benchmarks.erase_team(db, slug, team_id, now)
        stopped = submissions.anonymise(db, slug, team_id, now)
        for run_id in stopped:
            runs.finish(db, run_id, runs.CANCELLED, now)
        scheduled = board_changed(db, context, slug)
        record_event(db, context, "team.erased", slug, actor=caller.owner, team_id=team_id, subject=team_id)
    queue_runs(context, scheduled, slug)
    for run_id in stopped:
        context.queue.stop(run_id)


def _new_token(db: Connection, context: Context, team: benchmarks.Team) -> str:
    now = context.now()
    text = new_token()
    tokens.add(db, Token(new_id("tok", now), token_hash(text), TEAM_SCOPES, None, now, team.id, team.benchmark_id))
    return text


def _team_document(team: benchmarks.Team) -> dict[str, object]:
    return shown_members(team, "id", "name", "contact", "created_at")


def _check_ids(request: access.TeamsRequest, known: set[str]) -> None:
    """Refuse teams with faults, ids that stand there twice and taken ones, all at once.

    Raises:
        Unprocessable: with the place of each fault.
        Conflict: nothing but that ids are taken.
    """
    first: dict[str, int] = {}
    problems = request.faults or ProblemList()
    faulty = bool(problems.total)
    for number, team in enumerate(request.teams):
        before = first.setdefault(team.id, number)
        if before != number:
            faulty = True
            where = f"team {before + 1}" if request.places is None else f"line {request.places[before][0]}"
            detail = f"The id {team.id!r} stands here a second time; the first is {where}. Give each team its own id."
            problems.add(request.id_fault(number, "repeated-id", detail))
        elif team.id in known:
            problems.add(request.id_fault(number, "taken-id", f"The team id {team.id!r} is taken. Use another id."))
    if faulty:
        refuse(problems)
    if known:
        shown = ", ".join(sorted(known)[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
        raise Conflict(
            f"No team was made: these ids are taken: {shown}. Use other ids (ids of erased teams stay taken).",
            slug="id-taken",
            problems=problems.problems,
            total=problems.total,
        )


def create_invite(context: Context, caller: Caller, slug: str, request: access.InviteRequest) -> dict[str, object]:
    """Create an invite. Only this answer has its secret, and the address for those who are invited.

    Raises:
        Unprocessable: it would expire in the past.
    """
    caller.require("organise", of=slug)
    now = context.now()
    if request.expires_at <= now:
        raise invalid("past-moment", "/expires_at", "The time is past. Give one in the future.")
    secret = new_secret()
    expires_at = request.expires_at.astimezone(UTC)
    invite = benchmarks.Invite(new_id("inv", now), slug, token_hash(secret), now, expires_at, request.teams_at_most)
    with context.store.write() as db:
        benchmark_of(db, slug)
        benchmarks.add_invite(db, invite)
        record_event(db, context, "invite.created", slug, actor=caller.owner, subject=invite.id)
    address = f"{context.config.public_url.rstrip('/')}/join/{secret}"
    return {**_invite_document(invite, ()), "secret": secret, "address": address}


def list_invites(context: Context, caller: Caller, slug: str, query: common.PageQuery) -> Page:
    """List the invites of a benchmark, newest first, without their secrets."""
    caller.require("organise", of=slug)
    with context.store.read() as db:
        benchmark_of(db, slug)
        rows = benchmarks.invites_of(db, slug, query.cursor, query.limit + 1)
        joined = benchmarks.joined_by(db, slug, [row.id for row in rows])
    return page_of(rows, query.limit, lambda row: _invite_document(row, joined[row.id]))


def delete_invite(context: Context, caller: Caller, slug: str, invite_id: str) -> None:
    """Withdraw an invite; the teams that were made with it stay.

    Raises:
        NotFound: the benchmark does not have the invite.
    """
    caller.require("organise", of=slug)
    with context.store.write() as db:
        benchmark_of(db, slug)
        if not storable(invite_id) or not benchmarks.withdraw_invite(db, slug, invite_id, context.now()):
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


def join(context: Context, caller: Caller, request: access.JoinRequest) -> dict[str, object]:
    """Make a team with an invite. Only this answer has the team's token.

    Raises:
        Forbidden: the secret is unknown, or the benchmark is closed.
        Gone: the invite expired, was withdrawn or is used up, or the benchmark was deleted.
        Unprocessable: name or id are reserved.
        Conflict: the id is taken, or name or id look like those of another team.
        TooManyRequests: too many unknown secrets came from this address.
    """
    known = _known(context, caller, request.invite)
    slug = known.benchmark_id
    with context.store.write() as db:
        benchmark_of(db, slug, lock=True)
        invite = benchmarks.invite_by_hash(db, known.hash) or known
        _open_benchmark(db, invite, context.now())
        others = benchmarks.shown_names(db, slug, but=request.id)
        check_names([("/name", request.name), ("/id", request.id)], others)
        if not benchmarks.use_invite(db, invite.id):
            raise _used_up(invite)
        team = access.TeamRequest(request.id, request.name, request.contact)
        made = add_team(db, context, slug, team, caller.token_id, invite.id)
    return {"benchmark": slug, **made}


def check_id(context: Context, caller: Caller, secret: str, team_id: str) -> None:
    """Check whether a team could be made with an id: what `join` would say of it, and no more.

    Raises:
        Forbidden, Gone, Unprocessable, Conflict, TooManyRequests: as for `join`.
    """
    known = _known(context, caller, secret)
    with context.store.read() as db:
        _open_benchmark(db, known, context.now())
        check_names([("/id", team_id)], benchmarks.shown_names(db, known.benchmark_id, but=team_id))
        _check_free(db, known.benchmark_id, team_id)


def _open_benchmark(db: Connection, invite: benchmarks.Invite, now: datetime) -> benchmarks.Benchmark:
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


def _used_up(invite: benchmarks.Invite) -> Gone:
    detail = f"This invite has made all of its {invite.teams_at_most} teams. Ask the organisers for another one."
    return Gone(detail, slug="invite-used-up")


def _known(context: Context, caller: Caller, secret: str) -> benchmarks.Invite:
    """Return the invite of a secret. An unknown one counts as a failed authentication of the address.

    Raises:
        TooManyRequests: it is unknown, and one too many.
        Forbidden: it is unknown.
    """
    with context.store.read() as db:
        invite = benchmarks.invite_by_hash(db, token_hash(secret))
    if invite is None:
        count_failure(context, caller.address)
        raise Forbidden("Unknown invite. Use the whole address that the organisers sent.", slug="unknown-invite")
    return invite


def _invite_document(invite: benchmarks.Invite, joined: Sequence[str]) -> dict[str, object]:
    shown = shown_members(invite, "id", "benchmark_id", "created_at", "expires_at", "teams_at_most", "teams")
    return {**shown, "joined": list(joined)}


RESERVED_WORDS = (
    "admin", "administrator", "baseline", "baselines", "organiser", "organisers", "organizer", "organizers", "treescore"
)  # fmt: skip
"""A name or id that a team gives itself holds none of these words."""
RESERVED_NAMES = (*RESERVED_WORDS, "anonymous", "gold", "official", "reference")
"""It is none of these."""
_BETWEEN = re.compile(r"[\s._,:;/+&()-]+")
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_FOR_LETTERS = str.maketrans("34578@$!\u03b5\u0454\u2200", "eastbasieea", "\u2120\u2122")
"""Signs that are written for letters, and trademarks, which would be read as letters."""
_LATIN = re.compile(r"LATIN (?:LETTER SMALL CAPITAL|SMALL LETTER|CAPITAL LETTER) ([A-Z])(?: WITH .*)?")
_DIRECTION = "\u200e\u200f"


def check_names(chosen: Iterable[tuple[str, str]], taken: Iterable[str]) -> None:
    """Check what a team calls itself.

    Args:
        chosen: pointer and text of its name and its id.
        taken: names and ids of others.

    Raises:
        Unprocessable: `reserved-name`, `bad-name`.
        Conflict: `name-taken`, it looks like one of the others.
    """
    others = {form for name in taken for form in forms_of(name)}
    for pointer, name in chosen:
        if not _UNSEEN.sub("", normalize("NFKD", name)).strip():
            raise invalid("bad-name", pointer, f"{name!r} shows nothing. Use letters.")
        if _is_reserved(name):
            detail = f"{name!r} is a name of organisers or of what is theirs, or looks like one. Use another one."
            raise invalid("reserved-name", pointer, detail)
        if not others.isdisjoint(forms_of(name)):
            detail = f"{name!r} looks like the name or id of another team or of a baseline. Use another one."
            raise Conflict(detail, slug="name-taken", problems=[Problem("confusable-name", detail, pointer=pointer)])


def forms_of(name: str) -> frozenset[str]:
    """Return the forms of a name: names that have one in common look alike, but for case, accents and punctuation.

    An I in a word with small letters may stand for an l, in a word of capitals it does not: MIT is not MLT.
    """
    words = name.split()
    small = [_skeleton(word.casefold()).casefold() for word in words]
    as_written = [_skeleton(word) for word in words]
    mixed = [
        shown.casefold() if word.upper() != word else folded
        for word, shown, folded in zip(words, as_written, small, strict=True)
    ]
    one_as_i = [_skeleton(word.casefold().replace("1", "i")).casefold() for word in words]
    return frozenset("".join(form) or name for form in (small, as_written, mixed, one_as_i))


def _is_reserved(name: str) -> bool:
    words = [word for word in _BETWEEN.split(name) if word]
    words += [normalize("NFKC", word).rstrip(digits) for word in words]
    return not (_loose(*words).isdisjoint(_loose(*RESERVED_WORDS)) and _loose(name).isdisjoint(_loose(*RESERVED_NAMES)))


def _loose(*names: str) -> set[str]:
    """Return the forms of all names, also with letters for signs, with l for i: 1 is read as either."""
    read = {spelt for name in names for spelt in (name, name.casefold().translate(_FOR_LETTERS))}
    return {form.casefold().replace("i", "l") for name in read for form in forms_of(name)}


def _skeleton(text: str) -> str:
    shown = _UNSEEN.sub("", normalize("NFKD", normalize("NFKD", text).translate(_prototypes())))
    return "".join(
        char for char in shown if category(char)[0] in "LNM" and category(char) != "Me" and not combining(char)
    )


@cache
def _prototypes() -> dict[int, str]:
    """Return what each confusable character is taken for: that of its kind with which all others are confused."""
    # the module that reads this file imports what fetches it
    known = orjson.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_bytes())
    partners = {
        text.strip(_DIRECTION): [other["c"].strip(_DIRECTION) for other in others] for text, others in known.items()
    }
    of_one = {text: others[0] for text, others in partners.items() if len(text) == len(others) == 1}
    known_as = {
        ord(text): other
        for text, other in of_one.items()
        if of_one.get(other) != text or other < text  # of two, the first one
    }
    named = (
        (code, _LATIN.fullmatch(char_name(chr(code), ""))) for code in (*range(0x180, 0x2B0), *range(0x1D00, 0x1D80))
    )
    return {code: match[1].lower() for code, match in named if match} | known_as
