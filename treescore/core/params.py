"""Names and parameters of formats, transforms and metrics, as they are known before one is loaded.

Parameters are declared once as JSON Schema, checked and published from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from treescore.core.wording import did_you_mean
from treescore.errors import DEFAULT_CAP, Problem, ProblemList

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonschema import ValidationError

Json = Any
"""A JSON value, where it is checked."""
Choice = str | Mapping[str, Json]
"""A name, or an object as in a request: `{"name": "parseval", "params": {"preset": "evalb"}}`."""


SHARED_MODULES: Mapping[str, str] = {
    **dict.fromkeys(("conll08", "conll09", "malt-tab"), "conllx"),
    "conllu-plus": "cupt",
    **dict.fromkeys(("giza-a3", "naacl", "pharaoh", "talp"), "alignments"),
    **dict.fromkeys(("delete-labels", "rename-labels", "strip-functions"), "edits"),
    **dict.fromkeys(("drop-empty", "drop-punctuation", "drop-traces"), "edits"),
    **dict.fromkeys(("black", "collapse-unary"), "flatten"),
}
"""Format or transform -> the module that it shares with others. Without an entry the module has its name."""


class Param(NamedTuple):
    """One parameter: its JSON Schema, its default, and a sentence for users.

    Attributes:
        schema: of its values.
        default: value where none is given.
        doc: what it does.
        text: whether its value is a whole text, which signatures name by its digest.
    """

    schema: Mapping[str, Json]
    default: Json
    doc: str
    text: bool = False


def choices_of(given: Choice | Sequence[Choice] | None) -> list[Choice]:
    """Return one choice or several as a list; what is neither is one that the check of the request refuses."""
    if given is None:
        return []
    several = isinstance(given, (list, tuple, set, frozenset, Iterator))
    return list(given) if several else [given]  # type: ignore[list-item]


BOOLEAN: Mapping[str, Json] = {"type": "boolean"}
MOST_ENTRIES = 100_000
"""Values in the lists and objects of one parameter: the validator takes microseconds for each."""
STRINGS: Mapping[str, Json] = {"type": "array", "items": {"type": "string"}}


UNREADABLE = Param(
    {"enum": ["job", "sentence"]},
    "job",
    "What fails if a sentence cannot be read: the whole job, with the place, or the sentence (status error).",
)
"""The option of formats that can go on after a sentence that cannot be read."""


def schema_of(params: Mapping[str, Param]) -> dict[str, Json]:
    """Return the JSON Schema of an object with these parameters, with defaults and descriptions."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            name: {**param.schema, "description": param.doc, "default": param.default} for name, param in params.items()
        },
    }


def checked(
    owner: str, params: Mapping[str, Param], given: Mapping[str, Json], also: Sequence[str] = ()
) -> dict[str, Json]:
    """Check `given` and fill in defaults.

    Args:
        owner: whose parameters these are, for messages.
        params: the parameters.
        given: names and values.
        also: further names that the caller takes itself, for messages.

    Raises:
        InputError: unknown names and wrong values, each with its pointer below the parameters' object.
    """
    problems = ProblemList()
    for name in given:
        if problems.full:
            problems.total += name not in params
        elif name not in params:
            known = sorted([*params, *also])
            meant = did_you_mean(name, known)
            detail = f"Unknown parameter {name!r} of {owner}.{meant} Allowed: {', '.join(known) or 'none'}."
            problems.add(Problem("unknown-parameter", detail, pointer=f"/{escape(str(name))}"))
    for name, param in params.items():
        if name not in given or given[name] == param.default:
            continue
        fault = "" if _is_finite(given[name]) else "a number is not finite"
        if not fault and _entries(given[name]) > MOST_ENTRIES:
            fault = f"it has more than {MOST_ENTRIES} entries"
        if fault:
            detail = f"Invalid parameter {name} of {owner}: {fault}. {param.doc}"
            problems.add(Problem("bad-parameter", detail, pointer=f"/{escape(name)}"))
            continue
        for error in islice(_faults(given[name], param.schema), DEFAULT_CAP):
            path = "".join(f"/{escape(str(step))}" for step in (name, *error.absolute_path))
            detail = f"Invalid parameter {name} of {owner}: {_short(error.message)}.{_meant(error)} {param.doc}"
            problems.add(Problem("bad-parameter", detail, pointer=path))
    problems.raise_if_any()
    return {name: given.get(name, param.default) for name, param in params.items()}


def _entries(value: Json) -> int:
    """Return how many values a value holds."""
    if isinstance(value, Mapping):
        return sum(map(_entries, value.values()))
    return sum(map(_entries, value)) if isinstance(value, (list, tuple)) else 1


def _is_finite(value: Json) -> bool:
    """Return whether a value has no NaN or infinity: JSON has none, a program's values may."""
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _faults(value: Json, schema: Mapping[str, Json]) -> Iterable[ValidationError]:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - defaults need no validator

    return Draft202012Validator(schema).iter_errors(value)


def escape(token: str) -> str:
    """Escape a string as a token of a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")


def _meant(error: ValidationError) -> str:
    """Suggest one of the values that are allowed where a string is another."""
    allowed: Json = error.validator_value if error.validator == "enum" else ()
    return did_you_mean(error.instance, [value for value in allowed if isinstance(value, str)])


def _short(message: str) -> str:
    return message if len(message) <= 200 else message[:197] + "..."
