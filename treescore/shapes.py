"""Check the JSON shape of a scoring request that no HTTP schema has checked: from a command line or a program.

The members that a request may have are stated here, also for the schemas.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from treescore.core.params import escape
from treescore.core.wording import NAME_RULE, did_you_mean, is_name
from treescore.errors import Problem, ProblemList
from treescore.evaluation.spec import SIDES

_PARAMS = '{"punctuation": false}'
METRIC_KEY = re.compile(r"[A-Za-z0-9_-]{1,100}")
METRIC = ("name", "params", "key", "transforms")
TRANSFORM = ("name", "params", "on")
_SETTINGS = '{"test": "t", "level": 0.9}'


def check_request(request: Mapping[str, object]) -> None:
    """Check the members `format`, `transforms`, `metrics`, `significance` and `items`.

    Names and parameters themselves are checked where they are looked up.

    Raises:
        InputError: every member of a wrong type, with its pointer into the request.
    """
    problems = ProblemList()
    _check_choice(problems, request.get("format"), "/format")
    _check_transforms(problems, request.get("transforms", ()), "/transforms")
    for pointer, metric in _listed(problems, request.get("metrics"), "/metrics", '["ud"]'):
        _check_metric(problems, metric, pointer)
    if request.get("significance") is not None:
        _check_object(problems, request["significance"], "/significance", _SETTINGS)
    _check_items(problems, request.get("items"))
    problems.raise_if_any()


def check_significance(value: object) -> None:
    """Check settings of comparisons of their own, beside a request.

    Raises:
        InputError: the value is not an object.
    """
    problems = ProblemList()
    _check_object(problems, value, "/significance", _SETTINGS)
    problems.raise_if_any()


def check_format(value: object, pointer: str) -> None:
    """Check a format of its own, beside a request.

    Raises:
        InputError: the value is neither a name nor an object with a name.
    """
    problems = ProblemList()
    _check_choice(problems, value, pointer)
    problems.raise_if_any()


def _add(problems: ProblemList, pointer: str, wanted: str) -> None:
    problems.add(Problem("wrong-type", f"This must be {wanted}.", pointer=pointer))


def _check_object(problems: ProblemList, value: object, pointer: str, example: str) -> None:
    if not isinstance(value, Mapping):
        _add(problems, pointer, f"an object, as in {example}")


def _listed(problems: ProblemList, values: object, pointer: str, example: str) -> list[tuple[str, object]]:
    """Return the members of a list with their places; none of what is not a list."""
    if isinstance(values, (list, tuple)):
        return [(f"{pointer}/{index}", value) for index, value in enumerate(values)]
    _add(problems, pointer, f"a list, as in {example}")
    return []


def _check_choice(problems: ProblemList, value: object, pointer: str) -> bool:
    """Check a name, or an object with a name; return whether it is an object."""
    if isinstance(value, str):
        return False
    if not isinstance(value, Mapping):
        _add(problems, pointer, 'a name or an object with a "name", as in {"name": "conllu"}')
        return False
    if not isinstance(value.get("name"), str):
        _add(problems, f"{pointer}/name", "a string")
    return True


def _check_metric(problems: ProblemList, value: object, pointer: str) -> None:
    """A name, or an object with a name and perhaps `params`, `key` and `transforms`."""
    if not _check_choice(problems, value, pointer) or not isinstance(value, Mapping):
        return
    _check_members(problems, value, pointer, METRIC)
    _check_object(problems, value.get("params", {}), f"{pointer}/params", _PARAMS)
    key = value.get("key", "ud")
    if not isinstance(key, str) or not METRIC_KEY.fullmatch(key):
        _add(problems, f"{pointer}/key", "a string of 1 to 100 letters, digits, `_` and `-`")
    _check_transforms(problems, value.get("transforms", ()), f"{pointer}/transforms")


def _check_transforms(problems: ProblemList, values: object, pointer: str) -> None:
    """Names, or objects with a name and perhaps `params` and `on`."""
    for place, value in _listed(problems, values, pointer, '["flatten"]'):
        if not _check_choice(problems, value, place) or not isinstance(value, Mapping):
            continue
        _check_members(problems, value, place, TRANSFORM)
        _check_object(problems, value.get("params", {}), f"{place}/params", _PARAMS)
        if value.get("on", SIDES[0]) not in SIDES:
            _add(problems, f"{place}/on", f"one of: {', '.join(SIDES)}")


def _check_members(
    problems: ProblemList, value: Mapping[object, object], pointer: str, known: Sequence[str], what: str = ""
) -> None:
    """Refuse members that are unknown: what is misspelt would be left out in silence."""
    for name in value:
        if problems.full:
            problems.total += name not in known
        elif name not in known:
            meant = did_you_mean(str(name), known)
            detail = f"Unknown member {name!r}{what}.{meant} Allowed: {', '.join(known)}."
            problems.add(Problem("unknown-parameter", detail, pointer=f"{pointer}/{escape(str(name))}"))


def _check_items(problems: ProblemList, items: object) -> None:
    if items is None:
        return
    if not isinstance(items, Mapping):
        _add(problems, "/items", 'an object, as in {"blocks": ["d1", "d1", "d2"]}')
        return
    _check_members(problems, items, "/items", tuple(ITEMS), " of items")
    for name, value in items.items():
        if name not in ITEMS:
            continue
        lists = value if name in BY_NAME else {"": value}
        if not isinstance(lists, Mapping):
            _add(problems, f"/items/{name}", 'an object of lists, as in {"genre": ["news", "fiction"]}')
            continue
        for key, values in lists.items():
            pointer = f"/items/{name}/{escape(str(key))}" if name in BY_NAME else f"/items/{name}"
            if name in BY_NAME and not (isinstance(key, str) and is_name(key)):
                problems.add(Problem("bad-name", NAME_RULE, pointer=pointer))
            elif not isinstance(values, (list, tuple)):
                _add(problems, pointer, "a list, one entry for each sentence of gold")
            elif (wrong := ITEMS[name].first_wrong(values)) is not None:
                _add(problems, f"{pointer}/{wrong}", ITEMS[name].expected)


def _is_string(entry: object) -> bool:
    return isinstance(entry, str)


def _is_seconds(entry: object) -> bool:
    return isinstance(entry, (int, float)) and not isinstance(entry, bool) and 0 <= entry < math.inf


def _is_lengths(entry: object) -> bool:
    return _is_pair(entry, lambda number: type(number) is int and 0 <= number < 2**31)


def _is_words(entry: object) -> bool:
    return _is_pair(entry, _is_string)


def _is_pair(entry: object, accepts: Callable[[object], bool]) -> bool:
    return isinstance(entry, (list, tuple)) and len(entry) == 2 and all(map(accepts, entry))


@dataclass(frozen=True, slots=True)
class Entries:
    """What the entries of a list of `items` are.

    Attributes:
        accepts: whether it takes an entry.
        expected: what the entry must be, in words.
        shape: its JSON Schema.
    """

    accepts: Callable[[object], bool]
    expected: str
    shape: Mapping[str, object]

    def first_wrong(self, values: Sequence[object]) -> int | None:
        """Return the place of the first entry that is not taken."""
        return next((index for index, entry in enumerate(values) if not self.accepts(entry)), None)


def _pairs(of: Mapping[str, object]) -> Mapping[str, object]:
    return {"type": "array", "minItems": 2, "maxItems": 2, "items": of}


_STRINGS = Entries(_is_string, "a string", {"type": "string"})
ITEMS: Mapping[str, Entries] = {
    "lengths": Entries(
        _is_lengths,
        "two whole numbers: words of the source and of the target sentence",
        _pairs({"type": "integer", "minimum": 0, "maximum": 2**31 - 1}),
    ),
    "words": Entries(_is_words, "two strings: the source and the target sentence", _pairs({"type": "string"})),
    "blocks": _STRINGS,
    "attributes": _STRINGS,
    "seconds": Entries(_is_seconds, "a number of seconds, 0 or more", {"type": "number", "minimum": 0}),
}
"""The members of `items`, for every way in: each is a list parallel to gold's sentences, or such lists by name."""
BY_NAME = ("attributes", "seconds")
"""The members of `items` that hold lists by name."""
