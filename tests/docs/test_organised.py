"""What HTTP does for an organiser, a command and a page do too; the table in the guide is made of the operations."""

from __future__ import annotations

import re

import pytest
import yaml
from flask import Flask

from service.pages.site import PAGES
from tests.conftest import ROOT
from tools import reference
from treescore.cli.main import main

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


@pytest.mark.parametrize("operation", reference.ORGANISED)
def test_its_command_and_its_page_are_there(operation, rules):
    words, page = reference.ORGANISED[operation]
    command = main
    for word in words.split():
        if word.startswith("--"):
            assert any(word in option.opts for option in command.params), words
        else:
            command = command.get_command(None, word)
            assert command is not None, words
    assert page in rules


def test_an_operation_without_a_command_is_noticed(monkeypatch):
    monkeypatch.setattr(reference, "ORGANISED", {**reference.ORGANISED})
    del reference.ORGANISED["erase_team"]
    with pytest.raises(KeyError, match="erase_team"):
        reference.guide()
