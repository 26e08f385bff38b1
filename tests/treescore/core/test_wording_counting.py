"""A number and its noun."""

import pytest

from treescore.core.wording import counted, told_apart


@pytest.mark.parametrize(("number", "shown"), [(0, "0 words"), (1, "1 word"), (2, "2 words"), (21, "21 words")])
def test_one_thing_is_singular(number, shown):
    assert counted(number, "word") == shown


def test_a_noun_may_have_a_plural_of_its_own():
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]


@pytest.mark.parametrize(
    ("found", "gold", "said"),
    [
        ("cafe\u0301s", "caf\u00e9s", "U+0065 (LATIN SMALL LETTER E) U+0301 (COMBINING ACUTE ACCENT), gold U+00E9"),
        (
            "caf\u00e9s",
            "cafe\u0301s",
            "gold U+0065 (LATIN SMALL LETTER E) U+0301 (COMBINING ACUTE ACCENT): equal after NFC",
        ),
        ("\ud55c", "\u1112\u1161\u11ab", "equal after NFC"),
        ("\ufb01n", "fin", "equal after NFKC"),
        ("Aa", "A\u0430", "U+0061 (LATIN SMALL LETTER A), gold U+0430 (CYRILLIC SMALL LETTER A)."),
        ("a-b", "a\u2013b", "U+002D (HYPHEN-MINUS), gold U+2013 (EN DASH)."),
        ("a", "a\u200b", "The output has nothing there, gold U+200B (ZERO WIDTH SPACE)."),
        ("abc", "abd", ""),
        ("ab", "abc", ""),
        ("\u064a", "\u06cc", "U+064A (ARABIC LETTER YEH), gold U+06CC (ARABIC LETTER FARSI YEH)."),
        ("-1", "\u22121", "gold U+2212 (MINUS SIGN)."),
        ("e", "\u00e9", "gold U+00E9"),
        ("\u4e2d", "\u56fd", ""),
    ],
)
def test_differences_that_cannot_be_seen_are_said(found: str, gold: str, said: str) -> None:
    assert said in told_apart(found, gold)
    assert bool(said) == bool(told_apart(found, gold))
