"""What a revision changes against the one that was active before it, and who moves: also before it is active."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import NotFound
from service.policy import cells, gate
from service.policy.gate import Level
from service.store import revisions
from service.store.revisions import Digests, Revision
from service.usecases.access.access import benchmark_of
from service.usecases.benchmarks.revisions import moves_of, revision_of
from service.usecases.runs.views import View, json_view
from service.usecases.scoring.config import MEMBERS
from treescore.core.params import Json


def difference(context: Context, caller: Caller, slug: str, number: int) -> View:
    """Return the difference of a revision. Other callers than organisers see that of revisions that are or were active.

    Raises:
        NotFound: no revision has this number, or none was active before it.
    """
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        revision = revision_of(db, caller, slug, number)
        if not caller.organiser and revision.state not in revisions.READABLE:
            raise NotFound(f"The revision {number} of benchmark {slug!r} was never active.")
        before = revisions.active_before(db, benchmark.id, revision)
        if before is None:
            raise NotFound(f"No revision of benchmark {slug!r} was active before revision {number}.")
        level = gate.level_of(benchmark, caller, context.now())
        document = {
            "benchmark": slug,
            "revision": revision.number,
            "against": before.number,
            "state": revision.state,
            "dry_run": revision.dry_run,
            "parts": _changed_parts(db, before, revision, level),
            "settings": _changed_settings(before, revision),
            "moved": moves_of(db, benchmark, revision, level, context.now()),
        }
    return json_view(document, final=revision.state in revisions.FINAL_STATES, state=revision.state)


def _changed_parts(db: Connection, before: Revision, after: Revision, level: Level) -> list[dict[str, object]]:
    """Return the parts that differ. In how many sentences they do is shown to those who may read gold."""
    old, new = (revisions.digests_of(db, each.id) for each in (before, after))
    order = {part.name: at for each in (after, before) for at, part in enumerate(revisions.parts_of(db, each.id))}
    names = sorted({*old, *new}, key=lambda name: (order.get(name, 0), name))
    changed = [name for name in names if _differ(old.get(name), new.get(name))]
    return [
        {
            "name": name,
            "change": "added" if name not in old else "removed" if name not in new else "changed",
            "sentences_before": _sentences(old.get(name)) if level is Level.GOLD else None,
            "sentences_after": _sentences(new.get(name)) if level is Level.GOLD else None,
            "sentences_changed": _changed(name, old, new) if level is Level.GOLD else None,
        }
        for name in changed
    ]


def _differ(old: Digests | None, new: Digests | None) -> bool:
    return old is None or new is None or old.gold_key is None or old.gold_key != new.gold_key


def _sentences(gold: Digests | None) -> int | None:
    return None if gold is None or gold.sentences is None else len(gold.sentences[0])


def _changed(name: str, old: Mapping[str, Digests], new: Mapping[str, Digests]) -> int | None:
    """Return in how many sentences a part differs in the column with the most; None where that is not known."""
    counts = cells.differing(*({each: gold[each] for each in (name,) if each in gold} for gold in (old, new)))
    return None if counts is None else max(counts, default=0)


def _changed_settings(before: Revision, after: Revision) -> list[dict[str, object]]:
    """Return the members of the scoring configuration that differ."""
    old, new = (each.scoring for each in (before, after))
    return [_setting(name, old, new) for name in MEMBERS if old.get(name) != new.get(name)]


def _setting(name: str, old: Mapping[str, Json], new: Mapping[str, Json]) -> dict[str, object]:
    return {"name": name, "before": old.get(name), "after": new.get(name)}
