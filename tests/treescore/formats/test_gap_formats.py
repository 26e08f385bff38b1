"""Trees with gaps: three formats read the same trees, and say where a text is wrong.

Golden cases: disco-dop 0.6a0, see the source in tests/golden/field_discontinuous.json.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import treescore.formats  # noqa: F401 - importing the package registers them
from tests.conftest import ROOT
from treescore.core.jit import forced
from treescore.core.registry import make_format
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.core.trees import NO_TAG, DiscontinuousTreebank, Vocabulary
from treescore.errors import InputError, LimitError, Problem

CASES = json.loads((ROOT / "tests/golden/field_discontinuous.json").read_text(encoding="utf-8"))["cases"]
FORMATS_OF = {"export": "export", "export3": "export", "discbracket": "discbracket", "tigerxml": "tigerxml"}
SHAPE = ("parents", "node_offsets", "words", "tags", "anchors", "word_offsets")
FUNCTIONS = ("functions", "word_functions", "lemmas", "morphs")


def read(
    name: str, text: str, vocabulary: Vocabulary | None = None, limits: Limits = DEFAULT_LIMITS, **options: str
) -> DiscontinuousTreebank:
    treebank = make_format(name, options).read(text.encode(), vocabulary or Vocabulary(), limits)
    assert isinstance(treebank, DiscontinuousTreebank)
    return treebank


def problems(name: str, text: str) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        read(name, text)
    return list(caught.value.problems)


def tree(treebank: DiscontinuousTreebank, sentence: int = 0) -> list[tuple[str, str, list[int]]]:
    """Label, function and positions of each node."""
    strings = treebank.vocabulary.strings
    first, stop = treebank.node_offsets[sentence : sentence + 2].tolist()
    begin, end = treebank.word_offsets[sentence : sentence + 2].tolist()
    positions: dict[int, list[int]] = {node: [] for node in range(first, stop)}
    for word in range(begin, end):
        node = int(treebank.anchors[word])
        while node >= 0:
            positions[node].append(word - begin)
            node = int(treebank.parents[node])
    return [
        (strings[treebank.labels[node]], strings[treebank.functions[node]], positions[node])
        for node in range(first, stop)
    ]


def words(treebank: DiscontinuousTreebank) -> list[tuple[str, str | None]]:
    strings = treebank.vocabulary.strings
    tags = [None if tag == NO_TAG else strings[tag] for tag in treebank.tags.tolist()]
    return [(strings[word], tag) for word, tag in zip(treebank.words.tolist(), tags, strict=True)]


def bos(*lines: str, name: str = "1") -> str:
    return "\n".join([f"#BOS {name}", *lines, f"#EOS {name}"]) + "\n"


def graph(*elements: str, root: str = "VROOT") -> str:
    """One sentence of TigerXML: words, then constituents."""
    terminals = "".join(each for each in elements if each.startswith("<t "))
    rest = "".join(each for each in elements if not each.startswith("<t "))
    body = f"<terminals>{terminals}</terminals><nonterminals>{rest}</nonterminals>"
    return f'<s id="s1"><graph root="{root}">{body}</graph></s>'


def corpus(*sentences: str) -> str:
    return "<corpus><body>\n" + "\n".join(sentences) + "\n</body></corpus>\n"


WORD = '<t id="1" word="a" pos="X"/>'


@pytest.mark.parametrize("side", ["gold", "system"])
@pytest.mark.parametrize("case", sorted(CASES))
def test_all_forms_of_a_golden_case_are_the_same_trees(case: str, side: str) -> None:
    vocabulary = Vocabulary()
    forms = {form: read(name, CASES[case][side][form], vocabulary) for form, name in FORMATS_OF.items()}
    export = forms["export"]
    below = export.parents >= 0
    for form, other in forms.items():
        for member in SHAPE + (() if form == "discbracket" else FUNCTIONS):
            assert getattr(other, member).tolist() == getattr(export, member).tolist(), (form, member)
        assert other.labels[below].tolist() == export.labels[below].tolist()
        root = "VROOT" if form == "tigerxml" else "ROOT"
        assert {vocabulary.strings[label] for label in other.labels[~below]} == {root}
    names = list(export.sentences.sent_ids)
    assert names == list(forms["export3"].sentences.sent_ids)
    assert [f"s{name}" for name in names] == list(forms["tigerxml"].sentences.sent_ids)
    assert not forms["discbracket"].sentences.sent_ids


def test_nodes_stand_in_the_order_of_their_first_words() -> None:
    found = read("export", CASES["all_three"]["gold"]["export"])
    assert tree(found, 2) == [
        ("ROOT", "", [0, 1, 2, 3, 4, 5]),
        ("S", "", [0, 1, 2, 3, 4, 5]),
        ("VP", "OC", [0, 3, 5]),
        ("VP", "OC", [3, 5]),
        ("NP", "OA", [3]),
    ]


def test_export_reads_fields_by_white_space_comments_after_it_and_drops_secondary_edges() -> None:
    text = (
        "#FORMAT 4\n%% word\nignored line\n#BOS 7 1 2 3 %% no matter\n"
        "a%%b  la \tX(-y  m\u00a0NK\u3000500 %% 1 2\n"
        "%%\tT\tm\tf=g\t500\tSB\t500\n"
        "#500  --  N=P-x  --  OC  0  A 500 B 500\n\n#EOS 7\nignored too\n"
    )
    found = read("export", text)
    strings = found.vocabulary.strings
    assert words(found) == [("a%%b", "X["), ("%%", "T")]
    assert tree(found) == [("ROOT", "", [0, 1]), ("N", "OC", [0, 1])]
    assert [strings[number] for number in found.lemmas] == ["la", ""]
    assert [strings[number] for number in found.word_functions] == ["NK", "f=g"]
    assert found.sentences.sent_ids == ["7"]
    assert found.lines.tolist() == [4]


def test_export_takes_numbers_from_500_on_for_constituents_even_beyond_999() -> None:
    lines = ["#7 X -- -- 12345", "#12345 NP -- -- 0"]
    found = read("export", bos(*lines))
    assert words(found) == [("#7", "X")]
    assert tree(found) == [("ROOT", "", [0]), ("NP", "", [0])]


def test_discbracket_reads_labels_functions_words_and_comments() -> None:
    text = (
        "(ROOT (NP-SBJ-1 (N=2 1=a=b) (-NONE- 0=#LRB#x#RRB#)) (VP=3 (-LRB--HD 2=v)))\t0=comment)\n"
        "(NN 0=alone)\n\n(TOP-X 1=b 0=a)\n"
    )
    found = read("discbracket", text)
    assert tree(found) == [("ROOT", "", [0, 1, 2]), ("NP", "SBJ-", [0, 1]), ("VP", "", [2])]
    assert words(found)[:3] == [("(x)", "-NONE-"), ("a=b", "N"), ("v", "-LRB--HD")]
    assert tree(found, 1) == [("ROOT", "", [0])]
    assert tree(found, 2) == [("ROOT", "", [])]
    assert tree(found, 3) == [("TOP", "X", [0, 1])]
    assert words(found)[3:] == [("alone", "NN"), ("a", None), ("b", None)]


def test_a_real_constituent_as_the_root_of_a_graph_gets_a_root_above_it() -> None:
    inner = '<nt id="s5_502" cat="S"><edge label="HD" idref="1"/></nt>'
    found = read("tigerxml", corpus(graph(WORD, inner, root="s5_502")))
    assert tree(found) == [("VROOT", "", [0]), ("S", "", [0])]
    found = read("tigerxml", corpus(graph(WORD, root="1")))
    assert tree(found) == [("VROOT", "", [0])]
    named = '<nt id="x" cat="VROOT"><edge idref="1"/></nt>'
    assert tree(read("tigerxml", corpus(graph(WORD, named, root="x")))) == [("VROOT", "", [0])]


def test_tigerxml_is_utf_8_whatever_it_says() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>' + corpus(graph('<t id="1" word="é" pos="("/>', root="1"))
    assert words(read("tigerxml", text)) == [("é", "[")]


def test_a_sentence_without_words_is_one_without_a_parse() -> None:
    assert len(read("export", "#BOS 1\n#EOS 1\n").words) == 0
    assert len(read("discbracket", "\n(A 0=b)\n")) == 2
    empty = '<s id="a"/><s id="b"><graph root="x"><nonterminals><nt id="x" cat="VROOT"/></nonterminals></graph></s>'
    found = read("tigerxml", corpus(empty))
    assert found.node_offsets.tolist() == [0, 1, 2]


EXPORT_FAULTS = [
    ("a X -- -- 500", "unknown-parent", 2, 5),
    ("a l X -- -- x", "unknown-parent", 2, 6),
    ("a X -- -- 00", "unknown-parent", 2, 5),
    ("a X -- 0", "export-field-count", 2, None),
    ("a X -- -- 0\n#500 Y -- -- 0", "node-without-words", 3, 1),
    ("a X -- -- 0\n#500 Y -- -- 501\n#501 Y -- -- 500", "node-in-cycle", 3, 5),
    ("a X -- -- 500\n#500 Y -- -- 500", "node-in-cycle", 3, 5),
    ("a X -- -- 500\n#500 Y -- -- 0\n#500 Y -- -- 0", "export-repeated-node", 4, 1),
    ("a X -- -- 500\n#500 Y -- -- 0\nb X -- -- 0", "export-word-after-node", 3, 1),
]


@pytest.mark.parametrize(("lines", "code", "line", "column"), EXPORT_FAULTS)
def test_a_fault_of_export_has_its_place(lines: str, code: str, line: int, column: int | None) -> None:
    found = problems("export", bos(lines))
    assert [(each.code, each.line, each.column, each.sentence) for each in found] == [(code, line, column, 1)]


GOOD = "a X -- -- 0"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (f"#BOS 1\n{GOOD}\n#BOS 2\n{GOOD}\n#EOS 2\n", "export-no-end", 1),
        (f"{bos(GOOD)}#BOS 2\n{GOOD}\n", "export-no-end", 4),
        (f"#BOS 1\n{GOOD}\n#EOS 2\n", "export-ids-differ", 3),
        (f"#BOS 1\n{GOOD}\n#EOS\n", "export-ids-differ", 3),
        (f"#BOS\n{GOOD}\n#EOS 1\n", "export-no-id", 1),
        (bos(GOOD) + bos(GOOD), "repeated-sentence-id", 4),
        (f"{GOOD}\n#EOS 1\n{bos(GOOD)}", "export-no-begin", 2),
        (GOOD, "no-sentence", None),
    ],
)
def test_the_ends_of_sentences_must_agree(text: str, code: str, line: int | None) -> None:
    assert [(each.code, each.line) for each in problems("export", text)] == [(code, line)]


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("(A (B 0=a)", "bracket-unclosed", 1),
        ("(A 0=a))", "bracket-unopened", 8),
        ("(A 0=a) (B 1=b)", "text-outside-brackets", 9),
        ("x (A 0=a)", "text-outside-brackets", 1),
        ("(A (B 0=é) (C b))", "discbracket-leaf", 15),
        ("(A 0=)", "discbracket-leaf", 4),
        ("(A =a)", "discbracket-leaf", 4),
        ("(A -1=a)", "discbracket-leaf", 4),
        ("(A 9999999999=a)", "discbracket-leaf", 4),
        ("(A (B 0=a) (C ))", "node-without-words", 12),
        ("()", "node-without-words", 1),
        ("(A 0=a 0=b)", "discbracket-repeated-index", 8),
        ("(A 0=a 2=b)", "discbracket-index-gap", 8),
        ("(A 1=a)", "discbracket-index-gap", 4),
    ],
)
def test_a_fault_of_discbracket_has_its_place(text: str, code: str, column: int) -> None:
    found = problems("discbracket", f"(A 0=b)\n{text}\n")
    assert [(each.code, each.line, each.column, each.sentence) for each in found] == [(code, 2, column, 2)]


EDGE = '<edge idref="1"/>'


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        (graph(WORD, root="x"), "tigerxml-root"),
        (graph(WORD, f'<nt id="VROOT" cat="V">{EDGE}</nt>', WORD.replace('"1"', '"2"')), "unknown-parent"),
        (graph(WORD, f'<nt id="VROOT" cat="V">{EDGE}</nt>', f'<nt id="n" cat="N">{EDGE}</nt>'), "tigerxml-two-parents"),
        (graph(WORD, WORD, f'<nt id="VROOT" cat="V">{EDGE}</nt>'), "tigerxml-repeated-id"),
        (graph(WORD, f'<nt id="VROOT" cat="V">{EDGE}<edge idref="2"/></nt>'), "tigerxml-unknown-id"),
        (graph(WORD, f'<nt id="VROOT" cat="V">{EDGE}</nt>{EDGE}'), "tigerxml-structure"),
        (graph('<t id="1" word="" pos="X"/>', root="1"), "tigerxml-empty-word"),
        (graph('<t id="1" word="a"/>', root="1"), "tigerxml-no-attribute"),
        (graph(WORD, root="1") + graph(WORD, root="1"), "repeated-sentence-id"),
        (f'<s id="s1">{graph(WORD, root="1")}</s>', "tigerxml-structure"),
        (graph(WORD, root="1").replace("</graph>", '</graph><graph root="1"/>'), "tigerxml-structure"),
        (graph(WORD, f'<nt id="VROOT" cat="V">{EDGE}<edge idref="n"/></nt><nt id="n" cat="N"/>'), "node-without-words"),
        (
            graph(
                WORD,
                f'<nt id="VROOT" cat="V">{EDGE}</nt>',
                '<nt id="m" cat="M"><edge idref="n"/></nt><nt id="n" cat="N"><edge idref="m"/></nt>',
            ),
            "node-in-cycle",
        ),
        (graph(WORD, f'<nt id="VROOT" cat="V">{EDGE}<edge idref="VROOT"/></nt>'), "unknown-parent"),
    ],
)
def test_a_fault_of_tigerxml_has_its_line(sentence: str, code: str) -> None:
    found = problems("tigerxml", corpus(sentence))
    assert [(each.code, each.line) for each in found] == [(code, 2)]


def test_malformed_xml_has_line_and_column() -> None:
    [found] = problems("tigerxml", "<corpus>\n<body>é</bod>\n</corpus>")
    assert (found.code, found.line, found.column) == ("xml-malformed", 2, 10)


BILLION = (
    '<!DOCTYPE lolz [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefghi", "bcdefghij", strict=True))
    + "]><corpus>&j;</corpus>"
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (BILLION, "xml-doctype"),
        ('<!DOCTYPE c SYSTEM "file:///etc/passwd"><corpus/>', "xml-doctype"),
        ('<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/passwd">]><corpus>&x;</corpus>', "xml-doctype"),
        ('<!DOCTYPE c [<!ENTITY % x SYSTEM "http://127.0.0.1/x">%x;]><corpus/>', "xml-doctype"),
        ("<corpus>&unknown;</corpus>", "xml-malformed"),
        ("<corpus/>", "no-sentence"),
    ],
)
def test_nothing_in_a_document_is_expanded_or_loaded(text: str, code: str) -> None:
    assert [each.code for each in problems("tigerxml", text)] == [code]


@pytest.mark.parametrize(
    ("name", "text", "bad"),
    [
        ("export", f"{bos('a X -- -- 7', name='1')}{bos(GOOD, name='2')}#BOS 3\n{GOOD}\n#BOS 2\n#EOS 2\n", [0, 2, 3]),
        ("discbracket", "(A 0=a\n(A 0=a)\n(A 1=a)\n", [0, 2]),
        ("tigerxml", corpus(graph(WORD), graph(WORD, root="1").replace("s1", "s2")), [0]),
        ("export", bos("a X -- -- 0", "#500 N -- -- 0") + bos("a X -- -- 0", name="2"), [0]),
    ],
)
def test_an_unreadable_sentence_may_cost_only_itself(name: str, text: str, bad: list[int]) -> None:
    found = read(name, text, unreadable="sentence")
    assert sorted(found.sentences.unreadable) == bad
    assert (found.word_offsets[1:] - found.word_offsets[:-1]).tolist() == [
        int(number not in bad) for number in range(len(found))
    ]
    assert [tree(found, number)[0][2] for number in bad] == [[]] * len(bad)
    assert len(problems(name, text)) >= len(bad)


def interleaved(size: int) -> str:
    """Two chains of constituents over every second word each: all but the lowest have as many blocks as words."""

    def chain(own: list[int]) -> str:
        return "".join(f"(N (T {word}=w) " for word in own[:-1]) + f"(T {own[-1]}=w)" + ")" * (len(own) - 1)

    return f"(ROOT {chain(list(range(0, size, 2)))} {chain(list(range(1, size, 2)))})\n"


@pytest.mark.parametrize("setting", ["never", pytest.param("always", marks=pytest.mark.slow)])
def test_indices_beyond_a_byte_are_read_interpreted_and_compiled(setting: str) -> None:
    with forced(setting):
        found = read("discbracket", interleaved(300))
    assert (len(found.tags), len(found.labels)) == (300, 299)


def test_blocks_in_every_constituent_cost_no_more_than_words() -> None:
    found = read("discbracket", interleaved(2000) * 2)
    assert len(found.labels) == 2 * 1999
    again = make_format("export", {}).read(
        make_format("export", {}).write(found).encode(), Vocabulary(), DEFAULT_LIMITS
    )
    assert again.parents.tolist() == found.parents.tolist()


@pytest.mark.parametrize(
    "size", [pytest.param(5_000, id="5,000"), pytest.param(100_000, id="100,000", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", ["export", "discbracket", "tigerxml"])
def test_a_long_chain_of_constituents_is_refused_or_read_without_recursion(name: str, size: int) -> None:
    nodes = [f"#{number} N -- -- {number + 1 if number < 499 + size else 0}" for number in range(500, 500 + size)]
    text = {
        "export": bos("a X -- -- 500", *nodes),
        "discbracket": "(N " * size + "(X 0=a)" + ")" * size,
        "tigerxml": corpus(
            graph(WORD, *(f'<nt id="n{n}" cat="N"><edge idref="{f"n{n - 1}" if n else 1}"/></nt>' for n in range(size)),
                  root=f"n{size - 1}")
        ),
    }[name]  # fmt: skip
    with pytest.raises(LimitError) as caught:
        read(name, text, limits=Limits(max_depth=size // 2))
    assert caught.value.problems[0].code == "too-deep"
    found = read(name, text, limits=Limits(max_depth=200_000))
    assert len(found.labels) == size + (name != "discbracket")
    form = make_format(name, {})
    again = form.read(form.write(found).encode(), Vocabulary(), Limits(max_depth=200_000))
    assert again.parents.tolist() == found.parents.tolist()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("export", bos("a X -- -- 0", "b X -- -- 0") + bos(GOOD, name="2")),
        ("discbracket", "(A 0=a 1=b)\n(A 0=b)\n"),
        ("tigerxml", corpus(*(graph(
            WORD, WORD.replace('"1"', '"2"'), f'<nt id="VROOT" cat="V">{EDGE}<edge idref="2"/></nt>'
        ).replace("s1", each) for each in "ab"))),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("limits", "code"), [({"max_words": 1}, "too-many-words"), ({"max_sentences": 1}, "too-many-sentences")]
)
def test_limits_are_kept(name: str, text: str, limits: dict[str, Any], code: str) -> None:
    with pytest.raises(LimitError) as caught:
        read(name, text, limits=Limits(**limits))
    assert caught.value.problems[0].code == code


@pytest.mark.parametrize(
    ("source", "text", "name"),
    [
        ("tigerxml", corpus(graph('<t id="1" word="a b" pos="X"/>', root="1")), "discbracket"),
        ("discbracket", "(S 0=a 1=b)\n", "export"),
        ("discbracket", "(ROOT 0=a 1=b)\n", "export"),
        ("discbracket", "(ROOT (#500 0=#500) (X 1=b))\n", "export"),
        ("discbracket", "(ROOT (X 0=#BOS) (X 1=b))\n", "export"),
        ("discbracket", "(S (X 0=a) (X 1=b))\n", "tigerxml"),
        ("discbracket", "(VROOT (X 0=\x01) (X 1=b))\n", "tigerxml"),
        ("export", bos("#LRB# X -- -- 0"), "discbracket"),
        ("export", bos("a X -- OA2 500", "#500 N -- OA2 0"), "discbracket"),
        ("tigerxml", corpus(graph(WORD, root="1")).replace("s1", "s 1"), "export"),
    ],
)
def test_what_would_be_read_as_something_else_is_not_written(source: str, text: str, name: str) -> None:
    with pytest.raises(InputError) as caught:
        make_format(name, {}).write(read(source, text))
    assert caught.value.problems[0].code == "trees-unwritable"


def test_files_of_tigerxml_cannot_be_joined() -> None:
    form = make_format("tigerxml", {})
    assert len(form.joinable({"/a": b"<corpus/>"})) == 1
    with pytest.raises(InputError) as caught:
        form.joinable({"/a": b"<corpus/>", "/b": b"<corpus/>"})
    assert (caught.value.problems[0].code, caught.value.problems[0].pointer) == ("files-differ", "/b")
