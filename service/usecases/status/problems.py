"""Show the catalogue of problems: what each type and code means, and how to fix it."""

from __future__ import annotations

from service.errors import LONGEST_SHOWN, NotFound
from service.problem_catalogue import CODES, TYPES, Entry, ProblemType
from treescore.core.suggestions import did_you_mean


def problem_documents() -> list[dict[str, object]]:
    """Return all types, then all codes."""
    return [_document(name, entry) for table in (TYPES, CODES) for name, entry in table.items()]


def document_of(name: str) -> dict[str, object]:
    """Return one type or code.

    Raises:
        NotFound: none has this name.
    """
    entry = TYPES.get(name) or CODES.get(name)
    if entry is None:
        shown = name[:LONGEST_SHOWN]
        suggestion = did_you_mean(shown, [*TYPES, *CODES])
        raise NotFound(f"Unknown problem {shown!r}.{suggestion} See GET /problems.")
    return _document(name, entry)


def _document(name: str, entry: Entry) -> dict[str, object]:
    kind = {"kind": "type", "status": entry.status} if isinstance(entry, ProblemType) else {"kind": "code"}
    example = {"example": entry.example} if entry.example else {}
    return {
        "name": name,
        "uri": f"/problems/{name}",
        **kind,
        "title": entry.title,
        "cause": entry.cause,
        "fix": entry.fix,
        **example,
    }
