"""Lists of metrics, formats and transforms, and descriptions of single ones, as the registry has them."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import click
import orjson

from treescore.core import registry
from treescore.core.params import Json, Param
from treescore.core.scores import Score
from treescore.core.wording import did_you_mean
from treescore.evaluation import spec
from treescore.render.forms import scores_called

_SHOWN = 60
"""Characters of a default value that are shown."""


class Kind(NamedTuple):
    """What a command of the catalogue lists.

    Attributes:
        name: one of them (`metric`).
        known: all of them.
        line: what the list says of one, beside its `doc`.
        describe: writes what is known of one alone.
    """

    name: str
    known: Mapping[str, type[Any]]
    line: Callable[[Any], str]
    describe: Callable[[click.HelpFormatter, Any], None]


def check_name(kind: Kind, name: str) -> None:
    """Check that there is something of a kind with this name.

    Raises:
        click.UsageError: the name is unknown.
    """
    if name not in kind.known:
        known = ", ".join(sorted(kind.known))
        asked = meant_by(name) if kind.name == "metric" else []
        meant = f" In a command it is {', or '.join(asked)}." if asked else did_you_mean(name, kind.known)
        raise click.UsageError(f"Unknown {kind.name} {name!r}.{meant} {kind.name.title()}s: {known}.")


def show(kind: Kind, name: str | None, *, as_json: bool) -> None:
    """Print the list of a kind, or one of it. Raises click.UsageError for an unknown name."""
    if name is not None:
        check_name(kind, name)
    if as_json:
        one = None if name is None else {"kind": kind.name, **spec.entry_of(kind.known[name])}
        document = one or [spec.entry_of(kind.known[each]) for each in sorted(kind.known)]
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))
        return
    formatter = click.get_current_context().make_formatter()
    if name is None:
        _list(formatter, kind)
    else:
        _one(formatter, kind, kind.known[name])
    click.echo(formatter.getvalue(), nl=False)


def meant_by(name: str, fmt: registry.Format | None = None) -> list[str]:
    """Return the options that ask for what is called so: a layout of an original program, else a score.

    Args:
        name: that no metric has.
        fmt: of the texts: metrics that read it come alone where there are any, its usual one first.
    """
    metrics = [each for _, each in sorted(registry.METRICS.items())]
    if fmt is not None:
        metrics.sort(key=lambda metric: metric.name != fmt.usual_metric)
    found = [each for each in metrics if fmt is None or issubclass(fmt.yields, tuple(each.reads))]
    styles = [f"--metric {each.name} --style {name.lower()}" for each in found if name.lower() in each.styles]
    scores = ((each.name, scores_called(name, each.headline, _scores(each))) for each in found)
    asked = styles or [f"--metric {metric} --scores {called[0].name}" for metric, called in scores if called]
    return asked or ([] if fmt is None else meant_by(name))


def _list(formatter: click.HelpFormatter, kind: Kind) -> None:
    members = [kind.known[name] for name in sorted(kind.known)]
    formatter.write_dl([(each.name, f"{first_sentence(each.doc)} {kind.line(each)}".strip()) for each in members])
    formatter.write(f"\n`treescore {kind.name}s NAME` describes one.\n")


def _one(formatter: click.HelpFormatter, kind: Kind, component: type[registry.Component]) -> None:
    formatter.write(f"{component.name} ({kind.name})\n")
    with formatter.indentation():
        formatter.write_paragraph()
        formatter.write_text(component.doc)
        if component.source:
            formatter.write_paragraph()
            formatter.write_text(f"Source: {component.source}")
        if kind.line(component):
            formatter.write_paragraph()
            formatter.write_text(kind.line(component))
    if component.params:
        with formatter.section("Parameters" if kind.name != "format" else "Options"):
            formatter.write_dl([(name, parameter_words(each)) for name, each in component.params.items()], col_max=22)
    kind.describe(formatter, component)


def parameter_words(param: Param) -> str:
    """Return type, default and meaning of a parameter."""
    default = orjson.dumps(param.default).decode()
    if len(default) > _SHOWN:
        default = f"{default[:_SHOWN]}..."
    return f"{type_words(param.schema)}; default {default}. {param.doc}"


def type_words(schema: Mapping[str, Json]) -> str:
    """Return a JSON Schema of a parameter in words."""
    *first, last = dict.fromkeys(_types(schema))
    return f"{', '.join(first)} or {last}" if first else last


def _types(schema: Mapping[str, Json]) -> Iterator[str]:
    """Yield what a value can be, each in words."""
    if "enum" in schema:
        yield from (orjson.dumps(value).decode() for value in schema["enum"])
        return
    if "anyOf" in schema:
        for each in schema["anyOf"]:
            yield from _types(each)
        return
    kind = schema.get("type", "value")
    if isinstance(kind, list):
        for each in kind:
            yield from _types({**schema, "type": each})
    elif kind == "boolean":
        yield from ("true", "false")
    elif kind == "array":
        inner = schema.get("items")
        yield "list of strings" if isinstance(inner, Mapping) and inner.get("type") == "string" else "list"
    elif kind in ("integer", "number"):
        yield f"{'whole number' if kind == 'integer' else kind}{_bounds(schema)}"
    else:
        yield "JSON object" if kind == "object" else str(kind)


def _bounds(schema: Mapping[str, Json]) -> str:
    low, above, high = (schema.get(name) for name in ("minimum", "exclusiveMinimum", "maximum"))
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    if low is not None:
        return f", {low:g} or more"
    return "" if above is None else f" above {above:g}"


def first_sentence(doc: str) -> str:
    """Return the beginning of a text up to its first full stop at the end of a word."""
    end = doc.find(". ")
    return doc if end < 0 else doc[: end + 1]


def _example(formatter: click.HelpFormatter, *lines: Sequence[str]) -> None:
    """Write command lines; the files of one that is too wide are on a second line."""
    with formatter.section("Example" if len(lines) == 1 else "Examples"):
        indent = " " * formatter.current_indent
        for line in lines:
            words = f"{indent}{shlex.join(line)}"
            if len(words) > formatter.width:
                words = f"{indent}{shlex.join(line[:-2])} \\\n{indent}    {shlex.join(line[-2:])}"
            formatter.write(f"{words}\n")


def _example_files(fmt: type[registry.Format], *names: str) -> list[str]:
    """Return names of files of a format for an example, with the option that a suffix spares."""
    if fmt.fields:
        return ["--format", fmt.name, *(",".join(f"{name}.{field}" for field in fmt.fields) for name in names)]
    if not fmt.suffixes:
        return ["--format", fmt.name, *(f"{name}.txt" for name in names)]
    return [f"{name}{fmt.suffixes[0]}" for name in names]


# Metrics


def _metric_line(metric: type[registry.Metric]) -> str:
    main = registry.make_metric(metric.name, {}).table.scores[0]
    direction = "higher" if main.higher_is_better else "lower"
    return f"Main score: {main.name} ({direction} is better). Scores {spec.kinds_in_words(metric.reads)}."


def _scores(metric: type[registry.Metric]) -> list[Score]:
    """Return the scores of a metric, also those that it has with the parameters of its examples alone."""
    tables = (registry.make_metric(metric.name, each).table for each in ({}, *(of.params for of in metric.examples)))
    return list({score.name: score for table in tables for score in table.scores}.values())


def _describe_metric(formatter: click.HelpFormatter, metric: type[registry.Metric]) -> None:
    heads = metric.headline
    with formatter.section("Scores"):
        rows = []
        for score in _scores(metric):
            notes = [f"{heads[score.name]} in tables"] if score.name in heads else []
            notes += [] if score.higher_is_better else ["lower is better"]
            notes += ["one-sided"] if score.one_sided else []
            top = "" if score.high is None else f" to {score.high:g}"
            notes += [] if (score.low, score.high) == (0, 1) else [f"from {score.low:g}{top}"]
            rows.append((score.name, f"{score.doc} [{'; '.join(notes)}]" if notes else score.doc))
        formatter.write_dl(rows)
    with formatter.section("Formats"):
        after = [f"{fmt} with --transform {transform}" for fmt, transform in spec.transforms_before(metric)]
        formatter.write_text(", ".join([*spec.formats_of(metric.reads), *after]))
    if metric.styles:
        with formatter.section("Layouts of original programs (--style)"):
            formatter.write_text(", ".join(metric.styles))
    fmt = registry.FORMATS[metric.examples[0].format]
    named = [] if fmt.usual_entry() == metric.name else ["--metric", metric.name]
    lines = [["treescore", "score", *named, *_example_files(fmt, "gold", "mine")]]
    if metric.styles:
        lines.append(["treescore", "score", *named, "--style", metric.styles[0], *_example_files(fmt, "gold", "mine")])
    params = next((dict(example.params) for example in metric.examples if example.params), None)
    if params:
        value = orjson.dumps({"name": metric.name, "params": params}).decode()
        lines.append(["treescore", "score", "--metric", value, *_example_files(fmt, "gold", "mine")])
    _example(formatter, *lines)


_CITATION = "CITATION.cff"
_KEYS = re.compile(r"^@\w+\{(.+),$", re.MULTILINE)


def bibtex(names: Sequence[str]) -> Iterator[str]:
    """Yield entries of BibTeX: Treescore, then the papers that the sources of metrics name, each with its metrics.

    Args:
        names: of metrics; none for all.

    Raises:
        click.UsageError: a name is unknown.
    """
    for name in names:
        check_name(KINDS["metrics"], name)
    package = Path(__file__).parents[1]
    yield _own_entry(package)
    papers = re.split(r"\n\n(?=@)", (package / "papers.bib").read_text(encoding="utf-8").rstrip())[1:]
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names) or sorted(registry.METRICS):
        for piece in registry.METRICS[name].source.split("; "):
            words, address = "-".join(re.findall(r"\w+", piece.lower())), re.search(r"https?://\S+", piece)
            for paper in (each for each in papers if _KEYS.findall(each)[0] in words):
                cited = paper if address is None else f"{paper[:-1]}  url = {{{address[0]}}},\n}}"
                found.setdefault(cited, []).append(name)
    yield from (f"% {', '.join(metrics)}\n{paper}\n" for paper, metrics in found.items())


def _own_entry(package: Path) -> str:
    """Return the entry of Treescore from CITATION.cff: the checkout's, else as it was installed."""
    path = package.parent / _CITATION
    installed = None if path.is_file() else metadata.distribution(package.name).read_text(f"licenses/{_CITATION}")
    text = path.read_text(encoding="utf-8") if installed is None else installed
    said = dict(re.findall(r'^(?:  - )?(\w[\w-]*): "?(.+?)"?$', text, re.MULTILINE))
    members = {"author": said["name"], "title": said["title"], "version": said["version"], "note": said["license"]}
    members |= {"year": said["date-released"][:4]} if "date-released" in said else {}
    return "".join(
        ["@software{treescore,\n", *(f"  {name} = {{{{{value}}}}},\n" for name, value in members.items()), "}\n"]
    )


# Formats


def _format_line(fmt: type[registry.Format]) -> str:
    suffixes = f"Suffixes: {', '.join(fmt.suffixes)}." if fmt.suffixes else "No suffix names it: say --format."
    params = ", ".join(f"{name} {value}" for name, value in fmt.usual_params.items())
    usual = f" Usual metric: {fmt.usual_metric}{' with ' + params if params else ''}." if fmt.usual_metric else ""
    return f"{suffixes}{usual} Holds {spec.kinds_in_words([fmt.yields])}."


def _describe_format(formatter: click.HelpFormatter, fmt: type[registry.Format]) -> None:
    if fmt.fields:
        with formatter.section("Texts (files joined by commas)"):
            formatter.write_text(", ".join(fmt.fields))
    with formatter.section("Metrics"):
        formatter.write_text(", ".join(spec.metrics_of(fmt)))
    example = fmt.example
    texts = example if isinstance(example, Mapping) else {"": example}
    with formatter.section("A small text" if len(texts) == 1 else "Small texts"):
        indent = " " * formatter.current_indent
        for name, text in texts.items():
            formatter.write(f"{indent}# {name}\n" if name else "")
            formatter.write("".join(f"{indent}{line}".rstrip() + "\n" for line in text.decode().splitlines()))
    _example(formatter, ["treescore", "score", *_example_files(fmt, "gold", "mine")])


# Transforms


def _transform_line(transform: type[registry.Transform]) -> str:
    return f"Reads {spec.kinds_in_words(transform.reads)}."


def _describe_transform(formatter: click.HelpFormatter, transform: type[registry.Transform]) -> None:
    with formatter.section("Sides"):
        formatter.write_text(f'{transform.default_on}, unless "on" names another: gold, system or both.')
    formats = (registry.FORMATS[name] for name in sorted(registry.FORMATS))
    fmt = next(each for each in formats if issubclass(each.yields, transform.reads))
    kind = registry.make_transform(transform.name, transform.example).yields(fmt.yields)
    named = []
    if not issubclass(kind, registry.METRICS[fmt.usual_metric].reads):
        reading = (name for name in sorted(registry.METRICS) if issubclass(kind, registry.METRICS[name].reads))
        named = ["--metric", next(reading)]
    value: str = transform.name
    if transform.example:
        value = orjson.dumps({"name": transform.name, "params": dict(transform.example)}).decode()
    _example(formatter, ["treescore", "score", *named, "--transform", value, *_example_files(fmt, "gold", "mine")])


KINDS: Mapping[str, Kind] = {
    "metrics": Kind("metric", registry.METRICS, _metric_line, _describe_metric),
    "formats": Kind("format", registry.FORMATS, _format_line, _describe_format),
    "transforms": Kind("transform", registry.TRANSFORMS, _transform_line, _describe_transform),
}
