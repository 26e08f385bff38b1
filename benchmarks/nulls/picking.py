"""The best of k submissions: unselected p, p that allows for the picking, and a private half of the sentences."""

from __future__ import annotations

import numpy as np

from nulls.systems import LAS, pair, scored
from nulls.tables import ALPHA, Experiment, Goal, Row, Table
from treescore.significance import Candidate

SUBMISSIONS = 20
UNITS = 100
CORRELATION = 0.5
"""Of two submissions' scores of a sentence; the other team's row is independent of them."""


def submitted(generator: np.random.Generator, gain: float) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of a team's submissions (k, n) and of another team's row (n,); their difference has sd 1."""
    own = np.sqrt(CORRELATION) * generator.normal(0, 1, UNITS)
    own = own + np.sqrt(1 - CORRELATION) * generator.normal(0, 1, (SUBMISSIONS, UNITS))
    return gain + own * np.sqrt(0.5), generator.normal(0, np.sqrt(0.5), UNITS)


def picked(gain: float) -> Experiment:
    """A team with the best of k equal submissions against a row of another team."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        values, other = submitted(generator, gain)
        own = tuple(scored(each) for each in values)
        opponent = Candidate("other", (scored(other),))
        best = own[int(np.argmax([counts[:, 0].sum() for counts in own]))]
        found = pair([Candidate("team", (best,), submissions=len(own)), opponent], LAS)
        public = np.zeros(UNITS, np.bool_)
        public[generator.permutation(UNITS)[: UNITS // 2]] = True
        chosen = own[int(np.argmax([counts[public, 0].sum() for counts in own]))][~public]
        private = pair([Candidate("team", (chosen,)), Candidate("other", (opponent.runs[0][~public],))], LAS)
        # p is of a picked row only where the team is ahead
        unselected = found["p"] if found["p_unselected"] is None else found["p_unselected"]
        return {
            "`p_unselected`": unselected <= ALPHA,
            "`p`, picking allowed for": found["p"] <= ALPHA,
            "private half, picked by the public one": private["p"] <= ALPHA,
        }

    return experiment


TABLES = (
    Table(
        "picking",
        "the best of 20 submissions against another team's row, 100 sentences",
        ("`p_unselected`", "`p`, picking allowed for", "private half, picked by the public one"),
        (
            Row("all equally good: false claims", picked(0.0)),
            Row("all 20 better by 0.25 sd: power", picked(0.25), Goal.SHOWN),
        ),
    ),
)
