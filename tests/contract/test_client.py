"""The client against openapi.yaml, from which much of it is written."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.contract.checking import ROOT
from treescore.client import OPERATIONS, AsyncClient, Client


def test_the_committed_modules_are_those_of_the_contract() -> None:
    """Its documents, operations, plain methods and classes of problems are written by tools/client.py."""
    done = subprocess.run(
        [sys.executable, "tools/client.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_no_other_post_than_these_is_repeated_blindly() -> None:
    again = {each.id for each in OPERATIONS.values() if each.method == "POST" and each.repeatable}
    assert again == {"cancel_job", "cancel_submission", "ask_comparison"}


def test_what_people_do_has_a_method() -> None:
    """Each operation is called by a method, or is one of those that people of this client have no use for."""
    source = "".join(
        (ROOT / "treescore" / "client" / f"{name}.py").read_text() for name in ("resources", "work", "__init__")
    )
    called = set(re.findall(r'"(\w+)"', source)) & set(OPERATIONS)
    assert set(OPERATIONS) - called == {"get_openapi_yaml", "get_badge", "get_history", "get_docs", "get_metrics"}


def test_both_clients_have_the_same_methods() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(Client) == public(AsyncClient)
