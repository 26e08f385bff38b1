"""Documents of trees: the trees of one output, alone or beside gold's, sentence by sentence.

The half of each side comes from its text, with what is wrong in it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from service.usecases.views import text as kinds
from service.usecases.views.text import OF_ERRORS, Fit, Text, errors_of, fit_of
from treescore.core import arrays, params, registry, structure
from treescore.evaluation.tree_marks import MarkedBy

Document = dict[str, params.Json]
WORDS = {
    registry.MarkState.HEAD: "head",
    registry.MarkState.LABEL: "label",
    registry.MarkState.BOTH: "both",
    registry.MarkState.ALONE: "word",
    registry.MarkState.SPAN: "span",
    registry.MarkState.LINK: "link",
}
_MARKS = {int(state): WORDS.get(state) for state in registry.MarkState}
CROSSING = "crossing"


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a half of a sentence lies in its text.

    Attributes:
        sentence: of the text, from 0.
        skipped: words of it before the half.
        units: words of the half; they may go on in the next sentences. None: the whole sentence.
    """

    sentence: int
    skipped: int = 0
    units: int | None = None


@dataclass(frozen=True, slots=True)
class Half:
    """One side of a sentence.

    Attributes:
        words: `{"id", "form"}`, and `tag` of constituents; None of an alignment without words.
        tree: what is drawn over them: arcs, spans, edges or links.
        rows: of `tree` that marks are of: those of words, and not of empty nodes; of other kinds all.
        more: further members.
    """

    words: Sequence[Document] | None
    tree: Sequence[Document]
    rows: Sequence[int]
    more: Mapping[str, object]


LISTED = 60
"""Words that are listed of a sentence, at most."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a list of sentences shows of one.

    Attributes:
        item: its number, from 1.
        kind: of its trees.
        forms: the first words of the output; none of an alignment without words.
        units: words, constituents, edges or links of the output.
        marks: what is wrong with each; None where that is not shown.
        errors: how many are wrong, or missed beside gold: the order of sentences goes by it; without marks, how many
            expressions are. None where that is not shown.
    """

    item: int
    kind: str
    forms: Sequence[str | None]
    units: int
    marks: Sequence[str | None] | None
    errors: int | None = None

    @property
    def text(self) -> str:
        """Its first words in a line."""
        return " ".join(form or "" for form in self.forms)


def half_of(text: Text, sentence: int) -> Half:
    """Return one whole sentence as a half."""
    if text.kind == kinds.DEPENDENCIES:
        return _dependencies_half(text, sentence)
    if text.kind == kinds.DISCONTINUOUS:
        return _discontinuous_half(text, sentence)
    if text.kind == kinds.GRAPH:
        tagged = text.has("tags")
        half = Half(_tagged_words(text, sentence), (), (), {}) if tagged else _dependencies_half(text, sentence)
        return _with_edges(half, text, text.bounds("words", sentence))
    return _constituents_half(text, sentence) if text.kind == kinds.CONSTITUENTS else _links_half(text, sentence)


def cut_half(
    forms: Sequence[str | None], heads: Sequence[int], deprels: Sequence[str | None], annotation: Sequence[Document]
) -> Half:
    """Return words that are no whole sentence as a half, numbered from 1.

    Args:
        forms: of the words.
        heads: counted from the half's first word as 1; 0 the root, None where the head lies outside.
        deprels: their relations.
        annotation: of them; empty where no metric compares it.
    """
    words = _numbered_words(forms)
    return Half(words, _arcs(heads, deprels), range(len(words)), {"annotation": annotation} if annotation else {})


def _numbered_words(forms: Sequence[str | None]) -> list[Document]:
    return [{"id": str(number), "form": form} for number, form in enumerate(forms, 1)]


def _tagged_words(text: Text, sentence: int) -> list[Document]:
    columns = zip(text.named("forms", sentence), text.named("tags", sentence), strict=True)
    return [{"id": str(number), "form": form, "tag": tag} for number, (form, tag) in enumerate(columns, 1)]


def _arcs(heads: Sequence[int], deprels: Sequence[str | None]) -> list[Document]:
    size = len(heads)
    return [
        {"head": str(head) if 0 <= head <= size else None, "deprel": deprel}
        for head, deprel in zip(heads, deprels, strict=True)
    ]


def _dependencies_half(text: Text, sentence: int) -> Half:
    forms = text.named("forms", sentence)
    arcs = _arcs(text.values("heads", sentence), text.named("deprels", sentence))
    words = _numbered_words(forms)
    more = {"tokens": _tokens(text, sentence)}
    if text.has("expressions") and _size(text.bounds("members", sentence)) <= MOST_MEMBERS:
        more["expressions"] = _expressions(text, sentence)
    rows: Sequence[int] = range(len(words))
    annotation = _annotation(text, sentence)
    if text.has("empty") and text.bounds("empty", sentence).stop > text.bounds("empty", sentence).start:
        words, arcs, rows = _with_empty(text, sentence, words, arcs)
        annotation = _at_rows(annotation, rows, len(words))
    if annotation:
        more["annotation"] = annotation
    return Half(words, arcs, rows, more)


_ANNOTATION = {"upos": "upos", "lemmas": "lemma", "feats": "feats"}
"""Column -> member of a word's annotation."""


def _annotation(text: Text, sentence: int) -> list[Document]:
    """Return what of it is compared, for each word; empty where nothing is."""
    names = [column for column in _ANNOTATION if text.has(column)]
    values = zip(*(text.named(column, sentence) for column in names), strict=True)
    return [dict(zip((_ANNOTATION[name] for name in names), each, strict=True)) for each in values]


def _at_rows(annotation: Sequence[Document], rows: Sequence[int], size: int) -> list[Document]:
    placed: list[Document] = [dict.fromkeys(annotation[0]) for _ in range(size if annotation else 0)]
    for row, each in zip(rows, annotation, strict=bool(annotation)):
        placed[row] = each
    return placed


def _tokens(text: Text, sentence: int) -> list[Document]:
    if not text.has("tokens"):
        return []
    columns = (
        text.values("token_starts", sentence),
        text.values("token_ends", sentence),
        text.named("token_forms", sentence),
    )
    return [
        {"first": str(start + 1), "last": str(end), "form": form} for start, end, form in zip(*columns, strict=True)
    ]


MOST_MEMBERS = 100_000
"""Words of the expressions of a sentence, each counted as often as it is in one; of more none is shown."""


def _size(bounds: slice) -> int:
    return int(bounds.stop) - int(bounds.start)


def _expressions(text: Text, sentence: int) -> list[Document]:
    members = [str(place + 1) for place in text.values("members", sentence)]
    bounds = [0, *accumulate(text.values("sizes", sentence))]
    categories = text.named("categories", sentence)
    return [
        {"words": members[start:stop], "category": category}
        for (start, stop), category in zip(pairwise(bounds), categories, strict=True)
    ]


def _with_empty(
    text: Text, sentence: int, words: list[Document], arcs: list[Document]
) -> tuple[list[Document], list[Document], list[int]]:
    """Put empty nodes between the words: they have no arc."""
    empty: dict[int, list[Document]] = {}
    after, names = text.values("empty_after", sentence), text.named("empty_ids", sentence)
    for position, name, form in zip(after, names, text.named("empty_forms", sentence), strict=True):
        empty.setdefault(position, []).append({"id": name, "form": form})
    all_words: list[Document] = []
    all_arcs: list[Document] = []
    rows = []
    for position in range(len(words) + 1):
        for word in empty.get(position, ()):
            all_words.append(word)
            all_arcs.append({"head": None, "deprel": None})
        if position < len(words):
            rows.append(len(all_words))
            all_words.append(words[position])
            all_arcs.append(arcs[position])
    return all_words, all_arcs, rows


def _constituents_half(text: Text, sentence: int) -> Half:
    rows = [text.values(name, sentence) for name in ("starts", "ends", "depths")]
    spans = [
        {"label": label, "start": start, "end": end, "depth": depth}
        for label, start, end, depth in zip(text.named("labels", sentence), *rows, strict=True)
    ]
    return Half(_tagged_words(text, sentence), spans, range(len(spans)), {})


def _discontinuous_half(text: Text, sentence: int) -> Half:
    """Return constituents with what is directly below them: what is below that follows, and is as long as the tree."""
    labels, functions = (text.named(name, sentence) for name in ("labels", "functions"))
    rows: list[Document] = []
    for label, function, parent in zip(labels, functions, text.values("parents", sentence), strict=True):
        above = None if parent == kinds.NOT_FOUND else parent
        depth = 0 if above is None else rows[above]["depth"] + 1
        rows.append({"label": label, "function": function, "parent": above, "depth": depth, "words": []})
    functions = text.named("word_functions", sentence)
    anchors = text.values("anchors", sentence)
    for number, (anchor, function) in enumerate(zip(anchors, functions, strict=True)):
        rows[anchor]["words"].append({"word": number, "function": function})
    return Half(_tagged_words(text, sentence), rows, range(len(rows)), {})


def _with_edges(half: Half, text: Text, words: slice) -> Half:
    """Return a half with the edges whose arguments are these words, counted over the whole text, as its tree."""
    rows = slice(*text.units_from(np.array([words.start, words.stop])).tolist())
    columns = (text.numbers(name)[rows].tolist() for name in ("predicates", "arguments", "roles"))
    edges: list[Document] = []
    for predicate, argument, role in zip(*columns, strict=True):
        inside = words.start <= predicate < words.stop
        head = str(predicate - words.start + 1) if inside else "0" if predicate == structure.ROOT else None
        edges.append({"predicate": head, "argument": str(argument - words.start + 1), "label": text.strings[role]})
    return Half(half.words, edges, range(len(edges)), half.more)


def _links_half(text: Text, sentence: int) -> Half:
    columns = [text.values(name, sentence) for name in ("sources", "targets", "sure")]
    links = [
        {"source": source, "target": target, "sure": bool(sure)} for source, target, sure in zip(*columns, strict=True)
    ]
    if not text.has("forms"):
        return Half(None, links, range(len(links)), {"target_words": None})
    source = _numbered_words(text.named("forms", sentence))
    target = _numbered_words(text.named("target_forms", sentence))
    return Half(source, links, range(len(links)), {"target_words": target})


def own_document(kind: str, item: int, half: Half) -> Document:
    """Return the document of an output's sentence alone."""
    none: Document = {"gold_words": None, "gold": None, "wrong": None, "missed": None}
    if kind in (kinds.DEPENDENCIES, kinds.GRAPH):
        none = {"tokens": [], **none, "pairs": None}
    elif kind == kinds.ALIGNMENT:
        none = {"target_words": None, "gold_target_words": None, **none}
    return {"item": item, "kind": kind, "words": half.words, "system": half.tree, **none, **half.more}


def marked(half: Half, states: Sequence[int]) -> list[str | None]:
    """Return what is wrong with each row of a half's tree."""
    wrong: list[str | None] = [None] * len(half.tree)
    for row, mark in zip(half.rows, marks_of(states), strict=True):
        wrong[row] = mark
    return wrong


def marks_of(states: Sequence[int]) -> list[str | None]:
    """Return what states say of their units; None where nothing is wrong."""
    return [_MARKS[state] for state in states]


def with_crossing(
    wrong: Sequence[str | None], spans: Sequence[Document], golds: Sequence[Document]
) -> list[str | None]:
    """Return the marks of spans, where one that gold lacks is a crossing one if it crosses one of gold's."""
    starts, ends, *others = (
        np.array([span[name] for span in side], np.int64) for side in (spans, golds) for name in ("start", "end")
    )
    crosses = structure.crossing_spans(starts, ends, np.stack(others, axis=1)).tolist()
    return [
        CROSSING if each == WORDS[registry.MarkState.SPAN] and crossing else each
        for each, crossing in zip(wrong, crosses, strict=True)
    ]


_TARGETS = "target_words"


class OutputTrees:
    """The trees of one output, and how they fit gold where they were compared with it.

    They hold gold: trees of submissions leave the service through `service.policy.documents` only. `own` reads nothing
    but the output.

    Args:
        text: the output's trees.
        gold: gold's.
        found: marks of both; None where they were not compared.
        expressions: gives how many expressions of each sentence are wrong, None where that is not shown; asked for only
            where nothing else was compared.
    """

    def __init__(
        self, text: Text, gold: Text, found: MarkedBy | None,
        expressions: Callable[[], arrays.IntArray | None] = lambda: None,
    ) -> None:  # fmt: skip
        self.text, self.gold, self._found, self._expressions = text, gold, found, expressions

    @property
    def beside_gold(self) -> bool:
        """Whether the output was compared with gold."""
        return self._found is not None

    @property
    def marked_by(self) -> str | None:
        """The key of the metric that the marks are of; None for a plain comparison."""
        return None if self._found is None else self._found.key

    @property
    def system_states(self) -> arrays.IntArray:
        """The state of each unit of the output; none where it was not compared."""
        return np.zeros(0, np.int64) if self._found is None else self._found.marks.system

    @property
    def gold_states(self) -> arrays.IntArray:
        """The state of each unit of gold; none where the output was not compared."""
        return np.zeros(0, np.int64) if self._found is None else self._found.marks.gold

    @cached_property
    def errors(self) -> Mapping[str, arrays.IntArray] | None:
        """The number of errors of each sentence; None where the output was not compared with gold."""
        if self._found is not None:
            return errors_of(self._found.marks, self.gold, self.text)
        wrong = self._expressions()
        if wrong is None or len(wrong) != len(self.text):
            return None
        return {f"own_{kind}": wrong if kind == "any" else np.zeros_like(wrong) for kind in OF_ERRORS}

    @cached_property
    def fit(self) -> Fit | None:
        """Where the output's half of each of gold's sentences lies; None where it is the sentence of its number."""
        return None if self._found is None else fit_of(self._found.marks, self.text)

    def own(self, sentence: int, *, marks: bool, words: bool = False) -> Document:
        """Return one sentence of the output alone.

        Args:
            sentence: from 0.
            marks: whether to say what is wrong with it.
            words: whether an alignment has the words of gold's.
        """
        half = half_of(self.text, sentence)
        document = own_document(self.text.kind, sentence + 1, half) | self.text.place(sentence)
        if marks:
            document["wrong"] = marked(half, self._states(sentence))
        return self._worded(document, half_of(self.gold, sentence)) if words and sentence < len(self.gold) else document

    def _worded(self, document: Document, gold: Half) -> Document:
        """Give an alignment whose output holds no words those of gold's, where they are known."""
        if self.gold.kind != kinds.ALIGNMENT or document["words"]:
            return document
        return document | {"words": gold.words, _TARGETS: gold.more[_TARGETS]}

    def beside_expressions(self, sentence: int, *, marks: bool) -> Document:
        """Return one sentence of the output alone, and gold's expressions where the texts have such."""
        document = self.own(sentence, marks=marks)
        if "expressions" in document and len(self.gold) == len(self.text):
            gold = half_of(self.gold, sentence)
            document |= _of_gold(gold)
            document["gold_words"] = None if gold.words == document["words"] else gold.words
        return document

    def both(self, item: int) -> Document:
        """Return the trees of both sides of one of gold's sentences, from 0."""
        gold = half_of(self.gold, item)
        missed = marked(gold, self.gold_states[self.gold.bounds(self.gold.main, item)].tolist())
        cut = self._cut(item)
        if cut is None:
            empty = Half([] if gold.words is not None else None, [], [], {})
            document = own_document(self.gold.kind, item + 1, empty) | {"line": None, "wrong": []}
        else:
            document = self._half(cut, item, gold)
        document |= {"gold": gold.tree, "missed": missed, "sent_id": self.gold.place(item)["sent_id"]}
        document |= _of_gold(gold)
        document = self._worded(document, gold)
        if self.gold.kind == kinds.CONSTITUENTS and document["gold_words"] is None:
            document["wrong"] = with_crossing(document["wrong"], document["system"], gold.tree)
        return document

    def outline(self, sentence: int, *, beside_gold: bool, marks: bool, words: bool = False) -> Outline:
        """Return what a list shows of a sentence.

        Args:
            sentence: from 0; one of gold's, or of the output's own.
            beside_gold: which of them it is.
            marks: whether to say what is wrong with it.
            words: whether an alignment has the words of gold's.
        """
        cut = self._cut(sentence) if beside_gold else Cut(sentence)
        if cut is None:
            return Outline(sentence + 1, self.gold.kind, (), 0, () if marks else None)
        if self._is_whole(cut):
            forms = _first_words(self.text, cut.sentence)
            if (beside_gold or words) and not self.text.has("forms"):
                forms = _first_words(self.gold, sentence)
            units = _size(self.text.bounds(self.text.main, cut.sentence))
            states = self._states(cut.sentence) if marks else []
        else:
            half, states, _ = self._part(cut)
            forms = [word["form"] for word in half.words or ()]
            units = len(half.tree)
        return Outline(sentence + 1, self.text.kind, forms, units, marks_of(states) if marks else None)

    def items_of(self, sentence: int) -> range:
        """Return gold's sentences, from 0, in which one of the output's lies."""
        if self.fit is None:
            return range(sentence, sentence + 1)
        if self.fit.sizes is not None:
            bounds = self.text.bounds("words", sentence)
            firsts = arrays.offsets_of(self.fit.sizes)
            start, last = np.searchsorted(firsts, [bounds.start, bounds.stop - 1], "right").tolist()
            return range(max(start - 1, 0), last)
        found = np.flatnonzero(self.fit.sentences == sentence).tolist()
        return range(found[0], found[0] + 1) if found else range(0)

    def _half(self, cut: Cut, item: int, gold: Half) -> Document:
        if self._is_whole(cut):
            half, states = half_of(self.text, cut.sentence), self._states(cut.sentence)
            partners = self._partners(cut.sentence)
        else:
            half, states, partners = self._part(cut)
        document = own_document(self.text.kind, item + 1, half) | self.text.place(cut.sentence)
        document["wrong"] = marked(half, states)
        if half.words is not None and (gold.words, gold.more.get(_TARGETS)) != (half.words, half.more.get(_TARGETS)):
            document["gold_words"] = gold.words
            if self.text.kind == kinds.ALIGNMENT:
                document["gold_target_words"] = gold.more[_TARGETS]
            if self.text.has("heads"):
                document["pairs"] = _pairs(half, gold, partners, self.gold.bounds("words", item).start)
        return document

    def _part(self, cut: Cut) -> tuple[Half, list[int], list[int]]:
        """Return words from the middle of a sentence on, maybe into the next ones; with states and partners."""
        forms: list[str | None] = []
        deprels: list[str | None] = []
        heads: list[int] = []
        annotation: list[Document] = []
        partners: list[int] = []
        sentence, skipped, left = cut.sentence, cut.skipped, cut.units or 0
        while left > 0 and sentence < len(self.text):
            here = slice(skipped, skipped + left)
            shift = len(forms) - skipped
            found = self.text.named("forms", sentence)[here]
            heads += [_shifted(head, shift, skipped, len(found)) for head in self.text.values("heads", sentence)[here]]
            deprels += self.text.named("deprels", sentence)[here]
            annotation += _annotation(self.text, sentence)[here]
            partners += self._partners(sentence)[here]
            forms += found
            left -= len(found)
            sentence, skipped = sentence + 1, 0
        half = cut_half(forms, heads, deprels, annotation)
        first = self.text.bounds("words", cut.sentence).start + cut.skipped
        words = slice(first, first + len(forms))
        if self.text.kind == kinds.GRAPH:
            half = _with_edges(half, self.text, words)
        units = slice(*self.text.units_from(np.array([words.start, words.stop])).tolist())
        return half, self.system_states[units].tolist(), partners

    def _cut(self, item: int) -> Cut | None:
        if self.fit is None:
            return Cut(item) if item < len(self.text) else None
        sentence = int(self.fit.sentences[item])
        if sentence < 0 or sentence >= len(self.text):
            return None
        if self.fit.skipped is None or self.fit.sizes is None:
            return Cut(sentence)
        return Cut(sentence, int(self.fit.skipped[item]), int(self.fit.sizes[item]))

    def _is_whole(self, cut: Cut) -> bool:
        """Return whether a half is one whole sentence of the output."""
        return cut.units is None or (not cut.skipped and cut.units == _size(self.text.bounds("words", cut.sentence)))

    def _states(self, sentence: int) -> list[int]:
        """Return the state of each unit of a sentence of the output."""
        return list(self.system_states[self.text.bounds(self.text.main, sentence)].tolist())

    def _partners(self, sentence: int) -> list[int]:
        partners = None if self._found is None else self._found.marks.partners
        return [] if partners is None else list(partners[self.text.bounds("words", sentence)].tolist())


def _of_gold(gold: Half) -> Document:
    return {f"gold_{name}": gold.more[name] for name in ("expressions", "annotation") if name in gold.more}


def _first_words(text: Text, sentence: int) -> list[str | None]:
    return text.named("forms", sentence, LISTED) if text.has("forms") else []


def _shifted(head: int, shift: int, skipped: int, size: int) -> int:
    """Return a head counted in a half, -1 where it lies outside; the root stays."""
    if head == 0:
        return 0
    return head + shift if skipped < head <= skipped + size else -1


def _pairs(half: Half, gold: Half, partners: Sequence[int], first: int) -> list[list[int]]:
    """Return the rows of aligned words in the words of both sides."""
    rows, golds = ([at for at, word in enumerate(side.words or ()) if "." not in word["id"]] for side in (half, gold))
    if not partners:
        return [list(pair) for pair in zip(rows, golds, strict=False)]
    return [
        [row, golds[partner - first]]
        for row, partner in zip(rows, partners, strict=True)
        if first <= partner < first + len(golds)
    ]
