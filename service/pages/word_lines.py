"""What stands under the words of a sentence: the expressions that they are part of, and their annotation.

Two expressions of the same words are one, as in the metric: it compares words and not categories.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from treescore.core import wording
from treescore.metrics.ud import universal_features

AGREES, OTHER_CATEGORY, MISSED, WRONG = "agrees", "agrees, other category", "missed", "wrong"
_CLASSES = {AGREES: "ok", OTHER_CATEGORY: "bad dash", MISSED: "gold", WRONG: "bad", "": "ok"}
MOST_WORDS, MOST_LINES, MOST_ROWS = 300, 12, 200
"""Of a sentence that are drawn; lines below a word; rows of the table."""


class Expression(NamedTuple):
    """Words that gold, the output or both have as an expression.

    Attributes:
        state: what of it is right, one of the words above; empty where that is not shown.
        gold, output: the categories that each side gives it, empty where it lacks the expression or that is not shown.
        places: of its words, from 0.
        ids: their numbers in the text.
        form: its words.
    """

    state: str
    gold: str
    output: str
    places: Sequence[int]
    ids: Sequence[str]
    form: str

    @property
    def label(self) -> str:
        """What stands below its first word: its state (none where both agree), and its category."""
        state = f"{self.state}: " if self.state in (MISSED, WRONG) else ""
        return state + (self.gold if self.gold == self.output else " / ".join(filter(None, (self.gold, self.output))))


def expressions_of(
    tree: Mapping[str, Any], gold_lacks: Callable[[], Collection[frozenset[str]] | None]
) -> dict[str, Any] | None:
    """Return the rows of the table, the words with the lines below each, and what is said; None of texts without any.

    Args:
        tree: a document of the API.
        gold_lacks: gives the numbers of the words of those of the output that gold lacks, None where that is not shown;
            asked for only where gold is not.
    """
    if "expressions" not in tree:
        return None
    golds = tree.get("gold_expressions")
    words = tree["words"] or tree["gold_words"] or ()
    if golds is not None and tree["gold_words"] and tree["words"]:
        golds = None  # of other words
    places = {word["id"]: at for at, word in enumerate(words)}
    own, gold = _by_words(tree["expressions"], places), _by_words(golds or (), places)
    lacking = None
    if golds is not None:
        lacking = own.keys() - gold.keys()
    elif own:
        found = gold_lacks()
        lacking = (
            None
            if found is None
            else {each for each in own if frozenset(words[place]["id"] for place in each) in found}
        )
    rows = [
        Expression(
            _state(own.get(each), gold.get(each), wrong=None if lacking is None else each in lacking),
            gold.get(each, ""),
            own.get(each, ""),
            each,
            [words[place]["id"] for place in each],
            " ".join(words[place]["form"] or "" for place in each),
        )
        for each in sorted(own.keys() | gold.keys())
    ]
    drawn, lines = _with_lines(rows[:MOST_ROWS])
    # of each line below a word its class, empty where it has none, and what stands there
    shown = [{"form": word["form"] or "", "lines": lines.get(at, [])} for at, word in enumerate(words[:MOST_WORDS])]
    said = [*_summary(rows, both=golds is not None), *_left_out(len(words), len(rows), drawn)]
    return {"rows": rows[:MOST_ROWS], "words": shown if rows else (), "said": said}


def _by_words(listed: Sequence[Mapping[str, Any]], places: Mapping[str, int]) -> dict[tuple[int, ...], str]:
    """Return the categories of each set of words."""
    found: dict[tuple[int, ...], list[str]] = {}
    for each in listed:
        if all(word in places for word in each["words"]):
            found.setdefault(tuple(places[word] for word in each["words"]), []).append(
                each["category"] or "no category"
            )
    return {words: ", ".join(sorted(set(categories))) for words, categories in found.items()}


def _state(own: str | None, gold: str | None, *, wrong: bool | None) -> str:
    if wrong is None:
        return ""
    if own is None:
        return MISSED
    if wrong:
        return WRONG
    return AGREES if gold in (None, own) else OTHER_CATEGORY


def _with_lines(rows: Sequence[Expression]) -> tuple[int, dict[int, list[tuple[str, str]]]]:
    """Give each expression the first line that is free from its first word to its last.

    Returns:
        How many have one; place -> the lines below the word, class and what stands there.
    """
    ends: list[int] = []
    found: dict[int, dict[int, tuple[str, str]]] = {}
    drawn = 0
    for row in rows:
        first, last = row.places[0], row.places[-1]
        line = next((at for at, end in enumerate(ends) if end < first), len(ends))
        if line == MOST_LINES or last >= MOST_WORDS:
            continue
        drawn += 1
        ends[line : line + 1] = [last]
        held = set(row.places)
        for place in range(first, last + 1):
            words = row.label if place == first else ""
            found.setdefault(place, {})[line] = (_CLASSES[row.state] + ("" if place in held else " gap"), words)
    return drawn, {
        place: [lines.get(line, ("", "")) for line in range(max(lines) + 1)] for place, lines in found.items()
    }


def _summary(rows: Sequence[Expression], *, both: bool) -> list[str]:
    """Return in a line how many there are of each kind."""
    if not rows:
        return ["Neither gold nor the output has an expression here." if both else "The output has no expression here."]
    if not all(row.state for row in rows):
        return [f"{wording.counted(len(rows), 'expression')} of the output; what is wrong with them is not shown."]
    states = [row.state for row in rows]
    missed, wrong = states.count(MISSED), states.count(WRONG)
    other = states.count(OTHER_CATEGORY)
    agreed = f"{len(rows) - missed - wrong} agreed" + (f" ({other} in another category)" if other else "")
    return [", ".join([agreed, *[f"{missed} missed"] * both, f"{wrong} wrong"]) + "."]


def _left_out(words: int, rows: int, drawn: int) -> list[str]:
    left = [f"{min(rows, MOST_ROWS) - drawn} of them are in the table alone."] if drawn < min(rows, MOST_ROWS) else []
    left += [f"The first {MOST_ROWS} are listed."] if rows > MOST_ROWS else []
    return left + ([f"Drawn are the first {MOST_WORDS} of {words} words."] if rows and words > MOST_WORDS else [])


MOST_FEATURES = 25
"""Of a word that are listed: there are 21 universal ones, and a text may give one several times."""
_ANY_LEMMA = "_"
"""Of gold: every lemma is right."""
_Line: TypeAlias = tuple[str, str]
"""Class, empty where it has none, and what stands there."""


def annotation_of(tree: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the words with the lines below each, and what is said; None where no metric compares annotation.

    Args:
        tree: a document of the API.
    """
    own, golds = tree.get("annotation"), tree.get("gold_annotation")
    if not own:
        return None
    pairs = tree["pairs"]
    if tree["gold_words"] and pairs is None:
        golds = None  # of other words
    partners = dict(enumerate(range(len(own))) if pairs is None else pairs)
    wrong: Counter[str] = Counter()
    words = []
    for at, (word, shown) in enumerate(zip(tree["words"], own, strict=False)):
        gold = golds[partners[at]] if golds is not None and at in partners else {}
        lines = {name: _LINES[name](value, gold.get(name)) for name, value in shown.items()}
        wrong.update(name for name, each in lines.items() if any(kind for kind, _ in each))
        if at < MOST_WORDS:
            words.append({"form": word["form"] or "", "lines": [line for each in lines.values() for line in each]})
    return {"words": words, "said": _said(own[0], wrong, len(own), both=golds is not None)}


def _said(names: Collection[str], wrong: Mapping[str, int], words: int, *, both: bool) -> Iterator[str]:
    yield f"Of each word: {', '.join(_NAMES[name] for name in names)}."
    if not both:
        yield "What is wrong with them is not shown."
    elif wrong:
        counts = [f"{_NAMES[name]} of {wording.counted(count, 'word')}" for name in names if (count := wrong[name])]
        yield f"Wrong: {', '.join(counts)} (gold / output; - only in gold, + only in the output)."
    else:
        yield "They agree with gold in all words that both have."
    if words > MOST_WORDS:
        yield f"Shown are the first {MOST_WORDS} of {words} words."


def _tag_lines(own: str | None, gold: str | None) -> list[_Line]:
    return [("", own or "") if gold in (None, own) else ("bad", f"{gold} / {own}")]


def _lemma_lines(own: str | None, gold: str | None) -> list[_Line]:
    return _tag_lines(own, None if gold == _ANY_LEMMA else gold)


def _feature_lines(own: str | None, gold: str | None) -> list[_Line]:
    """Return the universal features of a word, a line each; where gold is known those of both."""
    mine, golds = (set(filter(None, universal_features(each or "").split("|"))) for each in (own, gold))
    if gold is None:
        golds = mine
    lines = [
        ("", each) if each in mine & golds else ("gold", f"-{each}") if each in golds else ("bad", f"+{each}")
        for each in sorted(mine | golds)
    ]
    return lines if len(lines) <= MOST_FEATURES else [*lines[:MOST_FEATURES], ("", "…")]


_NAMES = {"upos": "tag", "lemma": "lemma", "feats": "universal features"}
_LINES = {"upos": _tag_lines, "lemma": _lemma_lines, "feats": _feature_lines}
"""Of each member of an annotation."""
