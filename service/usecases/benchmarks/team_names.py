"""Refuse names of teams that look like others, by the confusable characters of Unicode (UTS 39), or that are no team's.

Those who hold an invite choose the names of their teams; organisers may give any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from string import digits
from unicodedata import category, combining, normalize
from unicodedata import name as char_name

import orjson

from service.errors import Conflict, invalid
from treescore.errors import Problem

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
