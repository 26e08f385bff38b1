"""Sentences for the examples of metrics, each with a faultless sentence, an error and a sentence of one word."""

from treescore.core.registry import Example


def conllu(*rows: str) -> str:
    """Write a sentence of CoNLL-U from rows `ID FORM UPOS HEAD DEPREL [DEPS [FEATS]]`; missing fields are `_`."""
    lines = []
    for row in rows:
        fields = dict(enumerate(row.split(" ")))
        blank = "_"
        order = (0, 1, None, 2, None, 6, 3, 4, 5, None)
        lines.append("\t".join(fields.get(column, blank) if column is not None else blank for column in order))
    return "\n".join(lines) + "\n\n"


TREES = (
    (
        "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it))))\n",
        "(S (NP (DT the)) (VP (NN dog) (VBD saw) (NX (PRP it))))\n",
    ),
    ("(FRAG (UH yes))\n", "(FRAG (UH yes))\n"),
    ("(S (NP (NNS stars)) (VP (VBP shine)))\n", "(S (NP (NNS moons)) (VP (VBP shine)))\n"),
    ("(S (NP (NNS stars)) (VP (VBP shine)))\n", "(S (NP (NNS stars)) (VP (VBP shine)))\n"),
)
"""Pairs of trees; the words of the third differ."""

GAP_TREES = (
    (
        "(ROOT (S (VP-OC (NP-OA (ART 0=das) (NN 1=Buch)) (VVPP 4=gelesen)) (VAFIN 2=hat) (PPER 3=er)) ($. 5=.))\n",
        "(ROOT (S (NP-OA (ART 0=das) (NN 1=Buch)) (VAFIN 2=hat) (PPER 3=er) (VP-OC (VVPP 4=gelesen))) ($. 5=.))\n",
    ),
    ("(ROOT (NP (NN 0=ja)))\n", "(ROOT (NP (NN 0=ja)))\n"),
    ("(ROOT (S (PP 0=a (NN 2=c)) (VV 1=b)))\n", "(ROOT (S (PP 0=a (NN 2=c)) (VV 1=b)))\n"),
)
"""Pairs of trees whose constituents may have gaps, over the same words."""
AS_DISCODOP = Example(
    "discbracket", GAP_TREES, {"preset": "discodop"}, interprets_labels="Words with tags of punctuation are deleted."
)

DEPENDENCIES = (
    (
        conllu("1 the DET 2 det", "2 dog NOUN 3 nsubj", "3 saw VERB 0 root", "4 it PRON 3 obj", "5 . PUNCT 3 punct"),
        conllu("1 the DET 3 det", "2 dog PROPN 3 nsubj", "3 saw VERB 0 root", "4 it PRON 3 obl", "5 . PUNCT 4 punct"),
    ),
    (conllu("1 yes INTJ 0 root"), conllu("1 yes INTJ 0 root")),
    (conllu("1 stars NOUN 2 nsubj", "2 shine VERB 0 root"), conllu("1 stars NOUN 2 nsubj", "2 shine VERB 0 root")),
)
"""Pairs of trees over the same words."""

_CUT = (
    conllu("1-2 vámonos _ _ _", "1 vamos VERB 0 root", "2 nos PRON 1 obj", "3 ya ADV 1 advmod"),
    conllu("1-3 vámonos _ _ _", "1 va VERB 0 root", "2 mos PRON 1 obj", "3 nos PRON 1 obj", "4 ya ADV 1 advmod"),
)
RESEGMENTED = (*DEPENDENCIES, _CUT)
"""The same and a pair that divides a token into other words."""

_CUPT_HEADER = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n"


def cupt(*words: str) -> str:
    """Write a text of one sentence of the format cupt from words `FORM CODES`; the lemma is the form in lower case."""
    lines = []
    for number, word in enumerate(words, 1):
        form, codes = word.split(" ")
        lines.append("\t".join([str(number), form, form.lower(), *"_______", codes]) + "\n")
    return _CUPT_HEADER + "".join(lines) + "\n"


EXPRESSIONS = (
    (
        cupt("He *", "took 1:LVC.full", "a *", "long *", "walk 1", "up 2:VID", "hill 2"),
        cupt("He *", "took 1:VID", "a *", "long 1", "walk 1", "up 2:VID", "hill 2"),
    ),
    (cupt("yes *"), cupt("yes *")),
    (cupt("a 1:A", "b 1", "c 1;2:B", "d 2", "e 2"), cupt("a 1:A", "b 1;2:B", "c 2", "d 1", "e 2")),
    (cupt("Walk 1", "on 1"), cupt("Walk *", "on 1:X")),
)
"""Pairs of sentences with multiword expressions over the same words, which need every step of pairing."""


def sdp(*words: str) -> str:
    """Write a graph of the format sdp from words `FORM TOP PRED ROLES...`, separated by spaces."""
    lines = []
    for number, word in enumerate(words, 1):
        form, top, pred, *roles = word.split(" ")
        lines.append("\t".join([str(number), form, form.lower(), "X", top, pred, "_", *roles]) + "\n")
    return "".join(lines) + "\n"


GRAPHS = (
    (
        sdp("Dogs - - ARG1 _", "bark + + _ ARG1", "at - + loc _", "cats - - _ ARG2"),
        sdp("Dogs - - ARG2 ARG1", "bark - + _ _", "at + + loc _", "cats - - _ ARG2"),
    ),
    (sdp("yes - -"), sdp("yes - -")),
    (sdp("Go + + _"), sdp("Go + + ARG1")),
    (sdp("Walk + -", "on - -"), sdp("Walk - -", "on - -")),
)
"""Pairs of graphs over the same words: other roles, other tops, no edge at all."""
