"""Draw with matplotlib so that equal documents give equal bytes; describe pictures for readers who cannot see them."""

from __future__ import annotations

import io
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from xml.sax.saxutils import escape

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

_LOCK = threading.Lock()
"""Matplotlib's settings and font cache belong to the process, so one picture is drawn at a time."""
_STYLE = {
    "svg.hashsalt": "treescore",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "text.usetex": False,
    "hatch.linewidth": 0.4,
}


def drawn_png(inches: tuple[float, float], draw: Callable[[Any], None]) -> bytes:
    """Return the PNG of such a figure."""
    out = io.BytesIO()
    with _figure(inches, draw) as figure:
        FigureCanvasAgg(figure).print_png(out, metadata={"Software": None})
    return out.getvalue()


def drawn(inches: tuple[float, float], draw: Callable[[Any], None]) -> str:
    """Return the SVG of a figure of this size that `draw` fills."""
    out = io.StringIO()
    with _figure(inches, draw) as figure:
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})
    return out.getvalue()


@contextmanager
def _figure(inches: tuple[float, float], draw: Callable[[Any], None]) -> Iterator[Any]:
    """Yield a figure while the settings hold under which it is drawn and written."""
    with _LOCK, mpl.rc_context(_STYLE), warnings.catch_warnings():
        # Names may be in scripts that the measuring font lacks; the viewer's fonts draw them.
        warnings.simplefilter("ignore", UserWarning)
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure)
        yield figure


def accessible(svg: str, title: str, words: str) -> str:
    """Return the SVG with a title and a description."""
    head = '<svg role="img" aria-labelledby="treescore-title treescore-desc" '
    svg = svg.replace("<svg ", head, 1)
    inside = (
        f'\n <title id="treescore-title">{escape(title)}</title>\n <desc id="treescore-desc">{escape(words)}</desc>'
    )
    opened = re.search(r"<svg [^>]*>", svg)
    if opened is None:
        return svg
    return svg[: opened.end()] + inside + svg[opened.end() :]
