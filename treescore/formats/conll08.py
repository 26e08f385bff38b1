"""CoNLL-2008: eleven columns a word and one for each predicate; the dependencies are read as CoNLL-X."""

from __future__ import annotations

from typing import ClassVar

from treescore.core.registry import register
from treescore.formats.conll09 import WideColumns


@register
class Conll08(WideColumns):
    """The format of the CoNLL-2008 shared task (Surdeanu et al. 2008), of which the dependencies are read.

    As in eval08.pl, a word is its SPLIT_FORM. GPOS and PPOSS are kept as `upos` and `xpos`. Predicates and their
    arguments are left out. Otherwise as `conllx`.
    """

    name: ClassVar[str] = "conll08"
    doc: ClassVar[str] = (
        "CoNLL-2008, dependencies: ID FORM LEMMA GPOS PPOS SPLIT_FORM SPLIT_LEMMA PPOSS HEAD DEPREL PRED [ARG ...]."
    )
    source: ClassVar[str] = "Surdeanu et al. 2008, https://aclanthology.org/W08-2121"
    suffixes: ClassVar[tuple[str, ...]] = (".conll08",)
    columns = tuple(
        "ID FORM LEMMA GPOS PPOS SPLIT_FORM SPLIT_LEMMA PPOSS HEAD DEPREL PRED".split()  # noqa: SIM905 - as in the task's description
    )
    places = (0, 5, 6, 3, 7, None, 8, 9, None, None)
    example = (
        "1\tThe\tthe\tDT\tDT\tThe\tthe\tDT\t2\tNMOD\t_\t_\n"
        "2\tcafé-bar\tcafé-bar\tNN\tNN\tcafé\tcafé\tNN\t3\tSBJ\t_\tA1\n"
        "3\tcloses\tclose\tVBZ\tVBZ\tcloses\tclose\tVBZ\t0\tROOT\tclose.01\t_\n\n"
        "1\tHere\there\tRB\tRB\tHere\there\tRB\t0\tROOT\t_\n\n"
    ).encode()
