"""Which outputs are training runs of one system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from treescore.errors import Problem


class Output(Protocol):
    """An output by its name, and the name of the system of which it is a further training run."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def run_of(self) -> str | None:
        """The system of which it is a further training run."""
        ...


def runs_by_system(outputs: Sequence[Output]) -> dict[str, list[int]]:
    """Return the outputs of each system, as indices in order.

    An output belongs to the system that it names, which may be another output or a name for the runs alone.
    """
    runs: dict[str, list[int]] = {}
    for index, output in enumerate(outputs):
        runs.setdefault(output.run_of or output.name, []).append(index)
    return runs


def problems_of_runs(outputs: Sequence[Output], pointer: str) -> list[Problem]:
    """Find outputs that are runs of themselves, or of an output that is itself a run of another.

    Args:
        outputs: all of a request.
        pointer: of the list.
    """
    run_of = {output.name: output.run_of for output in outputs}
    problems = []
    for index, output in enumerate(outputs):
        system = output.run_of
        if system is None:
            continue
        at = f"{pointer}/{index}/run_of"
        if system == output.name:
            detail = (
                f"{system!r} is a run of itself. Leave out run_of, or name the system of which it is a further run."
            )
            problems.append(Problem("run-of-itself", detail, pointer=at))
        elif run_of.get(system) not in (None, system):
            detail = (
                f"{system!r}, of which this is a run, is a run of {run_of[system]!r} itself. "
                f"Write {run_of[system]!r} for both."
            )
            problems.append(Problem("run-of-a-run", detail, pointer=at))
    return problems
