"""Files with gold are for their owner, whole or missing, and never an error."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service.store import gold_files
from service.store.gold_files import GoldFiles
from tests.fixtures.processes import log_lines

REVISION, KEY, BODY = "rev_1", "sha256:key", bytes(range(256)) * 4
PATH = Path("gold") / REVISION / "0.gold"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def files(tmp_path: Path) -> GoldFiles:
    return GoldFiles(tmp_path / "gold", 10**6)


@pytest.fixture
def file(files: GoldFiles, tmp_path: Path) -> Path:
    """A file that is kept."""
    files.write(REVISION, 0, KEY, BODY)
    return tmp_path / PATH


def test_what_is_written_is_read_by_its_owner_only(files: GoldFiles, file: Path) -> None:
    assert files.read(REVISION, 0, KEY) == BODY
    assert mode_of(files.folder) == mode_of(file.parent) == 0o700
    assert mode_of(file) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["0.gold"]


def test_nothing_is_read_that_was_not_written(files: GoldFiles) -> None:
    with log_lines() as lines:
        assert files.read(REVISION, 0, KEY) is None
    assert lines == []


def test_a_file_of_another_key_counts_as_missing_and_is_replaced(files: GoldFiles, file: Path) -> None:
    assert files.read(REVISION, 0, "sha256:other") is None
    files.write(REVISION, 0, "sha256:other", b"new")
    assert files.read(REVISION, 0, "sha256:other") == b"new"
    assert files.read(REVISION, 0, KEY) is None


def test_a_file_that_was_cut_off_counts_as_missing(files: GoldFiles, file: Path) -> None:
    whole = file.read_bytes()
    for length in range(0, len(whole), 7):
        file.write_bytes(whole[:length])
        assert files.read(REVISION, 0, KEY) is None
    file.write_bytes(whole + b"\0")
    assert files.read(REVISION, 0, KEY) is None


def test_a_file_with_a_changed_bit_counts_as_missing(files: GoldFiles, file: Path) -> None:
    whole = file.read_bytes()
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 1 << position % 8
        file.write_bytes(changed)
        assert files.read(REVISION, 0, KEY) is None
    files.write(REVISION, 0, KEY, BODY)
    assert files.read(REVISION, 0, KEY) == BODY


def test_a_limit_of_zero_makes_no_folder(tmp_path: Path) -> None:
    files = GoldFiles(tmp_path / "gold", 0)
    files.write(REVISION, 0, KEY, BODY)
    assert files.read(REVISION, 0, KEY) is None
    assert not files.folder.exists()


def test_a_nearly_full_disk_keeps_nothing_and_is_logged_once(files: GoldFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2**20))
    with log_lines() as lines:
        for position in range(3):
            files.write(REVISION, position, KEY, BODY)
            assert files.read(REVISION, position, KEY) is None
    assert [(line["event"], line["level"]) for line in lines] == [("gold-not-kept", "warning")]


def test_a_disk_that_fills_up_leaves_no_half_file(files: GoldFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with log_lines() as lines:
        files.write(REVISION, 0, KEY, BODY)
        files.write(REVISION, 1, KEY, BODY)
    assert list(files.folder.glob("*/*")) == []
    assert [line["detail"].partition(".")[0] for line in lines] == ["No space left on device"]


def open_to_all(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)


def a_link(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "elsewhere")


@pytest.mark.parametrize("spoil", [open_to_all, a_link, Path.touch])
def test_a_folder_that_is_not_for_its_owner_alone_is_not_used(files: GoldFiles, spoil: Any, tmp_path: Path) -> None:
    spoil(files.folder)
    with log_lines() as lines:
        files.write(REVISION, 0, KEY, BODY)
        assert files.read(REVISION, 0, KEY) is None
    assert len(lines) == 1
    assert list(tmp_path.rglob("*.gold")) == []


def test_the_oldest_files_are_deleted_beyond_the_limit(files: GoldFiles) -> None:
    sizes = []
    for number in range(3):
        files.write(f"rev_{number}", 0, KEY, os.urandom(1000))
        path = files.folder / f"rev_{number}" / "0.gold"
        sizes.append(path.stat().st_size)
        os.utime(path, (number, number))
    assert files.read("rev_0", 0, KEY) is not None
    GoldFiles(files.folder, sum(sizes)).write("rev_3", 0, KEY, b"small")
    left = [number for number in range(4) if files.read(f"rev_{number}", 0, KEY) is not None]
    assert left == [0, 2, 3]


def test_only_files_of_the_dropped_revisions_are_deleted(files: GoldFiles, file: Path) -> None:
    files.write("rev_2", 0, KEY, BODY)
    notes = files.folder / "rev_2" / "notes.txt"
    notes.touch()
    assert files.revisions() == [REVISION, "rev_2"]
    files.drop([REVISION, "rev_2", "rev_3"])
    assert not file.parent.exists()
    assert list(notes.parent.iterdir()) == [notes]


def test_nothing_is_listed_or_deleted_in_a_folder_that_others_may_have_filled(files: GoldFiles, tmp_path: Path) -> None:
    elsewhere = tmp_path / "treebank"
    elsewhere.mkdir()
    (elsewhere / "wsj.gold").touch()
    files.folder.mkdir()
    files.folder.chmod(0o777)
    (files.folder / "rev_2").symlink_to(elsewhere)
    assert files.revisions() == []
    files.drop(["rev_2"])
    assert (elsewhere / "wsj.gold").exists()


def test_half_a_file_of_a_killed_process_is_deleted_with_its_revision(files: GoldFiles, file: Path) -> None:
    (file.parent / f".half{gold_files.SUFFIX}").touch()
    files.drop([REVISION])
    assert not file.parent.exists()


def test_of_two_writers_at_once_the_last_one_stays(files: GoldFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def overtaken(partial: str, path: Path) -> None:
        monkeypatch.setattr(os, "replace", replace)
        files.write(REVISION, 0, KEY, BODY)
        assert files.read(REVISION, 0, KEY) == BODY
        replace(partial, path)

    monkeypatch.setattr(os, "replace", overtaken)
    files.write(REVISION, 0, KEY, BODY[::-1])
    assert files.read(REVISION, 0, KEY) == BODY[::-1]
    assert len(list(files.folder.glob("*/*"))) == 1


@pytest.mark.parametrize(("module", "step"), [(Path, "mkdir"), (tempfile, "mkstemp"), (os, "replace"), (Path, "glob")])
def test_a_revision_that_is_deleted_while_its_file_is_written_is_no_fault_of_the_folder(
    files: GoldFiles, file: Path, monkeypatch: pytest.MonkeyPatch, module: Any, step: str
) -> None:
    original = getattr(module, step)

    def overtaken(*given: Any, **options: Any) -> Any:
        if step == "mkdir" and given[0] != file.parent:
            return original(*given, **options)
        monkeypatch.setattr(module, step, original)
        files.drop([REVISION])
        if step in ("mkdir", "glob"):  # what they raise where the folder goes between two of their own calls
            raise FileExistsError if step == "mkdir" else FileNotFoundError
        return original(*given, **options)

    monkeypatch.setattr(module, step, overtaken)
    with log_lines() as lines:
        files.write(REVISION, 0, KEY, BODY)
        assert files.read(REVISION, 0, KEY) is None
        files.write(REVISION, 0, KEY, BODY)
        assert files.read(REVISION, 0, KEY) == BODY
    assert lines == []
