"""Texts of parts, as requests send them and as the store names them."""

from __future__ import annotations

from collections.abc import Mapping

from service.requests import Text as Given
from treescore.core.registry import Text
from treescore.errors import Problem, ProblemList
from treescore.evaluation.spec import FormatChoice

GOLD, OUTPUTS = "parts", "outputs"
"""Folders of gold texts (owned by a revision) and of outputs (owned by a submission)."""
ITEMS = "items"
"""Folder of the attributes of gold's sentences, as JSON (owned by a revision)."""

Stored = Mapping[str, tuple[str, bytes]]


def named_texts(
    problems: ProblemList, name: str, value: Given, choice: FormatChoice, pointer: str, part: str | None = None
) -> dict[str, bytes]:
    """Return a text of a request under the name by which it is kept; for a format of several texts, `name/field` each.

    A value of the wrong shape goes to `problems`.
    """
    fields = choice.format.fields
    given = tuple(value) if isinstance(value, Mapping) else ()
    if set(fields) != set(given):
        wanted = f"an object with {', '.join(fields)}" if fields else "one text"
        detail = f"The format {choice.name!r} takes {wanted} here."
        problems.add(Problem(code="wrong-text-shape", pointer=pointer, part=part, detail=detail))
        return {}
    if isinstance(value, Mapping):
        return {f"{name}/{field}": text.encode() for field, text in value.items()}
    return {name: value if isinstance(value, bytes) else value.encode()}


def names_of(folder: str, part: str, choice: FormatChoice) -> list[str]:
    """Return the names under which the texts of a part are kept."""
    fields = choice.format.fields
    return [f"{folder}/{part}/{field}" for field in fields] if fields else [f"{folder}/{part}"]


def items_name(part: str) -> str:
    """Return the stored name of the attributes of one part's sentences."""
    return f"{ITEMS}/{part}"


def text_of(stored: Stored, folder: str, part: str, choice: FormatChoice) -> Text | None:
    """Return the text of one part as a format reads it; None where it is not stored."""
    names = names_of(folder, part, choice)
    if any(name not in stored for name in names):
        return None
    if not choice.format.fields:
        return stored[names[0]][1]
    return {field: stored[name][1] for field, name in zip(choice.format.fields, names, strict=True)}


def digest_of_part(stored: Stored, folder: str, part: str, choice: FormatChoice) -> str:
    """Return the digest of one part's text; for formats of several texts all digests, with their names."""
    names = names_of(folder, part, choice)
    if not choice.format.fields:
        return stored[names[0]][0]
    return " ".join(f"{field}={stored[name][0]}" for field, name in zip(choice.format.fields, names, strict=True))
