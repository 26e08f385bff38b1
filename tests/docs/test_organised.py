"""What HTTP does for an organiser, a command and a page do too; the table in the guide is made of the operations."""

from __future__ import annotations

import re

import pytest
import yaml
from flask import Flask

from service.pages.site import PAGES
from tests.conftest import ROOT
from tools import called, reference

OPERATIONS = {
    operation["operationId"]: operation
    for item in yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))["paths"].values()
    for method, operation in item.items()
    if method in reference.METHODS
}


@pytest.fixture(scope="module")
def rules() -> set[str]:
    """The addresses of pages, with the names of their parts."""
    app = Flask("pages", static_folder=None)
    for blueprint in PAGES:
        app.register_blueprint(blueprint)
    return {re.sub(r"<(?:[^<>]*:)?(\w+)>", r"{\1}", rule.rule) for rule in app.url_map.iter_rules()}


def test_each_operation_with_a_token_stands_in_one_of_the_two_lists():
    asked = {name for name, operation in OPERATIONS.items() if reference.needs_token(operation)}
    assert asked == {*reference.ORGANISED, *reference.READ_BY_PROGRAMS}
    organised = {name for name, each in OPERATIONS.items() if {"bearer": ["organise"]} in each["security"]}
    assert organised <= set(reference.ORGANISED)


def test_the_pages_are_there(rules):
    assert set(reference.ORGANISED.values()) <= rules


def test_commands_are_those_that_call_an_operation():
    found = called.commands()
    assert found["patch_submission"] == ["organise change", "organise withdraw"]  # by a method of the client each
    assert found["delete_invite"] == found["list_invites"] == ["organise invites"]
    assert found["erase_team"] == ["organise erase"]  # by the operation's name
    assert found["submit"] == ["submit"]  # by functions that the command calls
    assert found["list_webhooks"] == ["organise webhooks list"]  # others make lists


def test_an_operation_without_a_command_is_noticed(monkeypatch):
    known = called.commands()
    del known["erase_team"]
    monkeypatch.setattr(reference, "commands", lambda: known)
    with pytest.raises(KeyError, match="erase_team"):
        reference.guide()
