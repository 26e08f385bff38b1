"""How the numbers of a text of word links were read, and the formats under which they would be read otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import orjson

_SAME_SYNTAX = {("pharaoh", 1): "talp", ("talp", 0): "pharaoh"}
"""The format of the same lines whose words count from another base."""
IN_A_BENCHMARK = "In a benchmark, its organiser states the base in the benchmark's format."


@dataclass(frozen=True, slots=True)
class LinkForm:
    """The format of a text of links, with the options that decide what its numbers mean.

    Attributes:
        format: its name.
        base: number of a sentence's first word.
        reversed: whether the text writes the target word first.
        stated: whether the request states the base.
        options: further options of the format, as JSON without braces; empty for none.
        nested: whether it is the option `alignment` of the format `parallel`.
    """

    format: str
    base: int
    reversed: bool
    stated: bool
    options: str = ""
    nested: bool = False

    def with_base(self, base: int, *, turned: bool = False) -> LinkForm:
        """Return the form with a stated base, and the other direction if `turned`."""
        return replace(self, base=base, reversed=self.reversed != turned, stated=True)

    @property
    def value(self) -> str:
        """The format as a request writes it, with the base: `{"name": "pharaoh", "base": 1}`."""
        members = [f'"name": {_json(self.format)}', f'"base": {self.base}']
        members += ['"reversed": true'] * self.reversed + [self.options] * bool(self.options)
        return f"{{{', '.join(members)}}}"

    @property
    def words(self) -> str:
        """The format as a request writes it, or the short name of another that says the same."""
        short = None if self.reversed or self.options else _SAME_SYNTAX.get((self.format, self.base))
        named = f'"{short}" or {self.value}' if short else self.value
        return f'{{"name": "parallel", "alignment": {self.value}}}' if self.nested else named


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
