"""The answer to a comparison of submissions again, byte for byte, from texts instead of a store."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np
import orjson

from treescore.core.arrays import BoolArray, Counts
from treescore.core.params import Json
from treescore.core.registry import ItemInfo, Text, TokenBits
from treescore.core.text import Limits, digest_of
from treescore.errors import InputError, Problem
from treescore.evaluation import benchmark
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.report import documents_of
from treescore.evaluation.spec import Spec, parse_items
from treescore.shapes import check_request
from treescore.significance import Candidate, Settings
from treescore.sources.files import unreadable


def _object(**members: Json) -> Json:
    """Return the JSON Schema of an object that has these members; of some any value will do."""
    return {"type": "object", "required": list(members), "properties": members}


def _list(items: Json, *others: str) -> Json:
    return {"type": ["array", *others], "items": items}


_TEXT, _TEXT_OR_NULL, _WHOLE = {"type": "string"}, {"type": ["string", "null"]}, {"type": "integer"}
_PART = _object(name=_TEXT, sentences=_WHOLE, chosen=_list(_WHOLE, "null"), gold={}, items={})
_SYSTEM = _object(name=_TEXT, runs=_list(_TEXT), submissions={**_WHOLE, "minimum": 1})
_ANSWER = _object(
    score=_TEXT,
    part=_TEXT_OR_NULL,
    selection=_TEXT,
    settings={"type": "object", "propertyNames": {"enum": [each.name for each in fields(Settings)]}},
    gold_digest=_TEXT_OR_NULL,
    untested=_list(_object(name={}, reason={})),
    question=_object(
        format={},
        transforms={},
        metric={},
        charged={},
        parts=_list(_PART),
        systems=_list(_SYSTEM),
        missing={"type": "object", "additionalProperties": {"type": ["array", "null"]}},
    ),
)
"""What the command reads of an answer, as JSON Schema."""


@dataclass(slots=True)
class _Scored:
    """What was counted in the files, part after part.

    Attributes:
        counts: submission -> of each part the counts that are compared.
        charged: the same with what an output lacks, where the score leaves that out.
        answered: submission -> of each part the compared sentences that its score covers.
        tokens: submission -> of each part right or wrong of each token.
        documents: of the sentences of each part, with which of them are compared.
    """

    counts: dict[str, list[Counts]] = field(default_factory=partial(defaultdict, list))
    charged: dict[str, list[Counts]] = field(default_factory=partial(defaultdict, list))
    answered: dict[str, list[BoolArray]] = field(default_factory=partial(defaultdict, list))
    tokens: dict[str, list[TokenBits | None]] = field(default_factory=partial(defaultdict, list))
    documents: list[tuple[Sequence[str | None] | None, BoolArray]] = field(default_factory=list)

    def joined(self, name: str, _missing: frozenset[int], *, charged: bool = False) -> Counts:
        """Return a submission's counts over all parts."""
        # a metric's counts are integers in every part, or real numbers in every part
        return np.concatenate((self.charged if charged else self.counts)[name])  # type: ignore[return-value]


def repeated(comparison: Path, gold: Path, outputs: Path, limits: Limits) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return an answer as a file has it, and as it is from the texts.

    Raises:
        ScoringError: a file is missing or wrong.
    """
    shown = _read_answer(comparison)
    question = shown["question"]
    check_request({**question, "metrics": [question["metric"]]})
    spec, subject = benchmark.subject_of(shown)
    again = _answer(shown, subject, _scored_submissions(question, spec, subject, gold, outputs, limits))
    return shown, {**again, **{name: value for name, value in shown.items() if name not in again}}


def _answer(shown: Mapping[str, Json], subject: benchmark.Subject, scored: _Scored) -> dict[str, Json]:
    """Compare what was counted as the service compares what it has stored."""
    question: benchmark.QuestionDocument = shown["question"]
    at = {name: position for position, (name, _) in enumerate(subject.parts)}
    lacking = {
        name: frozenset(at.values()) if parts is None else frozenset(at[part] for part in parts if part in at)
        for name, parts in question["missing"].items()
    }
    candidates: list[Candidate] = []
    charged = benchmark.Charged([], {}) if subject.entry.leaves_out else None
    with_errors = partial(scored.joined, charged=True)
    for row in question["systems"]:
        tokens = benchmark.joined_tokens(scored.tokens[row["name"]]) if subject.settings.unit == "token" else None
        found = benchmark.candidate_of(row, scored.joined, lacking, tokens)
        candidates += [] if found is None else [found[0]]
        found = None if charged is None else benchmark.candidate_of(row, with_errors, lacking, tokens)
        if charged is not None and found is not None:
            charged.candidates.append(found[0])
            charged.answered[row["name"]] = [
                np.concatenate(scored.answered[run]) for run in (row["name"], *row["runs"])
            ]
    compared = {row["name"] for row in question["systems"]}
    untested = [each for each in shown["untested"] if each["name"] not in compared]
    return subject.answer(candidates, benchmark.joined_documents(scored.documents), untested, question, charged=charged)


def _scored_submissions(
    question: benchmark.QuestionDocument,
    spec: Spec,
    subject: benchmark.Subject,
    gold: Path,
    outputs: Path,
    limits: Limits,
) -> _Scored:
    """Score the outputs of all submissions, part by part.

    Raises:
        ScoringError: a text is missing, is not that of the comparison, or cannot be scored.
    """
    names = benchmark.submissions_of(question["systems"])
    scored = _Scored()
    alone = len(question["parts"]) == 1
    for part in question["parts"]:
        evaluation = _evaluation(part, spec, gold, limits, alone=alone)
        sentences = _chosen(part, len(evaluation.gold))
        scored.documents.append((documents_of(evaluation), sentences))
        for name in names:
            rows, answered, bits = _counts(
                question, subject, evaluation, part["name"], name, outputs / name, alone=alone
            )
            scored.counts[name].append(rows[sentences][:, subject.columns.positions])
            scored.answered[name].append(answered[sentences])
            if subject.entry.leaves_out:
                charging = subject.charging
                rows, _, _ = _counts(
                    {**question, "charged": True}, charging, evaluation, part["name"], name, outputs / name, alone=alone
                )
                scored.charged[name].append(rows[sentences][:, charging.columns.positions])
            scored.tokens[name].append(None if bits is None else benchmark.chosen_tokens(bits, sentences))
    return scored


def _chosen(part: benchmark.PartDocument, sentences: int) -> BoolArray:
    """Return which sentences of a part are compared, bool (n,)."""
    if part["chosen"] is None:
        return np.ones(sentences, np.bool_)
    return np.isin(np.arange(1, sentences + 1), part["chosen"])


def _counts(
    question: benchmark.QuestionDocument,
    subject: benchmark.Subject,
    evaluation: Evaluation,
    part: str,
    name: str,
    folder: Path,
    *,
    alone: bool,
) -> tuple[Counts, BoolArray, TokenBits | None]:
    """Return the counts of one output, what the score covers of it, and its tokens; of a missing one what it costs."""
    entry = subject.entry
    missing = question["missing"].get(name, ())
    if missing is None or part in missing:
        answered = np.full(len(evaluation.gold), missing is None)
        if missing is not None and question["charged"]:
            return _stored(evaluation.absent(entry)), answered, None
        return np.zeros((len(evaluation.gold), len(entry.metric.table.count_names)), np.int64), answered, None
    fix = f"Put the output of {name} for the part {part} there."
    text = _part_text(evaluation.spec, folder, part, fix, alone=alone)
    choice, pointer = evaluation.spec.format, str(folder / part)
    outcome = evaluation.compare(evaluation.read(text, choice, pointer), choice, pointer, entries=[entry])[entry.key]
    return _stored(outcome.rows), outcome.answered, outcome.tokens.get(subject.score.name)


def _stored(counts: Counts) -> Counts:
    """Return counts as a store gives them back: sums of real numbers depend on their order in memory."""
    whole = np.issubdtype(counts.dtype, np.integer)
    return np.ascontiguousarray(counts, np.int64) if whole else np.ascontiguousarray(counts, np.float64)


def _evaluation(part: benchmark.PartDocument, spec: Spec, gold: Path, limits: Limits, *, alone: bool) -> Evaluation:
    """Read the gold of a part, which must be that of the comparison."""
    name = part["name"]
    text = _part_text(spec, gold, name, f"Put the gold of the part {name} there.", alone=alone)
    bodies = [text] if isinstance(text, bytes) else [text[each] for each in spec.format.format.fields]
    if [digest_of(body) for body in bodies] != part["gold"]:
        _wrong("other-gold", f"This is not the gold of the part {name}. Give the text that was sent.", gold / name)
    items = ItemInfo()
    if part["items"] is not None:
        path = (gold.parent if gold.is_file() else gold) / f"{name}.items.json"
        body = orjson.dumps(_read_json(path, f"Put the items of the part {name} there."))
        if digest_of(body) != part["items"]:
            _wrong("other-gold", f"These are not the items of the part {name}. Give those that were sent.", path)
        items = parse_items(orjson.loads(body))
    return Evaluation(spec, text, items, limits, str(gold / name))


def _part_text(spec: Spec, folder: Path, part: str, fix: str, *, alone: bool) -> Text:
    """Read the text of a part, or the texts of a format of several."""
    fields = spec.format.format.fields
    if fields:
        return {each: _bytes(folder / f"{part}.{each}", fix) for each in fields}
    return _bytes(folder if alone and folder.is_file() else folder / part, fix)


def _read_answer(path: Path) -> dict[str, Json]:
    """Read an answer that can be made again.

    Raises:
        InputError: the file is something else.
    """
    fix = "Give the JSON of GET /v1/comparisons/{comparison}, as organisers get it, others from level gold on."
    answer: dict[str, Json] = _read_json(path, fix)
    fault = next(iter(_faults(answer)), None)
    if fault is not None:
        _wrong("no-question", f"This is not a comparison with its question ({fault}). {fix}", path)
    return answer


def _faults(answer: Json) -> Iterator[str]:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - a missing file needs no validator

    for error in Draft202012Validator(_ANSWER).iter_errors(answer):
        yield "/".join(map(str, error.absolute_path)) + ": " + error.message[:100]


def _read_json(path: Path, fix: str) -> Json:
    try:
        return orjson.loads(_bytes(path, fix))
    except orjson.JSONDecodeError as error:
        _wrong("bad-json", f"This is not valid JSON: {error}. {fix}", path)


def _bytes(path: Path, fix: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        _wrong("unreadable-file", f"{unreadable(error, path)} {fix}", path)


def _wrong(code: str, detail: str, path: Path) -> NoReturn:
    raise InputError(Problem(code, detail, pointer=str(path)))
