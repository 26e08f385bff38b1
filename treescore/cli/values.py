"""Types of option values: each refuses another text as a usage error, with an example."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
import orjson
from click.shell_completion import CompletionItem

from treescore.core.params import Json
from treescore.core.suggestions import did_you_mean

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # older versions of click have no parameter for it

_RANGE = re.compile(r"(\d{0,9})-(\d{0,9})|\d{1,9}", re.ASCII)


def _shortened(value: str) -> str:
    return value if len(value) <= 60 else f"{value[:60]}..."


class JsonValue(ParamType):
    """JSON, or `@PATH` of a file that holds it."""

    name = "JSON"

    def __init__(self, example: str) -> None:
        self.example = example

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """Return the value that the JSON stands for."""
        if not isinstance(value, str):
            return value
        text = self.text_of(value, param, ctx)
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            self.refuse(f"{_shortened(value)!r} is not valid JSON: {error}.", param, ctx)

    def text_of(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text, or that of the file `@PATH`."""
        if not value.startswith("@"):
            return value
        if not value[1:]:
            self.refuse("A path is missing behind @.", param, ctx)
        try:
            return Path(value[1:]).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
            self.refuse(f"{value[1:]} cannot be read: {reason}.", param, ctx)

    def refuse(self, message: str, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
        """Raise the usage error, with the example."""
        self.fail(f"{message} {self.advice}", param, ctx)

    @property
    def advice(self) -> str:
        """What to give instead."""
        return f"Give JSON, as '{self.example}', or @PATH of a file that holds it."


class JsonObject(JsonValue):
    """A JSON object, or `@PATH` of a file that holds one."""

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """Return the object."""
        found = super().convert(value, param, ctx)
        if not isinstance(found, dict):
            self.refuse(f"{_shortened(str(value))!r} is not a JSON object.", param, ctx)
        return found

    @property
    def advice(self) -> str:
        """What to give instead."""
        return f"Give an object, as '{self.example}', or @PATH of a file that holds one."


class NameOrJson(JsonValue):
    """A name, or an object with a name, or `@PATH` of a file that holds one."""

    name = "NAME|JSON"

    def __init__(self, kind: str, example_name: str, example: str) -> None:
        super().__init__(example)
        self.kind = kind
        self.example_name = example_name

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """Return a name as it is, and JSON as its value."""
        if not isinstance(value, str):
            return value
        text = self.text_of(value, param, ctx).strip()
        return super().convert(text, param, ctx) if text.startswith(("{", "[", '"')) else text

    @property
    def advice(self) -> str:
        """What to give instead."""
        return f"Give a name, as {self.example_name}, or an object, as '{self.example}'."

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so."""
        from treescore.cli.names import completer  # noqa: PLC0415 - only a shell asks

        return completer(self.kind)(ctx, param, incomplete)


class MetricValue(NameOrJson):
    """A metric as `NameOrJson`; a string `@PATH` among its parameters stands for the text of that file."""

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """Return the name, or the object with texts in the places of paths."""
        found = super().convert(value, param, ctx)
        params = found.get("params") if isinstance(found, dict) else None
        if not isinstance(params, dict):
            return found
        texts = {name: self.text_of(each, param, ctx) for name, each in params.items() if is_path(each)}
        return {**found, "params": {**params, **texts}}


def is_path(value: Json) -> bool:
    """Return whether a parameter is `@PATH`, which stands for the text of that file."""
    return isinstance(value, str) and value.startswith("@")


class OneOf(click.Choice[str]):
    """One of a list of words; another one that is like it is suggested."""

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{error.message}{did_you_mean(value, self.choices)}", param, ctx)


class WholeNumber(click.IntRange):
    """A whole number that is not below a bound."""

    def __init__(self, least: int, example: int) -> None:
        super().__init__(least)
        self.example = example

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is not a whole number of {self.min} or more. Write it as {self.example}.", param, ctx)


class Number(click.FloatRange):
    """A number within bounds."""

    def __init__(self, least: float, most: float | None, example: float) -> None:
        super().__init__(least, most)
        self.example = example

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        try:
            return float(super().convert(value, param, ctx))
        except click.BadParameter:
            bounds = f"of {self.min:g} or more" if self.max is None else f"from {self.min:g} to {self.max:g}"
            self.fail(f"{value!r} is not a number {bounds}. Write it as {self.example:g}.", param, ctx)


class Pair(ParamType):
    """`NAME=VALUE`, as a pair."""

    def __init__(self, value: str, example: str) -> None:
        self.name = f"NAME={value}"
        self.example = example

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return name and value."""
        if isinstance(value, tuple):
            return value
        name, sign, rest = str(value).partition("=")
        if not (sign and name and rest):
            self.fail(f"{value!r} is not {self.name}. Write it as {self.example}.", param, ctx)
        return name, rest


class Lengths(ParamType):
    """A number, or a range of numbers: `12`, `10-20`, `40-`, `-5`."""

    name = "N|N-M"

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the range as it was written."""
        written = str(value).strip()
        found = _RANGE.fullmatch(written)
        if found is None or written == "-":
            self.fail(f"{value!r} is not a length. Write a number of words, as 12, or a range, as 10-20.", param, ctx)
        low, high = found.groups()
        if low and high and int(high) < int(low):
            self.fail(f"{value!r} ends before it begins. Write it as {high}-{low}.", param, ctx)
        return written


class Margin(ParamType):
    """A number above 0, in units of the score."""

    name = "X"

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = 0.0
        if not 0 < number < float("inf"):
            self.fail(f"{value!r} is not a margin. Give a number above 0, in units of the score, as 0.005.", param, ctx)
        return number
