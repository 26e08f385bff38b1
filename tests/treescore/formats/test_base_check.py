"""When a text of links is refused because its words seem to be counted from another number than the usual one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import make_format
from treescore.core.text import Limits
from treescore.core.trees import Vocabulary
from treescore.errors import InputError
from treescore.evaluation.spec import parse_format

CODE = "alignment-base-not-stated"


def refusal(name: str, text: str | bytes, **options) -> str:
    """Return why a text is refused for its base; empty if it is read."""
    found = None
    try:
        make_format(name, options).read(text if isinstance(text, bytes) else text.encode(), Vocabulary(), Limits())
    except InputError as error:
        [found] = error.problems
    assert found is None or found.code == CODE
    return "" if found is None else found.detail


def naacl(pairs: list[str]) -> str:
    return "".join(
        f"{number} {link.replace('-', ' ')}\n" for number, pair in enumerate(pairs, 1) for link in pair.split()
    )


@pytest.mark.parametrize("links", ["1-1", "1-1 2-2", "2-2 3-3", "1-1 0-2 2-2", "1-1 2-0 2-2", "1-2 2-1"])
def test_links_from_1_are_not_read_from_0_unless_that_is_stated(links: str) -> None:
    text = f"{links}\n" * 20
    assert '"talp" or {"name": "pharaoh", "base": 1}' in refusal("pharaoh", text)
    assert not refusal("pharaoh", text, base=0)
    assert not refusal("pharaoh", text, base=1)
    assert not refusal("pharaoh", f"{links}\n" * 19 + "\n" * 100)


def test_links_from_0_are_not_read_from_1_unless_that_is_stated() -> None:
    pairs = ["0-0 1-1", *["0-1 1-0"] * 9] * 2
    text = "\n".join(pairs) + "\n"
    assert '"pharaoh" or {"name": "talp", "base": 0}' in refusal("talp", text)
    assert '{"name": "naacl", "base": 0}' in refusal("naacl", naacl(pairs))
    assert '{"name": "naacl", "base": 0, "sentences": 20}' in refusal("naacl", naacl(pairs), sentences=20)
    for name, links in (("talp", text), ("naacl", naacl(pairs))):
        assert not refusal(name, links, base=0)
        assert not refusal(name, links, base=1)
    assert not refusal("pharaoh", text)


def test_an_alignment_in_a_parallel_treebank_is_judged_alike() -> None:
    tree = "1\tyes\t_\tI\t_\t_\t0\troot\t_\t_\n2\tyes\t_\tI\t_\t_\t1\tdep\t_\t_\n\n" * 20
    texts = {"source": tree.encode(), "target": tree.encode(), "alignment": b"1-1 2-2\n" * 20}
    with pytest.raises(InputError) as caught:
        parse_format("parallel").format.read(texts, Vocabulary(), Limits())
    assert (caught.value.problems[0].code, caught.value.problems[0].pointer) == (CODE, "/alignment")
    told = {"name": "parallel", "alignment": {"name": "pharaoh", "base": 1}}
    assert len(parse_format(told).format.read(texts, Vocabulary(), Limits())) == 20


def test_an_unstated_base_is_not_in_signatures() -> None:
    assert parse_format("pharaoh").document() == "pharaoh"
    assert parse_format({"name": "pharaoh", "base": 0}).document() == {"name": "pharaoh", "base": 0}


@given(
    seed=st.integers(0, 10_000),
    words=st.integers(1, 30),
    share=st.floats(0.2, 1),
    base=st.sampled_from([(0, "pharaoh"), (1, "talp")]),
)
def test_no_text_of_random_links_is_refused_under_its_own_base(seed: int, words: int, share: float, base) -> None:
    """Of the sentences each word is linked to its own place with this chance, some to places near it."""
    chance = random.Random(seed)  # noqa: S311 - texts for a test
    first, name = base
    lines = []
    for _ in range(60):
        linked = [word for word in range(words) if chance.random() < share]
        ends = [(word, min(max(word + chance.choice([0, 0, 0, 1, -1]), 0), words - 1)) for word in linked]
        lines.append(" ".join(f"{a + first}-{b + first}" for a, b in ends))
    assert not refusal(name, "\n".join(lines) + "\n")


@pytest.mark.slow
@pytest.mark.real
def test_real_alignments_and_parts_of_them_are_read_under_their_own_base_alone(real_data: Path) -> None:
    folder = real_data / "alignment_enfr"
    files = [(folder / "gold.talp", "talp"), *((path, "pharaoh") for path in sorted((folder / "systems").iterdir()))]
    assert not refusal("naacl", (folder / "gold.wa").read_bytes())
    chance = random.Random(1)  # noqa: S311 - parts of texts for a test
    for path, own in files:
        lines = path.read_text(encoding="utf-8").splitlines()
        other = {"talp": "pharaoh", "pharaoh": "talp"}[own]
        assert refusal(other, "\n".join(lines) + "\n"), path
        for count in (20, 50, 100, 447):
            start = chance.randrange(len(lines) - count + 1)
            part = lines[start : start + count]
            for share in (1.0, 0.3, 0.05):
                thin = [" ".join(link for link in line.split() if chance.random() < share) for line in part]
                assert not refusal(own, "\n".join(thin) + "\n"), (path, start, count, share)
