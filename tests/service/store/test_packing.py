"""Arrays are read back as they were written."""

from __future__ import annotations

import numpy as np
import pytest
import zstandard

from service.store.packing import pack, pack_array, unpack_array


@pytest.mark.parametrize(
    "values",
    [
        np.arange(12).reshape(4, 3), np.array([[-1, 300], [2**40, 0]]), np.array([[0.25, 1e-300]]),
        np.zeros((0, 5), np.int64), np.arange(1_000) // 7, np.arange(9) % 2 == 0,
    ],
    ids=["small", "wide", "real", "none", "offsets", "bits"],
)  # fmt: skip
def test_arrays_are_read_back(values):
    back = unpack_array(pack_array(values))
    assert back.dtype == values.dtype
    assert np.array_equal(back, values)


def test_bits_and_growing_numbers_take_few_bytes():
    draws = np.random.default_rng(1).integers(0, 60_000, 5_000)
    assert len(pack_array(draws % 2 == 0)) < 5_000 / 4
    assert len(pack_array(draws % 7)) < 5_000


def test_damage_is_told():
    for body in (b"not packed", pack(b"\x02\x00\x00\x00[]"), pack(b""), pack_array(np.arange(9))[:-5]):
        with pytest.raises(zstandard.ZstdError):
            unpack_array(body)
