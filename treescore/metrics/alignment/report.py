"""The summary of the scorer of WPT 2003 and 2005, wa_eval_align.pl."""

from __future__ import annotations

from collections.abc import Mapping


def wa_eval(counts: Mapping[str, int]) -> str:
    """Print counts as wa_eval_align.pl does."""

    def share(part: str, whole: str) -> float:
        return counts[part] / counts[whole] if counts[whole] else 0.0

    def block(precision: float, recall: float, trailing: str) -> list[str]:
        f_measure = 2 * recall * precision / (recall + precision) if recall and precision else 0.0
        return [
            f"   Precision = {precision:.4f}{trailing}",
            f"   Recall    = {recall:.4f}",
            f"   F-measure = {f_measure:.4f}",
            "-----------------------------------",
        ]

    total = counts["links"] + counts["sure"]
    error = 1 - (counts["links_in_sure"] + counts["links_in_possible"]) / total if total else 0.0
    lines = [
        "",
        "The following results assume correct file formats.",
        "Make sure you have previously checked the file format",
        "using wa_check_submission.pl",
        "",
        "",
        "    Word Alignment Evaluation   ",
        "----------------------------------",
        "   Evaluation of SURE alignments ",
        *block(share("sure_links_in_sure", "sure_links"), share("sure_links_in_sure", "sure"), "  "),
        "   Evaluation of PROBABLE alignments",
        *block(share("links_in_possible", "links"), share("links_in_possible", "possible"), ""),
        f"   AER       = {error:.4f}",
    ]
    return "\n".join(lines) + "\n"
