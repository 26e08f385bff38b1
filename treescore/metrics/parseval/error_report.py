"""Print the most frequent errors, as in the table of Kikas & Treumuth (2007)."""

from __future__ import annotations

from collections.abc import Mapping

from treescore.core.params import Json

_ERRORS_HEAD = ("count", "kind", "label")
_NO_LABEL = "(none)"


def error_report(errors: Mapping[str, Json]) -> str:
    """Print a row for each kind of error and label, most frequent first, and how many there are of each kind.

    Args:
        errors: the member `errors` of the tables of a result.
    """
    kinds = ", ".join(f"{kind} {count}" for kind, count in errors["kinds"].items())
    rows = [_ERRORS_HEAD]
    rows += [(str(error["count"]), error["kind"], error["label"] or _NO_LABEL) for error in errors["frequent"]]
    wide, wider = (max(len(row[column]) for row in rows) for column in (0, 1))
    table = "".join(f"{count:>{wide}}  {kind:<{wider}}  {label}\n" for count, kind, label in rows)
    return f"{table}\nOf each kind: {kinds}.\n"
