"""Parameters of `parseval`: presets, each choice by name, and EVALB's parameter files, read as EVALB reads them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from treescore.core.params import BOOLEAN, STRINGS, Json, Param
from treescore.core.scores import ZERO, errors_param
from treescore.errors import InputError, Problem
from treescore.metrics.shared.constituents import DELETED_FORMS, DELETED_LABELS, EQUAL_LABELS, EQUAL_WORDS, Deletions

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


def read_prm(text: str, *, discodop: bool = False) -> dict[str, Json]:
    """Read a parameter file. As in EVALB, unknown lines lead to warnings, not to errors.

    A key starts in the first column and is case-sensitive. Its value is the rest of the line with inner blanks, so that
    a comment cannot follow it. Lines that begin with # or are shorter than three bytes are skipped. Later values
    override earlier ones.

    Args:
        text: of the file.
        discodop: whether disco-dop's keys are known too.

    Returns:
        The choices of the file by name: lists of labels, words or pairs in order; numbers and truth values that it
        sets; values of keys that change no figure (`ignored`), and what EVALB reports (`warnings`).

    Raises:
        InputError: `prm-without-keyword`, `prm-too-many-pairs`.
    """
    listed = {**_LISTS, "DELETE_WORD": "delete_forms"} if discodop else _LISTS
    switches = {**_SWITCHES, **_SWITCHES_OF_DISCODOP} if discodop else _SWITCHES
    numeric = (*IGNORED, "CUTOFF_LEN", *switches, *(_PRINTED_BY_DISCODOP if discodop else ()))
    lists: dict[str, list[str | tuple[str, str]]] = {name: [] for name in listed.values()}
    numbers: dict[str, int] = {}
    warnings = []
    lines = [raw.partition("\0")[0].rstrip(_SPACE) for raw in text.removeprefix("\ufeff").split("\n")]
    said = [line for line in lines if line and not line.startswith("#")]
    if not any(re.split(f"[{_SPACE}]", line, maxsplit=1)[0] in (*listed, *numeric) for line in said):
        first = said[0][:60].lstrip("@") if said else ""
        advice = (
            f"it begins {first!r}. Keywords are in capitals and begin a line. Where that is a file name, give the text "
            f"of the file; in a command write @{first}."
            if said
            else "it is empty or holds only comments. Leave out prm; the preset evalb has the defaults of EVALB."
        )
        detail = f"The parameter file has no known keyword, such as DELETE_LABEL: {advice}"
        raise InputError(Problem("prm-without-keyword", detail, pointer="/prm"))
    for number, line in enumerate(lines, start=1):
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
    chosen: dict[str, Json] = {name: bool(numbers[key]) for key, name in switches.items() if key in numbers}
    if "CUTOFF_LEN" in numbers:
        chosen["cutoff"] = numbers["CUTOFF_LEN"]
    ignored = {key: numbers[key] for key in IGNORED if key in numbers}
    return {**lists, **chosen, "ignored": ignored, "warnings": warnings}


def _warning(code: str, line: int, detail: str) -> Problem:
    return Problem(code, f"Parameter file, line {line}: {detail}", pointer="/prm", line=line)


SKIPPED, MISSED, AS_SPMRL = "skip", "miss", "spmrl"
"""Values of `unparsed`."""
DISCODOP = "discodop"
"""The preset for constituents that may have gaps."""
UNSUPERVISED = "unsupervised"
"""The preset for bare spans."""
COUNTED, WORDS_LEFT_OUT, LEFT_OUT = "count", "leave-out-words", "leave-out"
"""Values of `spanless`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """A value for every choice.

    Attributes:
        gaps: whether constituents may have gaps, and are compared by their words as disco-dop does.
        delete_labels: brackets of these labels are not compared; words with these tags are deleted.
        delete_forms: words of these forms are deleted, by gold's form (only with `gaps`).
        delete_root_words: whether words are deleted that are directly below gold's root (only with `gaps`).
        only_gaps: whether brackets without a gap are left out of all scores (only with `gaps`).
        delete_labels_for_length: words with these tags do not count in the length.
        equal_labels, equal_words: pairs that count as equal, in both directions; transitively only with `gaps`.
        quote_labels: tags of words that may be quotes or possessives (EVALB's repair of Ellis 2006).
        cut_labels_at: a label ends before the first of these characters.
        cut_tags: whether tags and `delete_labels` end there too.
        delete_words: whether words are deleted by `delete_labels`; else only brackets are.
        cutoff: length up to which sentences are scored a second time.
        labelled: whether labels matter.
        preterminals: whether tags are brackets over one word.
        outer_bracket: whether outermost brackets without a label are compared.
        check_words: whether sentences whose words differ are errors, and those without words skipped.
        empty_constituents: `drop`: constituents without words are not compared; `word`: each counts as a word.
        first_word: number of the first word in the spans that items show.
        zero: whether errors and skipped sentences count as wrong.
        bare_spans: whether brackets are sets of spans of several words but not all, and words deleted by gold's tags.
        spanless: how a sentence without a bare span in gold counts in the mean over sentences: `count`, as 1 if the
            output has none either, else 0; `leave-out-words`, so, but not one of a single word; `leave-out`, not.
        unparsed: how a skipped sentence counts: `skip`, not; `miss`, gold's brackets as missed; `spmrl`, as missed and
            weighted as by EVALB_SPMRL. Without effect where `zero` is set.
        ignored: keys of a parameter file that change no figure, with their values.
        warnings: unusual lines of a parameter file.
    """

    gaps: bool = False
    delete_labels: Sequence[str] = ()
    delete_forms: Sequence[str] = ()
    delete_root_words: bool = False
    only_gaps: bool = False
    delete_labels_for_length: Sequence[str] = ()
    equal_labels: Sequence[Sequence[str]] = ()
    equal_words: Sequence[Sequence[str]] = ()
    quote_labels: Sequence[str] = ()
    cut_labels_at: str = "-="
    cut_tags: bool = False
    delete_words: bool = True
    cutoff: int = 40
    labelled: bool = True
    preterminals: bool = False
    outer_bracket: bool = True
    check_words: bool = True
    empty_constituents: str = "drop"
    first_word: int = 0
    zero: bool = False
    unparsed: str = SKIPPED
    bare_spans: bool = False
    spanless: str = COUNTED
    ignored: Mapping[str, int] = field(default_factory=dict)
    warnings: Sequence[Problem] = ()

    @property
    def tells_unparsed(self) -> bool:
        """Whether sentences with a parse are counted by themselves, since those without one may be valid too."""
        return self.unparsed != SKIPPED

    @property
    def deletions(self) -> Deletions:
        """What is deleted and taken as equal where constituents may have gaps."""
        return Deletions(
            self.delete_labels, self.delete_forms, self.equal_labels, self.equal_words, self.delete_root_words
        )

    def document(self) -> dict[str, Json]:
        """Return the choices as a request gives them."""
        members = {name: getattr(self, name) for name in (WITH_GAPS if self.gaps else _CHOICES)}
        return {**members, "ignored": dict(self.ignored)} if self.ignored else members


EVALB = Choices()
"""EVALB without a parameter file."""

_EVALB_SPMRL = Choices(cut_labels_at="-=#", cut_tags=True, delete_words=False)
"""EVALB_SPMRL without a parameter file."""

_SPMRL = replace(
    _EVALB_SPMRL,
    delete_labels=("TOP", "ROOT", "S1", "-NONE-", "VROOT"),
    delete_labels_for_length=("-NONE-",),
    cutoff=70,
)

_DISCODOP = Choices(
    gaps=True,
    delete_labels=DELETED_LABELS,
    delete_forms=DELETED_FORMS,
    equal_labels=EQUAL_LABELS,
    equal_words=EQUAL_WORDS,
)
"""disco-dop with its parameter file proper.prm."""

_SYN = (
    *("NN", "NNP", "NNT", "PRP", "JJ", "JJT", "RB", "RBR", "MOD", "VB", "AUX", "AGR", "IN", "COM"),
    *("REL", "CC", "QW", "HAM", "WDT", "DT", "CD", "CDT", "AT", "H", "FL", "ZVL"),
)
"""Labels that the Hebrew treebank has over its tags, after `SYN_`."""

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
    "spmrl": _SPMRL,
    "spmrl-hebrew": replace(_SPMRL, delete_labels=(*_SPMRL.delete_labels, *(f"SYN_{tag}" for tag in _SYN)), cutoff=40),
    DISCODOP: _DISCODOP,
    UNSUPERVISED: Choices(
        bare_spans=True,
        labelled=False,
        delete_labels=(".", ",", ":", "-LRB-", "-RRB-", "''", "``", "$", "#", "-NONE-"),
        cutoff=10,
    ),
}

_PROGRAMS: Mapping[str, Choices] = {
    **dict.fromkeys(("spmrl", "spmrl-hebrew"), _EVALB_SPMRL),
    DISCODOP: Choices(gaps=True),
    UNSUPERVISED: Choices(bare_spans=True, labelled=False),
}
"""What a parameter file starts from under a preset: EVALB unless it is here."""

_PAIRS: Mapping[str, Json] = {
    "type": "array",
    "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
    "maxItems": MOST_PAIRS,
}


def _or_null(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    return {"anyOf": [schema, {"type": "null"}]}


_DECLARED: Mapping[str, tuple[Mapping[str, Json], str]] = {
    "delete_labels": (
        STRINGS,
        "Labels whose brackets are not compared; unless delete_words is false, words with these tags are deleted.",
    ),
    "delete_forms": (STRINGS, "Forms of words that are deleted, by gold's form (preset discodop only)."),
    "delete_root_words": (
        BOOLEAN,
        "Whether words right below the root of gold's tree are deleted (preset discodop only; DELETE_ROOT_PRETERMS).",
    ),
    "only_gaps": (BOOLEAN, "Whether only brackets with a gap are compared (preset discodop only; DISC_ONLY)."),
    "delete_labels_for_length": (STRINGS, "Tags whose words do not count in a sentence's length."),
    "equal_labels": (_PAIRS, "Pairs of labels or tags that count as equal; not transitive."),
    "equal_words": (_PAIRS, "Pairs of words that count as equal; not transitive."),
    "quote_labels": (STRINGS, "Tags of ', \" and / whose deletion on one side only is repaired, as in EVALB."),
    "cut_labels_at": ({"type": "string"}, 'A label ends before the first of these characters; "-=" for EVALB.'),
    "cut_tags": (BOOLEAN, "Whether tags, and delete_labels, end there too before they are compared; EVALB: false."),
    "delete_words": (BOOLEAN, "Whether delete_labels deletes words as well as brackets; EVALB: true."),
    "cutoff": ({"type": "integer"}, "Length up to which sentences are scored a second time (cutoff.)."),
    "labelled": (BOOLEAN, "Whether labels matter; false: the labelled scores ignore labels (LABELED 0)."),
    "preterminals": (BOOLEAN, "Whether tags are brackets over one word."),
    "outer_bracket": (BOOLEAN, "Whether an outermost bracket without a label is compared."),
    "check_words": (BOOLEAN, "Whether a sentence whose words differ from gold's has status error."),
    "empty_constituents": (
        {"enum": ["drop", "word"]},
        "Constituents without words: not compared, or each counted as a word, as Kikas & Treumuth's program did.",
    ),
    "first_word": ({"enum": [0, 1]}, "Number of the first word in the spans that items show."),
}
_CHOICES = {name: Param(_or_null(schema), None, doc) for name, (schema, doc) in _DECLARED.items()}

ONLY_WITH_GAPS = ("delete_forms", "delete_root_words", "only_gaps")
"""The choices that have no effect elsewhere."""

WITH_GAPS = (
    *("delete_labels", *ONLY_WITH_GAPS, "delete_labels_for_length", "equal_labels", "equal_words"),
    *("cutoff", "labelled"),
)
"""The choices that have an effect where constituents may have gaps."""

WITHOUT_BARE_SPANS = ("labelled", "preterminals", "outer_bracket", "empty_constituents", "quote_labels")
"""The choices that have no effect on bare spans."""

PARAMS: Mapping[str, Param] = {
    "preset": Param(
        {"enum": list(PRESETS)}, "evalb-collins", "A set of choices; each parameter below overrides one, null keeps it."
    ),
    "prm": Param(
        _or_null({"type": "string"}),
        None,
        "The text of an EVALB parameter file; replaces the preset. With an spmrl preset EVALB_SPMRL reads it, with "
        "discodop disco-dop.",
    ),
    **_CHOICES,
    "unparsed": Param(
        {"enum": [SKIPPED, MISSED, AS_SPMRL]},
        SKIPPED,
        "A sentence without words in the output: not counted (skip, as EVALB); each bracket of gold missed, its words "
        "without a right tag (miss, recommended); the same with the weights of EVALB_SPMRL -X, for comparison with "
        "published figures (spmrl). Without effect under errors: zero, which charges such sentences in every score.",
    ),
    "spanless": Param(
        {"enum": [COUNTED, WORDS_LEFT_OUT, LEFT_OUT]},
        COUNTED,
        "A sentence in which gold has no span of several words but not all (preset unsupervised only): 1 in the mean "
        "over sentences if the output has none either, else 0 (count, as PRPN); so, but a sentence of one word does "
        "not count (leave-out-words, as C-PCFG); none of them counts (leave-out).",
    ),
    "errors": errors_param("Sentences with status error or skip", "left out, as EVALB does"),
}


def choices_of(values: Mapping[str, Json]) -> Choices:
    """Apply the choices of the request to the parameter file or the preset.

    Raises:
        InputError: `bad-parameter`, a choice that has no effect; as `read_prm`.
    """
    preset, prm = values["preset"], values["prm"]
    base = PRESETS[preset]
    if prm is not None:
        program = _PROGRAMS.get(preset, EVALB)
        base = replace(program, **read_prm(prm, discodop=program.gaps))
        base = replace(base, labelled=base.labelled and not base.bare_spans)
    chosen = {name: values[name] for name in _CHOICES if values[name] is not None}
    without_effect = [name for name in chosen if name not in WITH_GAPS] if base.gaps else ONLY_WITH_GAPS
    for name in (*without_effect, *(WITHOUT_BARE_SPANS if base.bare_spans else ())):
        if name in chosen and _listed(chosen[name]) != _listed(getattr(base, name)):
            raise InputError(_no_effect(name, preset))
    unparsed, spanless = values["unparsed"], values["spanless"]
    if base.gaps and unparsed != SKIPPED:
        raise InputError(_no_effect("unparsed", preset))
    if not base.bare_spans and spanless != COUNTED:
        raise InputError(_no_effect("spanless", preset))
    return replace(base, **chosen, zero=values["errors"] == ZERO, unparsed=unparsed, spanless=spanless)


def _listed(value: Json) -> Json:
    return list(value) if isinstance(value, tuple) else value


def _no_effect(name: str, preset: str) -> Problem:
    detail = f"{name} has no effect under the preset {preset}. Leave it out."
    return Problem("bad-parameter", detail, pointer=f"/{name}")
