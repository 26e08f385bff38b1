"""Lead links to Markdown files of the repository's top folder to their pages in `project`."""

from __future__ import annotations

import re

from sphinx.application import Sphinx

PAGES = {"ARCHITECTURE.md": "architecture", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}
LINK = re.compile(rf"\]\((?:\.\./)*({'|'.join(map(re.escape, PAGES))})(#[^)]*)?\)")


def to_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Rewrite the links of one page, and of what it includes."""
    del app, name
    source[0] = LINK.sub(lambda link: f"](/project/{PAGES[link[1]]}.md{link[2] or ''})", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect with Sphinx."""
    app.connect("source-read", to_pages)
    app.connect("include-read", lambda app, _path, name, source: to_pages(app, name, source))
    return {"parallel_read_safe": True}
