"""Documents of the service as frozen views: members are attributes, and the document stays as it came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from treescore.client.answers import Answer, MissingMember, RateLimit, WrongAnswer
from treescore.core.params import Json
from treescore.core.version import __version__
from treescore.core.wording import did_you_mean


class Document(Mapping[str, Any]):
    """A JSON object of the service: a mapping of what came, whose members are attributes too.

    An attribute is None, a number, a text, a truth value, a tuple, or a further document; an item is as it came.

    Attributes:
        document: the object as it came.
        etag: its validator, to change it (`If-Match`); empty for a document inside another one.
        rate_limit: what is left of the caller's quota, where the answer tells it.
    """

    __slots__ = ("_answer", "_document")
    views: ClassVar[Mapping[str, type[Document]]] = {}
    """Members that are documents of a class of their own."""

    def __init__(self, document: Mapping[str, Any], answer: Answer | None = None) -> None:
        object.__setattr__(self, "_document", document)
        object.__setattr__(self, "_answer", answer)

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """Return the document of an answer."""
        return cls(answer.document(), answer)

    @property
    def document(self) -> Mapping[str, Json]:
        """The object as it came."""
        found: Mapping[str, Json] = object.__getattribute__(self, "_document")
        return found

    @property
    def answer(self) -> Answer | None:
        """The answer that brought it; None for a document inside another one."""
        found: Answer | None = object.__getattribute__(self, "_answer")
        return found

    @property
    def etag(self) -> str:
        """Its validator."""
        return "" if self.answer is None else self.answer.etag

    @property
    def rate_limit(self) -> RateLimit | None:
        """What is left of the caller's quota."""
        return None if self.answer is None else self.answer.rate_limit

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
    if isinstance(value, list):
        return tuple(_view(each, kind) for each in value)
    return value


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
        results: Mapping[str, Any] = self["results"] or {}
        for each in results.get("systems", ()):
            if each["name"] == system:
                nested = {metric: found["scores"] for metric, found in each["metrics"].items()}
                return scores_at(nested)
        raise KeyError(system)


class ComparisonsDocument(Document):
    """Comparisons of the systems of a job."""

    @property
    def comparisons(self) -> tuple[Document, ...]:
        """Each of them."""
        return tuple(Document(each) for each in self["items"])


def require(document: Document, *names: str) -> None:
    """Check that a document has the members that a call needs next.

    Raises:
        WrongAnswer: one is missing.
    """
    missing = [name for name in names if not isinstance(document.document.get(name), (str, int))]
    if missing:
        raise WrongAnswer(
            f"The service answers without {', '.join(map(repr, missing))}: it has another version than this client "
            f"({__version__}). Check the URL, or install the client of its version."
        )
