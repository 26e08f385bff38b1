"""Dependency trees as columns of CoNLL-U, and the errors that parsers make in them.

Every change leaves a tree with one root: a word moves only to a word that does not stand below it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dice import Dice

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL = range(8)
NO_FEATS = "_"


@dataclass
class Sentence:
    """Lines of one sentence: `rows` of ten columns, among them multiword tokens; `words` are those with a head."""

    comments: list[str]
    rows: list[list[str]]

    def __post_init__(self) -> None:
        self.words = [row for row in self.rows if row[ID].isdigit()]

    def copy(self) -> Sentence:
        """Return the same sentence in rows of its own."""
        return Sentence(self.comments, [list(row) for row in self.rows])

    def head(self, word: int) -> int:
        """Return the head of a word; words count from 1, 0 is the root."""
        return int(self.words[word - 1][HEAD])

    def deprel(self, word: int) -> str:
        """Return the relation of a word to its head."""
        return self.words[word - 1][DEPREL]

    def upos(self, word: int) -> str:
        """Return the part of speech of a word; of the root, none."""
        return self.words[word - 1][UPOS] if word else ""

    def hang(self, word: int, head: int, deprel: str | None = None) -> None:
        """Give a word another head, and relation if one is given, unless the head stands below it."""
        if word == head or word in self.above(head):
            return
        self.words[word - 1][HEAD] = str(head)
        if deprel:
            self.words[word - 1][DEPREL] = deprel

    def above(self, word: int) -> list[int]:
        """Return the words from `word` up to the root, both left out."""
        chain = []
        while word and (word := self.head(word)):
            chain.append(word)
        return chain

    def below(self, word: int) -> list[int]:
        """Return the direct dependents of a word, left to right."""
        return [other for other in self.positions() if self.head(other) == word]

    def positions(self) -> Iterable[int]:
        """1 to the number of words."""
        return range(1, len(self.words) + 1)


# ---------------------------------------------------------------- reading and writing


def read(text: str) -> list[Sentence]:
    """Return the sentences of a CoNLL-U file."""
    blocks = [block.splitlines() for block in text.split("\n\n") if block.strip()]
    return [
        Sentence(
            [line for line in block if line.startswith("#")],
            [line.split("\t") for line in block if not line.startswith("#")],
        )
        for block in blocks
    ]


def written(sentence: Sentence) -> list[str]:
    """Return the sentence's lines, the blank one after it too."""
    return [*sentence.comments, *("\t".join(row) for row in sentence.rows), ""]


# ---------------------------------------------------------------- errors

MODIFIERS = {"obl", "nmod", "advmod", "advcl", "acl", "acl:relcl", "obl:tmod", "xcomp", "appos", "parataxis"}
NOMINAL = {"NOUN", "PROPN", "PRON", "NUM"}
ON_A_NOUN = {"obl": "nmod", "advcl": "acl", "parataxis": "appos"}
ON_A_VERB = {"nmod": "obl", "acl": "advcl", "acl:relcl": "advcl", "appos": "obj"}
CONFUSED_RELATIONS = {
    "acl": ("advcl", "amod"),
    "acl:relcl": ("acl", "ccomp"),
    "advcl": ("conj", "xcomp", "ccomp"),
    "advmod": ("obl", "discourse", "mark"),
    "amod": ("compound", "det", "nmod"),
    "appos": ("nmod", "conj", "obl:tmod"),
    "aux": ("cop", "aux:pass"),
    "aux:pass": ("cop", "aux"),
    "case": ("mark", "advmod"),
    "cc:preconj": ("cc", "det"),
    "ccomp": ("advcl", "xcomp", "parataxis"),
    "compound": ("amod", "nmod"),
    "compound:prt": ("advmod", "case"),
    "cop": ("aux", "aux:pass"),
    "csubj": ("advcl", "ccomp"),
    "csubj:pass": ("csubj", "advcl"),
    "det:predet": ("det",),
    "discourse": ("advmod",),
    "expl": ("nsubj",),
    "fixed": ("mark",),
    "iobj": ("obj",),
    "mark": ("case", "advmod"),
    "nmod": ("obl", "appos"),
    "nmod:poss": ("nmod", "det"),
    "nsubj": ("nsubj:pass", "obj"),
    "nsubj:pass": ("nsubj",),
    "nummod": ("amod", "compound"),
    "obj": ("iobj", "nsubj", "obl"),
    "obl": ("nmod", "obl:tmod", "advmod"),
    "obl:agent": ("obl",),
    "obl:npmod": ("nmod", "obl"),
    "obl:tmod": ("obl", "obj", "obl:npmod"),
    "parataxis": ("ccomp", "appos"),
    "xcomp": ("ccomp", "obj", "advcl"),
}
CONFUSED_TAGS = {
    ("ADJ", "JJ"): (("NOUN", "NN"), ("VERB", "VBN"), ("ADV", "RB")),
    ("ADP", "IN"): (("SCONJ", "IN"), ("ADV", "RB")),
    ("ADP", "RP"): (("ADV", "RB"), ("ADP", "IN")),
    ("ADV", "RB"): (("ADJ", "JJ"), ("ADP", "IN")),
    ("AUX", "VBD"): (("VERB", "VBD"), ("AUX", "VBN")),
    ("NOUN", "NN"): (("PROPN", "NNP"), ("VERB", "VB"), ("ADJ", "JJ")),
    ("NOUN", "NNS"): (("VERB", "VBZ"), ("NOUN", "NN")),
    ("NUM", "CD"): (("NOUN", "NN"), ("ADJ", "JJ")),
    ("PRON", "WDT"): (("SCONJ", "IN"), ("DET", "WDT")),
    ("PROPN", "NNP"): (("NOUN", "NN"),),
    ("SCONJ", "IN"): (("ADP", "IN"), ("PRON", "WDT")),
    ("VERB", "VB"): (("VERB", "VBP"), ("NOUN", "NN")),
    ("VERB", "VBD"): (("VERB", "VBN"),),
    ("VERB", "VBG"): (("NOUN", "NN"), ("ADJ", "JJ")),
    ("VERB", "VBN"): (("VERB", "VBD"), ("ADJ", "JJ")),
    ("VERB", "VBP"): (("VERB", "VB"),),
    ("VERB", "VBZ"): (("NOUN", "NNS"), ("AUX", "VBZ")),
}
USUAL_FEATS = {
    "IN": NO_FEATS,
    "JJ": "Degree=Pos",
    "NN": "Number=Sing",
    "NNP": "Number=Sing",
    "NNS": "Number=Plur",
    "RB": NO_FEATS,
    "VB": "VerbForm=Inf",
    "VBN": "Tense=Past|VerbForm=Part",
    "VBD": "Mood=Ind|Tense=Past|VerbForm=Fin",
    "VBP": "Mood=Ind|Tense=Pres|VerbForm=Fin",
    "VBZ": "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
    "WDT": "PronType=Rel",
}


def misattach(sentence: Sentence, dice: Dice, rate: float) -> None:
    """Raise a modifier to its head's head, or lower it to the noun before it, with the relation that goes with it."""
    for word in sentence.positions():
        head, deprel = sentence.head(word), sentence.deprel(word)
        if deprel not in MODIFIERS or not head or not dice.errs(rate, word):
            continue
        left = [other for other in sentence.below(head) if other < word and sentence.upos(other) in NOMINAL]
        up = sentence.head(head)
        if sentence.upos(head) in NOMINAL and up:
            relation = deprel if sentence.upos(up) in NOMINAL else ON_A_VERB.get(deprel, deprel)
            sentence.hang(word, up, relation)
        elif left and left[-1] > head:
            sentence.hang(word, left[-1], ON_A_NOUN.get(deprel, deprel))
        elif up:
            sentence.hang(word, up)


def misread_coordination(sentence: Sentence, dice: Dice, rate: float) -> None:
    """Hang a conjunct on the word before it that looks most like it, or the conjunction on the first conjunct."""
    for word in sentence.positions():
        if sentence.deprel(word) == "cc" and dice.errs(rate / 2, word):
            sentence.hang(word, sentence.head(sentence.head(word)) or sentence.head(word))
        if sentence.deprel(word) != "conj" or not dice.errs(rate, word):
            continue
        alike = [
            other
            for other in range(word - 1, 0, -1)
            if sentence.upos(other) == sentence.upos(word) and sentence.head(other) != word
        ]
        if alike and alike[0] != sentence.head(word):
            sentence.hang(word, alike[0])
        else:
            sentence.hang(word, sentence.head(sentence.head(word)) or sentence.head(word), "parataxis")


def swap_head(sentence: Sentence, dice: Dice, rate: float) -> None:
    """Make a dependent the head of its head: of a compound, an auxiliary and its verb, a copula and its predicate."""
    for word in sentence.positions():
        head, deprel = sentence.head(word), sentence.deprel(word)
        if deprel not in {"compound", "aux", "cop", "nummod", "amod", "xcomp"} or not dice.errs(rate, word):
            continue
        others = sentence.below(head)
        new = sentence.words[word - 1]
        new[HEAD], new[DEPREL] = sentence.words[head - 1][HEAD], sentence.words[head - 1][DEPREL]
        sentence.hang(head, word, {"aux": "xcomp", "cop": "xcomp", "xcomp": "aux"}.get(deprel, "nmod"))
        for other in others:
            if other != word and sentence.deprel(other) in {"nsubj", "punct", "det", "case", "nsubj:pass"}:
                sentence.hang(other, word)


def misattach_punctuation(sentence: Sentence, dice: Dice, rate: float) -> None:
    """Hang inner punctuation on the word before it or on the sentence's root."""
    root = next(word for word in sentence.positions() if not sentence.head(word))
    for word in sentence.positions():
        inner = 1 < word < len(sentence.words)
        if sentence.deprel(word) == "punct" and inner and dice.errs(rate, word):
            before = [other for other in range(1, word) if sentence.deprel(other) != "punct"]
            sentence.hang(word, root if sentence.head(word) != root or not before else before[-1])


def confuse_relations(sentence: Sentence, dice: Dice, rate: float) -> None:
    """Give a word a relation that is often mistaken for its own."""
    for word in sentence.positions():
        deprel = sentence.deprel(word)
        easy = deprel in {"case", "aux", "mark", "amod", "nmod:poss", "nummod"}
        if deprel in CONFUSED_RELATIONS and dice.errs(rate / 3 if easy else rate, word):
            sentence.words[word - 1][DEPREL] = dice.pick(CONFUSED_RELATIONS[deprel], word)


def confuse_tags(sentence: Sentence, dice: Dice, rate: float) -> None:
    """Give a word tags that are often mistaken for its own, with their usual features; or lose its features."""
    for word in sentence.positions():
        row = sentence.words[word - 1]
        confused = CONFUSED_TAGS.get((row[UPOS], row[XPOS]))
        if confused and dice.errs(rate, word):
            row[UPOS], row[XPOS] = dice.pick(confused, word)
            row[FEATS] = USUAL_FEATS.get(row[XPOS], NO_FEATS)
        elif row[FEATS].count("|") > 1 and dice.errs(rate / 2, "features", word):
            row[FEATS] = row[FEATS].rpartition("|")[0]


def miss_lemmas(sentence: Sentence, dice: Dice, rate: float) -> None:
    """Take the lower-cased form for the lemma."""
    for word in sentence.positions():
        row = sentence.words[word - 1]
        if row[LEMMA] != row[FORM].lower() and dice.errs(rate, word):
            row[LEMMA] = row[FORM].lower()


def lift_crossing_arcs(sentence: Sentence) -> None:
    """Hang a word on its head's head until its arc crosses no other, as a pseudo-projective parser does."""
    for word in sentence.positions():
        while (head := sentence.head(word)) and not _covers_its_words(sentence, word, head):
            sentence.hang(word, sentence.head(head))


def _covers_its_words(sentence: Sentence, word: int, head: int) -> bool:
    """Return whether every word between a word and its head stands below the head."""
    return all(head in sentence.above(between) for between in range(min(word, head) + 1, max(word, head)))


# ---------------------------------------------------------------- baseline


FUNCTION_WORDS = {
    "DET": "det",
    "ADP": "case",
    "AUX": "aux",
    "ADJ": "amod",
    "NUM": "nummod",
    "SCONJ": "mark",
    "CCONJ": "cc",
    "PUNCT": "punct",
}


def neighbours(sentence: Sentence) -> Sentence:
    """Make the first verb the root, content words a chain from it, and hang all others on the next content word."""
    content = [word for word in sentence.positions() if sentence.upos(word) not in FUNCTION_WORDS] or [1]
    root = next((word for word in content if sentence.upos(word) == "VERB"), content[0])
    for word in sentence.positions():
        before = [other for other in content if other < word]
        after = [other for other in content if other > word]
        chained = word in content and word > root
        head = (before or [root])[-1] if chained or not after else after[0]
        usual = "nsubj" if word < root else "obj" if sentence.upos(head) == "VERB" else "nmod"
        row = sentence.words[word - 1]
        row[HEAD], row[DEPREL] = str(head), FUNCTION_WORDS.get(row[UPOS], usual)
        if word == root:
            row[HEAD], row[DEPREL] = "0", "root"
    return sentence
