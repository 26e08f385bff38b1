"""The pictures of README are those that the service draws of the example benchmarks."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import ROOT
from tests.fixtures.page_pictures import PICTURES, drawn
from tests.fixtures.servers import Valkey

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
"""Of the last score: it says when the picture was written."""


def test_the_pictures_are_as_the_service_draws_them(valkey: Valkey, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, text in drawn(tmp_path, valkey.url):
        kept = (PICTURES / name).read_text(encoding="utf-8")
        assert MOMENT.sub("", kept) == MOMENT.sub("", text), f"python -m tests.fixtures.page_pictures writes {name}"
        assert f"](docs/pictures/{name})" in readme
