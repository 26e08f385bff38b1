"""A whole comparison of real word alignments, figure by figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import ratio_score
from treescore.significance import Candidate, Settings, compare


@pytest.mark.slow
def test_the_published_example_on_real_alignments(real_data: Path, golden: Any) -> None:
    expected = golden("comparison_example")
    folder = real_data / "alignment_enfr"
    names = ("links", "sure", "in_sure", "in_possible")
    score = ratio_score("score", "1 - AER", {"in_sure": 1, "in_possible": 1}, {"links": 1, "sure": 1})
    gold = [line.split() for line in (folder / "gold.talp").read_text().splitlines()]
    candidates = []
    for system in expected["systems"]:
        text = (folder / "systems" / f"{system['name']}.pharaoh").read_text().splitlines()
        table = []
        for links, line in zip(gold, text, strict=True):
            sure = {link for link in links if "p" not in link}
            possible = {link.replace("p", "-") for link in links}
            found = {"-".join(str(int(end) + 1) for end in link.split("-")) for link in line.split()}
            table.append([len(found), len(sure), len(found & sure), len(found & possible)])
        candidates.append(Candidate(system["name"], (np.array(table),)))
    document = compare("1-AER", score, names, candidates, Settings())
    assert [each["score"] for each in document["systems"]] == pytest.approx([s["score"] for s in expected["systems"]])
    assert document["clusters"]["cluster"] == expected["clusters"]["cluster"]
    assert document["rank_ranges"] == expected["rank_ranges"]
    for pair, theirs in zip(document["pairs"], expected["pairs"], strict=True):
        assert pair["difference"] == pytest.approx(theirs["difference"], rel=1e-9)
        for key in ("p", "p_holm", "p_bh", "p_by", "p_adjusted"):
            assert pair[key] == pytest.approx(theirs[key], rel=0.01), key
        for key in ("a", "b", "null_swaps_log2", "significant"):
            assert pair[key] == theirs[key], key
        assert pair["effect"] == pytest.approx(theirs["effect"], rel=1e-9)
        width = pair["ci"]["high"] - pair["ci"]["low"]
        for end in ("low", "high"):
            assert pair["ci"][end] == pytest.approx(theirs["ci"][end], abs=0.05 * width)
