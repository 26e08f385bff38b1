"""A bounded memory of what was used last."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from service.lru import LruCache


def test_the_least_recently_used_is_dropped_first() -> None:
    recent = LruCache[bytes](10, len)
    for name in "abc":
        recent.put(name, b"....")
        recent.get("a")
    assert [recent.get(name) for name in "abc"] == [b"....", None, b"...."]


def test_a_replaced_value_counts_once() -> None:
    recent = LruCache[bytes](10, len)
    for _ in range(5):
        recent.put("a", b"....")
    recent.put("b", b"......")
    assert recent.get("a") == b"...."
    assert recent.get("b") == b"......"


def test_a_value_that_alone_has_too_many_bytes_is_not_kept_and_drops_no_other() -> None:
    recent = LruCache[bytes](10, len)
    recent.put("a", b"....")
    recent.put("b", b"....")
    recent.put("a", b"." * 11)
    assert [recent.get(name) for name in "ab"] == [None, b"...."]


def test_threads_that_need_the_same_value_make_it_once() -> None:
    recent, made, together = LruCache[bytes](100, len), [], Barrier(4)

    def make() -> bytes:
        made.append(b"....")
        return b"...."

    def ask() -> bytes:
        together.wait()
        return recent.get_or_make("a", make)

    with ThreadPoolExecutor(4) as pool:
        found = [each.result() for each in [pool.submit(ask) for _ in range(4)]]
    assert found == [b"...."] * 4
    assert len(made) == 1
