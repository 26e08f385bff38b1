"""Named arrays come back as they were packed, with the strings that they use."""

from __future__ import annotations

import numpy as np
import pytest
import zstandard

from service.store.packing import NamedArrays, pack, pack_named, unpack_named, with_own_strings


def test_arrays_strings_and_what_belongs_to_them_come_back() -> None:
    arrays = {"long": np.arange(100), "short": np.array([3, -1]), "none": np.zeros(0, np.int64)}
    named = unpack_named(pack_named(NamedArrays(arrays, ["a", "ö"], {"kind": "x", "names": [None, "s"]})))
    assert {name: values.tolist() for name, values in named.arrays.items()} == {
        name: values.tolist() for name, values in arrays.items()
    }
    assert named.strings == ["a", "ö"]
    assert named.about == {"kind": "x", "names": [None, "s"]}


def test_only_strings_that_are_used_are_kept_and_none_stays_none() -> None:
    arrays = {"forms": np.array([7, 2, 7]), "tags": np.array([-1, 2, 5]), "heads": np.array([7, 0, 1])}
    named = with_own_strings(arrays, ("forms", "tags"), list("abcdefgh"))
    strings = [*named.strings, None]
    assert [strings[number] for number in named.arrays["forms"].tolist()] == ["h", "c", "h"]
    assert [strings[number] for number in named.arrays["tags"].tolist()] == [None, "c", "f"]
    assert named.arrays["heads"].tolist() == [7, 0, 1]
    assert sorted(named.strings) == ["c", "f", "h"]


def test_damage_is_told() -> None:
    for body in (b"not packed", pack(b"\x02\x00\x00\x00[]"), pack(b"")):
        with pytest.raises(zstandard.ZstdError):
            unpack_named(body)
