"""Sentences, one at a time: the trees of output and gold, as far as the visitor may see them.

Trees of the API's documents are shown as pictures and as tables with the same facts, and lines under their words.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlencode

from flask import Response, request
from markupsafe import Markup

from service.api import calls
from service.caller import Caller
from service.contract import jobs, submissions
from service.errors import Conflict, Forbidden, Gone, NotFound
from service.pages import answers, figures, visitors
from service.pages.answers import drawn, export
from service.pages.standing import OTHER
from service.pages.word_lines import MOST_WORDS, annotation_of, expressions_of
from service.requests import ORDERS, WRONG_KINDS
from service.usecases.runs import Shown
from service.usecases.scoring.config import stored_spec
from service.usecases.submissions.results import heading_of, submission_items, submission_window
from service.usecases.views.choosing import Window
from treescore.core import registry
from treescore.core.structure import TOP
from treescore.evaluation.spec import Spec
from treescore.render import constituents_picture, sentence_pictures
from treescore.render import sentence_shapes as shapes
from treescore.render.constituent_layout import Part, part_of_spans
from treescore.render.drawing import stacked

Tree = Mapping[str, Any]
ROOT = "0"
NULL = 0
"""Number of the word that stands for none, in links."""
_ARC_MARKS: Mapping[str | None, shapes.ArcMark] = {None: shapes.AGREED, "label": shapes.LABEL}
_SPAN_MARKS: Mapping[str | None, shapes.SpanMark] = {
    None: shapes.AGREED,
    "label": shapes.LABEL,
    "crossing": shapes.CROSSING,
}


class Picture(NamedTuple):
    """A sentence as it is shown.

    Attributes:
        svg: the picture.
        facts: what is wrong, as a table; without errors, every word or constituent.
        marked: whether it tells what is wrong.
        both: whether gold is beside the output.
    """

    svg: Markup
    facts: shapes.Facts
    marked: bool
    both: bool


def picture_of(tree: Tree, title: str, name: str = "tree") -> list[Picture]:
    """Return the pictures of one sentence: one with both trees; two where these share no words that both stand on.

    Args:
        tree: a document of the API.
        title: of the pictures.
        name: for their ids: pictures of one page have different ones.
    """
    return _DRAWN[tree["kind"]](tree, title, name)


def errors_of(tree: Tree) -> int | None:
    """Return how many units of the output are marked as wrong; None where nothing is marked."""
    return None if tree["wrong"] is None else sum(mark is not None for mark in tree["wrong"])


def missed_of(tree: Tree) -> int | None:
    """Return how many units of gold the output lacks; None where that is not shown, and of words that both have.

    What the output has with another head or label is wrong there, and not missed.
    """
    if tree["gold"] is None or tree["missed"] is None or (tree["kind"] == "dependencies" and not tree["gold_words"]):
        return None
    return sum(mark not in (None, "label", "head", "both") for mark in tree["missed"])


def _count(tree: Tree) -> int:
    """Return how many units the output has; empty nodes are none."""
    words = tree["kind"] == "dependencies"
    return sum("." not in word["id"] for word in tree["words"]) if words else len(tree["system"])


def heads_of(tree: Tree) -> dict[str, str] | None:
    """Return the head of each of the first words of the output by their numbers; None of other trees."""
    if tree["kind"] != "dependencies":
        return None
    rows = zip(tree["words"][:MOST_WORDS], tree["system"][:MOST_WORDS], strict=True)
    return {word["id"]: row["head"] for word, row in rows}


def _picture(tree: Tree, sentence: shapes.Drawable, name: str, *, both: bool) -> Picture:
    marked = tree["wrong"] is not None
    sentence = sentence_pictures.drawn_part(sentence)
    facts = sentence_pictures.sentence_facts(sentence, every=not marked)
    return Picture(drawn(sentence_pictures.sentence_svg(sentence, name)), facts, marked, both)


_Side: TypeAlias = Sequence[tuple[Tree, str | None]]
"""What is drawn of an output or of gold, and what is wrong with each."""


def _marked(rows: Sequence[Tree], marks: Sequence[str | None] | None) -> _Side:
    """Return rows with their marks; none is marked where marks are not shown."""
    return list(zip(rows, marks or [None] * len(rows), strict=True))


def _dependencies(tree: Tree, title: str, name: str) -> list[Picture]:
    """Return the dependencies as arcs; the edges of a graph are several at a word or none, its tops are roots."""
    arcs = _graph_arcs if tree["kind"] == "graph" else _arcs

    def half(words: Sequence[Tree], rows: _Side) -> shapes.DependencyHalf:
        shown = tuple(shapes.Word(word["id"], word["form"] or "") for word in words)
        return shapes.DependencyHalf(shown, tuple(arcs(words, rows)))

    own, gold = half(tree["words"], _marked(tree["system"], tree["wrong"])), None
    if tree["gold"] is not None:
        gold = half(tree["gold_words"] or tree["words"], _marked(tree["gold"], tree["missed"]))
    pairs = tree.get("pairs")
    links = None if pairs is None else tuple((of_gold, of_own) for of_own, of_gold in pairs)
    return [_picture(tree, shapes.DependencySentence(title, gold, own, links), name, both=gold is not None)]


def _arcs(words: Sequence[Tree], rows: _Side) -> Iterator[shapes.Arc]:
    index = {word["id"]: at for at, word in enumerate(words)}
    for at, (row, mark) in enumerate(rows):
        head = row["head"]
        if head is not None and (head == ROOT or head in index):
            start = None if head == ROOT else index[head]
            yield shapes.Arc(start, at, row["deprel"] or "", _ARC_MARKS.get(mark, shapes.WRONG))


def _graph_arcs(words: Sequence[Tree], rows: _Side) -> Iterator[shapes.Arc]:
    index = {word["id"]: at for at, word in enumerate(words)}
    for row, mark in rows:
        if row["predicate"] is not None:
            label = "" if row["label"] == TOP else row["label"]
            head = index.get(row["predicate"])  # none is the root
            yield shapes.Arc(head, index[row["argument"]], label, _ARC_MARKS.get(mark, shapes.WRONG))


def _constituents(tree: Tree, title: str, name: str) -> list[Picture]:
    words = _forms(tree["words"])
    own = _marked(tree["system"], tree["wrong"])
    gold = None if tree["gold"] is None else _marked(tree["gold"], tree["missed"])
    if gold is None or tree["gold_words"] is None or _forms(tree["gold_words"]) == words:
        return [_constituent_picture(tree, title, words, (gold, own), name)]
    return [
        _constituent_picture(tree, f"{title}: gold", _forms(tree["gold_words"]), (gold, None), f"{name}-gold"),
        _constituent_picture(tree, f"{title}: output", words, (None, own), name),
    ]


def _constituent_picture(
    tree: Tree, title: str, words: tuple[str, ...], sides: tuple[_Side | None, _Side | None], name: str
) -> Picture:
    note = ""
    made: list[shapes.Constituents | None]
    if tree["kind"] == "constituents":
        parts = [_part(side, len(words)) for side in sides if side is not None]
        note = constituents_picture.note_of_parts(len(words), parts)
        made = [None if side is None else _spans(side, parts.pop(0)) for side in sides]
    else:
        made = [None if side is None else _branches(side) for side in sides]
    gold, own = made
    return _picture(tree, shapes.ConstituentSentence(title, words, gold, own, note=note), name, both=gold is not None)


def _part(side: _Side, words: int) -> Part:
    """Find what may be drawn, before an object is made of each row: there may be tens of thousands."""
    drawn_words = min(words, constituents_picture.MOST_TREE_WORDS)
    return part_of_spans([row["start"] for row, _ in side], [row["end"] for row, _ in side], drawn_words)


def _spans(side: _Side, part: Part) -> tuple[shapes.Span, ...]:
    return tuple(
        shapes.Span(row["label"], row["start"], row["end"], _SPAN_MARKS.get(mark, shapes.WRONG))
        for row, mark in (side[number] for number in part.kept[: constituents_picture.MOST_SPANS])
    )


def _branches(side: _Side) -> tuple[shapes.Branch, ...]:
    return tuple(
        shapes.Branch(
            "-".join(filter(None, (row["label"], row["function"]))),
            row["parent"],
            tuple(word["word"] for word in row["words"]),
            _SPAN_MARKS.get(mark, shapes.WRONG),
        )
        for row, mark in side
    )


def _alignment(tree: Tree, title: str, name: str) -> list[Picture]:
    links = [
        shapes.Link(*_ends(row), shapes.WRONG if mark is not None else shapes.AGREED)
        for row, mark in _marked(tree["system"], tree["wrong"])
    ]
    own = {_ends(row) for row in tree["system"]}
    if tree["gold"] is not None:
        links = [link for link in links if link.mark == shapes.WRONG]
        links += [
            # that a possible link is missed costs nothing, but it is not agreed on
            shapes.Link(
                *_ends(row), shapes.AGREED if mark is None and _ends(row) in own else shapes.MISSED, row["sure"]
            )
            for row, mark in _marked(tree["gold"], tree["missed"])
        ]
    rows = [*tree["system"], *(tree["gold"] or ())]
    sentence = shapes.AlignmentSentence(
        title,
        _words_or_numbers(tree["words"], rows, "source"),
        _words_or_numbers(tree.get("target_words"), rows, "target"),
        tuple(links),
    )
    return [_picture(tree, sentence, name, both=tree["gold"] is not None)]


def _ends(row: Tree) -> tuple[int | None, int | None]:
    source, target = (None if row[side] == NULL else row[side] - 1 for side in ("source", "target"))
    return source, target


def _forms(words: Sequence[Tree] | None) -> tuple[str, ...]:
    return tuple(word["form"] or "" for word in words or ())


def _words_or_numbers(words: Sequence[Tree] | None, rows: Sequence[Tree], side: str) -> tuple[str, ...]:
    """Return the words of a side, and numbers in place of those that are not known."""
    forms, last = _forms(words), max((row[side] for row in rows), default=0)
    return forms + tuple(str(number) for number in range(len(forms) + 1, last + 1))


_DRAWN: Mapping[str, Callable[[Tree, str, str], list[Picture]]] = {
    "dependencies": _dependencies, "constituents": _constituents, "discontinuous": _constituents,
    "graph": _dependencies, "alignment": _alignment,
}  # fmt: skip


blueprint = answers.pages("sentences", "/s/<submission>/sentences")
SVG = "image/svg+xml"
NUMBER = "n"
FILTERS = ("part", "wrong", "label", "q", "order")
SNIPPET = 160
"""Letters of a sentence in the list."""
KINDS: Mapping[str, Sequence[str]] = {
    "dependencies": ("any", "head", "label"), "constituents": ("any", "label", "span"),
    "discontinuous": ("any", "label", "span"), "graph": ("any", "label"), "alignment": ("any",),
    "expressions": ("any",),
}  # fmt: skip
"""Errors that trees of a kind can have, and expressions where nothing else is compared."""
ENHANCED = "enhanced"
UNITS: Mapping[str, tuple[str, str]] = {
    "dependencies": ("words", "head and no relation"), "constituents": ("constituents", "constituent"),
    "discontinuous": ("constituents", "constituent"), "graph": ("edges and tops", "edge and no top"),
    ENHANCED: ("enhanced edges", "enhanced edge"), "alignment": ("links", "link"),
}  # fmt: skip
"""What is counted in trees of a kind, and what none of is wrong."""
WRONG_WORDS = {"any": "anything", "head": "the head", "label": "only the label", "span": "a constituent"}
ORDER_WORDS = {"-errors": "most errors first"}


@blueprint.get("")
def show_sentence(submission: str) -> Response:
    """Show one sentence, by default the first of those that are asked for."""
    caller = visitors.member("submit", "read")
    query, against = _submission_trees_query()
    heading = heading_of(calls.context(), caller, submission)
    query = replace(query, part=query.part or heading.parts[0])
    found = submission_window(calls.context(), caller, submission, query, against)
    members = members_of(query, FILTERS) | ({} if against is None else {OTHER: against})
    spec = stored_spec(figures.benchmark_document(caller, heading.benchmark))
    lacking = partial(_wrong_expressions, caller, submission, spec, query.part)
    metrics = [entry.name for entry in spec.entries]
    shown = shown_window(found, members, f"/s/{submission}/sentences", metrics, lacking)
    if heading.level != "gold":
        shown["kinds"] = {"any": WRONG_WORDS["any"]}
    return answers.page(
        "sentences.html", submission=heading,
        other=None if against is None else heading_of(calls.context(), caller, against),
        beside=() if against is None else _beside(caller, against, query, found),
        **shown,
    )  # fmt: skip


@blueprint.get("/picture.svg")
def show_picture(submission: str) -> Response:
    """Show the picture of one sentence as a file."""
    caller = visitors.member("submit", "read")
    query, against = _submission_trees_query()
    return picture_file(submission_window(calls.context(), caller, submission, query, against), submission)


def picture_file(found: Window, name: str) -> Response:
    """Return what is drawn of the sentence that is looked at as one picture."""
    if found.current is None:
        raise NotFound("No sentence is chosen.")
    title = f"Sentence {found.current['item']}"
    svg = stacked(title, [str(each.svg) for each in picture_of(found.current, title)])
    return export(Shown(None, svg.encode(), content_type=SVG), f"{name}-{found.current['item']}.svg")


def _beside(caller: Caller, against: str, query: submissions.SubmissionTreesQuery, found: Window) -> list[Picture]:
    """Return the pictures of the other submission in the sentence that is looked at."""
    if found.current is None:
        return []
    wanted = submissions.SubmissionTreesQuery(part=query.part, item=int(str(found.current["item"])))
    tree = submission_window(calls.context(), caller, against, wanted).current
    return [] if tree is None else picture_of(tree, f"Sentence {tree['item']}", "other")


def _wrong_expressions(
    caller: Caller, submission: str, spec: Spec, part: str | None, tree: Tree
) -> list[frozenset[str]] | None:
    """Return the numbers of the words of the output's expressions that are wrong; None where no metric shows that."""
    compared = [entry.key for entry in spec.entries if entry.name == "mwe" and not entry.steps]
    if not compared:
        return None
    query = submissions.SubmissionItemsQuery(part=part, metric=compared[0], cursor=str(int(tree["item"]) - 1), limit=1)
    try:
        items: Sequence[Mapping[str, Any]] = submission_items(calls.context(), caller, submission, query).items
    except (NotFound, Forbidden, Conflict, Gone):
        return None
    if not items or items[0]["status"] != "ok":
        return None
    found = (row["system_words"] for row in items[0].get("expressions", ()))
    return [frozenset(map(str, words)) for words in found if words]


def _compared(metrics: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the metrics that compare the heads of dependencies, and those that compare enhanced edges."""
    named = {name: registry.METRICS[name] for name in metrics if registry.METRICS[name].reads_heads}
    heads = [name for name, metric in named.items() if not metric.compares_edges]
    return heads, [name for name in named if name not in heads]


def _said(kind: str, heads: Sequence[str], edges: Sequence[str]) -> Iterator[str]:
    """Yield what is drawn of dependencies whose enhanced edges are compared, and what is not."""
    if kind == "graph" and edges:
        yield "The enhanced edges as they are compared: a path through empty nodes is one edge, or left out."
    others = {"graph": ("Basic heads", heads), "dependencies": ("Enhanced edges", edges)}
    what, left = others.get(kind, ("", ())) if edges else ("", ())
    if left:
        names = " and ".join(figures.METRIC_NAMES.get(name, name) for name in left)
        compare = "compares" if len(left) == 1 else "compare"
        yield f"{what}, which {names} {compare}, are neither drawn nor counted here."


def _submission_trees_query() -> tuple[submissions.SubmissionTreesQuery, str | None]:
    """Return which sentence is asked for, and the submission that it is compared with."""
    given = asked_of_trees()
    against = given.pop(OTHER, [None])[0]
    return calls.load_query(submissions.SubmissionTreesQuery, given), against


def asked_of_trees() -> dict[str, Any]:
    """Return what the address asks of trees, the number of the sentence as `item`; empty controls are not given."""
    given = request.args.to_dict(flat=False)
    return {"item" if name == NUMBER else name: values for name, values in given.items() if values != [""]}


def members_of(query: submissions.SubmissionTreesQuery | jobs.JobTreesQuery, names: Sequence[str]) -> dict[str, Any]:
    """Return the members of these names that a query gives."""
    return {name: value for name in names if (value := getattr(query, name)) is not None}


def shown_window(
    found: Window,
    members: Mapping[str, Any],
    address: str,
    metrics: Iterable[str],
    lacking: Callable[[Tree], Collection[frozenset[str]] | None] = lambda _: None,
) -> dict[str, Any]:
    """Return what the template shows of some sentences.

    Args:
        found: the current sentence and those around it.
        members: of the query that chooses them.
        address: of the page.
        metrics: names of those by which the output was scored.
        lacking: gives the words of the expressions of a sentence that gold lacks, where gold is not shown.
    """

    def at(item: object) -> str:
        return f"{address}?{urlencode({**members, NUMBER: item})}"

    tree = found.current
    errors = None if tree is None else errors_of(tree)
    heads, edges = _compared(metrics)
    kind = "" if tree is None else "expressions" if errors is None and "expressions" in tree else tree["kind"]
    counted = any(each.errors is not None for each in found.around)
    return {
        "chooses": errors is not None or counted or not {"wrong", "order"}.isdisjoint(members),
        "window": found,
        "tree": tree,
        "pictures": [] if tree is None else picture_of(tree, f"Sentence {tree['item']}"),
        "expressions": None if tree is None else expressions_of(tree, lambda: lacking(tree)),
        "annotation": None if tree is None else annotation_of(tree),
        "heads_compared": bool(heads),
        "units": None if tree is None else UNITS[ENHANCED if edges and kind == "graph" else tree["kind"]],
        "said": [] if tree is None else _said(tree["kind"], heads, edges),
        "errors": errors,
        "count": 0 if tree is None else _count(tree),
        "heads": None if tree is None else heads_of(tree),
        "listed": [(each, at(each.item), each.text[:SNIPPET]) for each in found.around],
        "members": members,
        "address": address,
        "here_link": None if tree is None else at(tree["item"]),
        "svg_link": None if tree is None else f"{address}/picture.svg?{urlencode({**members, NUMBER: tree['item']})}",
        "previous": None if found.before is None else at(found.before),
        "following": None if found.after is None else at(found.after),
        "missed": None if tree is None else missed_of(tree),
        "kinds": {
            each: WRONG_WORDS.get(each, each)
            for each in WRONG_KINDS
            if tree is None or each in KINDS[kind] or each == members.get("wrong")
        },
        "orders": {order: ORDER_WORDS.get(order, order) for order in ORDERS},
    }
