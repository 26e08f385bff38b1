"""Find out who looks at a page: the session of the cookie, else an anonymous caller; and check what forms send."""

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from operator import xor
from urllib.parse import quote

from flask import Response, g, request

from service.api import calls, middleware
from service.caller import ORGANISE, Caller
from service.errors import Forbidden, Unauthorized
from service.usecases import access

SESSION_COOKIE = "treescore_session"
THEME_COOKIE = "treescore_theme"
THEMES = ("light", "dark")
CSRF_FIELD = "csrf"
SCORE = "score"
_YEAR = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks at a page.

    Attributes:
        caller: as the use-cases know it.
        signed: the session; None without one.
        theme: chosen colours; empty for those of the device.
    """

    caller: Caller
    signed: access.SignedIn | None
    theme: str

    @property
    def name(self) -> str:
        """What the page calls the visitor."""
        return "Organiser" if ORGANISE in self.caller.scopes else (self.caller.team or "Token")

    @property
    def csrf(self) -> str:
        """The value of the visitor's session, which stands in rendered forms until `masked` hides it."""
        return "" if self.signed is None else self.signed.session.csrf

    def masked(self, body: bytes) -> bytes:
        """Return what is sent of a rendered page: the value differs each time, so that no size of it tells a guess."""
        if self.signed is None:
            return body
        value = self.csrf.encode()
        pad = secrets.token_bytes(len(value))
        # in fields alone: replaced in what an address repeats, a guess would be confirmed
        field = b'name="%b" value="%%b"' % CSRF_FIELD.encode()
        return body.replace(field % value, field % urlsafe_b64encode(pad + _crossed(pad, value)))

    def sent(self, given: str) -> bool:
        """Return whether a form carries the value that `masked` has hidden."""
        value = self.csrf.encode()
        try:
            hidden = urlsafe_b64decode(given)
        except ValueError:
            return False
        return hmac.compare_digest(_crossed(hidden[: len(value)], hidden[len(value) :]), value)

    @property
    def key(self) -> str:
        """What of the visitor a page depends on."""
        if self.signed is None:
            return f"{self.caller.token_id} {self.theme}"
        session = self.signed.session
        return f"{session.hash} {session.as_benchmark} {session.as_team} {self.theme}"


def _crossed(one: bytes, other: bytes) -> bytes:
    """Return the exclusive or of each pair of bytes."""
    return bytes(map(xor, one, other))


def visitor() -> Visitor:
    """Return who looks at the page, found once for a request; someone whose session has ended is anonymous.

    Programs may send a token as to the API. A browser never does so by itself, so that needs no value of a form.

    Raises:
        Unauthorized: the token of a program is invalid.
    """
    if "visitor" not in g:
        # a visitor who cannot be found out is anonymous on the page that says so
        g.unknown = Visitor(_anonymous(), None, _theme())
        g.visitor = _visitor()
    known: Visitor = g.visitor
    return known


def shown_visitor() -> Visitor:
    """Return who looks at a page of a problem: someone anonymous where finding that out was the problem."""
    if "visitor" not in g and "unknown" in g:
        g.visitor = g.unknown
    return visitor()


def reader() -> Visitor:
    """Return who looks at a page that is the same for everyone: what a program sends as token is not looked at."""
    if "visitor" not in g:
        g.visitor = _visitor(tokens=False)
    return visitor()


def anyone() -> Visitor:
    """Return a visitor of a page that is the same for all callers: cookies and tokens are not looked at."""
    g.visitor = Visitor(_anonymous(), None, "")
    middleware.note_of(request.environ).caller = g.caller = g.visitor.caller
    known: Visitor = g.visitor
    return known


def _visitor(*, tokens: bool = True) -> Visitor:
    theme, note = _theme(), middleware.note_of(request.environ)
    cookie = request.cookies.get(SESSION_COOKIE)
    if cookie:
        try:
            signed = access.signed_in(calls.context(), cookie, note.address)
        except Unauthorized as ended:
            g.session_ended = ended.detail
        else:
            note.caller = g.caller = signed.caller
            return Visitor(signed.caller, signed, theme)
    if tokens:
        return Visitor(calls.caller(), None, theme)
    note.caller = g.caller = _anonymous()
    return Visitor(g.caller, None, theme)


def _anonymous() -> Caller:
    return Caller(None, frozenset(), address=middleware.note_of(request.environ).address)


def _theme() -> str:
    theme = request.cookies.get(THEME_COOKIE, "")
    return theme if theme in THEMES else ""


def member(*scopes: str, of: str | None = None) -> Caller:
    """Return the visitor as a caller who has one of these scopes, as an organiser has of the benchmark of the address.

    Args:
        scopes: of which one suffices.
        of: the benchmark where the address has none.

    Raises:
        Unauthorized: no session, or the session has ended.
        Forbidden: the token has none of the scopes.
    """
    known = visitor()
    if known.caller.anonymous:
        raise Unauthorized(g.get("session_ended", "Sign in with a token to see this page."))
    known.caller.require(*scopes, of=of or (request.view_args or {}).get("benchmark"))
    return known.caller


def organiser(*, sends: bool = False) -> Caller:
    """Return the visitor as an organiser of all benchmarks or of one; who `sends` a form is checked to have."""
    return (sender if sends else member)(ORGANISE, of=visitor().caller.benchmark)


def scorer() -> Caller:
    """Return the visitor as a caller who may score files.

    Who is signed in with a token that may not, as that of a team, scores as anyone without a token does.

    Raises:
        Unauthorized: the visitor is not signed in, and a token is needed.
        Forbidden: the token has not the scope, and a token is needed.
    """
    looking = visitor()
    if looking.caller.allowed(SCORE):
        return looking.caller
    unsigned = calls.caller_without_token()
    if unsigned.allowed(SCORE):
        return unsigned
    return member(SCORE)


def sender(*scopes: str, of: str | None = None) -> Caller:
    """Return the visitor as a caller who has one of these scopes and sent this form. Raises as these two calls."""
    caller = member(*scopes, of=of)
    check_form()
    return caller


def check_form(given: str | None = None, *, ends_looking: bool = False) -> None:
    """Refuse a form that does not carry the value of the visitor's session, and any change while seeing as a team.

    Args:
        given: the value, where the form is one with files, which is read as it streams in; else it is looked up.
        ends_looking: whether the form may be sent while seeing as a team: it changes nothing but the session.

    Raises:
        Unauthorized: the session has ended since the form was shown.
        Forbidden: the value is missing or of another session, or an organiser sees the pages as a team.
    """
    known = visitor()
    if known.signed is None:
        if "session_ended" in g:
            raise Unauthorized(g.session_ended)
        return
    if given is None:
        given = request.form.get(CSRF_FIELD, "")
    if not known.sent(given):
        raise Forbidden(
            "The form does not belong to your session. Load the page again, then send it again.", slug="cross-site"
        )
    if known.signed.sees_as and not ends_looking:
        raise Forbidden("You see the pages as a team does, and can change nothing. See them as organiser first.")


def begin_session(response: Response, token: str) -> Response:
    """Sign in with a token: the response sets the cookie.

    Raises:
        Unauthorized: the token is unknown, expired or revoked.
        TooManyRequests: it is, after too many others from this address.
    """
    address = middleware.note_of(request.environ).address
    try:
        cookie, _ = access.sign_in(calls.context(), token, address)
    except Unauthorized:
        access.count_failure(calls.context(), address)
        raise
    before = request.cookies.get(SESSION_COOKIE)
    if before:
        access.sign_out(calls.context(), before)
    response.set_cookie(
        SESSION_COOKIE, cookie, max_age=int(access.LONGEST_SESSION.total_seconds()), httponly=True, samesite="Strict",
        secure=request.scheme == "https", path="/",
    )  # fmt: skip
    return response


def end_session(response: Response) -> Response:
    """Sign out: the session is deleted, and the response deletes the cookie."""
    cookie = request.cookies.get(SESSION_COOKIE)
    if cookie:
        access.sign_out(calls.context(), cookie)
    response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="Strict")
    return response


def set_theme(response: Response, theme: str) -> Response:
    """Keep the chosen colours in a cookie; any other value than a theme deletes it."""
    if theme in THEMES:
        response.set_cookie(THEME_COOKIE, theme, max_age=_YEAR, httponly=True, samesite="Lax", path="/")
    else:
        response.delete_cookie(THEME_COOKIE, path="/")
    return response


def local_address(asked: str, otherwise: str = "/") -> str:
    """Return an address of this service to go to next; any other is not followed."""
    safe = asked.startswith("/") and not asked.startswith(("//", "/\\")) and asked.isprintable() and asked.isascii()
    return asked if safe else otherwise


def here() -> str:
    """Return the address of the page, to come back to."""
    query = request.query_string.decode("ascii", "replace")
    return quote(request.path) + (f"?{query}" if query else "")
