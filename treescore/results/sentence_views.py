"""A sentence beside gold as a view that can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treescore.core.figures import PERCENT, Unit
from treescore.errors import InputError, Problem
from treescore.results.views import FORMS, View, check_form

if TYPE_CHECKING:
    from treescore.render.sentence_shapes import AlignmentSentence, ConstituentSentence, DependencySentence


@dataclass(frozen=True, eq=False, repr=False)
class SentenceView(View):
    """Gold and output of one sentence: rows as every view has them, and a picture of both.

    Attributes:
        drawing: what the picture shows; None where the metric compares what cannot be drawn, or the output has other
            words than gold.
        name: of the picture, for its ids.
    """

    drawing: DependencySentence | ConstituentSentence | AlignmentSentence | None = None
    name: str = "sentence"

    @property
    def forms(self) -> Sequence[str]:  # type: ignore[override]
        """What `render` returns: the forms of every view, and `svg` where there is a picture."""
        return FORMS if self.drawing is None else (*FORMS, "svg")

    def svg(self) -> str:
        """Return the picture as SVG: gold above, the output below, what differs in colour.

        Raises:
            InputError: the sentence has no picture.
        """
        if self.drawing is None:
            detail = (
                "This sentence has no picture: the metric compares neither dependencies, brackets nor links, or the "
                "output has other words than gold."
            )
            raise InputError(Problem("bad-parameter", detail, pointer="/form"))
        from treescore.render.sentence_pictures import sentence_svg  # noqa: PLC0415 - scores alone are not drawn

        return sentence_svg(self.drawing, self.name)

    def render(self, form: str, unit: Unit = PERCENT) -> str:
        """Return one of `forms`. Raises InputError for an unknown form or unit."""
        if form != "svg":
            return super().render(form, unit)
        check_form(form, (*FORMS, "svg"), unit)
        return self.svg()

    def _repr_svg_(self) -> str | None:
        return None if self.drawing is None else self.svg()

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self.drawing is None else f"{self.svg()}\n{super()._repr_html_()}"
