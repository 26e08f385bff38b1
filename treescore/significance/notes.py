"""What the claims of a comparison are about, what it could not find, and how it is read: the member `notes`.

The sentences are made of the document alone: of a whole one, and of one as a feedback level shows it, where a sentence
whose figures are hidden is left out or said without the number. Every view prints them; none says them itself.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from treescore.core.registry import score_head
from treescore.core.wording import TINY, counted, listed, one_line, p_equals, unit_word, units_of
from treescore.significance.families import adjusted
from treescore.significance.law import FEWEST_FOR_MARGIN, FEWEST_FOR_SIGNS
from treescore.significance.settings import SMALLEST

Document = Mapping[str, Any]
OTHER_PARTS = " For other parts like them p is in `p (parts)`."
AGREE = " An interval leaves out 0 exactly where its difference is marked."
LISTED = 10
"""Systems that one sentence names; the document holds all."""
BY_LAW = ("permutation", "t", "mixed")
TWO_SIDED = "two-sided"
COMPARE_PL = (
    "compare_pl asks a one-sided question in the direction that the data show, as Bikel's compare.pl does: double its "
    "p to read it as two-sided."
)


def notes(document: Document) -> list[str]:
    """Return the notes of a comparison, each of at most two sentences.

    Args:
        document: the comparison, whole or without what a feedback level hides.
    """
    pairs = _pairs(document)
    if pairs and document["test"] != "bootstrap" and all(pair["significant"] is None for pair in pairs):
        reasons = dict.fromkeys(str(pair["reason"]) for pair in pairs if pair.get("reason"))
        return [f"Not tested: {'; '.join(reasons)}."] if reasons else []
    return [said for case in (_CASES if pairs else (_missing,)) if (said := case(document))]


def _pairs(document: Document) -> list[Document]:
    return [pair for pair in document["pairs"] if pair["difference"] is not None]


def _units(document: Document) -> str:
    count = document.get("unit_count")
    if document["units"] == "part":
        many = "whole parts" if count is None else counted(count, "whole part")
    else:
        word, words = units_of(document)
        many = words if count is None else counted(count, word, words)
    if document["test"] == "bootstrap":
        by_itself = f" Each holds by itself at {100 * document['signature']['level']:g} %."
        return f"Intervals over {many}, without a test: leave out `test` for p.{by_itself}"
    few = document["test"] == "t" and count is not None and count < FEWEST_FOR_SIGNS
    law = ", with Student's t" if document["test"] == "t" else ""
    sizes = [pair["unit_count"] for pair in _pairs(document) if pair.get("unit_count")]
    if document["test"] == "mixed" and min(sizes, default=math.inf) < FEWEST_FOR_SIGNS:
        law = f", pairs with fewer than {FEWEST_FOR_SIGNS} with Student's t"
    tested = f"Tested over {many}{law}{' since they are few' if few else ''}"
    only = " With so few only large differences show." if few else ""
    if document["units"] != "sentence":
        about = {"block": units_of(document)[1], "part": "parts"}.get(document["units"])
        if about is None:
            return f"{tested}, which are taken as independent."
        return f"{tested}: a marked difference would be found again in other {about} like these.{only}"
    if "documents" not in document:
        return f"{tested}.{only}"
    if document["documents"] is None:
        units = "only sentence is the unit" if count == 1 else f"{many} are taken as independent"
        return f"Gold marks no documents, so its {units}.{only}"
    if document["documents"] == 1 and not document.get("parts"):
        return "Gold marks one document: its sentences are tested, and the claim is about it alone."
    return f"{tested}: a marked difference holds for these documents, and need not hold for others."


BY_SENTENCE = "gold marks fewer than two documents: there sentences are the units."


def _by_sentence(document: Document) -> str:
    few, parts = document.get("parts_by_sentence"), document.get("parts")
    if not few or not parts or document["units"] != "block":
        return ""
    return f"In {few} of {parts} parts {BY_SENTENCE}"


def _hopeless(document: Document) -> str:
    """Say that no p can be small enough, where all units differ and the test is by signs."""
    count, named = document.get("unit_count"), document.get("smallest_p")
    if document["test"] != "permutation" or count is None:
        return ""
    pairs = len(_pairs(document))
    least = 2.0 ** ((document["alternative"] == TWO_SIDED) - count)
    if named and named["p"] is not None:
        least = max(least, named["p"])
    if adjusted(np.full(pairs, least), document["correction"]).min() <= document["alpha"]:
        return ""
    over = f" over {pairs} pairs" if pairs > 1 else ""
    ways = ["leave out `test`"] if named and count < FEWEST_FOR_SIGNS else []
    ways += ["ask `unit: sentence`"] if document["units"] == "block" else []
    instead = f" {', or '.join(ways).capitalize()}." if ways else ""
    many = counted(count, *units_of(document))
    return f"With {many} no p is below {_least(least)}, so that nothing can be significant{over}.{instead}"


def _least(p: float) -> str:
    """Write a smallest p: 0.5, 0.06, 0.016."""
    return f"{float(f'{p:.2f}'):g}" if p >= 0.02 else f"{p:.2g}"


def _parts(document: Document) -> str:
    if not document.get("parts") or document["units"] == "part":
        return ""
    more = OTHER_PARTS if any(pair.get("p_parts") is not None for pair in _pairs(document)) else ""
    these = "this part" if document["parts"] == 1 else f"these {document['parts']} parts"
    return f"The claim is about {these}.{more}"


def _missing(document: Document) -> str:
    if not any(system.get("missing_parts") for system in document["systems"]):
        return ""
    low, high = document.get("range", (None, None))
    worst = low if document["higher_is_better"] else high
    return (
        f"A part without an output counts as {'the worst value' if worst is None else f'{worst:g}'}, and as one unit."
    )


def _runs(document: Document) -> str:
    several = {system["name"] for system in document["systems"] if (system.get("runs") or {}).get("count", 1) > 1}
    if not several:
        return "Each system was trained once: the claim is about these models, not about the methods."
    pairs = _pairs(document)
    both = [pair for pair in pairs if {pair["a"], pair["b"]} <= several]
    if document["test"] == "mcnemar":
        right = f"A {unit_word(document['units'])} is right where all runs of a system have it right"
        return f"{right}: the claim is about these models, not about the methods."
    if document["test"] not in BY_LAW or document["signature"].get("runs") == "fixed" or not both:
        return "Runs of a system are pooled by unit: the claim is about these models, not about the methods."
    vary = f"Training runs and {unit_word(document['units'])}s both vary"
    if len(both) == len(pairs):
        return f"{vary}: the claim is about the methods."
    return (
        f"{vary} where both systems have several runs: the claim is about the methods there, else about these models."
    )


def _picking(document: Document) -> str:
    if all(pair.get("p_unselected") is None for pair in _pairs(document)):
        return ""
    return "A row is the best of its team's k submissions, and p allows for that."


def _mcnemar(document: Document) -> str:
    if document["test"] != "mcnemar":
        return ""
    right = "right" if document["units"] == "token" else "wholly right"
    score = score_head(document["score"], document["signature"].get("metric", ""))
    return f"Tested: how many {unit_word(document['units'])}s are {right}, not {score}."


def _together(document: Document) -> str:
    pairs = [pair for pair in _pairs(document) if pair["significant"] is not None]
    if len(pairs) < 2:
        return ""
    rate = f"at most {100 * document['alpha']:g} %"
    marks = "Ranks and marks" if document.get("rank_ranges") else "Marks"
    said = {
        "none": f"Nothing is corrected: each mark by itself is wrong with a chance of {rate}.",
        "bh": f"Of the marks {rate} are wrong on average: they do not hold together.",
        "by": f"Of the marks {rate} are wrong on average: they do not hold together.",
    }.get(document["correction"], f"{marks} hold together: the chance that any of them is wrong is {rate}.")
    agree = document["alternative"] == TWO_SIDED and all(pair.get("ci_adjusted") for pair in pairs)
    return said + (AGREE if agree else "")


def _not_significant(document: Document) -> str:
    different = [pair for pair in _pairs(document) if pair.get("differing_sentences") != 0]
    pairs = [pair for pair in different if pair["significant"] is False]
    if not pairs:
        return ""
    units = document.get("unit_count") if document["test"] == "permutation" else None
    known = [
        (max(abs(pair["difference"]), found["difference"]), found["power"])
        for pair in pairs
        if (found := pair.get("detectable"))
        and all(_reachable(count, pair, document) for count in (pair.get("differing_sentences"), units))
    ]
    if not known:
        return "Not marked does not mean equal."
    low, high = (_size(end(size for size, _ in known), document) for end in (min, max))
    size = high if low == high else f"{low.partition(' ')[0]} to {high}"
    power = known[0][1]
    often = f"{10 * power:g} of 10" if round(100 * power, 7) % 10 == 0 else f"{100 * power:g} of 100"
    return (
        f"Not marked does not mean equal. A true difference of {size} would have been found in {often} test sets like "
        "this."
    )


def _size(value: float, document: Document, digits: int = 2) -> str:
    """Write a difference, in points where the score's range is 0 to 1."""
    share = list(document.get("range") or ()) == [0, 1]
    shown = f"{float(f'{(100 if share else 1) * value:.{digits}g}'):g}"
    return f"{shown} point{'' if shown == '1' else 's'}" if share else shown


def _reachable(count: int | None, pair: Document, document: Document) -> bool:
    """Tell whether p of a pair could be small enough where so many sentences, or units, differ at most."""
    least = 0.0 if count is None else 2.0 ** ((document["alternative"] == TWO_SIDED) - count)
    return bool(least <= document["alpha"] / (pair.get("divisor") or 1))


def _few_differing(document: Document) -> str:
    """Say of which pairs no p could have been small enough, since so few sentences of them differ."""
    pairs = [pair for pair in _pairs(document) if document["test"] in BY_LAW and pair.get("differing_sentences")]
    few = [pair for pair in pairs if pair["significant"] is False
           and not _reachable(pair["differing_sentences"], pair, document)]  # fmt: skip
    if not few:
        return ""
    most = max(pair["differing_sentences"] for pair in few)
    many, least = counted(most, "sentence"), _least(2.0 ** ((document["alternative"] == TWO_SIDED) - most))
    if len(few) > 1:
        return f"{len(few)} pairs differ in at most {many}, so that their p cannot be below {least}."
    names = " and ".join(one_line(few[0][side]) for side in ("a", "b"))
    return f"{names} differ in {many} only, so that p cannot be below {least}."


def _margin(document: Document) -> str:
    tests = [(pair, pair["noninferiority"]) for pair in _pairs(document) if pair.get("noninferiority")]
    if not tests:
        return ""
    shown: list[str] = []
    not_shown: list[str] = []
    for pair, test in tests:
        for name, other in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
            against = f" against {one_line(other)}" if len(document["systems"]) > 2 else ""
            if name in test:
                words = f"{one_line(name)}{against} ({p_equals(test[name]['p_adjusted'])})"
                (shown if test[name]["established"] else not_shown).append(words)
    found = f"shown for {listed(shown, LISTED, ', ', ' and {} more')}" if shown else "shown for no system"
    if len(tests) == 1 and not_shown:
        found = f"{f'{found}, ' if shown else ''}not {'' if shown else 'shown '}for {' or '.join(not_shown)}"
    count = min(pair.get("unit_count") or document.get("unit_count") or math.inf for pair, _ in tests)
    many = "n" if math.isinf(count) else str(count)
    limit = f" Errors in fewer than 3 in {many} units may have been missed."
    if count < FEWEST_FOR_MARGIN:
        limit = f" It can be shown from {FEWEST_FOR_MARGIN} units on."
    return f"Not worse by more than {_size(tests[0][1]['margin'], document, 6)}: {found}.{limit}"


def _compare_pl(document: Document) -> str:
    return COMPARE_PL if document["test"] == "compare_pl" else ""


def _tiny(document: Document) -> str:
    tiny = any(pair.get("p") is not None and pair["p"] <= SMALLEST for pair in _pairs(document))
    return TINY if tiny else ""


_CASES: Sequence[Callable[[Document], str]] = (
    *(_units, _by_sentence, _hopeless, _mcnemar, _compare_pl, _parts, _missing, _runs, _picking, _together),
    *(_not_significant, _few_differing, _margin, _tiny),
)
