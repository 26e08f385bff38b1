"""Texts of parts, as requests send them and as the store names them."""

from __future__ import annotations

from collections.abc import Mapping

from treescore.core.params import escape
from treescore.core.registry import Text
from treescore.errors import Problem, ProblemList
from treescore.evaluation.spec import FormatChoice

GOLD, OUTPUTS = "parts", "outputs"
"""Folders of gold texts (owned by a revision) and of outputs (owned by a submission)."""
ITEMS = "items"
"""Folder of the attributes of gold's sentences, as JSON (owned by a revision)."""

Stored = Mapping[str, tuple[str, bytes]]


def named_texts(
    problems: ProblemList, folder: str, part: str, value: object, choice: FormatChoice, pointer: str
) -> dict[str, bytes]:
    """Return the text of one part (or the texts, for formats of several) by stored name; add a problem of its shape."""
    fields = choice.format.fields
    given = tuple(value) if isinstance(value, Mapping) else ()
    if set(fields) != set(given) or not isinstance(value, (Mapping, str, bytes)):
        wanted = f"an object with {', '.join(fields)}" if fields else "one text"
        detail = f"The format {choice.name!r} takes {wanted} here."
        problems.add(Problem(code="wrong-text-shape", pointer=f"{pointer}/{escape(part)}", part=part, detail=detail))
        return {}
    if isinstance(value, (str, bytes)):
        return {f"{folder}/{part}": as_bytes(value)}
    return {f"{folder}/{part}/{field}": as_bytes(text) for field, text in value.items()}


def names_of(folder: str, part: str, choice: FormatChoice) -> list[str]:
    """Return the stored names of the texts of one part."""
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


def digest_of_part(digests: Mapping[str, str], folder: str, part: str, choice: FormatChoice) -> str:
    """Return the digest of one part's text; for formats of several texts all digests, with their names."""
    names = names_of(folder, part, choice)
    if not choice.format.fields:
        return digests[names[0]]
    return " ".join(f"{field}={digests[name]}" for field, name in zip(choice.format.fields, names, strict=True))


def as_bytes(text: str | bytes) -> bytes:
    """Return a text as stored."""
    return text if isinstance(text, bytes) else text.encode("utf-8")
