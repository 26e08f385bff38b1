"""docker-compose.yml and Dockerfile as data, read without Docker."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent.parent
SECRETS = {
    "TREESCORE_ADMIN_TOKEN": "0123456789abcdef" * 2,
    "POSTGRES_PASSWORD": "b" * 32,
    "REDIS_PASSWORD": "c" * 32,
    "IMAGE_TAG": "0.1.0",
}


def compose_text() -> str:
    """docker-compose.yml as it stands."""
    return (ROOT / "docker-compose.yml").read_text(encoding="utf-8")


def compose_services() -> dict[str, dict[str, Any]]:
    """Its services, merged and with SECRETS for environment."""
    return dict(substituted(yaml.safe_load(compose_text())["services"]))


def substituted(value: Any) -> Any:
    """Compose's ${NAME:-default}, ${NAME:?reason} and $$ with SECRETS for environment."""
    if isinstance(value, dict):
        return {key: substituted(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [substituted(inner) for inner in value]
    if not isinstance(value, str):
        return value
    return re.sub(
        r"\$(?:\$|\{(\w+)(?::[-?]([^}]*))?\})",
        lambda found: SECRETS.get(found[1], found[2] or "") if found[1] else "$",
        value,
    )


def dockerfile_instructions() -> list[tuple[str, str]]:
    """(INSTRUCTION, arguments) of the Dockerfile, continued lines joined, comments dropped."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"(?m)^\s*#.*\n", "", text).replace("\\\n", " ").splitlines()
    pairs = [line.split(maxsplit=1) for line in lines if line.strip()]
    return [(keyword, " ".join(rest.split())) for keyword, rest in pairs]


def health_command() -> list[str]:
    """The image's health check, as its container runs it."""
    check = dict(dockerfile_instructions())["HEALTHCHECK"]
    command = json.loads(check[check.index("CMD") + 3 :])
    assert isinstance(command, list)
    return command
