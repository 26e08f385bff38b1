"""Which questions a benchmark fixes: all callers but organisers ask them as the benchmark asks them."""

from __future__ import annotations

from service.caller import Caller
from service.errors import Forbidden
from service.store.benchmarks import Benchmark

FIXED_QUESTION = "fixed-question"


def fixed(detail: str) -> Forbidden:
    """Return the refusal of a question that is not the benchmark's own."""
    return Forbidden(detail, slug=FIXED_QUESTION)


def require_own_pick(benchmark: Benchmark, caller: Caller, pick: str | None) -> None:
    """Refuse another rule than the board's for which submissions are its rows: it would show attempts not picked.

    Raises:
        Forbidden: another caller than an organiser chooses another pick.
    """
    own = benchmark.leaderboard["pick"]
    if not caller.organiser and pick not in (None, own):
        raise fixed(f"Only organisers choose `pick`. The leaderboard shows `{own}`. Leave it out.")
