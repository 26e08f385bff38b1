"""Read EVALB's parameter files as EVALB reads them."""

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
_SWITCHES = {"LABELED": "labelled"}
_SWITCHES_OF_DISCODOP = {"DISC_ONLY": "only_gaps", "DELETE_ROOT_PRETERMS": "delete_root_words"}
_PRINTED_BY_DISCODOP = ("LA", "TED", "DEP")
"""Keys of disco-dop that switch on scores which other metrics compute."""

MOST_PAIRS = 1000
"""Most pairs of equal labels, or of equal words; EVALB itself allows 100 of each."""


@dataclass(frozen=True, slots=True)
class ParameterFile:
    """The contents of a parameter file.

    Attributes:
        lists: parameter name -> labels, words or pairs, in order.
        settings: parameter name -> number or truth value, of those that the file sets.
        ignored: values of the keys that change no figure.
        warnings: what EVALB reports on its standard error.
    """

    lists: dict[str, list[str | tuple[str, str]]]
    settings: dict[str, int | bool]
    ignored: dict[str, int]
    warnings: Sequence[Problem]


def read_prm(text: str, *, discodop: bool = False) -> ParameterFile:
    """Read a parameter file. As in EVALB, unknown lines lead to warnings, not to errors.

    A key starts in the first column and is case-sensitive. Its value is the rest of the line with inner blanks, so that
    a comment cannot follow it. Lines that begin with # or are shorter than three bytes are skipped. Later values
    override earlier ones.

    Args:
        text: of the file.
        discodop: whether disco-dop's keys are known too.

    Raises:
        InputError: `prm-too-many-pairs`.
    """
    listed = {**_LISTS, "DELETE_WORD": "delete_forms"} if discodop else _LISTS
    switches = {**_SWITCHES, **_SWITCHES_OF_DISCODOP} if discodop else _SWITCHES
    numeric = (*IGNORED, "CUTOFF_LEN", *switches, *(_PRINTED_BY_DISCODOP if discodop else ()))
    lists: dict[str, list[str | tuple[str, str]]] = {name: [] for name in listed.values()}
    numbers: dict[str, int] = {}
    warnings = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.partition("\0")[0].rstrip(_SPACE)
        if line.startswith("#") or len(line.encode()) < 3:
            continue
        key = re.split(f"[{_SPACE}]", line, maxsplit=1)[0]
        value = line[len(key) :].lstrip(_SPACE)
        if key not in listed and key not in numeric:
            warnings.append(_warning("prm-unknown-key", number, f"Unknown keyword ({line}) is ignored, as in EVALB."))
        elif not value:
            warnings.append(_warning("prm-empty-value", number, f"{key} has no value; the line is ignored."))
        elif key.startswith("EQ_"):
            values = re.split(f"[{_SPACE}]+", value)
            if len(values) == 2:
                lists[listed[key]].append((values[0], values[1]))
            else:
                warnings.append(_warning("prm-not-a-pair", number, f"{key} requires two values; the line is ignored."))
        elif key in listed:
            lists[listed[key]].append(value)
        else:
            match = _NUMBER.match(value)
            numbers[key] = int(match.group()) if match else 0
    for key in ("EQ_LABEL", "EQ_WORD"):
        if len(lists[_LISTS[key]]) > MOST_PAIRS:
            detail = f"The parameter file exceeds {MOST_PAIRS} lines {key}. Rewrite the labels or words in the texts."
            raise InputError(Problem("prm-too-many-pairs", detail, pointer="/prm"))
    settings: dict[str, int | bool] = {name: bool(numbers[key]) for key, name in switches.items() if key in numbers}
    if "CUTOFF_LEN" in numbers:
        settings["cutoff"] = numbers["CUTOFF_LEN"]
    return ParameterFile(
        lists=lists,
        settings=settings,
        ignored={key: numbers[key] for key in IGNORED if key in numbers},
        warnings=warnings,
    )


def _warning(code: str, line: int, detail: str) -> Problem:
    return Problem(code, f"Parameter file, line {line}: {detail}", pointer="/prm", line=line)
