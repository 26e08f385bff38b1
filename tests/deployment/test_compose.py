"""The container files say what they must, as far as a machine without Docker can tell."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.config import PREFIX, Config, load_config
from tests.deployment.container_files import ROOT, SECRETS, compose_services, compose_text, dockerfile_instructions

APIS = {"api-1", "api-2"}
OURS = {"migrate", "worker", "bulk-worker", "views", "sweeper"} | APIS
SERVERS = {"redis", "postgres"}
THEIRS = {"proxy"} | SERVERS


@pytest.fixture(scope="module")
def text() -> str:
    return compose_text()


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    return compose_services()


def test_the_services_are_those_of_the_design(services: dict[str, Any]) -> None:
    assert set(services) == OURS | THEIRS


def test_all_our_processes_run_from_one_image(services: dict[str, Any]) -> None:
    assert {services[name]["image"] for name in OURS} == {"treescore:0.1.0"}
    assert all(services[name]["build"] == "." for name in OURS)
    workers = {f"{name}worker": ["worker", "--queue", queue] for name, queue in (("", "live"), ("bulk-", "bulk"))}
    others = {name: [name] for name in ("migrate", "views", "sweeper")}
    commands = {"api-1": ["api"], "api-2": ["api"], **workers, **others}
    assert {name: services[name]["command"] for name in OURS} == commands


def test_nothing_starts_before_what_it_needs(services: dict[str, Any]) -> None:
    assert services["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    for name in OURS - {"migrate"}:
        assert services[name]["depends_on"] == {
            "migrate": {"condition": "service_completed_successfully"},
            "redis": {"condition": "service_healthy"},
        }
    assert services["proxy"]["depends_on"] == {name: {"condition": "service_healthy"} for name in APIS}
    for name in (THEIRS | OURS) - APIS - {"migrate"}:  # the check of the APIs is the image's
        assert services[name]["healthcheck"]["test"]


def test_every_service_restarts_and_is_given_time_to_stop(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["restart"] == ("no" if name == "migrate" else "unless-stopped")
        assert name == "migrate" or re.fullmatch(r"\d+[sm]", service["stop_grace_period"])
    graceful = runpy.run_path(str(ROOT / "service" / "gunicorn_conf.py"))["graceful_timeout"]
    assert int(services["api-1"]["stop_grace_period"].removesuffix("s")) > graceful


def test_roots_are_read_only_and_memory_and_logs_have_bounds(services: dict[str, Any]) -> None:
    for service in services.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert re.fullmatch(r"\d+[gm]", service["mem_limit"])
        assert set(service["logging"]["options"]) == {"max-size", "max-file"}


def test_state_lies_in_named_volumes(text: str, services: dict[str, Any]) -> None:
    mounted = {volume.split(":")[0] for name in SERVERS for volume in services[name]["volumes"]}
    assert mounted == set(yaml.safe_load(text)["volumes"]) == SERVERS
    assert all(services[name]["volumes"] == ["/var/lib/treescore"] for name in OURS)


def test_store_and_queue_are_out_of_reach(text: str, services: dict[str, Any]) -> None:
    assert yaml.safe_load(text)["networks"]["backend"] == {"internal": True}
    for name in SERVERS:
        assert services[name]["networks"] == ["backend"]
    assert services["proxy"]["networks"] == ["front"]
    assert all(port.startswith("127.0.0.1:") for port in services["proxy"]["ports"])
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]


def test_no_secret_has_a_default(text: str) -> None:
    for name in SECRETS:
        uses = re.findall(r"\$\{" + name + r"[^}]*\}", text)
        assert uses
        assert all(use.startswith("${" + name + ":?") for use in uses)


def test_every_variable_is_one_that_the_service_reads(services: dict[str, Any]) -> None:
    known = {PREFIX + field.name.upper() for field in fields(Config)}
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    used = set(re.findall(r"TREESCORE_[A-Z_]+(?==)", dockerfile))
    for name in OURS:
        used |= {key for key in services[name]["environment"] if key.startswith(PREFIX)}
        config = load_config(services[name]["environment"])
        assert config.database_url == f"postgresql+psycopg://treescore:{'b' * 32}@postgres:5432/treescore"
        assert config.redis_url == f"redis://:{'c' * 32}@redis:6379/0"
    assert used <= known
    api = load_config({"TREESCORE_BIND": "0.0.0.0:8000", **services["api-1"]["environment"]})
    assert (api.anonymous_jobs, api.on_loopback, api.trusted_proxies) == ("local", False, 1)
    assert api.admin_token == SECRETS["TREESCORE_ADMIN_TOKEN"]


def test_every_command_is_a_command_of_the_image(services: dict[str, Any]) -> None:
    instructions = dockerfile_instructions()
    assert ("ENTRYPOINT", '["python", "-m", "service"]') in instructions
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert "treescore" in tomllib.load(file)["project"]["scripts"]
    assert all(isinstance(services[name]["command"], list) for name in OURS)


def test_the_image_is_slim_pinned_and_not_root() -> None:
    instructions = dockerfile_instructions()
    assert ("ARG", "BASE=debian:trixie-slim") in instructions
    assert not [rest for keyword, rest in instructions if keyword == "ADD"]
    last_stage = instructions[max(place for place, pair in enumerate(instructions) if pair[0] == "FROM") :]
    assert [rest for keyword, rest in last_stage if keyword == "USER"] == ["10001:10001"]
    assert not [rest for keyword, rest in last_stage if keyword == "RUN"]
    kinds = [keyword for keyword, _ in last_stage]
    assert kinds.count("CMD") == kinds.count("ENTRYPOINT") == kinds.count("HEALTHCHECK") == 1
    assert kinds.index("USER") < kinds.index("CMD")
    assert not [
        rest for keyword, rest in instructions if keyword in {"ENV", "ARG"} and re.search("TOKEN|PASSWORD", rest)
    ]


def test_layers_stand_in_the_order_in_which_they_change() -> None:
    copied = [shlex.split(rest)[-2] for keyword, rest in dockerfile_instructions() if keyword == "COPY"]
    assert copied == [
        "constraints.txt", "treescore",
        "/", "/opt/treescore", "/srv/treescore", "/var/cache/treescore", "service", "workers", "openapi.yaml", "docs",
    ]  # fmt: skip


def test_what_the_image_copies_is_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied: set[str] = set()
    for keyword, rest in dockerfile_instructions():
        if keyword == "COPY" and "--from" not in rest:
            copied |= set(shlex.split(rest)[:-1])
    assert copied == kept
    for name in kept:
        assert (ROOT / name).exists(), name


@pytest.mark.slow
def test_the_folders_of_the_image_hold_a_service_that_finds_its_contract(tmp_path: Path) -> None:
    instructions = dockerfile_instructions()
    variables = dict(re.findall(r"(\w+)=(\S+)", " ".join(rest for keyword, rest in instructions if keyword == "ENV")))
    last_stage = instructions[max(index for index, pair in enumerate(instructions) if pair[0] == "FROM") :]
    for keyword, rest in last_stage:
        if keyword == "COPY" and "--from" not in rest:
            source, target = shlex.split(rest)
            place = tmp_path / target.removeprefix("/")
            place = place / source if target.endswith("/") else place
            place.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():  # other processes may be writing compiled files there
                shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, place)
    image = tmp_path / variables["PYTHONPATH"].removeprefix("/")
    library = tmp_path / "wheel"
    library.mkdir()
    (library / "treescore").symlink_to(ROOT / "treescore")
    environment = {**os.environ, "PYTHONPATH": f"{image}{os.pathsep}{library}"}

    def printed(*command: str) -> str:
        return subprocess.run(
            [sys.executable, *command], cwd=library, env=environment, check=True, capture_output=True, text=True
        ).stdout

    program = "import workers.worker; from service.api.status import PUBLISHED, written; written(); print(PUBLISHED)"
    assert printed("-c", program).strip() == str(image / "openapi.yaml")
    assert "serve" in printed("-m", "service", "--help")


def compose_client() -> list[str] | None:
    """`docker compose` or `docker-compose`, whichever is here."""
    if (
        shutil.which("docker")
        and not subprocess.run(["docker", "compose", "version"], check=False, capture_output=True).returncode
    ):
        return ["docker", "compose"]
    return ["docker-compose"] if shutil.which("docker-compose") else None


def test_compose_reads_the_file_as_we_do(services: dict[str, Any]) -> None:
    """With Docker's own client where there is one; without it the tests above are all there is."""
    client = compose_client()
    if client is None:
        pytest.skip("no docker compose on this machine")
    command = [*client, "--file", str(ROOT / "docker-compose.yml"), "config", "--format", "json"]
    shown = subprocess.run(command, check=True, capture_output=True, env=os.environ | SECRETS)
    assert set(json.loads(shown.stdout)["services"]) == set(services)
    bare = {name: value for name, value in os.environ.items() if name not in SECRETS}
    assert subprocess.run(command, check=False, capture_output=True, env=bare).returncode != 0
