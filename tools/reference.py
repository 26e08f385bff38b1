"""Write the pages of docs/reference that are made of the code: `python tools/reference.py [--check]`.

In the guide of shared tasks it writes the table of what an organiser does.

Metrics, formats, transforms and settings of comparisons come from the catalogue, problem codes from
their catalogues, operations from openapi.yaml. Each fact is stated there; these pages are never edited by hand.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from service.errors import OWN_CODES, TYPES  # noqa: E402 - of this checkout
from tools.called import commands  # noqa: E402
from treescore.cli.exits import MEANINGS  # noqa: E402
from treescore.core.comparing import PARAMS  # noqa: E402
from treescore.core.params import schema_of  # noqa: E402
from treescore.core.registry import FORMATS, METRICS, TRANSFORMS, Metric, load_all  # noqa: E402
from treescore.evaluation import spec  # noqa: E402, F401 - fills the registry
from treescore.problem_catalogue import CATALOGUE, Entry  # noqa: E402

PLACE = ROOT / "docs" / "reference"
NOTICE = "<!-- Written by `python tools/reference.py`. Do not edit. -->\n\n"
LONG = 60
"""Characters of a default from which on it stands below the table."""
METHODS = ("get", "post", "put", "patch", "delete")

Json = Any


def prose(text: str) -> str:
    """Return a text with the marks of Markdown escaped outside of code."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if at % 2 else re.sub(r"([*<\[])", r"\\\1", part) for at, part in enumerate(parts))


def cell(text: str) -> str:
    """Return a text as a table cell."""
    return prose(text).replace("|", "\\|")


def code(value: str) -> str:
    """Return a value as code in a table cell."""
    marks = "``" if "`" in value else "`"
    space = " " if "`" in value else ""
    return f"{marks}{space}{value}{space}{marks}".replace("|", "\\|")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown; nothing where it has no rows."""
    columns = list(head)
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *lines, ""]) if lines else ""


def kind(schema: Mapping[str, Json]) -> str:
    """Return in words which values a JSON Schema takes."""
    if "enum" in schema:
        return ", ".join(code(json.dumps(value)) for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(kind(each) for each in schema["anyOf"])
    types = schema.get("type", "any value")
    words = [types] if isinstance(types, str) else list(types)
    return " or ".join(_one_kind(word, schema) for word in words)


def _one_kind(word: str, schema: Mapping[str, Json]) -> str:
    if word == "array":
        return f"list of {kind(schema['items'])}" if "items" in schema else "list"
    if word in ("integer", "number"):
        return f"{word}{_bounds(schema)}"
    return word


def _bounds(schema: Mapping[str, Json]) -> str:
    words = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    said = [f"{text} {schema[name]}" for name, text in words.items() if name in schema]
    return f" ({', '.join(said)})" if said else ""


def parameters(properties: Mapping[str, Mapping[str, Json]]) -> str:
    """Return the table of parameters, and long defaults below it."""
    rows, below = [], []
    for name, schema in properties.items():
        default = json.dumps(schema["default"], ensure_ascii=False)
        if len(default) > LONG:
            below.append(f"Default of `{name}`:\n\n```json\n{_wrapped(default)}\n```\n")
            default = "see below"
        else:
            default = code(default)
        rows.append((code(name), kind(schema), default, cell(schema["description"])))
    return "\n".join([table(("parameter", "values", "default", "meaning"), rows), *below])


def _wrapped(text: str, width: int = 110) -> str:
    lines, line = [], ""
    for part in text.split(", "):
        if line and len(line) + len(part) + 2 > width:
            lines.append(line + ",")
            line = part
        else:
            line = f"{line}, {part}" if line else part
    return "\n".join([*lines, line])


def component(entry: Mapping[str, Json]) -> Iterator[str]:
    """Yield what all components have: heading, sentence, source, parameters."""
    yield f"## {entry['name']}\n"
    yield f"{prose(entry['doc'])}\n"
    yield f"Version {entry['version']}." + (f" Source: {prose(entry['source'])}." if entry["source"] else "") + "\n"
    properties = entry["params"]["properties"]
    yield parameters(properties) if properties else "It takes no parameters.\n"


def names(kinds: Iterable[str], page: str = "") -> str:
    """Return names as links to their sections."""
    return ", ".join(f"[`{each}`]({page}#{each})" for each in kinds)


def reads_of(metric: type[Metric]) -> list[str]:
    """Return the formats whose treebanks a metric compares as they are read."""
    return [name for name in sorted(FORMATS) if issubclass(FORMATS[name].yields, metric.reads)]


def metrics_page() -> Iterator[str]:
    """Yield the page of metrics."""
    yield "# Metrics\n"
    yield (
        "Each metric with its parameters and scores. A score's address is the key of its metric, which is the name "
        "unless a request sets another, a full stop and its name: `ud.las_f1`. How a metric counts, and where it "
        "differs from the original programs, is on the pages under [metrics](../metrics/index.md). One-sided scores "
        "are [won without an analysis](../guide/leaderboards.md#scores-that-are-won-without-an-analysis).\n"
    )
    for name in sorted(METRICS):
        metric = METRICS[name]
        entry = metric.catalogue()
        yield from component(entry)
        heads = {score: head for head, score in _headline(metric)}
        rows = [
            (code(each["name"]), heads.get(each["name"], ""),
             ("higher" if each["higher_is_better"] else "lower") + (", one-sided" if each["one_sided"] else ""),
             _range(each["range"]), cell(each["doc"]))
            for each in entry["scores"]
        ]  # fmt: skip
        yield table(("score", "in tables", "better", "range", "meaning"), rows)
        usual = [format_name for format_name in sorted(FORMATS) if FORMATS[format_name].usual_entry() == name]
        others = [each for each in sorted(FORMATS) if FORMATS[each].usual_metric == name and each not in usual]
        said = [f"Main score: `{entry['main_score']}`.", f"Formats: {names(reads_of(metric), 'formats.md')}."]
        said += [f"It is the metric of {names(usual, 'formats.md')} where none is named."] if usual else []
        for each in others:
            params = code(json.dumps(dict(FORMATS[each].usual_params)))
            said.append(f"With {params} it is that of {names([each], 'formats.md')}.")
        said += [f"Reports: {', '.join(f'`{each}`' for each in entry['reports'])}."] if entry["reports"] else []
        yield " ".join(said) + "\n"


def _headline(metric: type[Metric]) -> Iterator[tuple[str, str]]:
    for score, head in getattr(metric, "headline", {}).items():
        yield head, score


def _range(bounds: Iterable[float | None]) -> str:
    low, high = ("" if bound is None else f"{bound:g}" for bound in bounds)
    return f"{low} to {high}" if low and high else f"from {low}" if low else ""


def formats_page() -> Iterator[str]:
    """Yield the page of formats."""
    yield "# Formats\n"
    yield (
        "The format of a file is that of its suffix, also before `.gz` and `.zst`, unless it is named. Options stand "
        'beside the name: `{"name": "pharaoh", "base": 1}`.\n'
    )
    for name in sorted(FORMATS):
        text_format = FORMATS[name]
        yield from component(text_format.catalogue())
        metrics = [metric for metric in sorted(METRICS) if name in reads_of(METRICS[metric])]
        said = [f"Suffixes: {', '.join(f'`{each}`' for each in text_format.suffixes)}."] if text_format.suffixes else []
        said += (
            [f"It is of several texts: {', '.join(f'`{each}`' for each in text_format.fields)}."]
            if (text_format.fields)
            else []
        )
        said += [f"Metrics: {names(metrics, 'metrics.md')}."]
        said += [f"Memory: up to {text_format.memory} bytes for a byte of text."]
        yield " ".join(said) + "\n"


def transforms_page() -> Iterator[str]:
    """Yield the page of transforms."""
    yield "# Transforms\n"
    yield (
        "Transforms change treebanks before they are compared, in the order in which a request lists them. Each is a "
        'name, or an object with parameters: `{"name": "delete-labels", "params": {"labels": ["TOP"]}, "on": "gold"}`. '
        "How they work together is in [transforms of constituent trees](../metrics/constituent_transforms.md).\n"
    )
    for name in sorted(TRANSFORMS):
        transform = TRANSFORMS[name]
        yield from component(transform.catalogue())
        side = "both sides" if transform.default_on == "both" else transform.default_on
        yield f"Applies to {side} unless `on` says otherwise (`both`, `gold` or `system`).\n"


def comparisons_page() -> Iterator[str]:
    """Yield the page of the settings of comparisons."""
    yield "# Settings of comparisons\n"
    yield (
        "Keywords of `compare`, members of `significance` of a request, and the JSON of `treescore compare "
        "--significance`. Which to choose for which question is in [significance](../significance.md).\n"
    )
    yield parameters(schema_of(PARAMS)["properties"])


def operations_page() -> Iterator[str]:
    """Yield the page of operations of the service."""
    document = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
    yield "# HTTP operations\n"
    yield (
        "The contract is [openapi.yaml](../../openapi.yaml): parameters, bodies, answers and problems of each "
        "operation. A running service shows it at `/docs`. What all operations share is in "
        "[HTTP](../guide/http.md).\n"
    )
    for tag in document["tags"]:
        yield f"## {tag['name']}\n"
        yield f"{prose(tag['description'])}\n"
        for path, item in document["paths"].items():
            for method, operation in item.items():
                if method in METHODS and tag["name"] in operation["tags"]:
                    yield from _operation(document, f"{method.upper()} {path}", operation)


def _operation(document: Mapping[str, Json], request: str, operation: Mapping[str, Json]) -> Iterator[str]:
    yield f"### {operation['operationId']}\n"
    yield f"`{request}`: {prose(operation['summary'])}\n"
    given = [_resolved(document, each) for each in operation.get("parameters", ())]
    yield table(
        ("query parameter", "values", "meaning"),
        (
            (
                code(each["name"]) + (" (required)" if each.get("required") else ""),
                kind(_resolved(document, each["schema"])),
                cell(each.get("description", "")),
            )
            for each in given
            if each["in"] == "query"
        ),
    )
    headers = [f"`{each['name']}`" for each in given if each["in"] == "header"]
    bodies = [f"`{media}`" for media in operation.get("requestBody", {}).get("content", {})]
    said = [f"Headers: {', '.join(headers)}."] if headers else []
    said += [f"Body: {' or '.join(bodies)}."] if bodies else []
    if said:
        yield " ".join(said) + "\n"


def _resolved(document: Mapping[str, Json], value: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what a reference of the contract stands for."""
    if "$ref" not in value:
        return value
    found: Json = document
    for step in value["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return _resolved(document, found)


ORGANISED: Mapping[str, str] = {
    "create_benchmark": "/admin/new",
    "patch_benchmark": "/admin/{benchmark}",
    "delete_benchmark": "/admin/{benchmark}",
    "list_fitting": "/admin/{benchmark}",
    "create_revision": "/admin/{benchmark}",
    "list_teams": "/admin/{benchmark}/teams",
    "create_team": "/admin/{benchmark}/teams",
    "erase_team": "/admin/{benchmark}/teams",
    "rotate_token": "/admin/{benchmark}/teams",
    "list_invites": "/admin/{benchmark}/teams",
    "create_invite": "/admin/{benchmark}/teams",
    "delete_invite": "/admin/{benchmark}/teams",
    "list_submissions": "/admin/{benchmark}/submissions",
    "submit": "/submit",
    "get_submission": "/s/{submission}",
    "patch_submission": "/s/{submission}",
    "delete_submission": "/s/{submission}/delete",
    "cancel_submission": "/admin/{benchmark}/submissions",
    "retry_submission": "/admin/{benchmark}/submissions",
    "list_webhooks": "/admin/webhooks",
    "create_webhook": "/admin/webhooks",
    "delete_webhook": "/admin/webhooks",
    "test_webhook": "/admin/webhooks",
    "list_deliveries": "/admin/webhooks/{webhook}",
    "list_tokens": "/admin/tokens",
    "create_token": "/admin/tokens",
    "revoke_token": "/admin/tokens",
}
"""Page for each operation on what an organiser has."""
READ_BY_PROGRAMS = (
    *("list_submission_items", "list_submission_trees", "get_submission_slices", "get_output"),  # /s/{submission}
)
"""Operations without a command: a page shows what they say, and programs read them with the client."""
GUIDE = ROOT / "docs" / "guide" / "shared_tasks.md"
_HEAD = ("task", "HTTP", "`treescore`", "browser")


def guide() -> str:
    """Return the guide of shared tasks with its table of what an organiser does, made of operations and commands.

    Raises:
        KeyError: an operation that needs a token has neither a command and a page, nor a reason to have none.
    """
    document, called = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8")), commands()
    rows = [
        (cell(operation["summary"].rstrip(".")), code(f"{method.upper()} {path.removeprefix('/v1')}"),
         ", ".join(map(code, called[operation["operationId"]])), code(ORGANISED[operation["operationId"]]))
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS and needs_token(operation) and operation["operationId"] not in READ_BY_PROGRAMS
    ]  # fmt: skip
    before, _, after = GUIDE.read_text(encoding="utf-8").partition(f"| {' | '.join(_HEAD)} |\n")
    return before + table(_HEAD, rows) + after[after.index("\n\n") + 1 :]


def needs_token(operation: Mapping[str, Json]) -> bool:
    """Return whether an operation on benchmarks, or on what belongs to one, is for those who have a token."""
    tags = {"benchmarks", "teams", "submissions", "events", "tokens"}
    return not tags.isdisjoint(operation["tags"]) and all(operation["security"] or [{}])


def exit_codes_page() -> Iterator[str]:
    """Yield the page of exit statuses."""
    yield "# Exit codes\n"
    yield (
        "Statuses with which `treescore` ends. `treescore COMMAND --help` says which ones a command has, and what they "
        "mean for it.\n"
    )
    yield table(("status", "meaning"), ((str(status), cell(text)) for status, text in MEANINGS.items()))


def problems_page() -> Iterator[str]:
    """Yield the page of problem codes and types."""
    yield "# Problem codes\n"
    yield (
        "Each problem and warning has a code, and its `detail` says what to do. Errors of the library list them as "
        "`problems`, warnings as `code`, answers of the service as `errors[].code`; the command line prints them in "
        "square brackets. The `type` of a problem of the service is in the last section: a running service shows it at "
        "`/problems/{type}`, and a code at `/problems/{code}`.\n"
    )
    yield "## Codes of texts, requests and warnings\n"
    for name, entry in CATALOGUE.items():
        yield from _problem(name, entry)
    yield "## Codes of the service\n"
    for name, entry in OWN_CODES.items():
        yield from _problem(name, entry)
    yield "## Types of answers\n"
    for name, entry in sorted(TYPES.items()):
        yield from _problem(name, entry, f" (HTTP status {entry.status})")


def _problem(name: str, entry: Entry, more: str = "") -> Iterator[str]:
    yield f"### {name}\n"
    yield f"**{prose(entry.title)}**{more}. {prose(entry.cause)} {prose(entry.fix)}\n"
    if entry.example:
        yield f"```text\n{entry.example}\n```\n"


PAGES: Mapping[str, Callable[[], Iterator[str]]] = {
    "metrics.md": metrics_page,
    "formats.md": formats_page,
    "transforms.md": transforms_page,
    "comparisons.md": comparisons_page,
    "operations.md": operations_page,
    "exit_codes.md": exit_codes_page,
    "problems.md": problems_page,
}


def built() -> dict[Path, str]:
    """Return path -> text of each page."""
    load_all()
    pages = {PLACE / name: NOTICE + "\n".join(filter(None, page())).rstrip("\n") + "\n" for name, page in PAGES.items()}
    return {**pages, GUIDE: guide()}


def main(arguments: list[str]) -> int:
    """Write the pages; with `--check` only name those that differ, and return 1 where one does."""
    stale = 0
    for path, text in built().items():
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        if "--check" in arguments:
            sys.stdout.write(f"{path.relative_to(ROOT)} differs from the code. Run: python tools/reference.py\n")
        else:
            path.write_text(text, encoding="utf-8")
    return int("--check" in arguments and stale > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
