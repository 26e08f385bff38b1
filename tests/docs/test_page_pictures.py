"""The pictures of README are those that the service draws of the example benchmarks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fixtures.page_pictures import PICTURES, drawn
from tests.fixtures.servers import Valkey

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
"""Of the last score: it says when the picture was written."""
P = re.compile(r"(?<=>)\.\d{4}(?=<)")
"""A p: the seeds of a board are new in every store, so its last digit may be another."""


@pytest.mark.slow
def test_the_pictures_are_as_the_service_draws_them(valkey: Valkey, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, text in drawn(tmp_path, valkey.url):
        kept = (PICTURES / name).read_text(encoding="utf-8")
        assert _fixed(kept) == _fixed(text), f"python -m tests.fixtures.page_pictures writes {name}"
        assert _ps(text) == pytest.approx(_ps(kept), rel=0.15)
        assert f"](docs/pictures/{name})" in readme


def _fixed(picture: str) -> str:
    """Return what every store draws alike."""
    return P.sub("", MOMENT.sub("", picture))


def _ps(picture: str) -> list[float]:
    return [float(found) for found in P.findall(picture)]
