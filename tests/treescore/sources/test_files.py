"""Files, compressed files, archives and folders as texts, and what is said of those that cannot be read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import stat
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from treescore import InputError, score
from treescore.cli.files import ended
from treescore.errors import FilePath, TreescoreWarning
from treescore.sources import files as files_module
from treescore.sources import texts
from treescore.sources.texts import StandardInput, format_choice, format_of, read_source

FIRST = "1\tGo\t_\tX\t_\t_\t0\troot\t_\t_\n2\thome\t_\tX\t_\t_\t1\tadvmod\t_\t_\n"
PACKED = gzip.compress(FIRST.encode(), mtime=0)  # without a time, so that every process collects the same tests
SECOND = "1\tYes\t_\tX\t_\t_\t0\troot\t_\t_\n"
BAD = "1\tYes\t_\tX\t_\t_\t7\troot\t_\t_\n"
TREE = "(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n"
CONLLU = format_choice("conllu", "/format")


def problem(source: object, name: str = "conllu") -> tuple[str, str]:
    with pytest.raises(InputError) as caught:
        read_source(source, format_choice(name, "/format"), "/gold")
    return caught.value.problems[0].code, caught.value.problems[0].detail


def folder(path: Path, **texts_by_name: str | bytes) -> Path:
    for name, text in texts_by_name.items():
        file = path / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def zipped(path: Path, entries: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".zip"])
def test_a_packed_text_is_read_as_the_text_in_it(tmp_path: Path, suffix: str) -> None:
    plain = tmp_path / "gold.conllu"
    plain.write_text(FIRST, encoding="utf-8")
    packed = tmp_path / f"gold.conllu{suffix}"
    if suffix == ".zip":
        zipped(packed, {"gold.conllu": FIRST})
    elif suffix == ".gz":
        packed.write_bytes(gzip.compress(FIRST[:20].encode()) + gzip.compress(FIRST[20:].encode()))
    else:
        zstandard = pytest.importorskip("zstandard", reason="zstandard is an extra")
        packed.write_bytes(b"".join(zstandard.compress(part.encode()) for part in (FIRST[:20], FIRST[20:])))
    assert format_of(packed) == "conllu"
    result = score(plain, [packed])
    assert list(result) == ["gold"]
    assert result["gold"]["ud"] == 1.0
    assert read_source(packed, CONLLU, "").digest == read_source(plain, CONLLU, "").digest


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("en.conllu", "en"), ("gold/en.v2.conllu.gz", "en"), ("en.source.mrg", "en/source"), ("en/source", "en/source"),
        ("gold/en-fr_target.txt", "en-fr/target"), (".conllu", ""),
    ],
)  # fmt: skip
def test_a_file_is_named_after_a_part_and_one_of_its_texts(name: str, part: str) -> None:
    assert files_module.part_of(name, ("source", "target")) == part


def test_a_missing_zstandard_is_named_with_the_command_that_installs_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "x.conllu.zst").write_bytes(b"x")
    code, detail = problem(tmp_path / "x.conllu.zst")
    assert code == "missing-extra"
    assert problem(tmp_path / "y.conllu.zst")[0] == "unreadable-file"
    assert "pip install 'treescore[zstd]'" in detail


@pytest.mark.parametrize("ends", ["", "\n", "\r\n\r\n"])
def test_a_folder_is_its_texts_in_order_without_sentences_that_run_together(tmp_path: Path, ends: str) -> None:
    first = FIRST.rstrip("\n").replace("\n", "\r\n" if "\r" in ends else "\n") + ends
    gold = folder(tmp_path / "gold", b_conllu="\ufeff" + SECOND, a_conllu=first, _DS_Store=b"\0\0")
    output = zipped(
        tmp_path / "A.zip", {"A/b.conllu": SECOND, "A/a.conllu": FIRST, "__MACOSX/A/._a.conllu": b"\0", "A/": ""}
    )
    result = score(gold, [output])
    assert result["A"].metrics["ud"]["counts"]["words"]["gold"] == 3
    assert result["A"]["ud.words_f1"] == 1.0
    assert result.report.document["systems"][0]["metrics"]["ud"]["sentences"]["total"] == 2


def test_problems_of_joined_texts_name_the_file_and_its_line(tmp_path: Path, capsys) -> None:
    gold = folder(tmp_path / "gold", a_conllu=FIRST, b_conllu=SECOND)
    output = folder(tmp_path / "out", a_conllu=FIRST, b_conllu=BAD)
    with pytest.raises(InputError) as caught:
        score(gold, [output])
    found = caught.value.problems[0]
    assert (found.code, found.pointer, found.line) == ("conllu-head-out-of-range", str(output / "b.conllu"), 1)
    ended(caught.value)
    assert capsys.readouterr().err.startswith(f"{output}/b.conllu, line 1, column 7")
    with pytest.raises(InputError) as caught:
        score(output, [gold])
    assert (caught.value.problems[0].pointer, caught.value.problems[0].line) == (str(output / "b.conllu"), 1)


def test_warnings_of_joined_texts_name_the_file_and_its_line(tmp_path: Path) -> None:
    gold = folder(tmp_path / "gold", a_conllu=FIRST, b_conllu=SECOND)
    output = folder(tmp_path / "out", a_conllu=FIRST, b_conllu="\n\n\n" + SECOND)
    with pytest.warns(TreescoreWarning, match=r"^out, .*out/b\.conllu, line 1: .* \(2 more like this\)"):
        result = score(gold, [output])
    warned = {(warning["pointer"], warning["line"]) for warning in result.warnings}
    assert warned == {(str(output / "b.conllu"), line) for line in (1, 2, 3)}


def test_a_new_document_begins_with_each_file_if_one_has_documents(tmp_path: Path) -> None:
    gold = folder(tmp_path / "gold", a_conllu="# newdoc id = x\n" + FIRST, b_conllu=SECOND, c_conllu=SECOND)
    read = read_source(gold, CONLLU, "/gold")
    assert isinstance(read.text, bytes)
    assert read.text.count(b"# newdoc") == 3


@pytest.mark.parametrize(
    ("name", "one", "two", "code"),
    [
        ("bracketed", TREE, "(S\n (X (A b))\n)\n", "files-differ"),
        ("bracketed", "(S\n (A b))\n(S\n (X (A b)\n)\n", "(S\n (X (A b)))\n)\n", "bracket-unclosed"),
        ("bracketed", "(S\n (X (A b)))\n)\n", "(S\n (X (A b)))\n", "bracket-unopened"),
        ("naacl", "1 1 1\n", "0001 2 2\n", "files-differ"),
        ("conllu", FIRST, "", "empty-text"),
        ("conllu", FIRST, b"\xff\n", "invalid-utf8"),
    ],
)
def test_texts_that_would_run_together_are_refused_with_their_file(tmp_path: Path, name, one, two, code) -> None:
    with pytest.raises(InputError) as caught:
        read_source(folder(tmp_path / "x", a_txt=one, b_txt=two), format_choice(name, ""), "/gold")
    assert caught.value.problems[0].code == code
    assert isinstance(caught.value.problems[0].pointer, FilePath)


def test_gold_and_outputs_have_the_same_files(tmp_path: Path) -> None:
    gold = folder(tmp_path / "gold", a_conllu=FIRST, b_conllu=SECOND)
    output = folder(tmp_path / "out", a_conllu=FIRST, c_conllu=SECOND)
    with pytest.raises(InputError, match=r"The output lacks b and has c, which gold has not\.") as caught:
        score(gold, [output])
    assert (caught.value.problems[0].code, caught.value.problems[0].pointer) == ("files-differ", str(output))


def test_each_text_of_a_parallel_treebank_may_be_a_folder(tmp_path: Path) -> None:
    trees = folder(tmp_path / "trees", a_conllu=SECOND, b_conllu=SECOND)
    links = folder(tmp_path / "links", a_pharaoh="0-0", b_pharaoh="0-0\n")
    gold = {"source": trees, "target": trees, "alignment": links}
    assert score(gold, {"A": gold}, format="parallel")["A"]["parallel_treebank.pts"] == 1.0
    bad = folder(tmp_path / "bad", a_pharaoh="0-0", b_pharaoh="0-x\n")
    with pytest.raises(InputError) as caught:
        score(gold, {"A": {**gold, "alignment": bad}}, format="parallel")
    assert (caught.value.problems[0].pointer, caught.value.problems[0].line) == (str(bad / "b.pharaoh"), 1)


def tarred(form: int) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        entry = tarfile.TarInfo("x.conllu")
        entry.size = len(FIRST)
        archive.addfile(entry, io.BytesIO(FIRST.encode()))
    return packed.getvalue()[:512]


def zip_of(method: int = zipfile.ZIP_STORED, name: str = "é") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr(name, FIRST)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "code", "said"),
    [
        ("x.conllu.gz", b"plain", "damaged-archive", "not a whole gzip file"),
        ("x.conllu.gz", PACKED[:-9], "damaged-archive", "truncated gzip"),
        ("x.conllu.gz", gzip.compress(FIRST.encode() * 99, mtime=0)[:30] + b"x" * 40, "damaged-archive", "gzip file"),
        ("x.zip", b"plain", "damaged-archive", "not a whole zip archive"),
        ("x.conllu.gz", b"Rar!\x1a\x07", "damaged-archive", "It is a rar archive. Compress it again"),
        ("x.zip", b"7z\xbc\xaf\x27\x1c", "damaged-archive", "It is a 7z archive. Copy or pack it again"),
        ("x.conllu", PACKED, "packed-text", "gzip file. Send the text that it holds"),
        ("x.conllu", b"PK\x03\x04rest", "packed-text", "zip archive"),
        ("x.conllu", b"PK\x03\x04word/document.xml", "packed-text", "Word document (docx)"),
        ("x.conllu", b"PK\x03\x04xl/workbook.xml", "packed-text", "Excel workbook (xlsx)"),
        ("x.conllu", bz2.compress(b"x", 1), "packed-text", "bzip2 file"),
        ("x.conllu", lzma.compress(b"x"), "packed-text", "xz file"),
        ("x.conllu", lzma.compress(b"x", format=lzma.FORMAT_ALONE), "packed-text", "lzma file"),
        ("x.conllu", b"7z\xbc\xaf\x27\x1c", "packed-text", "7z archive"),
        ("x.conllu", b"PAR1\x15", "packed-text", "Parquet file"),
        ("x.conllu", pickle.dumps([1]), "packed-text", "Python pickle"),
        ("x.conllu", tarred(tarfile.USTAR_FORMAT), "packed-text", "a tar archive. Send the text that it holds"),
        ("x.conllu", tarred(tarfile.PAX_FORMAT), "packed-text", "a tar archive"),
        ("x.conllu.gz", gzip.compress(tarred(tarfile.GNU_FORMAT), mtime=0), "packed-text", "a tar archive"),
        ("x.tgz", gzip.compress(tarred(tarfile.GNU_FORMAT), mtime=0), "packed-text", "a tar archive packed with gzip"),
        ("x.conllu", FIRST.encode("utf-16"), "invalid-utf8", "UTF-16. Save the file as UTF-8"),
        ("x.conllu", FIRST.encode("utf-16-be"), "invalid-utf8", "UTF-16"),
        ("x.conllu", FIRST.encode("utf-32"), "invalid-utf8", "is UTF-32. Save"),
        ("x.conllu", FIRST.encode("utf-32-le"), "invalid-utf8", "UTF-32 without a byte order mark"),
        ("x.conllu", "слово\tимя\n".encode("utf-16-le"), "invalid-utf8", "UTF-16 without a byte order mark"),
        ("x.conllu", b"ID3\x03\0\0\0\0\0\0", "nul-character", "may be binary"),
        ("x.conllu", b"1\ta\0\0\0\0\n", "nul-character", "may be binary"),
        ("x.conllu", b"\x7fELF\x02\x01\x01\0\0\0", "packed-text", "a program"),
        ("x.conllu", b"\n<!doctype HTML><title>404</title>", "packed-text", "a web page"),
        ("x.conllu", b'<?xml version="1.0"?>\n<Error><Code>NoSuchKey', "packed-text", "an error of a server"),
        ("x.conllu", b'{"detail": "Not found"}', "packed-text", "a JSON document"),
        ("x.conllu", b"version https://git-lfs.github.com/spec/v1\n", "packed-text", "git lfs pull"),
        ("x.zip", zip_of(zipfile.ZIP_LZMA), "unsafe-archive", "Pack it with deflate"),
        ("x.zip", zip_of().replace("é".encode(), b"\xc3("), "damaged-archive", "a damaged zip archive"),
        ("x.zip", zip_of(name="y").replace(b"\x01\0\0\0y", b"\0\0\0\0y"), "damaged-archive", "zip archive"),
        ("x.conllu", FIRST.encode() + b"\0", "nul-character", "NUL"),
    ],
)
def test_a_file_that_is_no_text_is_named_for_what_it_is(tmp_path: Path, name, content, code, said) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        score(tmp_path / name, FIRST, "ud", format="conllu")
    assert caught.value.problems[0].code == code
    assert said in caught.value.problems[0].detail


@pytest.mark.parametrize(
    ("entries", "code", "said"),
    [
        ({}, "empty-archive", "without files"),
        ({".hidden": "x"}, "empty-archive", "without files"),
        ({"../x.conllu": FIRST}, "unsafe-archive", "leads out of the archive"),
        ({"/etc/x.conllu": FIRST}, "unsafe-archive", "leads out of the archive"),
        ({"a\\..\\..\\x": FIRST}, "unsafe-archive", "leads out of the archive"),
        ({"C:/x": FIRST}, "unsafe-archive", "leads out of the archive"),
        ({"inner.zip": b"PK"}, "unsafe-archive", "holds the archive"),
        ({"x.conllu.gz": b"PK"}, "unsafe-archive", "holds the archive"),
    ],
)
def test_archives_that_are_no_texts_are_refused(tmp_path: Path, entries, code, said) -> None:
    found = problem(zipped(tmp_path / "x.zip", entries))
    assert found[0] == code
    assert said in found[1]


def test_links_encrypted_entries_and_repeated_names_in_archives_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("x.conllu")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "holds the link" in problem(tmp_path / "link.zip")[1]
    locked = bytearray(zipped(tmp_path / "locked.zip", {"x.conllu": FIRST}).read_bytes())
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(locked)
    assert "encrypted" in problem(tmp_path / "locked.zip")[1]
    locked[locked.index(b"PK\x01\x02") + 10] = 99  # AES
    (tmp_path / "locked.zip").write_bytes(locked)
    assert "Pack it without a password" in problem(tmp_path / "locked.zip")[1]
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        archive.writestr("x.conllu", FIRST)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("x.conllu", SECOND)
    assert "have one name" in problem(tmp_path / "twice.zip")[1]


def test_what_unpacks_to_too_much_is_refused_while_it_is_unpacked(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(files_module, "MAX_BYTES", 1000)
    zeros = b"0" * 100_000
    (tmp_path / "x.gz").write_bytes(gzip.compress(zeros))
    zipped(tmp_path / "x.zip", {f"{number}": zeros[:600] for number in range(2)})
    for name in ("x.gz", "x.zip"):
        assert problem(tmp_path / name)[0] == "text-too-large"
    zstandard = pytest.importorskip("zstandard", reason="zstandard is an extra")
    (tmp_path / "x.zst").write_bytes(zstandard.compress(zeros))
    assert problem(tmp_path / "x.zst")[0] == "text-too-large"


def test_truncated_zstd_is_not_taken_for_the_whole(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard", reason="zstandard is an extra")
    (tmp_path / "x.zst").write_bytes(zstandard.compress(os.urandom(5000))[:-100])
    (tmp_path / "y.zst").write_bytes(b"plain text")
    assert "truncated zstd" in problem(tmp_path / "x.zst")[1]
    assert "not a zstd file" in problem(tmp_path / "y.zst")[1]


def test_more_files_than_a_text_may_have_are_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(files_module, "MAX_FILES", 3)
    entries: dict[str, str | bytes] = {f"{number}.conllu": FIRST for number in range(4)}
    assert problem(zipped(tmp_path / "x.zip", entries))[0] == "too-many-files"
    assert problem(folder(tmp_path / "x", **{f"{number}_conllu": FIRST for number in range(4)}))[0] == "too-many-files"


def test_a_thousand_files_are_one_text(tmp_path: Path) -> None:
    entries: dict[str, str | bytes] = {f"{number:04}.conllu": SECOND for number in range(1000)}
    read = read_source(zipped(tmp_path / "x.zip", entries), CONLLU, "/gold")
    assert isinstance(read.text, bytes)
    assert read.text == (SECOND + "\n").encode() * 1000
    assert len(read.names) == 1000


def test_folders_without_texts_and_links_out_of_them_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    assert problem(tmp_path / "empty")[0] == "empty-archive"
    (tmp_path / "secret").write_text(FIRST, encoding="utf-8")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "loop").symlink_to(linked)
    (linked / "x.conllu").symlink_to(tmp_path / "secret")
    assert "link to a file outside" in problem(linked)[1]
    (linked / "x.conllu").unlink()
    (linked / "x.conllu").symlink_to(linked / "gone")
    assert problem(linked)[0] == "unreadable-file"
    assert "archive in a folder" in problem(folder(tmp_path / "nested", x_zip=b"PK"))[1]


def test_the_format_of_a_folder_is_that_of_all_its_files(tmp_path: Path) -> None:
    assert format_of(folder(tmp_path / "one", a_conllu="", b_conllu_gz="")) == "conllu"
    assert format_of(folder(tmp_path / "two", a_conllu="", b_mrg="")) is None
    assert format_of(zipped(tmp_path / "x.zip", {"x/a.talp": "", "x/b.talp": ""})) == "talp"
    assert format_of(tmp_path / "missing") is None
    assert format_of(tmp_path / "missing.zip") is None


@pytest.mark.parametrize("mode", ["r", "rb"])
def test_open_files_are_texts_with_the_names_of_their_files(tmp_path: Path, mode: str) -> None:
    (tmp_path / "gold.conllu").write_text(FIRST, encoding="utf-8")
    with (tmp_path / "gold.conllu").open(mode) as gold, (tmp_path / "gold.conllu").open(mode) as output:
        result = score(gold, output)
    assert dict(result["gold"])["ud.las_f1"] == 1.0
    assert score(io.StringIO(FIRST), [io.BytesIO(FIRST.encode())], format="conllu")["1"]["ud"] == 1.0


def test_open_files_that_cannot_be_read_say_so(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as stream:
        assert problem(stream)[0] == "unreadable-file"
    assert problem(stream)[0] == "unreadable-file"
    (tmp_path / "x").write_bytes(b"\xff\n")
    with (tmp_path / "x").open(encoding="utf-8") as text:
        assert problem(text)[0] == "unreadable-file"
    read = type("Numbers", (), {"read": lambda _self: 5})()
    assert problem(read) == ("wrong-type", "Reading the open file gave int. It must give a string or bytes.")


def test_standard_input_is_read_once_and_is_no_path_of_the_library() -> None:
    given = StandardInput(io.BytesIO(FIRST.encode()))
    assert score(FIRST, {"A": given}, format="conllu")["A"]["ud"] == 1.0
    with pytest.raises(InputError, match="named twice"):
        score(FIRST, {"A": given}, format="conllu")
    assert "sys.stdin.buffer" in problem("-")[1]


@pytest.mark.parametrize("source", [5, None, {1, 2}, object(), [5], [], (FIRST,)])
def test_what_is_no_text_is_named_by_its_type(source: object) -> None:
    code, detail = problem(source)
    assert code == "wrong-type"
    assert type(source).__name__ in detail
    assert "spaCy Docs" in detail


def test_bytes_of_any_kind_and_any_path_are_texts(tmp_path: Path) -> None:
    assert read_source(bytearray(FIRST.encode()), CONLLU, "").text == FIRST.encode()
    assert read_source(memoryview(FIRST.encode()), CONLLU, "").text == FIRST.encode()
    assert texts.is_path("a\rb") is False
    (tmp_path / "x").write_text(FIRST, encoding="utf-8")
    with os.scandir(tmp_path) as entries:
        assert read_source(next(entries), CONLLU, "").text == FIRST.encode()
