"""Gold texts of a revision, as requests send them and as the store names them, and what is kept of gold that was read.

Digests of gold are keyed: no one can confirm a guess of gold by its digest. Those of sentences, column by column, tell
in how many sentences two revisions differ.

Gold that was read before is kept in files of this machine, so that a text is read once. It stands under a digest of
everything that reading depends on: the texts, the scoring configuration, the limits, and the library's code. Equal to
the bit is what is loaded to what is read (tests/treescore/core/test_treebank_bytes.py).
Jobs are left out: how long one takes would tell its sender whether another caller has sent this gold.
"""

import hashlib
import hmac
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache, reduce
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray
from sqlalchemy import Connection

import treescore
from service.config import Config
from service.context import Context
from service.contract.common import Text as Given
from service.store import database, gold_files, revisions, texts
from service.store.packing import PackedText
from service.store.revisions import Part, Revision
from treescore.core import arrays, registry, structure, trees, version
from treescore.core.structure import NONE
from treescore.core.text import Limits, Utf8, digest_of
from treescore.core.treebank_bytes import flat_bytes, treebanks_of
from treescore.errors import Problem, ProblemList, ScoringError
from treescore.evaluation.evaluate import Evaluation, ReadGold
from treescore.evaluation.spec import FormatChoice, Spec, parse_items

GOLD, OUTPUTS = "parts", "outputs"
"""Folders of gold texts (owned by a revision) and of outputs (owned by a submission)."""
ITEMS = "items"
"""Folder of the attributes of gold's sentences, as JSON (owned by a revision)."""

Stored = Mapping[str, tuple[str, bytes]]


def named_texts(
    problems: ProblemList,
    name: str,
    value: Given,
    choice: FormatChoice,
    pointer: str,
    part: str | None = None,
    *,
    memory: int,
) -> dict[str, PackedText]:
    """Return a text of a request under the name by which it is kept; for a format of several texts, `name/field` each.

    A value of the wrong shape goes to `problems`, and one that may take more than the `memory` of a run (0: any).
    """
    fields = choice.format.fields
    given = tuple(value) if isinstance(value, Mapping) else ()
    if set(fields) != set(given):
        wanted = f"an object with {', '.join(fields)}" if fields else "one text"
        detail = f"The format {choice.name!r} takes {wanted} here."
        problems.add(Problem(code="wrong-text-shape", pointer=pointer, part=part, detail=detail))
        return {}
    named = {f"{name}/{field}": text for field, text in value.items()} if isinstance(value, Mapping) else {name: value}
    size, each = sum(text.size for text in named.values()), choice.format.memory
    if memory and size * each > memory:
        detail = (
            f"The text has {size:,} bytes. In the format {choice.name!r} a byte may take {each} bytes of memory "
            f"to score, and a run has {memory:,}: send at most {memory // each:,} bytes."
        )
        problems.add(Problem(code="text-too-large", pointer=pointer, part=part, detail=detail))
    return named


def names_of(folder: str, part: str, choice: FormatChoice) -> list[str]:
    """Return the names under which the texts of a part are kept."""
    fields = choice.format.fields
    return [f"{folder}/{part}/{field}" for field in fields] if fields else [f"{folder}/{part}"]


def items_name(part: str) -> str:
    """Return the stored name of the attributes of one part's sentences."""
    return f"{ITEMS}/{part}"


def text_of(stored: Stored, folder: str, part: str, choice: FormatChoice) -> registry.Text | None:
    """Return the text of one part as a format reads it; None where it is not stored."""
    if any(name not in stored for name in names_of(folder, part, choice)):
        return None
    return sent_text(stored, f"{folder}/{part}")


def sent_text(stored: Stored, name: str) -> registry.Text:
    """Return a text by the name that `named_texts` gave it; it was UTF-8 when it was received."""
    if name in stored:
        return Utf8(stored[name][1])
    return {field: Utf8(body) for field, (_, body) in sent_fields(stored, name).items()}


def sent_digest(stored: Stored, name: str) -> str:
    """Return the digest of such a text; for formats of several texts all digests, with their names."""
    if name in stored:
        return stored[name][0]
    return " ".join(f"{field}={digest}" for field, (digest, _) in sorted(sent_fields(stored, name).items()))


def sent_fields(stored: Stored, name: str) -> Stored:
    """Return the texts of a format of several texts: field -> (digest, body)."""
    below = name + "/"
    return {key.removeprefix(below): text for key, text in stored.items() if key.startswith(below)}


def digest_of_part(stored: Stored, folder: str, part: str, choice: FormatChoice) -> str:
    """Return the digest of one part's text; for formats of several texts all digests, with their names."""
    names = names_of(folder, part, choice)
    if not choice.format.fields:
        return stored[names[0]][0]
    return " ".join(f"{field}={stored[name][0]}" for field, name in zip(choice.format.fields, names, strict=True))


DIGEST_SECRET = "gold-digests"  # noqa: S105 - the name of a secret, no secret


@dataclass(frozen=True, slots=True)
class Gold:
    """Gold of one part.

    Attributes:
        text: as it was sent.
        items: attributes of its sentences, from the request.
        digest: of both; leaves the service through `keyed_digest` only.
    """

    text: registry.Text
    items: registry.ItemInfo
    digest: str


def load_part(db: Connection, revision: Revision, part: str, spec: Spec) -> Gold:
    """Return the gold of one part.

    Raises:
        RuntimeError: it is not stored any more.
    """
    stored = texts.read_texts(db, revision.id, [*names_of(GOLD, part, spec.format), items_name(part)])
    text = text_of(stored, GOLD, part, spec.format)
    if text is None:
        raise RuntimeError(f"gold of {revision.id} is not stored")
    return Gold(text, _items(stored, part), _gold_digest(stored, part, spec))


def stored_digests(db: Connection, revision: Revision, parts: Iterable[Part], spec: Spec) -> dict[str, str]:
    """Return the digests of the gold of parts without reading it, as `load_part` does.

    Raises:
        RuntimeError: it is not stored any more.
    """
    stored = {name: (digest, b"") for name, digest in texts.names(db, revision.id).items()}
    if any(name not in stored for part in parts for name in names_of(GOLD, part.name, spec.format)):
        raise RuntimeError(f"gold of {revision.id} is not stored")
    return {part.name: _gold_digest(stored, part.name, spec) for part in parts}


def benchmark_key(db: Connection, benchmark_id: str) -> bytes:
    """Return the key of a benchmark's digests; another benchmark's tells nothing of it.

    The first call needs a writing transaction.
    """
    return hmac.new(
        texts.key_of_store(db, DIGEST_SECRET), f"benchmark {benchmark_id}".encode(), hashlib.sha256
    ).digest()


def keyed_digest(key: bytes, digest: str) -> str:
    """Return a name of a gold text that confirms no guess of it.

    Args:
        key: of the benchmark, so that equal gold has unrelated names in two of them.
        digest: of the text.
    """
    return "hmac-sha256:" + hmac.new(key, digest.encode(), hashlib.sha256).hexdigest()


def evaluation_of(spec: Spec, gold: Gold, revision: Revision, part: str, limits: Limits) -> Evaluation:
    """Return an evaluation against checked gold, which is read.

    Raises:
        RuntimeError: this version cannot read it, which no submission caused. The message does not quote gold.
    """
    try:
        return Evaluation(spec, gold.text, gold.items, limits, f"/parts/{part}/gold", part)
    except ScoringError:
        raise RuntimeError(f"gold of {revision.id} cannot be read by this version") from None


def _items(stored: Stored, part: str) -> registry.ItemInfo:
    about = items_name(part)
    return parse_items(orjson.loads(stored[about][1])) if about in stored else registry.ItemInfo()


def _gold_digest(stored: Stored, part: str, spec: Spec) -> str:
    digest = digest_of_part(stored, GOLD, part, spec.format)
    about = items_name(part)
    return f"{digest}{_ABOUT_ITEMS}{stored[about][0]}" if about in stored else digest


_ABOUT_ITEMS = " items="
"""Stands in digests of gold whose sentences have attributes."""
_NAME_DIGITS = 16
"""Hexadecimal digits of a digest that name the folder of a store: few stores are on one machine."""


class KnownGold(NamedTuple):
    """Gold of a part as it was read, and the attributes of its sentences."""

    read: ReadGold
    items: registry.ItemInfo


class _FileName(NamedTuple):
    revision_id: str
    position: int
    key: str


def gold_files_of(context: Context) -> gold_files.GoldFiles:
    """Return the files that this machine keeps for this store; another store's are in another folder."""
    name = digest_of(database.place_of_url(context.store.url).encode()).partition(":")[2][:_NAME_DIGITS]
    return gold_files.GoldFiles(context.config.gold_folder / name, context.config.gold_cache_bytes)


def known_gold(context: Context, revision: Revision, part: Part, spec: Spec, digest: str) -> KnownGold:
    """Return the gold of a part, from its file if it was read before; its digest is that of `stored_digests`.

    Raises:
        RuntimeError: gold is not stored any more, or this version cannot read it.
    """
    name = _FileName(revision.id, part.position, _key(context.config, revision, digest))
    body = gold_files_of(context).read(*name)
    if body is None:
        return _read(context, revision, part, spec, name)
    stored: Stored = {}
    if _ABOUT_ITEMS in digest:
        with context.store.read() as db:
            stored = texts.read_texts(db, revision.id, [items_name(part.name)])
    return KnownGold(ReadGold(*treebanks_of(body)), _items(stored, part.name))


def keep_gold(context: Context, revision: Revision, part: Part, digest: str, read: ReadGold) -> None:
    """Keep the gold of a part that was read, for `known_gold`; its digest is that of `stored_digests`."""
    _keep(context, _FileName(revision.id, part.position, _key(context.config, revision, digest)), read)


def evaluation_against(context: Context, part: Part, spec: Spec, known: KnownGold) -> Evaluation:
    """Return the evaluation against the gold of a part, whose vocabulary grows with each output."""
    pointer = f"/parts/{part.name}/gold"
    return Evaluation(spec, known.read, known.items, context.config.limits, pointer, part.name)


def drop_gold(context: Context, revision_ids: Iterable[str]) -> None:
    """Delete the files of revisions on this machine. Call it after the transaction that deletes their gold."""
    gold_files_of(context).drop(revision_ids)


def prepare_gold(context: Context) -> None:
    """Do once what the processes that a worker forks would each do: look at the folder, name the reader, sweep."""
    gold_files_of(context).usable()
    reader_digest()
    sweep_gold_files(context)


def sweep_gold_files(context: Context) -> None:
    """Delete the files of revisions that nothing is scored under any more, or whose gold was deleted, anywhere.

    Where no files are to be kept, those of all revisions.
    """
    files = gold_files_of(context)
    found = files.revisions()
    current: set[str] = set()
    if found and files.limit:
        with context.store.read() as db:
            current = revisions.scored_under(db, found)
    files.drop(set(found) - current)


@lru_cache(maxsize=1)
def reader_digest() -> str:
    """Return a digest of what turns a text into a treebank: the library's code, and Python's tables of characters."""
    root = Path(treescore.__file__).parent
    sources = [path.read_bytes() for path in sorted(root.rglob("*.py"))]
    return digest_of(b"\0".join([version.__version__.encode(), unicodedata.unidata_version.encode(), *sources]))


def _key(config: Config, revision: Revision, digest: str) -> str:
    return digest_of(orjson.dumps([reader_digest(), digest, revision.scoring, asdict(config.limits)]))


def _read(context: Context, revision: Revision, part: Part, spec: Spec, name: _FileName) -> KnownGold:
    with context.store.read() as db:
        gold = load_part(db, revision, part.name, spec)
    read = evaluation_of(spec, gold, revision, part.name, context.config.limits).read_gold
    _keep(context, name, read)
    return KnownGold(read, gold.items)


def _keep(context: Context, name: _FileName, read: ReadGold) -> None:
    files = gold_files_of(context)
    if files.limit:
        files.write(*name, flat_bytes(read.vocabulary, read.treebanks))
        with context.store.read() as db:
            deleted = not revisions.scored_under(db, [name.revision_id])
        if deleted:  # since gold was read; the process that deleted it may have found no file yet
            files.drop([name.revision_id])


KEY_BYTES = 8
"""Bytes of a digest."""
_NameOf = Callable[[int], str]


def sentence_keys(gold: trees.Treebank, key: bytes) -> arrays.IntArray:
    """Return digests that differ where something differs that a metric may look at: int64 (columns, sentences).

    The columns depend on the kind of treebank alone. Comments and MISC are in none.

    Args:
        gold: as it was read.
        key: of the benchmark; without it the digests confirm no guess.
    """
    return np.array([*_columns(gold, _Keyed(key))]).view(np.int64)


class _Keyed:
    """Digests under a key: of a value by BLAKE2b, of a list from those of its values, which are computed once.

    A list of n values has the sum of their digests, each times a power of an odd number that the key determines.

    Args:
        key: what is secret.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._empty = np.uint64(self.of("of lists"))
        self._odd = np.uint64(self.of("of places") | 1)

    def of(self, value: object) -> int:
        """Return the digest of a value, by its `repr`."""
        body = hashlib.blake2b(repr(value).encode(), key=self._key, digest_size=KEY_BYTES).digest()
        return int.from_bytes(body, "little")

    def of_each(self, values: Iterable[object]) -> NDArray[np.uint64]:
        """Return the digests of values, (n,)."""
        return np.array([*map(self.of, values)], np.uint64)

    def of_lists(self, values: arrays.IntArray, offsets: arrays.IntArray, name: _NameOf) -> NDArray[np.uint64]:
        """Return the digests of the lists of names of the values between each offset and the next, (n - 1,)."""
        distinct, which = np.unique(values, return_inverse=True)  # heads of a text may be as large as int64 holds
        digests = self.of_each(map(name, distinct.tolist()))
        lengths = np.diff(offsets)
        powers = np.cumprod(np.full(lengths.max(initial=0), self._odd))
        places = np.arange(len(values)) - np.repeat(offsets[:-1], lengths)
        sums = np.append(np.uint64(0), np.cumsum(digests[which] * powers[places]))
        found: NDArray[np.uint64] = self._empty + sums[offsets[1:]] - sums[offsets[:-1]]
        return found

    def together(self, *digests: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the digests of what several columns, (n,) each, hold together."""
        return reduce(lambda known, more: known * self._odd + more, digests)


def _columns(gold: trees.Treebank, keyed: _Keyed) -> Iterator[NDArray[np.uint64]]:
    """Yield columns, each with one digest a sentence."""
    if isinstance(gold, trees.ParallelTreebank):
        for side in (gold.source, gold.target, gold.alignment):
            yield from _columns(side, keyed)
    elif isinstance(gold, trees.DependencyTreebank):
        yield from _dependencies(gold, keyed)
        if isinstance(gold, trees.ExpressionTreebank):
            yield _expressions(gold, keyed)
    elif isinstance(gold, trees.ConstituentTreebank):
        yield from _constituents(gold, keyed)
    elif isinstance(gold, trees.DiscontinuousTreebank):
        yield from _discontinuous(gold, keyed)
    elif isinstance(gold, trees.SemanticTreebank):
        yield from _graphs(gold, keyed)
    else:
        yield _links(gold, keyed)


def _dependencies(gold: trees.DependencyTreebank, keyed: _Keyed) -> Iterator[NDArray[np.uint64]]:
    name = gold.vocabulary.strings.__getitem__
    for column in ("forms", "lemmas", "upos", "xpos", "feats", "deprels", "deps"):
        yield keyed.of_lists(getattr(gold, column), gold.word_offsets, name)
    yield keyed.of_lists(
        gold.heads, gold.word_offsets, lambda head: name(trees.ODD_HEAD - head) if head <= trees.ODD_HEAD else str(head)
    )
    more: list[list[object]] = [[] for _ in range(len(gold))]
    owners = np.searchsorted(gold.word_offsets, gold.mwt_starts, "right") - 1
    for owner, start, end, form in zip(
        *(each.tolist() for each in (owners, gold.mwt_starts, gold.mwt_ends, gold.mwt_forms)), strict=True
    ):
        more[owner].append((start - int(gold.word_offsets[owner]), end - start, name(form)))
    for owner, number, deps in zip(
        *(each.tolist() for each in (gold.empty_sentences, gold.empty_ids, gold.empty_deps)), strict=True
    ):
        more[owner].append((name(number), name(deps)))
    yield keyed.of_each(more)


def _expressions(gold: trees.ExpressionTreebank, keyed: _Keyed) -> NDArray[np.uint64]:
    """Return a column of the categories and words of each sentence's expressions, in any order of their numbers."""
    name = gold.vocabulary.strings.__getitem__
    found: list[list[object]] = [[] for _ in range(len(gold))]
    owners = gold.expression_sentences()
    words = gold.expression_words - np.repeat(gold.word_offsets[owners], np.diff(gold.expression_offsets))
    of_each = keyed.of_lists(words, gold.expression_offsets, str)
    for owner, category, members in zip(owners.tolist(), gold.categories.tolist(), of_each.tolist(), strict=True):
        found[owner].append((name(category), members))
    return keyed.of_each(sorted(each, key=repr) for each in found)


def _constituents(gold: trees.ConstituentTreebank, keyed: _Keyed) -> Iterator[NDArray[np.uint64]]:
    name = gold.vocabulary.strings.__getitem__
    yield keyed.of_lists(gold.words, gold.word_offsets, name)
    yield keyed.of_lists(gold.tags, gold.word_offsets, lambda tag: name(tag) if tag >= 0 else "")
    yield keyed.of_lists(gold.labels, gold.node_offsets, name)
    starts, ends = (keyed.of_lists(each, gold.node_offsets, str) for each in (gold.starts, gold.ends))
    yield keyed.together(starts, ends)


def _discontinuous(gold: trees.DiscontinuousTreebank, keyed: _Keyed) -> Iterator[NDArray[np.uint64]]:
    name = gold.vocabulary.strings.__getitem__
    for column in (gold.words, gold.word_functions, gold.lemmas, gold.morphs):
        yield keyed.of_lists(column, gold.word_offsets, name)
    yield keyed.of_lists(gold.tags, gold.word_offsets, lambda tag: name(tag) if tag >= 0 else "")
    for column in (gold.labels, gold.functions):
        yield keyed.of_lists(column, gold.node_offsets, name)
    firsts = gold.node_offsets[:-1]
    anchors = gold.anchors - np.repeat(firsts, np.diff(gold.word_offsets))
    parents = gold.parents - np.repeat(firsts, np.diff(gold.node_offsets))
    parents[firsts] = structure.NONE
    above = (keyed.of_lists(anchors, gold.word_offsets, str), keyed.of_lists(parents, gold.node_offsets, str))
    yield keyed.together(*above)


def _graphs(gold: trees.SemanticTreebank, keyed: _Keyed) -> Iterator[NDArray[np.uint64]]:
    name = gold.vocabulary.strings.__getitem__
    for column in (gold.forms, gold.lemmas, gold.tags, gold.frames):
        yield keyed.of_lists(column, gold.word_offsets, name)
    for flags in (gold.tops, gold.predicates):
        yield keyed.of_lists(flags.astype(np.int64), gold.word_offsets, str)
    owners = np.searchsorted(gold.word_offsets, gold.edge_arguments, "right") - 1
    firsts = gold.word_offsets[owners]
    bounds = np.searchsorted(owners, np.arange(len(gold) + 1))
    ends = (keyed.of_lists(each - firsts, bounds, str) for each in (gold.edge_predicates, gold.edge_arguments))
    yield keyed.together(*ends, keyed.of_lists(gold.edge_labels, bounds, name))


def _links(gold: trees.Alignments, keyed: _Keyed) -> NDArray[np.uint64]:
    links = list(zip(gold.source.tolist(), gold.target.tolist(), gold.sure.tolist(), strict=True))
    return keyed.of_each(sorted(links[start:end]) for start, end in pairwise(gold.offsets.tolist()))


_STRINGS = (
    *("forms", "lemmas", "upos", "xpos", "feats", "deprels", "deps", "mwt_forms", "empty_ids", "empty_deps"),
    *("categories", "labels", "words", "tags", "functions", "word_functions", "morphs", "frames", "edge_labels"),
    "odd_heads",
)
"""Attributes of treebanks that are numbers of strings, and heads that are (`trees.ODD_HEAD`)."""
_BESIDE = ("lines", "columns", "empty_lines", "empty_forms", "misc", "mwt_misc", "expression_ids")
"""Attributes in which equal annotation may differ."""


def annotation_digest(treebank: trees.Treebank) -> str:
    """Return a digest of the annotation of a text as it was read, without blanks, comments and MISC.

    Strings are numbered in the order in which they appear, so that it depends on no other text.
    """
    if isinstance(treebank, trees.ParallelTreebank):
        sides: tuple[trees.Treebank, ...] = (treebank.source, treebank.target, treebank.alignment)
        return hashlib.sha256(" ".join(map(annotation_digest, sides)).encode()).hexdigest()
    whole = {each.name: getattr(treebank, each.name) for each in fields(treebank) if each.name not in _BESIDE}
    columns = {name: value for name, value in whole.items() if isinstance(value, np.ndarray)}
    vocabulary = whole.get("vocabulary", trees.Vocabulary())
    if isinstance(treebank, trees.DependencyTreebank):
        columns["odd_heads"] = np.where(treebank.heads <= trees.ODD_HEAD, trees.ODD_HEAD - treebank.heads, NONE)
        columns["heads"] = np.maximum(treebank.heads, trees.ODD_HEAD)
    numbered = [name for name in columns if name in _STRINGS]
    used = np.concatenate([columns[name] for name in numbered]) if numbered else np.zeros(0, np.int64)
    distinct = arrays.appearing(used, len(vocabulary.strings) + 1)  # the last place is for none
    distinct = distinct[distinct != NONE]
    numbers = arrays.smallest(np.arange(len(distinct)))
    number_of = np.full(len(vocabulary.strings) + 1, NONE, numbers.dtype)
    number_of[distinct] = numbers
    digest = hashlib.sha256(orjson.dumps(list(map(vocabulary.strings.__getitem__, distinct.tolist()))))
    for name, values in columns.items():
        own = number_of[values] if name in numbered else arrays.smallest(values)
        digest.update(f"{name} {own.dtype} {own.shape}".encode())
        digest.update(own.tobytes())
    return digest.hexdigest()
