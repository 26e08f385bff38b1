"""Digests of texts, with and without OpenSSL, and texts of another format than they are read in."""

import hashlib
import subprocess
import sys

import pytest

from treescore.core import text as digests
from treescore.core.text import digest_of, of_another_format

SIZES = [0, 1, digests._SMALL_TEXT, digests._SMALL_TEXT + 1]
PROGRAM = """
import sys
from treescore.core.text import digest_of, of_another_format
print(digest_of(b"a" * int(sys.argv[1])), "hashlib" in sys.modules)
"""


@pytest.mark.parametrize("size", SIZES)
def test_a_digest_is_sha_256(size: int) -> None:
    text = b"a" * size
    assert digest_of(text) == "sha256:" + hashlib.sha256(text).hexdigest()


@pytest.mark.parametrize("size", SIZES[2:])
def test_openssl_is_loaded_for_large_texts_only(size: int) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(size)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [digest_of(b"a" * size), str(size > digests._SMALL_TEXT)]


def test_a_python_without_a_sha_256_of_its_own_uses_openssl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "hashlib")
    monkeypatch.setattr(digests, "_OWN_MODULES", ("no_such_module",))
    assert digest_of(b"a") == "sha256:" + hashlib.sha256(b"a").hexdigest()


TABLE = b"# sent_id = 1\n1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (b"(S (NP dogs) (VP bark))\n", "conllu", "bracketed trees"),
        (TABLE, "bracketed", "tab-separated columns"),
        (b"0-0 1-2\n\n", "conllu", "word alignments"),
        (b"#FORMAT 4\n#BOS 1\n", "bracketed", "export format"),
        (b'<?xml version="1.0"?>\n<corpus id="x">', "conllx", "TIGER-XML"),
        (TABLE, "conllx", None),
        (b"dogs bark\n", "conllu", None),
        (b"(S (NP dogs))\n", "a-format-of-a-plugin", None),
        (b"\n" * 10**6, "bracketed", None),
    ],
)
def test_a_text_of_another_format_is_called_so(text, name, words):
    found = of_another_format(text, name)
    assert (found is None) if words is None else (words in found.detail and found.code == "wrong-format")
