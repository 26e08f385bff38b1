"""A bounded memory of what was used last."""

from __future__ import annotations

from service.recent import Recent


def test_the_least_recently_used_is_dropped_first() -> None:
    recent = Recent[bytes](10, len)
    for name in "abc":
        recent.put(name, b"....")
        recent.get("a")
    assert [recent.get(name) for name in "abc"] == [b"....", None, b"...."]


def test_a_replaced_value_counts_once() -> None:
    recent = Recent[bytes](10, len)
    for _ in range(5):
        recent.put("a", b"....")
    recent.put("b", b"......")
    assert recent.get("a") == b"...."
    assert recent.get("b") == b"......"


def test_a_value_that_alone_has_too_many_bytes_is_not_kept() -> None:
    recent = Recent[bytes](10, len)
    recent.put("a", b"." * 11)
    assert recent.get("a") is None
