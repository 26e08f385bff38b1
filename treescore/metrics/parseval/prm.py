"""EVALB's parameter files, read as EVALB reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from treescore.errors import InputError, Problem

_SPACE = " \t\n\v\f\r"
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_LISTS = {
    "DELETE_LABEL": "delete_labels",
    "DELETE_LABEL_FOR_LENGTH": "delete_labels_for_length",
    "QUOTE_LABEL": "quote_labels",
    "EQ_LABEL": "equal_labels",
    "EQ_WORD": "equal_words",
}
IGNORED = ("DEBUG", "MAX_ERROR")
"""Keys that change what EVALB prints or when it gives up, not what it computes."""

MOST_PAIRS = 1000
"""Equal labels, or equal words; EVALB itself has room for 100 of each."""


@dataclass(frozen=True, slots=True)
class ParameterFile:
    """What a parameter file says.

    Attributes:
        lists: parameter name -> labels, words or pairs, in order.
        cutoff, labelled: None where the file is silent.
        ignored: values of the keys that change no figure.
        warnings: what EVALB would complain of on its standard error.
    """

    lists: dict[str, list[str | tuple[str, str]]]
    cutoff: int | None
    labelled: bool | None
    ignored: dict[str, int]
    warnings: Sequence[Problem]


def read_prm(text: str) -> ParameterFile:
    """Read a parameter file. Nothing in it is an error, as for EVALB: what it does not know it warns of.

    A key stands in the first column and is case-sensitive; its value is the rest of the line, inner blanks
    kept (so there are no comments behind a value); lines that begin with # or are shorter than three bytes are
    passed over; later values beat earlier ones.

    Raises:
        InputError: `prm-too-many-pairs`.
    """
    lists: dict[str, list[str | tuple[str, str]]] = {name: [] for name in _LISTS.values()}
    numbers: dict[str, int] = {}
    warnings = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.partition("\0")[0].rstrip(_SPACE)
        if line.startswith("#") or len(line.encode()) < 3:
            continue
        key = re.split(f"[{_SPACE}]", line, maxsplit=1)[0]
        value = line[len(key) :].lstrip(_SPACE)
        if key not in _LISTS and key not in {*IGNORED, "CUTOFF_LEN", "LABELED"}:
            warnings.append(_warning("prm-unknown-key", number, f"Unknown keyword ({line}) is ignored, as by EVALB."))
        elif not value:
            warnings.append(_warning("prm-empty-value", number, f"{key} has no value; the line is ignored."))
        elif key.startswith("EQ_"):
            values = re.split(f"[{_SPACE}]+", value)
            if len(values) == 2:
                lists[_LISTS[key]].append((values[0], values[1]))
            else:
                warnings.append(_warning("prm-not-a-pair", number, f"{key} requires two values; the line is ignored."))
        elif key in _LISTS:
            lists[_LISTS[key]].append(value)
        else:
            found = _NUMBER.match(value)
            numbers[key] = int(found.group()) if found else 0
    for key in ("EQ_LABEL", "EQ_WORD"):
        if len(lists[_LISTS[key]]) > MOST_PAIRS:
            detail = f"The parameter file has more than {MOST_PAIRS} lines {key}. Rewrite the labels or words instead."
            raise InputError([Problem(code="prm-too-many-pairs", pointer="/prm", detail=detail)])
    return ParameterFile(
        lists=lists,
        cutoff=numbers.get("CUTOFF_LEN"),
        labelled=bool(numbers["LABELED"]) if "LABELED" in numbers else None,
        ignored={key: numbers[key] for key in IGNORED if key in numbers},
        warnings=warnings,
    )


def _warning(code: str, line: int, detail: str) -> Problem:
    return Problem(code=code, pointer="/prm", line=line, detail=f"Parameter file, line {line}: {detail}")
