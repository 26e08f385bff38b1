"""Systems of several training runs: one row of a board, with the mean of its runs.

What a team does with single runs does not pay. Withdrawn runs stay in the mean while another run is on the board. A
deleted run has no counts, so its system falls apart: each run is a submission of its own, and p allows for the picking
among all of them. Equal outputs are no second run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev

from service.render.documents import IntervalDocument, RunsDocument
from service.store.boards import RowDetails
from service.store.submissions import BoardEntry
from service.store.systems import Member
from treescore.core.params import Json
from treescore.significance.welch import FEWEST_FOR_SPREAD


def together(entries: Sequence[BoardEntry], members: Iterable[Member]) -> list[BoardEntry]:
    """Make one entry of the entries of each system, at the place of its newest one.

    Args:
        entries: what is on the board, oldest first.
        members: the scored submissions of systems with several.

    Returns:
        Entries with the id of the system's oldest run on the board, and the mean of the values of all its runs.
    """
    runs_of = _whole(members)
    entries_of: dict[str, list[BoardEntry]] = {}
    system_of = {run.id: system for system, runs in runs_of.items() for run in runs}
    for entry in entries:
        entries_of.setdefault(system_of.get(entry.id, entry.id), []).append(entry)
    found = [
        (shown[-1].id, _joined(shown, runs_of[system]) if system in runs_of else shown[0])
        for system, shown in entries_of.items()
    ]
    return [entry for _, entry in sorted(found, key=lambda each: each[0])]


def _whole(members: Iterable[Member]) -> dict[str, list[Member]]:
    """Return the runs of each system of which none was deleted and two or more are scored."""
    of_system: dict[str, list[Member]] = {}
    for member in members:
        of_system.setdefault(member.system, []).append(member)
    whole = {system: runs for system, runs in of_system.items() if not any(run.deleted for run in runs)}
    scored = {system: [run for run in runs if run.scored] for system, runs in whole.items()}
    return {system: runs for system, runs in scored.items() if len(runs) >= FEWEST_FOR_SPREAD}


def _joined(shown: Sequence[BoardEntry], runs: Sequence[Member]) -> BoardEntry:
    there = [entry for entry in shown if not entry.withdrawn] or shown
    values = [run.value for run in runs if run.value is not None]
    covered = [run.covered for run in runs if run.covered is not None]
    return replace(
        there[0],
        chosen=any(entry.chosen for entry in shown),
        value=_mean([run.value for run in runs]),
        covered=[min(part) for part in zip(*covered, strict=True)] if len(covered) == len(runs) else None,
        runs=tuple(run.id for run in runs),
        spread=stdev(values) if len(values) == len(runs) else None,
    )


def with_values(entry: BoardEntry, values: Mapping[str, float | None]) -> BoardEntry:
    """Return an entry with other scores of its submission or runs, as those over the private share."""
    if not entry.runs:
        return replace(entry, value=values.get(entry.id))
    of_runs = [values.get(run) for run in entry.runs]
    defined = [value for value in of_runs if value is not None]
    return replace(entry, value=_mean(of_runs), spread=stdev(defined) if len(defined) == len(of_runs) else None)


def details_of(entry: BoardEntry, details: Mapping[str, RowDetails]) -> RowDetails:
    """Return what a row shows of its submission; of a system the means of the runs' scores, without an interval."""
    own = details[entry.id]
    if not entry.runs:
        return own
    scores = [details[run].scores for run in entry.runs]
    means = {address: _mean([each.get(address) for each in scores]) for address in own.scores}
    return replace(own, scores=means, interval=None)


def runs_document(entry: BoardEntry) -> RunsDocument | None:
    """Return how many training runs a row has, and their spread; None for a single one."""
    return RunsDocument(count=len(entry.runs), sd=entry.spread) if entry.runs else None


def intervals_of(entries: Iterable[BoardEntry], comparison: Mapping[str, Json]) -> dict[str, IntervalDocument]:
    """Return the intervals of the scores of systems, which no score record has."""
    several = {entry.id for entry in entries if entry.runs}
    known = {str(system["name"]): system.get("ci") for system in comparison["systems"]}
    return {
        name: IntervalDocument(low=ci["low"], high=ci["high"])
        for name, ci in known.items()
        if name in several and ci is not None
    }


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined and len(defined) == len(values) else None
