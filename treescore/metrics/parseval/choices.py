"""Parameters of `parseval`: presets, and each choice by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from treescore.core.absence import ZERO, errors_param
from treescore.core.params import BOOLEAN, STRINGS, Json, Param
from treescore.errors import Problem
from treescore.metrics.parseval.prm import MOST_PAIRS, read_prm


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """A value for every choice.

    Attributes:
        delete_labels: brackets of these labels are not compared; words with these tags are deleted.
        delete_labels_for_length: words with these tags do not count in the length.
        equal_labels, equal_words: pairs that count as equal, in both directions, not transitively.
        quote_labels: tags of words that may be quotes or possessives (EVALB's repair of Ellis 2006).
        cut_labels_at: a label ends before the first of these characters.
        cutoff: length up to which sentences are scored a second time.
        labelled: whether labels matter.
        preterminals: whether tags are brackets over one word.
        outer_bracket: whether outermost brackets without a label are compared.
        check_words: whether sentences whose words differ are errors, and those without words skipped.
        empty_constituents: `drop`: constituents without words are not compared; `word`: each counts as a word.
        first_word: number of the first word in the spans that items show.
        zero: whether errors and skipped sentences count as wrong.
        ignored: keys of a parameter file that change no figure, with their values.
        warnings: unusual lines of a parameter file.
    """

    delete_labels: Sequence[str] = ()
    delete_labels_for_length: Sequence[str] = ()
    equal_labels: Sequence[Sequence[str]] = ()
    equal_words: Sequence[Sequence[str]] = ()
    quote_labels: Sequence[str] = ()
    cut_labels_at: str = "-="
    cutoff: int = 40
    labelled: bool = True
    preterminals: bool = False
    outer_bracket: bool = True
    check_words: bool = True
    empty_constituents: str = "drop"
    first_word: int = 0
    zero: bool = False
    ignored: Mapping[str, int] = field(default_factory=dict)
    warnings: Sequence[Problem] = ()

    def document(self) -> dict[str, Json]:
        """Return the choices as a request gives them."""
        members = {name: getattr(self, name) for name in _CHOICES}
        return {**members, "ignored": dict(self.ignored)} if self.ignored else members


EVALB = Choices()
"""EVALB without a parameter file."""

PRESETS: Mapping[str, Choices] = {
    "evalb-collins": Choices(
        delete_labels=("TOP", "-NONE-", ",", ":", "``", "''", "."),
        delete_labels_for_length=("-NONE-",),
        equal_labels=(("ADVP", "PRT"),),
    ),
    "evalb": EVALB,
    "kikas-treumuth": Choices(
        cut_labels_at="", preterminals=True, check_words=False, empty_constituents="word", first_word=1
    ),
    "plain": Choices(cut_labels_at="", outer_bracket=False),
}

_PAIRS: Mapping[str, Json] = {
    "type": "array",
    "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
    "maxItems": MOST_PAIRS,
}


def _or_null(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    return {"anyOf": [schema, {"type": "null"}]}


_CHOICES: Mapping[str, Param] = {
    "delete_labels": Param(
        _or_null(STRINGS), None, "Labels whose brackets are not compared; words with these tags are deleted."
    ),
    "delete_labels_for_length": Param(_or_null(STRINGS), None, "Tags whose words do not count in a sentence's length."),
    "equal_labels": Param(_or_null(_PAIRS), None, "Pairs of labels or tags that count as equal; not transitive."),
    "equal_words": Param(_or_null(_PAIRS), None, "Pairs of words that count as equal; not transitive."),
    "quote_labels": Param(
        _or_null(STRINGS), None, "Tags of ', \" and / whose deletion on one side only is repaired, as in EVALB."
    ),
    "cut_labels_at": Param(
        _or_null({"type": "string"}), None, 'A label ends before the first of these characters; "-=" for EVALB.'
    ),
    "cutoff": Param(
        _or_null({"type": "integer"}), None, "Length up to which sentences are scored a second time (cutoff.)."
    ),
    "labelled": Param(
        _or_null(BOOLEAN), None, "Whether labels matter; false: the labelled scores ignore labels (LABELED 0)."
    ),
    "preterminals": Param(_or_null(BOOLEAN), None, "Whether tags are brackets over one word."),
    "outer_bracket": Param(_or_null(BOOLEAN), None, "Whether an outermost bracket without a label is compared."),
    "check_words": Param(
        _or_null(BOOLEAN), None, "Whether a sentence whose words differ from gold's has status error."
    ),
    "empty_constituents": Param(
        _or_null({"enum": ["drop", "word"]}),
        None,
        "Constituents without words: not compared, or each counted as a word, as Kikas & Treumuth's program did.",
    ),
    "first_word": Param(_or_null({"enum": [0, 1]}), None, "Number of the first word in the spans that items show."),
}

PARAMS: Mapping[str, Param] = {
    "preset": Param(
        {"enum": list(PRESETS)}, "evalb-collins", "A set of choices; each parameter below overrides one, null keeps it."
    ),
    "prm": Param(_or_null({"type": "string"}), None, "The text of an EVALB parameter file; replaces the preset."),
    **_CHOICES,
    "errors": errors_param("Sentences with status error or skip", "left out, as EVALB does"),
}


def choices_of(values: Mapping[str, Json]) -> Choices:
    """Apply the choices of the request to the parameter file or the preset."""
    base = PRESETS[values["preset"]] if values["prm"] is None else _of_prm(values["prm"])
    chosen = {name: values[name] for name in _CHOICES if values[name] is not None}
    return replace(base, **chosen, zero=values["errors"] == ZERO)


def _of_prm(text: str) -> Choices:
    """Apply a parameter file to the defaults of EVALB."""
    prm = read_prm(text)
    single: dict[str, Json] = {"cutoff": prm.cutoff, "labelled": prm.labelled}
    chosen = {**prm.lists, **{name: value for name, value in single.items() if value is not None}}
    return replace(EVALB, **chosen, ignored=prm.ignored, warnings=prm.warnings)
