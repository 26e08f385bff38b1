"""Options of `treescore compare` that are settings of the comparison, beside `--significance` with all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypedDict, TypeVar

import click

from treescore.cli.values import JsonObject, Number, OneOf, ParamType, WholeNumber
from treescore.core.params import Json

_Function = TypeVar("_Function", bound=Callable[..., object])

EXAMPLE = '{"unit": "block", "seed": 7}'


class AskedSettings(TypedDict):
    """The values of these options, as click hands them over."""

    significance: Mapping[str, Json] | None
    scores: Sequence[str]
    test: str | None
    test_unit: str | None
    correction: str | None
    alpha: float | None
    seed: int | None


class Setting(NamedTuple):
    """An option for one setting.

    Attributes:
        option: as it is written.
        type: of its value.
        help: what it sets.
        metavar: how the help writes its value.
    """

    option: str
    type: ParamType
    help: str
    metavar: str | None = None


SETTINGS: Mapping[str, Setting] = {
    "test": Setting(
        "--test", OneOf(["auto", "permutation", "bootstrap", "mcnemar", "compare_pl"]),
        "The test; auto is the paired permutation test.",
    ),
    "unit": Setting(
        "--test-unit", OneOf(["auto", "sentence", "block", "token"]),
        "What is swapped and redrawn as a whole; a block is a document. auto: documents where there are some.",
    ),
    "correction": Setting(
        "--correction", OneOf(["holm", "hochberg", "bh", "by", "bonferroni", "none"]),
        "Correction of p over all pairs; holm unless given.",
    ),
    "alpha": Setting("--alpha", Number(1e-12, 0.5, 0.01), "Level of significance; 0.05 unless given.", "X"),
    "seed": Setting("--seed", WholeNumber(0, 7), "Seed of shuffles and resamples; 1 unless given.", "N"),
}  # fmt: skip
"""Setting -> its option. `treescore.significance.settings` has their meanings and defaults."""


def significance_option(function: _Function) -> _Function:
    """Add `--significance`."""
    return click.option(
        "--significance", metavar="JSON", type=JsonObject(EXAMPLE),
        help="Settings of the comparison, as in the API: JSON object, or @PATH of one.",
    )(function)  # fmt: skip


def setting_options(function: _Function) -> _Function:
    """Add `--significance`, `--scores` and the options of SETTINGS."""
    for setting in reversed(list(SETTINGS.values())):
        function = click.option(setting.option, type=setting.type, help=setting.help, metavar=setting.metavar)(function)
    function = click.option(
        "--scores", multiple=True, metavar="SCORE,...",
        help="Scores to compare, as ud.las_f1,ud.uas_f1; the main score of the first metric unless given. Repeatable.",
    )(function)  # fmt: skip
    return significance_option(function)


def settings_of(asked: AskedSettings) -> dict[str, Json]:
    """Return all settings as one object.

    Raises:
        click.UsageError: an option and `--significance` both give a setting, or a score has no name.
    """
    given: dict[str, tuple[str, Json]] = {}
    if asked["scores"]:
        names = [name.strip() for value in asked["scores"] for name in value.split(",")]
        if not all(names):
            raise click.UsageError("--scores: a score has no name. Write them as ud.las_f1,ud.uas_f1.")
        given["scores"] = ("--scores", names)
    for name, setting in SETTINGS.items():
        value = asked[setting.option.removeprefix("--").replace("-", "_")]  # type: ignore[literal-required]
        if value is not None:
            given[name] = (setting.option, value)
    settings = dict(asked["significance"] or {})
    for name, (option, value) in given.items():
        if name in settings:
            raise click.UsageError(f"{option} and --significance both give {name!r}. Leave it out of one of them.")
        settings[name] = value
    return settings
