"""Parallel treebanks: trees of two languages and the alignment of their words, three texts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import orjson

from treescore.core import arrays, registry, trees, wording
from treescore.core.params import Json, Param
from treescore.core.text import BOM, Limits, checked_bytes
from treescore.errors import InputError, Problem, placed
from treescore.formats.shared.links import Links, alignments_of, lines_of_names, sorted_links

FIELDS = ("source", "target", "alignment")

_NESTED = {
    "anyOf": [{"type": "string"}, {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}]
}


@registry.register
class Parallel(registry.Format):
    """Three texts: `source` and `target` trees in one format, and the `alignment` of their words in another.

    The three have the same sentence pairs in the same order; a named alignment (NAACL) is matched by the source's
    sentence names where it uses them, else by number. Links count syntactic words, as the trees do.
    """

    name: ClassVar[str] = "parallel"
    doc: ClassVar[str] = 'A parallel treebank: {"source": trees, "target": trees, "alignment": links}.'
    yields: ClassVar[type[Any]] = trees.ParallelTreebank
    fields: ClassVar[tuple[str, ...]] = FIELDS
    usual_metric = "parallel_treebank"
    example: ClassVar[registry.Text] = {
        "source": "1\tcafé\t_\tN\t_\t_\t0\troot\t_\t_\n\n1\toui\t_\tI\t_\t_\t0\troot\t_\t_\n\n".encode(),
        "target": b"1\ta\t_\tD\t_\t_\t2\tdet\t_\t_\n2\tbar\t_\tN\t_\t_\t0\troot\t_\t_\n\n"
        b"1\tyes\t_\tI\t_\t_\t0\troot\t_\t_\n\n",
        "alignment": b"0-1\n0p0\n",
    }
    params: ClassVar[Mapping[str, Param]] = {
        "trees": Param(
            _NESTED, default="conllu", doc="Format of both sides' dependency trees, by name or with options."
        ),
        "alignment": Param(_NESTED, default="pharaoh", doc="Format of the alignment, by name or with options."),
    }

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        self._trees = _nested("trees", values["trees"], trees.DependencyTreebank)
        self._alignment = _nested("alignment", values["alignment"], trees.Alignments)

    def read(self, text: registry.Text, vocabulary: trees.Vocabulary, limits: Limits) -> trees.ParallelTreebank:
        """Read the treebank from three texts, or from one text that is a JSON object of the three.

        Raises:
            InputError: as the formats inside, at `/source`, `/target` or `/alignment`; unequal numbers of sentences.
            LimitError: as the formats inside.
        """
        texts = _texts(text)
        read: list[Any] = []
        for name, inner in zip(FIELDS, (self._trees, self._trees, self._alignment), strict=True):
            with placed(f"/{name}"):
                read.append(inner.read(texts[name], vocabulary, limits))
        source, target, links = read
        if len(target) != len(source):
            raise InputError(_unequal("target", len(target), len(source)))
        with placed("/alignment"):
            read[2] = links = trees.without_blank_end(links, source)
            aligned = _by_sentence(links, source)
        warnings = [
            warning.at(f"/{name}")
            for name, part in zip(FIELDS, read, strict=True)
            for warning in part.sentences.warnings
        ]
        source = replace(source, sentences=replace(source.sentences, warnings=warnings))
        return trees.ParallelTreebank(source=source, target=target, alignment=aligned)

    def inner(self, field: str) -> registry.Format:
        """Return the format of one of the three texts."""
        return self._alignment if field == "alignment" else self._trees

    def write(self, treebank: trees.ParallelTreebank) -> str:
        """Write a JSON object of the three texts. Raises InputError as the formats inside."""
        texts = {
            "source": self._trees.write(treebank.source),
            "target": self._trees.write(treebank.target),
            "alignment": self._alignment.write(treebank.alignment),
        }
        return orjson.dumps(texts).decode() + "\n"


def _nested(option: str, value: Json, kind: type[Any]) -> registry.Format:
    name = value if isinstance(value, str) else value["name"]
    options = {} if isinstance(value, str) else {key: member for key, member in value.items() if key != "name"}
    with placed(f"/{option}"):
        format_ = registry.make_format(name, options)
    if not issubclass(format_.yields, kind):
        expected = "dependency trees" if kind is trees.DependencyTreebank else "word alignments"
        detail = f"The format {name!r} does not hold {expected}. Name one that does."
        raise InputError(Problem("bad-parameter", detail, pointer=f"/{option}"))
    if format_.lenient:
        detail = "A sentence pair cannot be scored without one of its sentences. Leave out the option unreadable."
        raise InputError(Problem("bad-parameter", detail, pointer=f"/{option}/unreadable"))
    return format_


def _texts(text: registry.Text) -> Mapping[str, bytes]:
    """Return the three texts, of which one value may be a JSON object.

    Raises:
        InputError: `parallel-not-three-texts`, `parallel-missing-text`, those of core.text.
    """
    if isinstance(text, bytes):
        checked_bytes(text)
        try:
            document = orjson.loads(text.removeprefix(BOM))
        except orjson.JSONDecodeError as error:
            raise InputError(_not_json(error)) from error
        valid = isinstance(document, dict) and all(isinstance(part, str) for part in document.values())
        text = {name: part.encode() for name, part in document.items()} if valid else {}
    problems = [
        Problem("parallel-missing-text", f"The text {name!r} is missing. Add it.", pointer=f"/{name}")
        for name in FIELDS
        if name not in text
    ]
    if problems:
        raise InputError(problems)
    return text


def _not_json(error: orjson.JSONDecodeError) -> Problem:
    detail = (
        f"The text is not valid JSON ({error.msg}). Send three texts: "
        '{"source": "…", "target": "…", "alignment": "…"}.'
    )
    return Problem("parallel-not-three-texts", detail, line=error.lineno, column=error.colno)


def _by_sentence(links: trees.Alignments, source: trees.DependencyTreebank) -> trees.Alignments:
    """Return the alignment with one pair for each sentence of the trees, in their order."""
    rows = _alignment_rows(links, source)
    unknown = np.flatnonzero((rows < 0) | (rows >= len(source)))
    if len(unknown):
        name = links.pair_ids[int(unknown[0])]
        detail = f"Unknown sentence {name} in the alignment. The trees have {wording.counted(len(source), 'sentence')}."
        raise InputError(Problem("alignment-unknown-sentence", detail, sent_id=name))
    pairs = rows[arrays.owners_of(links.offsets)].astype(np.int32)
    matched = sorted_links([Links(pairs, links.source, links.target, links.sure, links.lines, links.columns)])
    form = None if links.form is None else replace(links.form, nested=True)
    return alignments_of(matched, [str(number + 1) for number in range(len(source))], trees.Sentences(), form)


def _alignment_rows(links: trees.Alignments, source: trees.DependencyTreebank) -> arrays.IntArray:
    if not len(links.sentences.sent_ids) and len(links):
        if len(links) != len(source):
            raise InputError(_unequal("alignment", len(links), len(source), pointer=""))
        return np.arange(len(links), dtype=np.int64)
    row_of = {name: row for row, name in enumerate(source.sentences.sent_ids) if name is not None}
    names = [name for name in links.sentences.sent_ids if name is not None]
    if names and all(name in row_of for name in names):
        return np.array([row_of[name] for name in names], np.int64)
    return lines_of_names(links.pair_ids, len(source))


def _unequal(name: str, count: int, source: int, pointer: str | None = None) -> Problem:
    number = wording.counted(count, "sentence")
    detail = f"The text {name!r} has {number}, 'source' has {source}. Send one for each, in its order."
    return Problem("parallel-sentence-count", detail, pointer=f"/{name}" if pointer is None else pointer)
