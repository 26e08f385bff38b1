"""Fields of texts and addresses that people read: nothing in them hides, turns or runs anything."""

from __future__ import annotations

import re
from typing import ClassVar

from marshmallow import ValidationError

from service.requests import MAX_ABOUT, MAX_ADDRESS, MAX_NOTES
from service.schemas.checked_fields import Checked, Shape
from service.schemas.faults import Fault, wrong_type

_LINES = re.compile(r"[\t\r\n]")


class Notes(Checked):
    """Lines that people read."""

    shape: ClassVar[Shape] = {"type": "string", "maxLength": MAX_NOTES}
    most: ClassVar[int] = MAX_NOTES

    def check(self, value: object) -> object:
        """A text of bounded length, of printable characters, tabs and line ends."""
        if not isinstance(value, str):
            raise wrong_type("a string")
        if len(value) > self.most or not all(map(str.isprintable, _LINES.split(value))):
            detail = f"This must be a text of at most {self.most} printable characters."
            raise ValidationError([Fault("bad-value", detail)])
        return value


class AboutText(Notes):
    """A text of a benchmark's page, in Markdown."""

    shape: ClassVar[Shape] = {"type": "string", "maxLength": MAX_ABOUT}
    most: ClassVar[int] = MAX_ABOUT


class Address(Checked):
    """The address of a page that others follow: https, in ASCII, without a name and password."""

    pattern = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?#][A-Za-z0-9!#$%&'()*+,./:;=?@_~-]*)?", re.ASCII)

    def check(self, value: object) -> object:
        """An address that begins with https://."""
        if not isinstance(value, str):
            raise wrong_type("a string")
        if len(value) > MAX_ADDRESS or not self.pattern.fullmatch(value):
            detail = (
                f"This must be an address of at most {MAX_ADDRESS} characters that begins with https://, in ASCII, as "
                "https://example.org/paper.pdf. Write other characters as %C3%A9."
            )
            raise ValidationError([Fault("bad-address", detail)])
        return value

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {"type": "string", "pattern": f"^{self.pattern.pattern}$", "maxLength": MAX_ADDRESS}
