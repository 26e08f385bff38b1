"""What organisers are warned of: scoring that does not charge what an output lacks."""

from __future__ import annotations

from sqlalchemy import Connection

from service.errors import error_document
from service.store.benchmarks import Benchmark
from service.store.revisions import Revision
from service.usecases.scoring.config import scoring_warnings


def revision_warnings(_db: Connection, _benchmark: Benchmark, revision: Revision) -> list[dict[str, object]]:
    """Return the warnings of a revision."""
    return [error_document(problem, gold_visible=False) for problem in scoring_warnings(revision.scoring)]
