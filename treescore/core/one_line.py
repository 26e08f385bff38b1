"""Names and words on one line, for people: no character of them moves the cursor, hides or turns others."""

from __future__ import annotations

MAX_NAME = 200
"""Most characters of a name that tables show."""
NAME_RULE = f"A name has 1 to {MAX_NAME} printable characters, not all of them spaces."


def is_name(name: str) -> bool:
    """Tell whether tables can show a name."""
    return bool(name.strip()) and len(name) <= MAX_NAME and name.isprintable()


def clean(name: str) -> str:
    """Return a name on one line, without control characters."""
    if name.isprintable():  # the only space that counts as printable is the plain one
        return name
    return "".join(
        " " if character.isspace() else character
        for character in name
        if character.isprintable() or character.isspace()
    )
