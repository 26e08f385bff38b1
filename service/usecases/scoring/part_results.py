"""What scoring one part of a submission gives, and how it is kept until all parts can be joined."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise

import numpy as np
import orjson

from service.store.packing import pack_with_head, unpack_with_head
from service.usecases.runs.ending import Failure
from treescore.core.arrays import Counts
from treescore.core.params import Json
from treescore.errors import Problem

SCORED, FAILED, MISSING = "scored", "failed", "missing"


@dataclass(frozen=True, slots=True)
class PartShare:
    """One part under one metric entry: all its counts, and a document for each share (None: all sentences)."""

    rows: Counts
    documents: Mapping[str | None, dict[str, Json]] = field(default_factory=dict)


@dataclass(slots=True)
class PartResult:
    """One part of a submission.

    Attributes:
        covered: sentences with a scored output.
        shares: by metric key.
        smaller: texts of the output in fewer bytes, by digest; stored when the result is, and not in it.
    """

    state: str
    covered: int = 0
    shares: dict[str, PartShare] = field(default_factory=dict)
    packed: dict[tuple[str, int], bytes] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    warnings: list[dict[str, object]] = field(default_factory=list)
    digest: str = ""
    failure: Failure | None = None
    smaller: Mapping[str, bytes] = field(default_factory=dict)


def smaller_texts(results: Sequence[PartResult]) -> Mapping[str, bytes]:
    """Return the texts in fewer bytes of some parts, for `service.store.texts.replace`."""
    return {digest: body for result in results for digest, body in result.smaller.items()}


def pack_results(results: Sequence[PartResult]) -> bytes:
    """Pack the results of some parts, in their order: a head of JSON, then arrays and packed artifacts as they are."""
    bodies: list[bytes] = []

    def kept(body: bytes) -> int:
        bodies.append(body)
        return len(bodies) - 1

    parts = [
        {
            "state": result.state,
            "covered": result.covered,
            "shares": {
                key: {"rows": kept(_array_bytes(share.rows)), "documents": list(share.documents.items())}
                for key, share in result.shares.items()
            },
            "packed": [[name, page, kept(body)] for (name, page), body in result.packed.items()],
            "sizes": result.sizes,
            "warnings": result.warnings,
            "digest": result.digest,
            "failure": None if result.failure is None else asdict(result.failure),
        }
        for result in results
    ]
    head = orjson.dumps({"parts": parts, "sizes": list(map(len, bodies))}, option=orjson.OPT_NON_STR_KEYS)
    return pack_with_head(head, bodies)


def unpack_results(packed: bytes) -> list[PartResult]:
    """Unpack what `pack_results` has packed."""
    described, joined = unpack_with_head(packed)
    head = orjson.loads(described)
    bodies = list(_pieces_of(joined, head["sizes"]))
    return [
        PartResult(
            state=part["state"],
            covered=part["covered"],
            shares={
                key: PartShare(_array(bodies[share["rows"]]), dict(share["documents"]))
                for key, share in part["shares"].items()
            },
            packed={(name, page): bodies[at] for name, page, at in part["packed"]},
            sizes=part["sizes"],
            warnings=part["warnings"],
            digest=part["digest"],
            failure=_failure(part["failure"]),
        )
        for part in head["parts"]
    ]


def _pieces_of(body: memoryview, sizes: Sequence[int]) -> Iterator[bytes]:
    ends = np.cumsum([0, *sizes]).tolist()
    return (bytes(body[start:end]) for start, end in pairwise(ends))


def _array_bytes(rows: Counts) -> bytes:
    """Return an array with its type and its order in memory, on which the last bits of sums may depend."""
    buffer = io.BytesIO()
    np.save(buffer, rows, allow_pickle=False)
    return buffer.getvalue()


def _array(body: bytes) -> Counts:
    rows: Counts = np.load(io.BytesIO(body), allow_pickle=False)
    return rows


def _failure(stored: Mapping[str, Json] | None) -> Failure | None:
    if stored is None:
        return None
    problems = [Problem(**problem) for problem in stored["problems"]]
    return Failure(stored["kind"], problems, stored["total"], _failure(stored["closed"]))
