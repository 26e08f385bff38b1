"""Which share of a split test set a caller sees: the public one until the benchmark closes, then the private one."""

from __future__ import annotations

from datetime import datetime

from service.errors import invalid
from service.policy.levels import not_shown
from service.requests import PRIVATE, PUBLIC, SHARES
from service.store.benchmarks import Benchmark


def shown_share(benchmark: Benchmark, at: datetime) -> str | None:
    """Return the share whose figures a benchmark shows at a moment; None where the test set is not split."""
    if benchmark.private_share is None:
        return None
    return PRIVATE if benchmark.closed(at) else PUBLIC


def shares_of(benchmark: Benchmark) -> tuple[str | None, ...]:
    """Return the shares that have boards: both, or None alone where the test set is not split."""
    return (None,) if benchmark.private_share is None else SHARES


def chosen_share(benchmark: Benchmark, asked: str | None, shown: str | None, *, organiser: bool) -> str | None:
    """Return the share of a board: the one that is asked for, otherwise the one that is shown.

    Args:
        benchmark: of the board.
        asked: PUBLIC, PRIVATE or None.
        shown: to this caller without a choice.
        organiser: whether the caller is one, who may see both at any time.

    Raises:
        Unprocessable: the test set is not split.
        Forbidden: the private share is not shown yet.
    """
    if asked is None:
        return shown
    if benchmark.private_share is None:
        detail = "The test set of this benchmark is not split into shares. Leave `split` out."
        raise invalid("no-split", "/split", detail)
    if asked == PRIVATE and not organiser:
        require_shown(asked, shown)
    return asked


def require_shown(share: str | None, shown: str | None) -> None:
    """Refuse figures of the private share while the public one is shown.

    Raises:
        Forbidden: they are of the private share, and it is not shown yet.
    """
    if share == PRIVATE and shown != PRIVATE:
        raise not_shown(
            "Figures of the private share are shown when the benchmark has closed, and on a frozen leaderboard if it "
            "had closed before."
        )
