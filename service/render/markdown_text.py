"""Render texts of strangers as HTML: a part of Markdown, without HTML, pictures and addresses that run anything.

What a text may hold: paragraphs, headings, lists, emphasis, code, and links by https, http and mailto.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

FIRST_HEADING = 2
"""Level of `#`: the first level is the page's own."""
LAST_HEADING = 6
DEEPEST = 12
"""Blocks within blocks; what is deeper is left out."""
KEPT = ("href", "start")
"""Attributes of the parser that the page needs: of links, and of lists that begin with another number than 1."""
_BLOCKS = ("heading", "lheading", "list", "code", "fence", "reference")
_INLINES = ("emphasis", "backticks", "link", "autolink", "escape", "newline", "balance_pairs")
_ALLOWED = re.compile(r"(?:https?://|mailto:)[^\s]+", re.IGNORECASE)


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        """Return whether a link may lead there."""
        return _ALLOWED.fullmatch(url) is not None


def markdown_html(text: str) -> Markup:
    """Return a text as HTML, safe to stand in a page.

    Characters that cannot be printed are left out: they could turn or hide what follows.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    shown = "".join(character for character in lines if character.isprintable() or character in "\t\n")
    parser = _parser()
    tokens = parser.parse(shown)
    _strip(tokens)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - the renderer escapes all text


@cache
def _parser() -> MarkdownIt:
    """Return the parser. It knows no entities, which could stand for characters that cannot be printed."""
    parser = _Parser("zero", {"html": False, "linkify": False, "maxNesting": DEEPEST})
    parser.enable([*_BLOCKS, *_INLINES])
    return parser


def _strip(tokens: Sequence[Token]) -> None:
    """Leave only what the page needs of the tokens' attributes."""
    for token in tokens:
        kept = {name: value for name, value in token.attrs.items() if name in KEPT}
        token.attrs = {**kept, "rel": "nofollow noopener"} if "href" in kept else kept
        token.info = ""  # the language of a block of code becomes a class
        if token.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            level = min(int(token.tag[1]) + FIRST_HEADING - 1, LAST_HEADING)
            token.tag = f"h{level}"
        _strip(token.children or ())
