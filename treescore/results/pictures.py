"""Pictures of comparisons, for notebooks and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from treescore.core.extras import MissingExtra, missing
from treescore.core.params import Json
from treescore.errors import InputError, Problem

LIBRARY = "matplotlib"
SUFFIXES = (".svg", ".png")


def require_drawing() -> None:
    """Check that pictures can be drawn.

    Raises:
        MissingExtra: the drawing library is not installed.
    """
    if find_spec(LIBRARY) is None:
        raise MissingExtra(missing("Drawing", "plot"))


@dataclass(frozen=True, eq=False)
class Picture:
    """A heat map of comparisons: a notebook shows it, `save` writes it.

    Attributes:
        comparisons: their documents.
        shares: the scores that are shown in percent.
        svg: the picture as SVG.
    """

    comparisons: Sequence[Mapping[str, Json]] = field(repr=False)
    shares: frozenset[str] = frozenset()
    svg: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Draw it. Raises MissingExtra."""
        from treescore.render.comparisons import render_comparisons  # noqa: PLC0415 - scores alone are not drawn

        require_drawing()
        drawn = render_comparisons(self.comparisons, "svg", None, self.shares).content.decode()
        object.__setattr__(self, "svg", drawn)

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the picture to a file, as its suffix says.

        Args:
            path: ends in `.svg` or `.png`.

        Raises:
            InputError: another suffix.
            OSError: the file cannot be written.
        """
        suffix = Path(path).suffix.lower()
        if suffix not in SUFFIXES:
            detail = f"Unknown suffix of {str(path)!r}. Use one of: {', '.join(SUFFIXES)}."
            raise InputError(Problem("bad-parameter", detail, pointer="/path"))
        if suffix == ".svg":
            Path(path).write_text(self.svg, encoding="utf-8")
            return
        from treescore.render.picture import png  # noqa: PLC0415 - the drawing library takes a second to load

        Path(path).write_bytes(png(self.comparisons, self.shares))
