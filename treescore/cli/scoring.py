"""`treescore score`, `compare` and `repeat`: the numbers of the service, from files, without it.

`compare` tells which differences between outputs are real, and with `--not-worse-than NAME --margin X` which outputs
are shown not to be worse than NAME by more than the margin. `repeat` makes a benchmark's comparison again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click
import orjson

from treescore.cli import options
from treescore.cli.exits import MISSED, epilog, write
from treescore.core.params import Json
from treescore.core.wording import did_you_mean, p_equals, p_words
from treescore.errors import InputError

if TYPE_CHECKING:
    from treescore.cli.files import Scored
    from treescore.results import Comparison, Result


SCORE_FORMS = (*options.VIEWS, options.BRIEF)


@click.command(
    epilog=epilog(
        "treescore score gold.conllu mine.conllu",
        "treescore score gold.conllu A=a/out.conllu B=b/out.conllu --latex",
        "treescore score gold.conllu mine.conllu --scores UPOS,LAS --decimals 1",
        "treescore score gold.mrg mine.mrg --style evalb",
        "treescore score --format pharaoh gold.txt mine.txt --output scores.csv",
        status_1="a score is below its threshold (--fail-below)",
        status_69="",
    )
)
@options.files
@options.input_options
@options.run_options
@options.significance_option
@click.option(
    "--scores",
    "shown",
    multiple=True,
    metavar="SCORE,...",
    help="Scores that are shown, as UPOS,LAS or ud.las_f1; of a table those that the field reports unless given, of "
    "CSV and JSON all. Repeatable.",
)
@options.fail_below_option
@options.form_options(*SCORE_FORMS, names={options.TEXT: ["--table"], options.BRIEF: ["-b"]})
@options.decimals_option
@options.unit_option
@click.option(
    "--style",
    metavar="NAME",
    help="Print the original program's layout: evalb, spmrl, spmrl-line, discodop, errors (of parseval); eval07, "
    "confusion (attachment); conll18, iwpt20, parseme, wa_eval. `treescore metrics NAME` lists a metric's.",
)
@click.option("--sentence-level", is_flag=True, help="Print CSV: a row for each sentence, with its scores and counts.")
def score(
    *,
    significance: Mapping[str, Json] | None,
    shown: Sequence[str],
    thresholds: Sequence[options.Threshold],
    output: Path | None,
    decimals: int | None,
    unit: str,
    style: str | None,
    sentence_level: bool,
    **asked: Unpack[options.Asked],
) -> None:
    """Score outputs against gold.

    GOLD and each OUTPUT are a file, a folder, a .zip, .gz or .zst of one, or - for standard input. An OUTPUT can be
    named, as NAME=PATH; else its name is what tells its path from the others.

    A table shows the scores that the field reports; --json prints the document that a job of the service would hold,
    with all scores, counts and comparisons; --scores leaves only those that it names.
    """
    form = options.chosen_form(output, SCORE_FORMS, options.paths_of(asked))
    if style is not None and options.explicit_form():
        raise click.UsageError(f"--style and {options.explicit_form()} are two forms. Choose one of them.")
    if sentence_level and (
        style is not None or options.explicit_form() not in ("", "--csv") or form not in (options.TEXT, options.CSV)
    ):
        raise click.UsageError("--sentence-level prints CSV. Leave out the option of another form.")
    if shown and (sentence_level or style is not None):
        raise click.UsageError("--scores chooses scores of tables. Leave it out: this form has all.")
    if significance is not None and (form != options.JSON or style is not None):
        advice = "Add --json, or use `treescore compare`, which prints every form."
        raise click.UsageError(f"--significance: this command prints comparisons as JSON alone. {advice}")
    compared = significance
    if compared is None and form == options.JSON and style is None and len(asked["outputs"]) + len(asked["runs"]) > 1:
        compared = {}
    from treescore.cli.files import evaluated  # noqa: PLC0415 - the help needs no arrays

    scored = evaluated(asked, compared)
    names: dict[str, Any] = {"scores": options.score_names(shown), "decimals": decimals}
    if style is not None:
        text = _styled(scored, style)
    elif sentence_level:
        scored.warn()
        text = scored.result.sentences_csv()
    elif form == options.BRIEF:
        text = _numbers(scored, unit, **names)
    else:
        text = _rendered(scored, scored.result, form, unit, width=options.width_of_prose(output), **names)
    missed = list(_missed(scored.result, thresholds)) if thresholds else []
    write(text.encode(), output)
    for line in missed:
        click.echo(line, err=True)
    if missed:
        raise SystemExit(MISSED)


def _numbers(scored: Scored, unit: str, **shown: Any) -> str:
    """Return the main score of each output, or those that are asked for, a line for each output and metric."""
    scored.warn()
    main = scored.result.report.spec.entries[0]
    shown["scores"] = shown["scores"] or [f"{main.key}.{main.metric.table.scores[0].name}"]
    tables = scored.result.tables(unit, **shown)  # type: ignore[arg-type]  # click has checked the unit
    return "".join(f"{' '.join(row[1:])}\n" for table in tables for row in table.rows)


def _missed(result: Result, thresholds: Sequence[options.Threshold]) -> Iterator[str]:
    """Yield which scores are worse than their thresholds.

    Raises:
        InputError: an unknown score.
    """
    from treescore.render.forms import chosen_scores  # noqa: PLC0415 - the help needs no arrays

    for threshold in thresholds:
        for entry, _, score in chosen_scores(result.report.spec, [threshold.score]):
            bound = options.Threshold(f"{entry.key}.{score.name}", threshold.bound, score.higher_is_better)
            refused = bound.refused(score.low, score.high)
            if refused:
                raise click.UsageError(refused)
            for name, scores in result.items():
                value = scores[bound.score]
                if not bound.kept_by(value):
                    words = f"{value:.4f}" if scores.defined(bound.score) else "undefined"
                    yield f"{name}: {bound.text}: missed, it is {words}."


def _rendered(scored: Scored, shown: Result | Comparison, form: str, unit: str, **how: Any) -> str:
    """Return scores or a comparison in a form; of those for programs the warnings are on standard error too."""
    if form in (options.JSON, options.CSV, options.SVG):
        scored.warn()
    from treescore.cli.files import options_in  # noqa: PLC0415 - the help needs no arrays

    text: str = shown.render(form, unit, **how)  # type: ignore[arg-type]  # click has checked the unit
    if form == options.TEXT:
        return options_in(f"{text}\n{scored.said(how['width'])}" if scored.taken else text)
    return text


def _styled(scored: Scored, style: str) -> str:
    """Return the reports of all systems in the layout of the original program, each named where there are several.

    Raises:
        click.UsageError: the metric does not print this style.
    """
    scored.warn()
    try:
        return scored.result.to_text(style=style)
    except InputError as error:
        raise click.UsageError(error.problems[0].detail) from error


def margin_settings(
    reference: str | None, margin: float | None, names: Sequence[str], significance: Mapping[str, Json]
) -> Mapping[str, Json]:
    """Return the settings of the comparison with the margin of the options.

    Raises:
        click.UsageError: one option without the other, an unknown output, or two margins.
    """
    if reference is None and margin is None:
        return significance
    if reference is None:
        raise click.UsageError("--margin needs --not-worse-than NAME, the output that the others are compared with.")
    if margin is None:
        raise click.UsageError("--not-worse-than needs --margin X, as --margin 0.005 or --margin 0.5%.")
    if reference not in names:
        meant = did_you_mean(reference, names)
        raise click.UsageError(f"--not-worse-than {reference}: unknown output.{meant} Outputs: {', '.join(names)}.")
    if significance.get("margin") not in (None, margin):
        raise click.UsageError("The margin is given twice. Leave it out of --significance.")
    return {**significance, "margin": margin}


def claims(comparisons: Sequence[Mapping[str, Any]], reference: str, margin: float) -> Iterator[tuple[str, bool]]:
    """Yield for each compared score and each other output the claim that it is not worse, and whether it is shown."""
    for document in comparisons:
        for pair in document["pairs"]:
            if reference not in (pair["a"], pair["b"]):
                continue
            name = pair["b"] if pair["a"] == reference else pair["a"]
            tested = (pair.get("noninferiority") or {}).get(name) or {"p_adjusted": None, "established": False}
            p = "not tested" if tested["p_adjusted"] is None else f"p {p_words(tested['p_adjusted'])}"
            verdict = "shown" if tested["established"] else "not shown"
            line = f"{document['score']}: {name} not worse than {reference} by more than {margin:g}: {p}, {verdict}"
            yield line, bool(tested["established"])


COMPARE_FORMS = (*options.VIEWS, options.SVG)


class _Given(options.Asked, options.AskedSettings):
    """All options of the command but those of its form and of the margin."""


@click.command(
    epilog=epilog(
        "treescore compare gold.conllu mine.conllu theirs.conllu",
        "treescore compare gold.conllu A=a/out.conllu B=b/out.conllu --latex",
        "treescore compare gold.conllu --runs 'A=a/*.conllu' --runs 'B=b/*.conllu'",
        "treescore compare gold.conllu a.conllu b.conllu --scores LAS,UAS",
        "treescore compare gold.conllu old.conllu a.conllu b.conllu --baseline old",
        "treescore compare gold.mrg old.mrg b.mrg --not-worse-than old --margin 0.002",
        status_1="an output is significantly worse (--fail-if-worse-than), or not shown to be not worse "
        "(--not-worse-than)",
        status_69="",
    )
)
@options.files
@options.input_options
@options.run_options
@options.setting_options
@click.option("--baseline", metavar="NAME", help="Test every other output against this one only, as one family.")
@click.option(
    "--fail-if-worse-than",
    "better",
    metavar="NAME",
    help="End with status 1 where another output is significantly worse than this one, on any compared score.",
)
@click.option(
    "--not-worse-than", "reference", metavar="NAME",
    help="End with status 1 unless every other output is shown not to be worse than this one by more than --margin, "
    "on every compared score.",
)  # fmt: skip
@click.option(
    "--margin",
    type=options.Margin(),
    help="The margin of --not-worse-than, in units of the score, as 0.005, or in points of percent, as 0.5%.",
)
@options.form_options(*COMPARE_FORMS)
@options.form_option(*COMPARE_FORMS)
@click.option("--p-values", is_flag=True, help="Print the adjusted p of all pairs below their differences.")
@click.option("--matrix", is_flag=True, help="Print all columns of the pairs where they are wider than the terminal.")
@options.decimals_option
@options.unit_option
def compare(
    *,
    output: Path | None,
    unit: str,
    decimals: int | None,
    p_values: bool,
    matrix: bool,
    baseline: str | None,
    better: str | None,
    reference: str | None,
    margin: float | None,
    **asked: Unpack[_Given],
) -> None:
    """Tell which differences between two or more outputs are real.

    GOLD and each OUTPUT are as in `treescore score`. Several outputs of one system, of other seeds, are one system
    only where --run or --runs says so.
    """
    form = options.chosen_form(output, COMPARE_FORMS, options.paths_of(asked))
    if len(asked["outputs"]) + len(asked["runs"]) < 2:
        raise click.UsageError("Name at least two outputs, as in: gold.conllu mine.conllu theirs.conllu")
    settings = options.settings_of(asked)
    from treescore.cli.files import evaluated, given_outputs, known  # noqa: PLC0415 - the help needs no arrays
    from treescore.results import Comparison  # noqa: PLC0415 - as above

    names = [given.name for given in given_outputs(asked) if given.run_of is None]
    if baseline is not None:
        settings["baseline"] = known(baseline, names, f"--baseline {baseline}")
    if better is not None:
        known(better, names, f"--fail-if-worse-than {better}")
    scored = evaluated(asked, margin_settings(reference, margin, names, settings))
    comparison = Comparison(scored.result)
    width = options.width_of_prose(output)
    how = {"width": width, "fit": 0 if matrix else width, "decimals": decimals, "p_values": p_values}
    write(_rendered(scored, comparison, form, unit, **how).encode(), output)
    worse = [] if better is None else list(_worse(comparison.comparisons, better))
    for line in worse:
        click.echo(line, err=True)
    if reference is not None and margin is not None:
        found = list(claims(comparison.comparisons, reference, margin))
        for line, established in found:
            if form == options.TEXT or not established:
                click.echo(line, err=form != options.TEXT)
        worse += [line for line, established in found if not established]
    if worse:
        raise SystemExit(MISSED)


def _worse(comparisons: Sequence[Mapping[str, Any]], reference: str) -> Iterator[str]:
    """Yield which outputs are significantly worse than one, on which score."""
    for document in comparisons:
        for pair in document["pairs"]:
            a, b = pair["a"], pair["b"]
            if reference in (a, b) and pair["significant"] and reference == pair.get(pair["better"]):
                worse, p = b if reference == a else a, p_equals(pair["p_adjusted"])
                yield f"{document['score']}: {worse} is significantly worse than {reference}: {p}"


@click.command(
    epilog=epilog(
        "treescore repeat comparison.json gold.conllu outputs/",
        status_1="the printed answer differs from that of COMPARISON",
    )
)
@click.argument("comparison", type=click.Path(path_type=Path))
@click.argument("gold", type=click.Path(path_type=Path))
@click.argument("outputs", type=click.Path(path_type=Path))
def repeat(comparison: Path, gold: Path, outputs: Path) -> None:
    """Score files again and print the answer of COMPARISON, a comparison of submissions as JSON.

    GOLD is a folder with a text for each part, OUTPUTS one with a folder for each submission, named by its id, with a
    text for each part. Texts are named as their parts (PART.FIELD each for formats of several texts, PART.items.json
    for the attributes of gold's sentences). With a single part GOLD may be the text itself, and so may each submission.
    """
    from treescore.cli.files import read_limits  # noqa: PLC0415 - the help needs no arrays
    from treescore.cli.repeated import repeated  # noqa: PLC0415 - the help needs no compiler

    shown, document = repeated(comparison, gold, outputs, read_limits())
    click.echo(orjson.dumps(document), nl=False)
    other = [name for name in shown if document[name] != shown[name]] + [name for name in document if name not in shown]
    if other:
        versions = [str(each.get("signature", {}).get("version")) for each in (shown, document)]
        why = "" if versions[0] == versions[1] else f" It was made by version {versions[0]}, this is {versions[1]}."
        click.echo(f"The answer differs from {comparison} in: {', '.join(other)}.{why}", err=True)
        raise SystemExit(MISSED)
