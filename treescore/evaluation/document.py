"""Outcomes as documents, the same in the service's answer and in `treescore score`; problems and warnings as lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import orjson

from treescore.core import params, registry, text, version
from treescore.core.scores import count_values, score_values
from treescore.errors import FilePath, OneOfSeveral, Problem, ScoringError

if TYPE_CHECKING:
    from treescore.core.trees import Treebank
    from treescore.evaluation.spec import Entry, FormatChoice


def outcome_document(entry: Entry, outcome: registry.Outcome) -> dict[str, params.Json]:
    """Make scores and counts of one metric over a whole text; `undefined` names the scores without a value."""
    scores, undefined = score_values(entry.metric.table, outcome.totals)
    document: dict[str, params.Json] = {"scores": scores}
    if undefined:
        document["undefined"] = undefined
    document["counts"] = count_values(entry.metric.table.count_names, outcome.totals)
    document["sentences"] = sentences_document([outcome])
    extra = outcome.extra()
    if extra:
        document["extra"] = extra
    return document


def sentences_document(outcomes: Sequence[registry.Outcome]) -> dict[str, params.Json]:
    """Count the sentences of outputs, and those that are in error or skipped."""
    return {
        "total": sum(len(outcome.rows) for outcome in outcomes),
        **{name: sum(int((outcome.status == status).sum()) for outcome in outcomes)
           for name, status in (("error", registry.ERROR), ("skip", registry.SKIP))},
    }  # fmt: skip


def item_details(outcome: registry.Outcome, gold: Treebank, start: int, stop: int) -> list[dict[str, params.Json]]:
    """Make documents of sentences `start` to `stop` without scores and counts, which `with_values` adds."""
    sent_ids = gold.sentences.sent_ids
    items = []
    for number, detail in enumerate(outcome.details(start, stop).documents(0, stop - start), start):
        status = int(outcome.status[number])
        item: dict[str, params.Json] = {"item": number + 1}
        if len(sent_ids) and sent_ids[number] is not None:
            item["sent_id"] = sent_ids[number]
        item["status"] = registry.STATUS_NAMES[status]
        problem = None if status == registry.OK else outcome.problems.get(number)
        if problem is not None:
            item["problem"] = {"code": problem.code, "detail": problem.gold_detail or problem.detail}
        items.append(item | detail)
    return items


def signature_document(
    entry: Entry, gold_format: FormatChoice, system_format: FormatChoice, gold_digest: str, output_digest: str
) -> dict[str, params.Json]:
    """Make the signature: everything that the scores depend on, and the command that reproduces them."""
    return {
        "metric": entry.name,
        "params": named_texts(entry, entry.metric.values),
        "transforms": [step.document() for step in entry.steps],
        "format": gold_format.document(),
        "system_format": system_format.document(),
        "version": f"{version.__version__}/{entry.name}.{type(entry.metric).version}",
        "gold": gold_digest,
        "output": output_digest,
        "command": command(entry, gold_format, system_format),
    }


def asked_document(
    entry: Entry, gold_format: FormatChoice, formats: Mapping[str, Sequence[FormatChoice]]
) -> dict[str, params.Json]:
    """Make the members of a comparison's signature that say how its counts were made, as asked.

    Args:
        entry: the metric of the compared score.
        gold_format: of the gold text.
        formats: of each system's runs.
    """
    return {
        "metric": entry.name,
        "params": named_texts(entry, entry.params),
        "transforms": asked_transforms(entry),
        "format": gold_format.document(),
        "system_formats": {name: [choice.document() for choice in runs] for name, runs in formats.items()},
    }


def named_texts(entry: Entry, values: Mapping[str, params.Json]) -> dict[str, params.Json]:
    """Return parameters of a metric with the digests of those that are whole texts."""
    return {
        name: text.digest_of(value.encode("utf-8", "surrogatepass")) if value and _is_text(entry, name) else value
        for name, value in values.items()
    }


def _is_text(entry: Entry, name: str) -> bool:
    param = entry.metric.params.get(name)  # a metric may state further values, such as unknown keys of a file
    return param is not None and param.text


def asked_transforms(entry: Entry) -> list[dict[str, params.Json]]:
    """Return the transforms before a metric with the parameters that were given."""
    return [{"name": step.name, "params": dict(step.params), "on": step.on} for step in entry.steps]


def command(entry: Entry, gold_format: FormatChoice, system_format: FormatChoice) -> str:
    """Return the shell command that scores the same files without the service."""
    words = ["--format", _argument(gold_format.document())]
    if system_format.document() != gold_format.document():
        words += ["--system-format", _argument(system_format.document())]
    return shlex.join(["treescore", "score", *words, *metric_options(entry), "GOLD", "OUTPUT"])


def metric_options(entry: Entry) -> list[str]:
    """Return the options of a command for one metric with its transforms."""
    words: list[str] = []
    for step in asked_transforms(entry):
        words += ["--transform", _argument(step)]
    metric: dict[str, params.Json] = {"name": entry.name}
    if entry.key != entry.name:
        metric["key"] = entry.key
    if entry.params:
        metric["params"] = {
            name: f"@{name.upper()}" if value and _is_text(entry, name) else value
            for name, value in entry.params.items()
        }
    return [*words, "--metric", _argument(metric if len(metric) > 1 else entry.name)]


def comparison_command(
    entry: Entry,
    gold_format: FormatChoice,
    formats: Mapping[str, Sequence[FormatChoice]],
    settings: Mapping[str, params.Json],
    *,
    items: bool,
) -> str | None:
    """Return the shell command that prints the same comparison as JSON from files, without the service.

    Args:
        entry: the metric of the compared score.
        gold_format: of the gold text.
        formats: of each system's runs.
        settings: of the comparison, with its one score.
        items: whether something is known of gold's sentences, which the command reads from ITEMS.json.

    Returns:
        The command with GOLD and OUTPUT in the places of files; None where a name has an equals sign, or the runs of
        one system have several formats, for which the command has no words.
    """
    words = ["treescore", "compare", "--as", "json", "--format", _argument(gold_format.document())]
    outputs: list[str] = []
    for name, choices in formats.items():
        documents = [choice.document() for choice in choices]
        if "=" in name or any(document != documents[0] for document in documents):
            return None
        if documents[0] != gold_format.document():
            words += ["--output-format", f"{name}={_argument(documents[0])}"]
        words += ["--run", f"{name}=OUTPUT"] * (len(choices) - 1)
        outputs.append(f"{name}=OUTPUT")
    words += [*metric_options(entry), "--significance", _argument(dict(settings))]
    if items:
        words += ["--items", "@ITEMS.json"]
    return shlex.join([*words, "GOLD", *outputs])


def _argument(value: params.Json) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def warning_lines(warnings: Iterable[Mapping[str, params.Json]]) -> list[str]:
    """Return a line for each kind of warning of each text or metric: the first one, and how many are like it."""
    groups: dict[tuple[str, str, str], list[Mapping[str, params.Json]]] = {}
    for warning in warnings:
        groups.setdefault((_whose(warning), str(warning.get("metric", "")), str(warning["code"])), []).append(warning)
    return [_line(whose, found) for (whose, _, _), found in groups.items()]


def warnings_of_metric(warnings: Iterable[Mapping[str, params.Json]], key: str) -> list[Mapping[str, params.Json]]:
    """Return the warnings that concern the scores of one metric: its own and those of the texts."""
    return [warning for warning in warnings if warning.get("metric", key) == key]


def _whose(warning: Mapping[str, params.Json]) -> str:
    """Return the system, else the place: a member of the request without its slash, or a file with it."""
    named = warning.get("system")
    return _words_of(warning.get("pointer", "")) if named is None else str(named)


def _words_of(place: str) -> str:
    return str(place) if isinstance(place, FilePath) else place.removeprefix("/")


def _line(whose: str, found: Sequence[Mapping[str, params.Json]]) -> str:
    first = found[0]
    place = first.get("pointer", "")
    if isinstance(place, OneOfSeveral) and whose != place:
        whose = f"{whose}, {place}"
    more = f" ({len(found) - 1} more like this)" if len(found) > 1 else ""
    return f"{_placed(whose, first, first['detail'])} [{first['code']}]{more}"


def problem_line(problem: Problem) -> str:
    """Return a problem as one line: `out.conllu, line 7, column 7: HEAD is 9 ... [conllu-head-...]`."""
    return f"{problem_words(problem)} [{problem.code}]"


def problem_words(problem: Problem) -> str:
    """Return place and detail of a problem, for a caller who may read gold."""
    at = {name: value for name in _PLACES if (value := getattr(problem, name)) is not None}
    return _placed(_words_of(problem.pointer), at, problem.gold_detail or problem.detail)


@contextmanager
def telling() -> Iterator[None]:
    """Have errors of the block say where in the texts their problems are, as the caller may read gold."""
    try:
        yield
    except ScoringError as error:
        error.tell(problem_words)
        raise


def _placed(whose: str, at: Mapping[str, params.Json], detail: str) -> str:
    places = [*([whose] if whose else []), *(f"{words} {at[name]}" for name, words in _PLACES.items() if name in at)]
    return f"{', '.join(places)}{': ' if places else ''}{detail}"


_PLACES = {"line": "line", "column": "column", "sent_id": "sentence"}
"""Member of a problem -> how its place is named."""
