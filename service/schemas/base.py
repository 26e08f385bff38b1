"""Strict schemas, and how their faults become problems with a code and a JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

from marshmallow import RAISE, Schema, ValidationError, post_load

from service.errors import Unprocessable, problems_counted
from service.schemas.faults import Fault
from treescore.core.params import escape
from treescore.core.suggestions import did_you_mean
from treescore.errors import Problem, ProblemList

Loaded = TypeVar("Loaded")
"""What a schema loads: a request of service.requests, or a dictionary of JSON that the library checks."""


class Strict(Schema, Generic[Loaded]):
    """A schema that refuses unknown fields and names the known ones.

    Attributes:
        into: the class of what it loads.
    """

    into: type[Loaded]

    class Meta:
        """Unknown fields are errors: a misspelt option must not be a silent default."""

        unknown = RAISE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        known = self.members()
        detail = f"Unknown field. Known fields: {', '.join(known) or 'none'}."
        self.error_messages["unknown"] = Fault("unknown-field", detail, known)
        self.error_messages["type"] = Fault("wrong-type", "This must be an object.")

    def members(self) -> tuple[str, ...]:
        """Return the names of the known members."""
        return tuple(sorted(field.data_key or name for name, field in self.fields.items()))

    @post_load
    def build(self, members: dict[str, object], **_options: object) -> Loaded:
        """Make the request of its checked members."""
        return self.into(**members)


def load(schema: Strict[Loaded], value: object, cap: int) -> Loaded:
    """Return the request that a value stands for.

    Raises:
        Unprocessable: with every fault and its pointer, the first `cap` of them in full.
    """
    try:
        loaded: Loaded = schema.load(value)  # type: ignore[arg-type]
    except ValidationError as error:
        problems = ProblemList(cap)
        problems.extend(_problems(error.messages, ""))
        raise Unprocessable(
            problems_counted(problems.total), problems=problems.problems, total=problems.total
        ) from error
    return loaded


def _problems(messages: object, pointer: str, name: str = "") -> Iterator[Problem]:
    """Return the problems of a member of this name, and of those below it."""
    if isinstance(messages, Mapping):
        for key, below in messages.items():
            if key == "_schema":
                yield from _problems(below, pointer, name)
            else:
                yield from _problems(below, f"{pointer}/{escape(str(key))}", str(key))
    elif isinstance(messages, list):
        for message in messages:
            yield from _problems(message, pointer, name)
    else:
        code, known = (messages.code, messages.known) if isinstance(messages, Fault) else ("bad-value", ())
        suggestion = did_you_mean(name, known) if known else ""
        yield Problem(code=code, pointer=pointer, detail=f"{messages}{suggestion}")
