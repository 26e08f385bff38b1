"""Outputs that stay are packed in fewer bytes, for all their owners, and are read as before."""

from __future__ import annotations

import random

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from service.store import texts
from service.store.packing import DamagedError, pack, unpack
from service.store.tables import texts as table
from service.store.texts import is_apart, packed_apart, unpack_text
from tests.fixtures.tasks import WRONG
from treescore.core.jit import forced

pytestmark = pytest.mark.slow
RNG = random.Random(7)  # noqa: S311 - no secret


def _sentence():
    words = [(f"w{RNG.randrange(400)}", RNG.choice("XY"), RNG.randrange(at)) for at in range(1, 9)]
    lines = [f"{at}\t{form}\t{form}\t{tag}\t_\t_\t{head}\tdep\t_\t_\n" for at, (form, tag, head) in enumerate(words, 1)]
    return "".join(lines).replace("\t0\tdep", "\t0\troot", 1).replace("\t0\tdep", "\t1\tdep") + "\n"


MANY = "".join(_sentence() for _ in range(60))
SYSTEM = MANY.replace("\t2\tdep", "\t1\tnmod", 3)


@pytest.fixture(autouse=True, scope="module")
def compiled():
    """Texts are taken apart by machine code only."""
    with forced("always"):
        yield


def stored(context):
    with context.store.read() as db:
        return {row.digest: row.body for row in db.execute(select(table))}


def test_a_scored_output_is_packed_anew_and_reads_the_same(task, context):
    task.make(parts={"en": {"gold": MANY}})
    with context.store.read() as db:
        before = {digest for digest, body in stored(context).items() if is_apart(body)}
    submission = task.scored(task.team(), SYSTEM)
    with context.store.read() as db:
        [(digest, body)] = texts.read_texts(db, submission).values()
    after = stored(context)
    assert body == SYSTEM.encode()
    assert {digest for digest, body in after.items() if is_apart(body)} - before == {digest}
    assert len(after[digest]) < len(pack(body))


def smaller(db, owner):
    packed = texts.read_packed(db, owner)
    return texts.smaller(packed, texts.unpacked(packed))


def test_another_owner_of_the_text_reads_the_same(context):
    body = SYSTEM.encode()
    with context.store.write() as db:
        texts.put(db, "one", {"a": body, "small": WRONG.encode()})
        texts.put(db, "two", {"b": body})
    with context.store.write() as db:
        bodies = smaller(db, "one")
        assert len(bodies) == 1  # the small one is not worth it
        texts.replace(db, bodies)
        assert smaller(db, "two") == {}
        texts.drop(db, ["one"])
        assert texts.read_texts(db, "two")["b"][1] == body
        texts.drop(db, ["two"])
        texts.replace(db, bodies)
        assert texts.read_texts(db, "two") == {}
        assert not set(bodies) & set(db.scalars(select(table.c.digest)))


def test_without_machine_code_a_text_stays_as_it_is():
    with forced("never"):
        assert packed_apart(SYSTEM.encode()) is None


def test_a_text_that_does_not_come_back_is_kept_as_it_is(monkeypatch):
    monkeypatch.setattr(texts, "put_together", lambda _streams, _size: b"another")
    assert packed_apart(SYSTEM.encode()) is None


@pytest.mark.parametrize("at", [10, 40, -1])
def test_a_changed_byte_is_noticed(at):
    body = packed_apart(SYSTEM.encode())
    assert body is not None
    assert unpack_text(body) == SYSTEM.encode()
    damaged = np.frombuffer(body, np.uint8).copy()
    damaged[at] ^= 1
    with pytest.raises(zstandard.ZstdError):
        unpack_text(damaged.tobytes())


@given(st.data())
@pytest.mark.parametrize("compiler", [True, False])
def test_streams_that_were_changed_under_a_right_checksum_are_noticed_or_a_text_of_the_size(compiler, data):
    whole = packed_apart(SYSTEM.encode())
    assert whole is not None
    raw = bytearray(unpack(whole.removeprefix(texts._APART)))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.sampled_from([0, 1, 2, 9, 10, 49, 255]))
    del raw[data.draw(st.none() | st.integers(0, len(raw))) :]
    try:
        with forced("always" if compiler else "never"):
            text = unpack_text(texts._APART + pack(bytes(raw)))
    except DamagedError:
        return
    assert len(text) == int.from_bytes(raw[:8], "little")
