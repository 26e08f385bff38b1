"""Training runs of one system: a submission says by `run_of` of which other one of its team it is another run."""

from __future__ import annotations

from sqlalchemy import Connection

from service.errors import LONGEST_SHOWN, invalid
from service.store import systems


def system_of(db: Connection, benchmark_id: str, team_id: str | None, name: str, outputs_digest: str) -> str:
    """Return the first submission of the system of this name, of which a new submission is another run.

    Args:
        db: the transaction that stores the new submission.
        benchmark_id: the slug.
        team_id: None for a baseline.
        name: what `run_of` says.
        outputs_digest: of the new submission.

    Raises:
        Unprocessable: the team has none of this name, or several, or it is a further run itself; or the outputs are
            those of another run, which one more copy would make look certain.
    """
    shown = name[:LONGEST_SHOWN]
    found = systems.named(db, benchmark_id, team_id, name)
    first = [each.id for each in found if each.run_of is None]
    if not first and found:
        known = systems.names(db, [each.run_of for each in found if each.run_of is not None])
        heads = ", ".join(sorted(set(known.values())))
        detail = f"The submission {shown!r} is itself a further training run. Name the first one: {heads}."
        raise invalid("run-of-a-run", "/run_of", detail)
    if not first:
        detail = f"Unknown submission {shown!r} of your team. Submit its first training run, without run_of, before."
        raise invalid("unknown-system", "/run_of", detail)
    if len(first) > 1:
        detail = f"{len(first)} submissions are named {shown!r}. Give them different names, and name one."
        raise invalid("ambiguous-system", "/run_of", detail)
    equal = systems.run_with_outputs(db, first[0], outputs_digest)
    if equal is not None:
        detail = f"These are the outputs of {equal}. A further training run has outputs of its own."
        raise invalid("equal-run", "/outputs", detail)
    return first[0]
