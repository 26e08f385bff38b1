"""Make a shared task like that of CoNLL 2018: 26 teams, 78 treebanks of many languages, raw text.

    python benchmarks/likeness.py [FOLDER] [--teams 26] [--parts 78]

The outputs of the task cannot be shipped, and one English text repeated costs less a word than they do. So each part
is made from English EWT and eight outputs for it, or from generated trees where they are absent: its letters are
written in a script of its own, one for one, its blocks of sentences are drawn and joined, some nouns get suffixes, and
some pairs of words are multiword tokens. Each team spoils one of the eight outputs until its LAS is the team's, and
cuts some words otherwise. Everything is drawn with a fixed seed.

FOLDER is filled as the archive of the task is laid out; then what is known of the task stands beside what was made.
`conll2018.py` has the likeness scored, and measures what a word costs.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from dependency import generated
from table import DATA

EWT = DATA / "ud_en_ewt" / "conll2018"
SEED = 2018
TEAMS, PARTS = 26, 78
SIZES = (3_500, 10_200, 12_400, 16_300, 57_900)
"""Words of the smallest part, the quartiles, and the largest."""
LEVELS = 0.75, 0.45
"""LAS of the best and of the last team."""
LACKING = {3: 16, 11: 16, 19: 74}
"""Team -> how many of 78 parts it lacks."""
COMMENTED = 16
"""Of 26 teams, those whose outputs have comments."""
ENDLESS = 3
"""Of 78 parts, those without marks of sentence ends: outputs end sentences anywhere."""
LONGEST = 500
"""Words of a sentence."""
JOINED, SHORT = 0.3, 25
"""Of the blocks that begin with a sentence which makes at most so many words with the one before: those which continue
it, since sentences of English EWT are shorter than the task's."""
RESEGMENTED = 0.005, 0.04
"""Of an output's words, how many are cut otherwise than in the output that the team spoils, at least and at most."""
NOUNS = 8
"""Every eighth noun has a suffix of the part; in some parts more of them have, each time another."""
FIRST_MARK = 0xE000
"""The first of as many characters; one of them stands behind each noun of the base."""
RELATIONS = ("nsubj", "obj", "obl", "nmod", "amod", "advmod", "det", "case", "mark", "conj", "cc", "punct", "aux",
             "cop", "compound", "dep", "xcomp", "acl:relcl")  # fmt: skip
"""Of wrong words."""

GENERATED = re.compile(r"\bw[0-9]+")
"""A form of generated trees."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIACRITICS = dict(zip("cdghjklmpuvwxyz", "čďğħĵķłṁṗüṽŵẋýž", strict=True))
ASCII, LATIN = "ascii", "latin"
CASED = {"cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюя", "greek": "αβγδεζηθικλμνξοπρτυφχψωάέήίόύώ"}
UNCASED = {"arabic": (0x0620, 43), "hebrew": (0x05D0, 27), "hangul": (0xAC00, 11_172), "cjk": (0x4E00, 20_000),
           "thai": (0x0E01, 46)}  # fmt: skip
"""Script -> its first character, and how many follow each other."""
OTHERS = ("cyrillic", "greek", "arabic", "hebrew", "cjk", "hangul", "cyrillic", "arabic", "thai", "greek", "cyrillic")
UNSPACED = {"cjk", "thai"}


class Word(NamedTuple):
    """A word of a sentence.

    Attributes:
        tags: UPOS, XPOS and FEATS as they are written.
        head: from 1, 0 for the root.
        start, end: its characters in the base text, half-open.
        surface: form of the multiword token of two words that begins here.
    """

    form: str
    lemma: str
    tags: str
    head: int
    relation: str
    misc: str
    start: int
    end: int
    surface: str = ""


Sentence = list[Word]
Blocks = list[list[Sentence]]
"""Sentences between places where gold and all outputs end one."""


class Forms(dict[str, str]):
    """Form of the base -> form in a part."""

    def __init__(self, table: Mapping[int, str]) -> None:
        super().__init__()
        self.table = table

    def __missing__(self, form: str) -> str:
        written = self[form] = form.translate(self.table)
        return written


class Part(NamedTuple):
    """How a part is made.

    Attributes:
        order: the blocks, each with whether it continues the sentence before, and its forms.
        pairs: first character of a multiword token of gold -> ends of its two words.
        unspaced: whether no spaces stand between words.
        endless: whether outputs do not know where sentences end.
        enhanced: whether gold has DEPS and empty nodes.
    """

    name: str
    order: list[tuple[int, bool, Forms]]
    pairs: Mapping[int, tuple[int, int]]
    unspaced: bool
    endless: bool
    enhanced: bool


class Team(NamedTuple):
    """Name, the output that it spoils, whether with comments, its LAS, and the numbers of its parts."""

    name: str
    side: str
    commented: bool
    level: float
    parts: frozenset[int]


class Base(NamedTuple):
    """Blocks of gold and of each output, LAS of each output, and those which have comments."""

    sides: Mapping[str, Blocks]
    accuracy: Mapping[str, float]
    commented: Sequence[str]


def write(folder: Path, teams: int = TEAMS, parts: int = PARTS) -> None:
    """Write gold and the outputs into `folder`, in `gold` and `outputs/TEAM`."""
    names = [team.name for team in teams_of(teams, parts)]
    for where in ("gold", *(f"outputs/{name}" for name in names)):
        (folder / where).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:  # the base is made once
        list(pool.map(_write_part, *zip(*((folder, number, teams, parts) for number in range(parts)), strict=True)))


def _write_part(folder: Path, number: int, teams: int, parts: int) -> None:
    part, (sides, accuracy, _) = part_of(number, parts), base()
    rng = _drawn("gold", part.name)
    gold = _composed(part, sides["gold"], 0.0, rng)
    (folder / "gold" / f"{part.name}.conllu").write_text("".join(_gold_lines(gold, part, rng)))
    hardness = rng.uniform(0.85, 1.15)
    composed: dict[str, list[Sentence]] = {}
    for team in teams_of(teams, parts):
        if number not in team.parts:
            continue
        rng = _drawn(team.name, part.name)
        if team.side not in composed:
            composed[team.side] = _composed(part, sides[team.side], 0.1, rng)
        spoilt = max(0.0, 1 - team.level * hardness / accuracy[team.side])
        sentences = _run_on(composed[team.side], rng) if part.endless else composed[team.side]
        text = "".join(_output_lines(sentences, team, part, spoilt, rng))
        (folder / "outputs" / team.name / f"{part.name}.conllu").write_text(text)


def base_name() -> str:
    """Return what the likeness is made from on this machine."""
    return "English EWT" if EWT.is_dir() else "generated trees, for want of English EWT"


@cache
def base() -> Base:
    """Return the base, cut into blocks."""
    if EWT.is_dir():
        texts = {path.stem: path.read_text() for path in sorted(EWT.glob("*.conllu"))}
    else:
        gold, system = (GENERATED.sub(_spelled, text) for text in generated(2_000))
        texts = {"gold": gold, **{f"system-{number}": system for number in range(8)}}
    read = {side: _sentences(text) for side, text in texts.items()}
    ends = {side: [sentence[-1].end for sentence in sentences] for side, sentences in read.items()}
    bounds = [0, *sorted(set.intersection(*map(set, ends.values())))]
    nouns = [word.end for sentence in read["gold"] for word in sentence if word.tags.startswith(("NOUN", "PROPN"))]
    sides = {}
    for side, sentences in read.items():
        marked = [[_marked(word, nouns) for word in sentence] for sentence in sentences]
        places = [bisect_right(ends[side], bound) for bound in bounds]
        sides[side] = [marked[begin:end] for begin, end in pairwise(places)]
    answers = _arcs(read["gold"])
    accuracy = {side: len(answers & _arcs(found)) / len(answers) for side, found in read.items() if side != "gold"}
    commented = [side for side in accuracy if "# text" in texts[side]]
    return Base(sides, accuracy, commented)


def _spelled(form: re.Match[str]) -> str:
    """Return a generated form, a letter and a number, in letters."""
    return "".join(LETTERS[int(each)] if each.isdigit() else each for each in form[0])


def _sentences(text: str) -> list[Sentence]:
    """Read words alone, each with its characters of the text without spaces."""
    found, at = [], 0
    for block in text.replace("\r", "").strip().split("\n\n"):
        sentence = []
        for line in block.split("\n"):
            columns = line.split("\t")
            if columns[0].isdigit():
                _, form, lemma, upos, xpos, feats, head, relation, _, misc = columns
                begin, at = at, at + len("".join(form.split()))
                tags = f"{upos}\t{xpos}\t{feats or '_'}"
                sentence.append(Word(form, lemma, tags, int(head), relation, misc, begin, at))
        found.append(sentence)
    return found


def _arcs(sentences: list[Sentence]) -> set[tuple[int, int, int, str]]:
    """Return each word as its characters, its head's, and the universal relation."""
    return {
        (word.start, word.end, sentence[word.head - 1].start if word.head else -1, word.relation.split(":")[0])
        for sentence in sentences
        for word in sentence
    }


def _marked(word: Word, nouns: list[int]) -> Word:
    """Write a mark behind each noun of gold that ends in the word, so that a part can add its suffix there."""
    form = word.form
    first, last = bisect_right(nouns, word.start), bisect_right(nouns, word.end)
    for number in range(last - 1, first - 1, -1):
        place = nouns[number] - word.start
        form = form[:place] + chr(FIRST_MARK + number % NOUNS) + form[place:]
    return word._replace(form=form)


def part_of(number: int, parts: int) -> Part:
    """Return how a part is made."""
    gold = base().sides["gold"]
    places = {
        what: _drawn("parts", what).sample(range(parts), parts)[number]
        for what in ("size", "script", "range", "ends", "enhanced")
    }
    script = _script(places["script"], parts)
    rng = _drawn("part", name := f"{script}-{number:02d}")
    letters, size = _table(script, rng), _quantile(places["size"] / max(1, parts - 1))
    suffixes = _suffixes(letters, rng)
    order, last = list[tuple[int, bool, Forms]](), SHORT
    while size > 0:
        suffixes = suffixes[1:] + suffixes[:1]  # so that forms differ where a large part has a block again
        forms = Forms({**letters, **dict(enumerate(suffixes, FIRST_MARK))})
        for block in rng.sample(range(len(gold)), len(gold)):
            continues = last + len(gold[block][0]) <= SHORT and rng.random() < JOINED
            order.append((block, continues, forms))
            last = SHORT if continues else len(gold[block][-1])
            size -= sum(map(len, gold[block]))
            if size <= 0:
                break
    ranges = 0.19 * (places["range"] / max(1, parts - 1)) ** 20
    pairs, free = dict[int, tuple[int, int]](), 0
    for first, second in (pair for block in gold for sentence in block for pair in pairwise(sentence)):
        if first.start >= free and rng.random() < ranges:
            pairs[first.start] = first.end, second.end
            free = second.end
    endless, enhanced = places["ends"] < ENDLESS * parts / PARTS, places["enhanced"] < parts / 5
    return Part(name, order, pairs, script in UNSPACED, endless, enhanced)


def _quantile(place: float) -> int:
    """Return the size at a place from 0 to 1; among the largest parts few are very large."""
    quarter = min(3, int(place * 4))
    inside = place * 4 - quarter
    return int(SIZES[quarter] + (SIZES[quarter + 1] - SIZES[quarter]) * (inside**1.6 if quarter == 3 else inside))


def _script(place: int, parts: int) -> str:
    others = round(0.27 * parts)
    if place < others:
        return OTHERS[place % len(OTHERS)]
    return ASCII if place < others + round(0.09 * parts) else LATIN


def _table(script: str, rng: random.Random) -> dict[int, str]:
    """Return what each letter becomes."""
    if script in UNCASED:
        first, size = UNCASED[script]
        lower = upper = [chr(code) for code in rng.sample(range(first, first + size), len(LETTERS))]
    elif script in CASED:
        lower = rng.sample(CASED[script], len(LETTERS))
        upper = [letter.upper() for letter in lower]
    else:
        # more letters than these, and more of the distinct forms than in the task were not ASCII
        some = rng.sample(sorted(DIACRITICS), rng.randint(1, 4)) if script == LATIN else []
        lower = [DIACRITICS[letter] if letter in some else letter for letter in LETTERS]
        upper = [letter.upper() for letter in lower]
    return dict(zip(map(ord, LETTERS + LETTERS.upper()), [*lower, *upper], strict=True))


def _suffixes(letters: Mapping[int, str], rng: random.Random) -> list[str]:
    """Return what stands for each mark: suffixes, and nothing for the others."""
    some = ["".join(rng.sample([letters[ord(each)] for each in LETTERS], 2)) for _ in range(rng.randint(3, NOUNS))]
    return some + [""] * (NOUNS - len(some))


@cache
def teams_of(teams: int, parts: int) -> list[Team]:
    """Return the teams, the best first."""
    _, accuracy, commented = base()
    plain = [side for side in accuracy if side not in commented]
    found = []
    for number in range(teams):
        talks = number * COMMENTED % TEAMS < COMMENTED
        sides = (commented if talks else plain) or list(accuracy)
        level = LEVELS[0] - (LEVELS[0] - LEVELS[1]) * number / max(1, teams - 1)
        name = f"team-{number:02d}"
        kept = max(1, parts - round(LACKING.get(number, 0) * parts / PARTS))
        own = frozenset(_drawn(name, "parts").sample(range(parts), kept))
        found.append(Team(name, sides[number % len(sides)], talks, level, own))
    return found


def _drawn(*what: str) -> random.Random:
    return random.Random(f"{SEED} {' '.join(what)}")  # noqa: S311 - no secret


def _composed(part: Part, blocks: Blocks, differing: float, rng: random.Random) -> list[Sentence]:
    """Return one side of a part; of its multiword tokens some have other words than gold's."""
    found: list[Sentence] = []
    for block, continues, forms in part.order:
        for number, sentence in enumerate(blocks[block]):
            written = _written(sentence, part, forms, differing, rng)
            if continues and not number and found and len(found[-1]) + len(written) < LONGEST:
                found[-1] = _joined(found[-1], written)
            else:
                found.append(written)
    return found


def _written(sentence: Sentence, part: Part, forms: Forms, differing: float, rng: random.Random) -> Sentence:
    found = []
    for number, (form, lemma, tags, head, relation, misc, start, end, _) in enumerate(sentence, 1):
        surface, written = "", forms[form]
        if start in part.pairs and number < len(sentence):
            after = sentence[number]
            if part.pairs[start] == (end, after.end):
                surface = written + forms[after.form]
                written += "n" if rng.random() < differing else "h"
        space = "SpaceAfter=No" if part.unspaced else misc
        found.append(Word(written, forms[lemma], tags, head, relation, space, start, end, surface))
    return found


def _joined(first: Sentence, second: Sentence) -> Sentence:
    """Return one sentence; roots of the second hang from the first's."""
    size = len(first)
    root = next((number for number, word in enumerate(first, 1) if not word.head), 1)
    return first + [
        word._replace(head=word.head + size) if word.head else word._replace(head=root, relation="parataxis")
        for word in second
    ]


def _run_on(sentences: list[Sentence], rng: random.Random) -> Iterator[Sentence]:
    """Yield sentences that end where one more would be longer than drawn."""
    joined: Sentence = []
    size = rng.randint(20, LONGEST)
    for sentence in sentences:
        if joined and len(joined) + len(sentence) > size:
            yield joined
            joined, size = [], rng.randint(20, LONGEST)
        joined = _joined(joined, sentence) if joined else sentence
    yield joined


def _gold_lines(sentences: list[Sentence], part: Part, rng: random.Random) -> Iterator[str]:
    for number, sentence in enumerate(sentences, 1):
        yield _comments(sentence, part, number)
        empty = rng.randint(1, len(sentence)) if part.enhanced and rng.random() < 0.01 else 0
        for at, word in enumerate(sentence, 1):
            deps = f"{word.head}:{word.relation}" if part.enhanced else "_"
            yield _word_lines(at, word, word.head, word.relation, deps)
            if at == empty:
                yield f"{at}.1\t{word.form}\t{word.lemma}\t{word.tags}\t_\t_\t{at}:conj\t_\n"
        yield "\n"


def _output_lines(
    sentences: Iterator[Sentence] | list[Sentence], team: Team, part: Part, spoilt: float, rng: random.Random
) -> Iterator[str]:
    """Yield an output: of its words other than the root `spoilt` have a wrong relation or, without dependents, head."""
    random_number, differing = rng.random, rng.uniform(*RESEGMENTED)
    for number, given in enumerate(sentences, 1):
        sentence = given
        for _ in range(int(differing * len(given) + random_number())):
            sentence = _resegmented(sentence, rng)
        if team.commented:
            yield _comments(sentence, part, number)
        heads = {word.head for word in sentence}
        inner = sorted(heads - {0})
        for at, word in enumerate(sentence, 1):
            head, relation, drawn = word.head, word.relation, random_number()
            if drawn < spoilt and head:
                if drawn < spoilt / 2 or at in heads:
                    relation = rng.choice(RELATIONS)
                else:
                    head = rng.choice(inner)
            yield _word_lines(at, word, head, relation, "_")
        yield "\n"


def _resegmented(sentence: Sentence, rng: random.Random) -> Sentence:
    """Split one word, or join one without dependents to the next; words of multiword tokens stay."""
    at = rng.randrange(len(sentence))
    word = sentence[at]
    if word.surface or (at and sentence[at - 1].surface):
        return sentence
    if len(word.form) > 3 and rng.random() < 0.5:
        half = len(word.form) // 2
        moved = [each._replace(head=each.head + 1) if each.head > at + 1 else each for each in sentence]
        tail = word._replace(form=word.form[half:], head=at + 1, relation="goeswith")
        moved[at : at + 1] = [moved[at]._replace(form=word.form[:half], misc="SpaceAfter=No"), tail]
        return moved
    if at + 1 == len(sentence) or sentence[at + 1].surface or any(each.head == at + 1 for each in sentence):
        return sentence
    moved = [each._replace(head=each.head - 1) if each.head > at + 1 else each for each in sentence]
    moved[at : at + 2] = [moved[at + 1]._replace(form=word.form + sentence[at + 1].form)]
    return moved


def _comments(sentence: Sentence, part: Part, number: int) -> str:
    shown, skipped = list[str](), False
    for word in sentence:
        if not skipped:
            shown.append(word.surface or word.form)
            if word.misc != "SpaceAfter=No":
                shown.append(" ")
        skipped = bool(word.surface)
    first = f"# newdoc id = {part.name}\n# newpar\n" if number == 1 else ""
    return f"{first}# sent_id = {number}\n# text = {''.join(shown)}\n"


def _word_lines(at: int, word: Word, head: int, relation: str, deps: str) -> str:
    form, lemma, tags, _, _, misc, _, _, surface = word
    line = f"{at}\t{form}\t{lemma}\t{tags}\t{head}\t{relation}\t{deps}\t{misc}\n"
    if surface:
        return f"{at}-{at + 1}\t{surface}\t_\t_\t_\t_\t_\t_\t_\t_\n{line}"
    return line


def character(folder: Path) -> list[tuple[str, str, str]]:
    """Return what is known of the outputs of the task, its figure there, and that of the outputs in `folder`."""
    words = size = ranges = distinct = others = 0
    lengths, sizes = list[int](), list[int]()
    for path in sorted((folder / "outputs").glob("*/*.conllu")):
        text = path.read_bytes()
        rows = [line.split(b"\t", 2)[:2] for line in text.splitlines() if line[:1].isdigit()]
        forms = [row[1] for row in rows if row[0].isdigit()]
        numbers = [int(row[0]) for row in rows if row[0].isdigit()]
        lengths += [last for last, first in pairwise([*numbers, 1]) if first == 1]
        sizes.append(len(forms))
        words, size, ranges = words + len(forms), size + len(text), ranges + len(rows) - len(forms)
        distinct, others = distinct + len(set(forms)), others + sum(not form.isascii() for form in set(forms))
    return [
        ("outputs; words", "1,918; 31 million", f"{len(sizes):,}; {words:,}"),
        ("words of an output: least, quartiles, most", _list(SIZES), _list(_shares(sizes, 0, 0.25, 0.5, 0.75, 1))),
        ("words of a sentence at 50, 90, 99, 100 %", "13, 31, 60, 500", _list(_shares(lengths, 0.5, 0.9, 0.99, 1))),
        ("bytes a word", "64", f"{size / words:.1f}"),
        ("distinct forms a word", "0.32", f"{distinct / words:.2f}"),
        ("of them not ASCII", "44 %", f"{others / distinct:.0%}"),
        ("multiword tokens a word", "0.9 %", f"{ranges / words:.1%}"),
    ]


def _shares(values: list[int], *shares: float) -> list[int]:
    return [sorted(values)[int(share * (len(values) - 1))] for share in shares]


def _list(values: Sequence[int]) -> str:
    return ", ".join(f"{value:,}" for value in values)


def main() -> None:
    """Write a likeness and describe it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--teams", type=int, default=TEAMS)
    parser.add_argument("--parts", type=int, default=PARTS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as name:
        folder = given.folder or Path(name)
        write(folder, given.teams, given.parts)
        print(f"| from {base_name()} | the task | made |\n|---|---|---|")
        for row in character(folder):
            print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
