"""Render Markdown as HTML: our own, and texts of strangers.

Our own are the guides of this checkout and the descriptions of the contract; their links are followed as they stand.
Of texts of strangers a part of Markdown is rendered, without HTML, pictures and addresses that run anything. What such
a text may hold: paragraphs, headings, lists, tables, emphasis, code, and links by https, http and mailto.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, count, pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

_DIRECTIVE = re.compile(r"\{(\w[\w-]*)\}")
_NOT_IN_ANCHORS = re.compile(r"[^\w -]")


class Heading(NamedTuple):
    """A heading of a page.

    Attributes:
        level: 1 for that of the page.
        text: without marks.
        anchor: its id.
    """

    level: int
    text: str
    anchor: str


class Links(NamedTuple):
    """Where a text leads.

    Attributes:
        of_target: the address of a link's target; None where no page shows it.
        of_code: the address of what a piece of code names; None where it names nothing that has a page.
    """

    of_target: Callable[[str], str | None]
    of_code: Callable[[str], str | None]


def parse(text: str) -> list[Token]:
    """Return the tokens of a text; each heading has its anchor as `id`."""
    tokens = _parser().parse(text)
    taken: set[str] = set()
    for token, inline in _headings(tokens):
        name = anchor_of(plain_text(inline))
        anchor = next(each for each in chain((name,), (f"{name}-{at}" for at in count(1))) if each not in taken)
        taken.add(anchor)
        token.attrSet("id", anchor)
    return tokens


def headings(tokens: Sequence[Token]) -> list[Heading]:
    """Return the headings of parsed text."""
    return [
        Heading(int(token.tag[1]), plain_text(inline), str(token.attrGet("id"))) for token, inline in _headings(tokens)
    ]


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading: small letters, hyphens for blanks, no other marks."""
    return _NOT_IN_ANCHORS.sub("", heading.lower()).strip().replace(" ", "-")


def plain_text(inline: Token) -> str:
    """Return the words of a heading or a paragraph in one line, without marks."""
    kept = (child for child in inline.children or () if child.type in ("text", "code_inline", "softbreak"))
    return "".join(" " if child.type == "softbreak" else child.content for child in kept)


def render(tokens: Sequence[Token], links: Links) -> Markup:
    """Return parsed text as HTML. The tokens are changed: parse again to render again."""
    shown = [token for each in tokens for token in _block(each, links)]
    return Markup(_parser().renderer.render(shown, _parser().options, {}))  # noqa: S704 - made by the renderer


def line(text: str, links: Links) -> Markup:
    """Return a description as HTML; one paragraph stands without its element, as a cell of a table needs it."""
    tokens = parse(text)
    if [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]:
        tokens = tokens[1:2]
    return render(tokens, links)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("fence", _code_block)
    parser.add_render_rule("code_block", _code_block)
    parser.add_render_rule("code_inline", _code)
    _draw_tables(parser)
    return parser


def _draw_tables(parser: MarkdownIt) -> None:
    parser.add_render_rule("table_open", _table)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")


def _headings(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            yield token, inline


def _block(token: Token, links: Links) -> list[Token]:
    """Return what stands for a block: directives for the site's own navigation stand for nothing."""
    if token.type == "fence" and (directive := _DIRECTIVE.fullmatch(token.info.strip())):
        return [] if directive[1] == "toctree" else [token]
    _align(token)
    if token.children:
        token.children = _inline(token.children, links)
    return [token]


def _align(token: Token) -> None:
    """Say of a cell by a class, not by a style, which the page's policy refuses, that it is right-aligned."""
    style = token.attrs.pop("style", "")
    if "right" in str(style):
        token.attrSet("class", "num")
    if token.type == "th_open":
        token.attrSet("scope", "col")


def _inline(children: Sequence[Token], links: Links) -> list[Token]:
    shown: list[Token] = []
    ends: list[Token] = []
    for child in children:
        if child.type == "link_open":
            opened, closed = _link(child, links)
            shown.append(opened)
            ends.append(closed)
        elif child.type == "link_close":
            shown.append(ends.pop())
        else:
            address = links.of_code(child.content) if child.type == "code_inline" and not ends else None
            if address is not None:
                child.meta["address"] = address
            shown.append(child)
    return shown


def _link(token: Token, links: Links) -> tuple[Token, Token]:
    """Return the tokens before and after the words of a link; the path of a file that no page shows is said."""
    target = str(token.attrGet("href"))
    address = links.of_target(target)
    if address is not None:
        token.attrSet("href", address)
        return token, Token("link_close", "a", -1)
    path = escape(target.partition("#")[0].replace("../", ""))
    before, after = Token("html_inline", "", 0), Token("html_inline", "", 0)
    before.content, after.content = '<span class="file">', f" (<code>{path}</code> in the repository)</span>"
    return before, after


def _code_block(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    return str(Markup('<pre tabindex="0"><code>{}</code></pre>\n').format(tokens[index].content))


def _table(_renderer: object, tokens: Sequence[Token], index: int, _options: object, env: Mapping[str, str]) -> str:
    """Return what begins a table, which scrolls under its number, the name of the text and the heading above."""
    above = next((at for at in range(index, -1, -1) if tokens[at].type == "heading_open"), None)
    names = filter(None, (env.get("name"), None if above is None else plain_text(tokens[above + 1])))
    number = sum(token.type == "table_open" for token in tokens[: index + 1])
    opened = Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}"><table>\n')
    return str(opened.format(": ".join((f"Table {number}", *names))))


def _code(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    token = tokens[index]
    code = Markup("<code>{}</code>").format(token.content)
    if "address" in token.meta:
        return str(Markup('<a href="{}">{}</a>').format(token.meta["address"], code))
    return str(code)


FIRST_HEADING = 2
"""Level of `#`: the first level is the page's own."""
LAST_HEADING = 6
DEEPEST = 12
"""Blocks within blocks; what is deeper is left out."""
MOST_CELLS = 5_000
"""Cells that tables can have; rows are as long as the first, even empty ones. Beyond, no table is drawn."""
KEPT = ("href", "start", "class", "scope")
"""Attributes that the page needs: of links, of lists that begin with another number than 1, and of cells (`_align`)."""
_BLOCKS = ("heading", "lheading", "list", "code", "fence", "reference")
_INLINES = ("emphasis", "backticks", "link", "autolink", "escape", "newline", "balance_pairs")
_ALLOWED = re.compile(r"(?:https?://|mailto:)[^\s]+", re.IGNORECASE)


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        """Return whether a link may lead there."""
        return _ALLOWED.fullmatch(url) is not None


def strangers_html(text: str, name: str = "") -> Markup:
    """Return a text as HTML, safe to stand in a page.

    Characters that cannot be printed are left out: they could turn or hide what follows. `name` tells its tables from
    those of other texts on the page.
    """
    parser, tokens = _strangers_tokens(text)
    _strip(tokens)
    return Markup(parser.renderer.render(tokens, parser.options, {"name": name}))  # noqa: S704 - it escapes all text


def first_words(text: str) -> tuple[str, bool]:
    """Return the words of the first heading, paragraph or entry of a stranger's text, and whether that is all."""
    _, tokens = _strangers_tokens(text)
    words = [plain_text(token) for token in tokens if token.type == "inline"]
    return next(iter(words), ""), len(words) == 1 and tokens[0].type == "paragraph_open"


def _strangers_tokens(text: str) -> tuple[MarkdownIt, list[Token]]:
    """Return the parser of a stranger's text, and what it makes of those characters that can be printed."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    shown = "".join(character for character in lines if character.isprintable() or character in "\t\n")
    rows = shown.split("\n")
    parser = _strangers_parser(tables=len(rows) * max(row.count("|") for row in rows) <= MOST_CELLS)
    return parser, parser.parse(shown)


@cache
def _strangers_parser(*, tables: bool) -> MarkdownIt:
    """Return the parser. It knows no entities, which could stand for characters that cannot be printed."""
    parser = _Parser("zero", {"html": False, "linkify": False, "maxNesting": DEEPEST})
    parser.enable([*_BLOCKS, *_INLINES, *(("table",) if tables else ())])
    _draw_tables(parser)
    return parser


def _strip(tokens: Sequence[Token]) -> None:
    """Leave only what the page needs of the tokens' attributes."""
    for token in tokens:
        _align(token)
        kept = {name: value for name, value in token.attrs.items() if name in KEPT}
        token.attrs = {**kept, "rel": "nofollow noopener"} if "href" in kept else kept
        token.info = ""  # the language of a block of code becomes a class
        if token.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            level = min(int(token.tag[1]) + FIRST_HEADING - 1, LAST_HEADING)
            token.tag = f"h{level}"
        _strip(token.children or ())
