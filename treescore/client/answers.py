"""Answers of the service: received piece by piece, unpacked within bounds, and read; and what the client raises.

A document is a frozen view: members are attributes, and the object stays as it came.
"""

# ruff: noqa: F403, F405 - all errors are known here

from __future__ import annotations

import io
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, ClassVar, Self

import httpx
import orjson

from treescore.client.errors import *
from treescore.client.problems import *
from treescore.core.params import Json
from treescore.core.version import __version__
from treescore.core.wording import did_you_mean

MOST = 512 << 20
"""Bytes of an answer that is held in memory, once unpacked."""
MOST_OF_ERROR = 8 << 20
"""Bytes of an unsuccessful answer."""
MOST_OF_FILE = 16 << 30
"""Bytes of an answer that is written into a file, once unpacked."""
_PIECE = 1 << 20
"""Bytes unpacked at once."""
Target = str | os.PathLike[str]
"""A file into which an answer goes."""
REFUSALS = (401, 403, 409, 429)
_CODINGS = ("", "identity", "gzip")
_TITLE = re.compile(rb"<title[^>]*>\s*([^<]{1,80})", re.IGNORECASE)
_HTML = re.compile(rb"\s*<(!doctype html|html|head|body)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the service.

    Attributes:
        status: of HTTP.
        headers: by name, in any case.
        body: unpacked; empty where it was written into a file.
        url: that was asked.
        path: the file into which the body was written; None if it is in `body`.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    path: Path | None = None

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    @property
    def etag(self) -> str:
        """The validator of the body; empty without one, or with one that no request can carry."""
        found = self.headers.get("ETag", "")
        return found if is_header(found) else ""

    @property
    def replayed(self) -> bool:
        """Whether the service had done this request before."""
        return "Idempotent-Replayed" in self.headers

    @property
    def retry_after(self) -> float | None:
        """Seconds after which the service asks to come again; None where it does not."""
        asked = self.headers.get("Retry-After", "").strip()
        if _is_number(asked):
            return float(asked)
        if asked:
            with suppress(TypeError, ValueError, OverflowError):  # neither a number nor a date
                sent = parsedate_to_datetime(self.headers.get("Date", ""))
                return max(0.0, (parsedate_to_datetime(asked) - sent).total_seconds())
            return None
        reset = self.headers.get("RateLimit-Reset", "")
        return float(reset) if self.status == 429 and _is_number(reset) else None

    def document(self) -> dict[str, Json]:
        """Return the JSON object of the body.

        Raises:
            WrongAnswer: the body is none.
        """
        found = self.object()
        if found is None:
            raise WrongAnswer(f"{self.url} does not answer with a JSON document{self._instead()}.", status=self.status)
        return found

    def object(self) -> dict[str, Json] | None:
        """Return the JSON object of the body; None for a body that is none."""
        try:
            document = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return None
        return document if isinstance(document, dict) else None

    def error(self) -> ClientError:
        """Return the error that an unsuccessful answer means."""
        document = self.object() or {}
        place = self.headers.get("Location")
        if 300 <= self.status < 400 and place:
            return WrongAddress(
                f"{self.url} answers {self.status} and points to {place}. The client follows no redirects, so that it "
                "sends the token nowhere else: if the service is there, give its address as URL.",
                status=self.status,
            )
        known = isinstance(document.get("detail") or document.get("title"), str) or document.get("errors")
        if not known:
            document = {"detail": f"{self.url} answers {self.status}{self._instead()}."}
        error = failure_error(document, self.status, self.retry_after)
        if not known and error.retry_after is not None:  # the service itself says when
            error.add_line(f"Retry in {error.retry_after:.0f} s.")
        return error

    def _instead(self) -> str:
        """Return what the body seems to be."""
        if not self.body:
            return ", its body is empty"
        if not ("text/html" in self.headers.get("Content-Type", "") or _HTML.match(self.body)):
            return ""
        title = _TITLE.search(self.body)
        named = f" titled {title[1].decode('utf-8', 'replace').strip()!r}" if title else ""
        return f" but with a page{named}: a proxy or a login page may stand before the service. Check the URL"


def failure_error(document: Mapping[str, Json], status: int = 0, retry_after: float | None = None) -> ClientError:
    """Return the error of a problem document, or of the `failure` of work.

    Args:
        document: as the service tells it; another server may have sent anything.
        status: HTTP status of the answer; that of the document for work that failed.
        retry_after: seconds that the service asks to wait.
    """
    named = document.get("status")
    code = status or (named if isinstance(named, int) else 0)
    usual = UnavailableError if code >= 500 else RefusedError if code in REFUSALS else RequestError
    kind = BY_SLUG.get(slug_of(document)) or BY_STATUS.get(code, usual)
    errors = problems_of(document)
    total = document.get("errors_total")
    lines = problem_lines(errors, {}, total if isinstance(total, int) else len(errors)) if errors else []
    text = document.get("detail") or document.get("title") or f"The service answers {code}."
    return kind(*(lines or [str(text)]), status=code, retry_after=retry_after, document=document)


def is_header(text: str) -> bool:
    """Return whether a header can carry a text."""
    return text.isascii() and text.isprintable()


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 15


class Receiver:
    """Takes the body of an answer in pieces. Used as a context, it removes a file that was not written to its end.

    Attributes:
        whole: whether the body was read before: by a transport or a hook of the caller.

    Args:
        response: of which nothing but the head was read.
        target: file for the body of a success; None to hold it.
        check: called between pieces; raises where the time is over.
    """

    def __init__(self, response: httpx.Response, target: Target | None, check: Callable[[], None]) -> None:
        self._response = response
        self.whole = response.is_stream_consumed
        self._check = check
        self._url = str(response.request.url)
        self._coding = response.headers.get("Content-Encoding", "").strip().lower()
        self._unpacker: Any = None
        self._target = Path(target) if response.is_success and target is not None else None
        self._most = MOST_OF_ERROR if not response.is_success else MOST if self._target is None else MOST_OF_FILE
        self._file: IO[bytes] = io.BytesIO()
        if self._target is not None:
            with self._writing():
                self._file = NamedTemporaryFile(  # noqa: SIM115 - kept across calls, closed in __exit__
                    dir=self._target.parent, prefix=f".{self._target.name}.", suffix=".part", delete=False
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # that the disk is full was said before
            self._file.close()
        if self._target is not None:
            Path(self._file.name).unlink(missing_ok=True)

    def feed(self, piece: bytes) -> None:
        """Take a piece as it came.

        Raises:
            WrongAnswer: it cannot be unpacked, or the body is too large.
        """
        self._check()
        if self._coding not in _CODINGS:
            raise self._wrong(f"in the coding {self._coding!r}, which was not asked for")
        if self._coding != "gzip":
            self._keep(piece)
            return
        try:
            while piece:
                if self._unpacker is None or self._unpacker.eof:
                    self._unpacker = zlib.decompressobj(wbits=31)
                self._keep(self._unpacker.decompress(piece, _PIECE))
                piece = self._unpacker.unconsumed_tail or self._unpacker.unused_data
        except zlib.error as error:
            raise self._wrong(f"that cannot be unpacked: {error}") from error

    def finish(self) -> Answer:
        """Return the answer; the file, if it goes into one, is complete then, and only then."""
        if self.whole:
            self._keep(self._response.content)  # the HTTP library has unpacked it
        if self._unpacker is not None and not self._unpacker.eof:
            raise self._wrong("that cannot be unpacked: its end is missing")
        body = self._file.getvalue() if isinstance(self._file, io.BytesIO) else b""
        if self._target is not None:
            with self._writing():
                self._file.close()
                Path(self._file.name).replace(self._target)
        return Answer(self._response.status_code, self._response.headers, body, self._url, self._target)

    def _keep(self, data: bytes) -> None:
        if self._file.tell() + len(data) > self._most:
            raise self._wrong(f"of more than {self._most} bytes, once unpacked")
        with self._writing():
            self._file.write(data)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UnwritableTarget(f"{self._target}: {reason}. Name a file that can be written.") from error

    def _wrong(self, what: str) -> WrongAnswer:
        return WrongAnswer(f"{self._url} sends an answer {what}.", status=self._response.status_code)


class Document(Mapping[str, Any]):
    """A JSON object of the service: a mapping of what came, whose members are attributes too.

    An attribute is None, a number, a text, a truth value, a tuple, or a further document; an item is as it came.

    Attributes:
        document: the object as it came.
        answer: that brought it; None for a document inside another one.
        etag: its validator, to change it (`If-Match`); empty for a document inside another one.
    """

    __slots__ = ("answer", "document")
    views: ClassVar[Mapping[str, type[Document]]] = {}
    """Members that are documents of a class of their own."""
    document: Mapping[str, Json]
    answer: Answer | None

    def __init__(self, document: Mapping[str, Any], answer: Answer | None = None) -> None:
        object.__setattr__(self, "document", document)
        object.__setattr__(self, "answer", answer)

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """Return the document of an answer."""
        return cls(answer.document(), answer)

    @property
    def etag(self) -> str:
        """Its validator."""
        return "" if self.answer is None else self.answer.etag

    def __getattr__(self, name: str) -> Any:
        """Return a member."""
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return _view(self.document[name], type(self).views.get(name, Document))
        except KeyError:
            raise MissingMember(
                f"The service's document has no member {name!r}.{did_you_mean(name, self.document)} It has: "
                f"{', '.join(self.document)}. Check the name; or the service has another version than this client "
                f"({__version__})."
            ) from None

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: documents are frozen."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} cannot be set.")

    def __delattr__(self, name: str) -> None:
        """Refuse: documents are frozen."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} cannot be deleted.")

    def __getitem__(self, name: str) -> Any:
        """Return a member as it came."""
        return self.document[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.document)

    def __len__(self) -> int:
        return len(self.document)

    def __eq__(self, other: object) -> bool:
        return self.document == (other.document if isinstance(other, Document) else other)

    def __hash__(self) -> int:
        return hash(frozenset(self.document))  # equal documents may have their members in another order

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.document,)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.document})

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.document[name]!r}" for name in ("id", "name", "state") if name in self)
        return f"{type(self).__name__}({shown or ', '.join(self.document)})"


def _view(value: Any, kind: type[Document]) -> Any:
    if isinstance(value, Mapping):
        return kind(value)
    return tuple(_view(each, kind) for each in value) if isinstance(value, list) else value


def scores_at(nested: Mapping[str, Any], prefix: str = "") -> dict[str, float | None]:
    """Return nested scores by their addresses: `{"cutoff": {"f1": 1}}` as `cutoff.f1`."""
    found: dict[str, float | None] = {}
    for name, value in nested.items():
        if isinstance(value, Mapping):
            found |= scores_at(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


class JobDocument(Document):
    """A job, whose scores are found by their addresses."""

    def scores_of(self, system: str) -> dict[str, float | None]:
        """Return the scores of a system by their addresses (`ud.las_f1`).

        Raises:
            KeyError: the system is unknown, or the job has no results.
        """
        for each in (self["results"] or {}).get("systems", ()):
            if each["name"] == system:
                return scores_at({metric: found["scores"] for metric, found in each["metrics"].items()})
        raise KeyError(system)


class ComparisonsDocument(Document):
    """Comparisons of the systems of a job."""

    @property
    def comparisons(self) -> tuple[Document, ...]:
        """Each of them."""
        return tuple(Document(each) for each in self["items"])
