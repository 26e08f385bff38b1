"""The report of PARSEME's program, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from treescore.core.params import Json
from treescore.metrics.mwe.groups import CATEGORY, CONTINUITY, SEEN, TOKENS, VARIANT

Counts = Mapping[str, int]

_GLOBAL = "partition of Global"
_SECTIONS = {
    CATEGORY: f"Per-category evaluation ({_GLOBAL})",
    CONTINUITY: f"MWE continuity ({_GLOBAL})",
    TOKENS: f"Number of tokens ({_GLOBAL})",
    SEEN: f"Whether seen in train ({_GLOBAL})",
    VARIANT: "Whether identical to train (partition of Seen-in-train)",
}
_NAMES = {
    "continuous": "Continuous", "discontinuous": "Discontinuous",
    "multi-token": "Multi-token", "single-token": "Single-token",
    "seen": "Seen-in-train", "unseen": "Unseen-in-train",
    "variant": "Variant-of-train", "identical": "Identical-to-train",
}  # fmt: skip


def parseme_report(totals: Counts, slices: Mapping[str, list[dict[str, Json]]]) -> str:
    """Print the report.

    Args:
        totals: counts of the whole text.
        slices: rows of the groupings; of those by a training text where there is one.
    """
    lines = ["## Global evaluation", *_both("", totals), ""]
    for name, title in _SECTIONS.items():
        if name not in slices:
            continue
        whole = slices[SEEN][0]["counts"] if name == VARIANT else totals
        lines.append(f"## {title}")
        for row in slices[name]:
            value = row["value"] if name == CATEGORY else _NAMES[row["value"]]
            lines.append(_proportion(f"{value}: ", row["counts"], whole))
            lines += (
                _both(f"{value}: ", row["counts"]) if name == CATEGORY else [_expressions(f"{value}: ", row["counts"])]
            )
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def _both(prefix: str, counts: Counts) -> Iterator[str]:
    yield _expressions(prefix, counts)
    yield _line(f"{prefix}Tok-based", counts["token_correct"], counts["token_gold"], counts["token_system"])


def _expressions(prefix: str, counts: Counts) -> str:
    return _line(f"{prefix}MWE-based", counts["correct"], counts["gold"], counts["system"])


def _proportion(prefix: str, counts: Counts, whole: Counts) -> str:
    shares = (
        f"{side}={counts[count]}/{whole[count]}={counts[count] / (whole[count] or 1):.0%}"
        for side, count in (("gold", "gold"), ("pred", "system"))
    )
    return f"* {prefix}MWE-proportion: {' '.join(shares)}"


def _line(title: str, correct: int, gold: int, system: int) -> str:
    precision, recall = correct / (system or 1), correct / (gold or 1)
    f1 = 2 * precision * recall / (precision + recall) if precision else 0
    return f"* {title}: P={correct}/{system}={precision:.4f} R={correct}/{gold}={recall:.4f} F={f1:.4f}"
