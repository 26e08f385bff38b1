"""Parsed sentences as other libraries hold them, as texts. None of these libraries is imported: attributes tell.

Who has a writer that keeps everything is asked for its text: conllu, stanza, udapi. The others are written here.
"""

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from treescore.sources.files import wrong

BRACKETED, CONLLU, PHARAOH = "bracketed", "conllu", "pharaoh"
_BLANKS = frozenset(" \t\n\r\v\f")
_LINE_MARKS = frozenset("\t\n\r")
_ESCAPES = str.maketrans({"(": "-LRB-", ")": "-RRB-"})


class Unwritable(ValueError):
    """An object that holds no text, or one that its format cannot say; the message says what to do."""


class _Kind(NamedTuple):
    """A kind of objects: what they are called, the format that they are written in, and what tells and writes one."""

    name: str
    format: str
    is_one: Callable[[Any], bool]
    write: Callable[[Any], str]


def is_objects(source: object) -> bool:
    """Tell whether a source is a parsed sentence or document, or a list of some."""
    return _kind_of(source) is not None


def format_of_objects(source: object) -> str | None:
    """Return the format in which parsed sentences are handed over; None for what is none."""
    kind = _kind_of(source)
    return None if kind is None else kind.format


def text_of_objects(source: object, format_name: str, pointer: str) -> bytes:
    """Return the text of a parsed sentence or document, or of a list of some.

    Raises:
        InputError: `wrong-format`, the request names another format; `unusable-object`, one cannot be written.
    """
    kind = _kind_of(source)
    assert kind is not None  # noqa: S101 - the caller has asked `is_objects`
    if kind.format != format_name:
        detail = f"{kind.name} are handed over in the format {kind.format!r}, not {format_name!r}. Name it as theirs."
        raise wrong("wrong-format", detail, pointer)
    pieces = []
    for number, one in enumerate(_each(source), 1):
        try:
            pieces.append(kind.write(one))
        except Unwritable as error:
            raise wrong("unusable-object", f"Object {number} of {kind.name}: {error}", pointer) from error
    return "".join(pieces).encode("utf-8", "surrogatepass")


def _kind_of(source: object) -> _Kind | None:
    kinds = {next((kind for kind in KINDS if kind.is_one(one)), None) for one in _each(source)}
    return kinds.pop() if len(kinds) == 1 else None


def _each(source: object) -> Sequence[object]:
    """Return the objects of a list; trees and sentences, which may be lists themselves, are one object."""
    if not isinstance(source, (list, tuple)) or any(kind.is_one(source) for kind in KINDS):
        return (source,)
    return source


def _calls(value: object, *names: str) -> bool:
    return all(callable(getattr(value, name, None)) for name in names)


def _is_nltk(value: object) -> bool:
    return isinstance(value, (list, tuple)) and _calls(value, "label", "leaves", "subtrees")


def _nltk(tree: Any) -> str:
    """Write a tree on one line; brackets in words are written as `-LRB-` and `-RRB-`."""
    pieces: list[str] = []
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if node is _CLOSE:
            pieces.append(")")
        elif _is_nltk(node):
            pieces.append(f" ({_word(node.label(), 'label')}")
            waiting += [_CLOSE, *reversed(node)]
        elif isinstance(node, tuple) and len(node) == 2:
            pieces.append(f" ({_word(node[1], 'tag')} {_word(node[0], 'word')})")
        else:
            pieces.append(f" {_word(node, 'word')}")
    return "".join(pieces).strip() + "\n"


_CLOSE = object()


def _word(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise Unwritable(f"The {what} {value!r:.60} is a {type(value).__name__}. Make it a string.")
    if _BLANKS.intersection(value) or (what == "word" and not value):
        raise Unwritable(f"The {what} {value!r:.60} is empty or holds white space, which brackets cannot say.")
    if what != "word" and ("(" in value or ")" in value):
        raise Unwritable(f"The {what} {value!r:.60} holds a bracket. Rename it.")
    return value.translate(_ESCAPES)


def _is_spacy(value: object) -> bool:
    return (_calls(value, "has_annotation") and hasattr(value, "vocab")) or _is_span(value)


def _is_span(value: object) -> bool:
    return _calls(value, "as_doc") and hasattr(value, "root")


def _spacy(value: Any) -> str:
    """Write a Doc or Span as CoNLL-U. Tokens of white space alone are left out; spaCy's relation ROOT is `root`."""
    document = value.as_doc() if _is_span(value) else value
    if not document.has_annotation("DEP"):
        raise Unwritable("The Doc has no dependency parse. Use a pipeline with a parser, or set heads and deps.")
    return "".join(map(_spacy_sentence, document.sents))


def _spacy_sentence(sentence: Any) -> str:
    words = [token for token in sentence if not token.text.isspace()]
    number_of = {token.i: number for number, token in enumerate(words, 1)}
    lines = []
    for number, token in enumerate(words, 1):
        head = _spacy_head(token, number_of)
        deprel = "root" if token.dep_ == "ROOT" else token.dep_
        # What follows the last word of a document is not known.
        glued = not token.whitespace_ and token.i + 1 < len(token.doc) and not token.nbor().text.isspace()
        fields = (
            token.text, token.lemma_, token.pos_, token.tag_, str(token.morph), str(head), deprel, "_",
            "SpaceAfter=No" if glued else "_",
        )  # fmt: skip
        for field in fields:
            if _LINE_MARKS.intersection(field):
                raise Unwritable(f"{field!r:.60} of token {token.i} holds a tab or a line break, which CoNLL-U cannot.")
        lines.append("\t".join([str(number), *(field or "_" for field in fields)]) + "\n")
    return "".join(lines) + "\n" if lines else ""


def _spacy_head(token: Any, number_of: Mapping[int, int]) -> int:
    """Return the number of a token's head, past tokens of white space; 0 for the root."""
    head = token
    while head.head.i != head.i:
        head = head.head
        if head.i in number_of:
            return number_of[head.i]
        if not head.text.isspace():
            raise Unwritable(f"The head of token {token.i} is in another sentence. Set sentence starts by the parse.")
    return 0


def _is_conllu(value: object) -> bool:
    return _calls(value, "serialize") and hasattr(value, "metadata")


def _is_udapi(value: object) -> bool:
    return _calls(value, "to_conllu_string") and hasattr(value, "bundles")


def _udapi(document: Any) -> str:
    zones = sorted({str(tree.zone) for tree in document.trees})
    if len(zones) > 1:
        raise Unwritable(f"The document has the zones {', '.join(zones)}. Hand over a document for each zone.")
    return _ended(document.to_conllu_string())


def _is_stanza(value: object) -> bool:
    return _calls(value, "to_dict") and (hasattr(value, "sentences") or hasattr(value, "words"))


def _stanza(value: Any) -> str:
    sentences = value.sentences if hasattr(value, "sentences") else [value]
    if any(word.head is None for sentence in sentences for word in sentence.words):
        raise Unwritable("The document has no dependency parse. Use a pipeline with the processor depparse.")
    texts = [format(sentence, "C") for sentence in sentences]
    if not all("\t" in text for text in texts):
        raise Unwritable("This stanza does not write CoNLL-U. Install version 1.5 or later.")
    return "".join(map(_ended, texts))


def _ended(text: str) -> str:
    """Return a text that ends with a blank line."""
    return text.rstrip("\r\n") + "\n\n" if text.strip() else ""


def _is_alignment(value: object) -> bool:
    return isinstance(value, (set, frozenset)) and all(isinstance(link, tuple) and len(link) == 2 for link in value)


def _alignment(links: Any) -> str:
    """Write the pairs of a sentence, words counted from 0; NLTK's pairs with None are words without a link."""
    linked = [link for link in links if None not in link]
    if not all(isinstance(word, Integral) and int(word) >= 0 for link in linked for word in link):
        raise Unwritable("A pair is not of two numbers of words. Count words from 0.")
    return " ".join(f"{source}-{target}" for source, target in sorted(linked)) + "\n"


KINDS: Sequence[_Kind] = (
    _Kind("alignments as sets of pairs", PHARAOH, _is_alignment, _alignment),
    _Kind("NLTK trees", BRACKETED, _is_nltk, _nltk),
    _Kind("conllu TokenLists", CONLLU, _is_conllu, lambda sentence: _ended(sentence.serialize())),
    _Kind("spaCy Docs", CONLLU, _is_spacy, _spacy),
    _Kind("udapi Documents", CONLLU, _is_udapi, _udapi),
    _Kind("stanza Documents", CONLLU, _is_stanza, _stanza),
)
