"""A diagnosis shows the configuration without its secrets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.usecases.checks import shown_config


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://treescore:hushed@db/scores",
        "postgresql+psycopg://treescore:half@hushed@db/scores",
        "postgresql+psycopg://treescore:half/hushed@db/scores",
        "postgresql+psycopg://db/scores?user=treescore&password=hushed&sslmode=require",
        "postgresql+psycopg:///scores?sslPassword=hushed&host=db",
    ],
)
def test_no_password_is_shown_wherever_it_stands_in_a_url(config, url):
    values = shown_config(replace(config, database_url=url, redis_url=url, admin_token="hushed"))  # noqa: S106 - to be hidden
    assert not [name for name, value in values.items() if "hushed" in value]
    assert "scores" in values["TREESCORE_DATABASE_URL"]
