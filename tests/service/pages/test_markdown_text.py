"""Markdown of strangers as HTML: what is allowed is there, and nothing else gets through."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.pages.markdown import strangers_html

TAGS = {*("p", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "em", "strong", "code", "pre", "a", "br")}
TABLE = {
    "div": {"class": "scroll", "tabindex": "0", "role": "region"},
    "th": {"scope": "col", "class": "num"},
    **{tag: {} for tag in ("table", "thead", "tbody", "tr")},
    "td": {"class": "num"},
}
"""What a table consists of, with the values that attributes may have."""
LONGEST = 20_000


class Seen(HTMLParser):
    """Collects tags with their attributes, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(text: str) -> Seen:
    parser = Seen()
    parser.feed(str(strangers_html(text)))
    parser.close()
    return parser


def assert_harmless(text: str) -> None:
    found = seen(text)
    for tag, attributes in found.tags:
        if tag in TABLE:
            attributes.pop("aria-label", None)
            assert attributes.items() <= TABLE[tag].items()
            continue
        assert tag in TAGS, tag
        assert set(attributes) <= ({"href", "rel"} if tag == "a" else {"start"} if tag == "ol" else set())
        if tag == "a":
            assert re.match(r"(https?://|mailto:)", attributes["href"] or "", re.IGNORECASE)
            assert attributes["rel"] == "nofollow noopener"
    assert all(character.isprintable() or character in "\t\n" for character in found.text)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a\n\nb", "<p>a</p>\n<p>b</p>\n"),
        ("# A\r\n## B\n###### C", "<h2>A</h2>\n<h3>B</h3>\n<h6>C</h6>\n"),
        ("*a* **b** `c<`", "<p><em>a</em> <strong>b</strong> <code>c&lt;</code></p>\n"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
        ("3. a", '<ol start="3">\n<li>a</li>\n</ol>\n'),
        ("```js\na&b\n```", "<pre><code>a&amp;b\n</code></pre>\n"),
        ("[a](https://b.c 'x')", '<p><a href="https://b.c" rel="nofollow noopener">a</a></p>\n'),
        ("<x@b.c>", '<p><a href="mailto:x@b.c" rel="nofollow noopener">x@b.c</a></p>\n'),
        ("[a][1]\n\n[1]: http://b.c", '<p><a href="http://b.c" rel="nofollow noopener">a</a></p>\n'),
        ("", ""),
    ],
)
def test_what_a_text_may_hold(text: str, html: str) -> None:
    assert str(strangers_html(text)) == html


HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- -->\n<style>*{}</style>",
    "![a](https://b.c/pixel.png)",
    "[a](javascript:alert(1)) [a](JAVASCRIPT:alert(1)) [a]( javascript:alert(1))",
    "[a](java\tscript:alert(1)) [a](java&#115;cript:alert(1)) [a](\\javascript:alert(1))",
    "[a](data:text/html,<script>) [a](vbscript:x) [a](file:///etc/passwd) [a](//b.c) [a](/v1/tokens) [a](#b)",
    '[a](https://b.c/"onclick=alert(1)) [a](<https://b.c" onclick="alert(1)>)',
    "<javascript:alert(1)> <https://b.c/\"onmouseover='x'>",
    "[a]: javascript:alert(1)\n\n[a]",
    '```"><script>\nx\n```',
    "~~~ x onclick=alert(1)\nx\n~~~",
    "&#x202E;abc &lt;b&gt; &zwj; \u202eabc\u2066 \x00\x1b[31m\x7f\x85\u2028",
    '[a](https://b.c "x\u202e") [\u202ea](https://b.c/\u202e)',
    "| a |\n|---|\n| b |\n\n> c\n\n***",
    '# "><script>\n\n| <img src=x> | [a](javascript:x) |\n|:--|--:|\n| `</td>` | " onclick=x |',
)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_else_gets_through(text: str) -> None:
    assert_harmless(text)


@given(st.text(st.sampled_from("[]()<>!*_`#-+1|. \n\t\"'&;:/\\jhsa\u202e") | st.characters(), max_size=200))
def test_no_text_makes_another_tag_or_attribute(text: str) -> None:
    assert_harmless(text)


PIECES = (
    "[",
    "![",
    "[](",
    "[a](",
    "*",
    "**a ",
    "*a_ ",
    "<",
    "<a:",
    "\\",
    "]",
    "- ",
    "1. ",
    "[a]: b\n",
    "a\n",
    "# ",
    "`` ` ",
)


@pytest.mark.parametrize("piece", PIECES)
def test_the_longest_text_is_harmless(piece: str) -> None:
    text = (piece * LONGEST)[:LONGEST]
    assert_harmless(text)


def test_the_longest_text_of_nested_brackets_and_lists_is_harmless() -> None:
    half = LONGEST // 2
    assert_harmless("[" * half + "](https://b.c)" * (half // 14))
    assert_harmless("".join(" " * 2 * depth + "- a\n" for depth in range(139)))


def test_a_table_scrolls_under_the_name_of_its_heading() -> None:
    assert str(strangers_html("## A\n\n| a | b |\n|---|--:|\n| *c* | <b> |")) == (
        '<h3>A</h3>\n<div class="scroll" tabindex="0" role="region" aria-label="Table 1: A"><table>\n'
        '<thead>\n<tr>\n<th scope="col">a</th>\n<th class="num" scope="col">b</th>\n</tr>\n</thead>\n'
        '<tbody>\n<tr>\n<td><em>c</em></td>\n<td class="num">&lt;b&gt;</td>\n</tr>\n</tbody>\n</table></div>\n'
    )


def test_no_two_tables_of_a_page_have_one_name() -> None:
    table = "| a |\n|---|\n| b |\n\n"
    shown = strangers_html(f"{table}## A\n\n{table}## A\n\n{table}") + strangers_html(table, "Rules & more")
    names = ["Table 1", "Table 2: A", "Table 3: A", "Table 1: Rules &amp; more"]
    assert re.findall('aria-label="([^"]*)"', shown) == names


@pytest.mark.parametrize("columns", [1, 8, 2_000])
def test_a_short_text_makes_no_table_of_many_cells(columns: int) -> None:
    head = "|a" * columns + "|\n" + "|-" * columns + "|\n"
    text = head + "b\n" * ((LONGEST - len(head)) // 2)
    assert len(strangers_html(text)) < 10 * LONGEST
    assert_harmless(text)
