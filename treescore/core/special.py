"""The functions of `scipy.special`, which takes 15 MB and is loaded when one of them is first used."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special  # noqa: PLC0415 - as the module says

    found = globals()[name] = getattr(special, name)
    return found
