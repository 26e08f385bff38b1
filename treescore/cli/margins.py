"""`--not-worse-than NAME --margin X`: which outputs are shown not to be worse than NAME by more than the margin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from treescore.core.params import Json
from treescore.core.suggestions import did_you_mean


@dataclass(frozen=True, slots=True)
class Claim:
    """That one output is not worse than another by more than a margin, on one score.

    Attributes:
        score: its address.
        name: the output.
        reference: the other one.
        margin: in units of the score.
        p: corrected; None where it is not tested.
        established: whether the claim is shown.
    """

    score: str
    name: str
    reference: str
    margin: float
    p: float | None
    established: bool

    @property
    def line(self) -> str:
        """The claim with p and verdict on one line."""
        p = "not tested" if self.p is None else f"p {self.p:.2g}"
        verdict = "shown" if self.established else "not shown"
        return f"{self.score}: {self.name} not worse than {self.reference} by more than {self.margin:g}: {p}, {verdict}"


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
        raise click.UsageError("--not-worse-than needs --margin X, in units of the score, as --margin 0.005.")
    if reference not in names:
        meant = did_you_mean(reference, names)
        raise click.UsageError(f"--not-worse-than {reference}: unknown output.{meant} Outputs: {', '.join(names)}.")
    if significance.get("margin") not in (None, margin):
        raise click.UsageError("The margin is given twice. Leave it out of --significance.")
    return {**significance, "margin": margin}


def claims(comparisons: Sequence[Mapping[str, Any]], reference: str, margin: float) -> Iterator[Claim]:
    """Yield for each compared score and each other output the claim that it is not worse than the reference."""
    for document in comparisons:
        for pair in document["pairs"]:
            if reference not in (pair["a"], pair["b"]):
                continue
            name = pair["b"] if pair["a"] == reference else pair["a"]
            tested = (pair.get("noninferiority") or {}).get(name) or {"p_adjusted": None, "established": False}
            yield Claim(document["score"], name, reference, margin, tested["p_adjusted"], bool(tested["established"]))
