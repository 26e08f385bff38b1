"""The image as it is built, and the compose file's services in containers: nothing is refused, nothing lost."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self
from uuid import uuid4

import httpx
import pytest
import yaml

from tests.deployment.container_files import ROOT, SECRETS
from tests.fixtures.docker import run_documented
from tests.fixtures.podman import IMAGE, Compose, Podman, UnavailableError
from tests.fixtures.requests import TREES
from tests.fixtures.service_process import PATIENCE, free_port, until

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3600)]
LARGEST = 450_000_000
"""Bytes of the image, half of them the compiler's library and the linear algebra of NumPy and SciPy."""
THEIRS = {"proxy", "redis", "postgres"}
ORGANISER = {"Authorization": f"Bearer {SECRETS['TREESCORE_ADMIN_TOKEN']}"}


class Load:
    """Two clients that send jobs and repeat what is not accepted with the same key, from `with` to its end.

    Attributes:
        accepted: the id of each job, by its key.
        refused: answers that do not say when to come again.
        cut: requests without an answer.
    """

    def __init__(self, client: httpx.Client) -> None:
        self.accepted: dict[str, str] = {}
        self.refused: list[str] = []
        self.cut: list[str] = []
        self._client = client
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(2)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        while not self._stop.is_set():
            key = uuid4().hex
            while key not in self.accepted:
                try:
                    answer = self._client.post("/v1/jobs", json=TREES, headers={**ORGANISER, "Idempotency-Key": key})
                except httpx.TransportError as error:
                    self.cut.append(type(error).__name__)
                    self._stop.wait(0.2)
                    continue
                if answer.is_success:
                    self.accepted[key] = answer.json()["id"]
                elif "Retry-After" in answer.headers:
                    self._stop.wait(0.2)
                else:
                    self.refused.append(f"{answer.status_code} {answer.text}")
                    break
            self._stop.wait(0.4)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ts-podman-") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def podman(folder: Path) -> Podman:
    made = Podman(folder)
    try:
        made.make_bases()
    except UnavailableError as missing:
        pytest.skip(str(missing))
    made.build()
    return made


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def compose(podman: Podman, port: int) -> Iterator[Compose]:
    started = Compose(podman, port)
    started.remove()
    try:
        started.up()
        yield started
    finally:
        started.remove()


@pytest.fixture
def client(compose: Compose, port: int) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as made:
        wait_ready(made)
        yield made


def wait_ready(client: httpx.Client) -> None:
    """Wait until the proxy reaches a process that is well: it leaves out for two seconds one that did not answer."""
    until(lambda: client.get("/readyz").json().get("checks", {}).get("queue") == "ok", "the service is ready")


def scored(client: httpx.Client, job: str) -> bool:
    answer = client.get(f"/v1/jobs/{job}", headers=ORGANISER)
    return answer.is_success and answer.json()["state"] == "succeeded"


def test_the_image_is_small_and_has_neither_pip_nor_tests(podman: Podman) -> None:
    assert int(podman("image", "inspect", "--format", "{{.Size}}", IMAGE)) < LARGEST
    found = podman(
        "run", "--rm", "--entrypoint", "find", IMAGE,
        "/opt/treescore", "/usr/lib/python3", "-name", "pip", "-o", "-name", "setuptools", "-o", "-name", "tests",
    )  # fmt: skip
    assert found.split() == []


def test_machine_code_of_the_image_is_used_as_it_lies(podman: Podman) -> None:
    program = "from treescore.warm import load_all, state; load_all(); print(state())"
    options = ["--rm", "--read-only", "--read-only-tmpfs=false", "--network=none", "--entrypoint=python"]
    assert podman("run", *options, IMAGE, "-c", program).strip() == "compiled"


def test_a_job_is_scored_behind_the_proxy(client: httpx.Client) -> None:
    assert client.get("/metrics").status_code == 403
    answer = client.post("/v1/jobs", json=TREES, headers={**ORGANISER, "Prefer": "wait=60"})
    assert (answer.status_code, answer.json()["state"]) == (201, "succeeded"), answer.text


def test_what_is_accepted_is_scored_whichever_container_is_killed(compose: Compose, client: httpx.Client) -> None:
    with Load(client) as load:
        for name in compose.running():
            cut = len(load.cut)
            compose.kill(name)
            compose.wait_healthy(name)
            assert name == "proxy" or len(load.cut) == cut, (name, load.cut)
    assert not load.refused
    assert load.accepted
    for job in load.accepted.values():
        until(lambda job=job: scored(client, job), f"{job} is scored", 120)


def documented(title: str) -> str:
    """The commands below a title of docs/operate/deployment.md."""
    text = (ROOT / "docs" / "operate" / "deployment.md").read_text()
    return re.search(r"\n\n((?:    .+\n)+)", text[text.index(title) :])[1]  # type: ignore[index]


def test_an_upgrade_compiles_nothing_and_refuses_nothing(compose: Compose, client: httpx.Client, folder: Path) -> None:
    checkout = folder / "checkout"
    checkout.mkdir()
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for name in ("Dockerfile", ".dockerignore", *kept):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, checkout / name)
        else:
            shutil.copy2(ROOT / name, checkout / name)
    for edited in ("docs/index.md", "service/__init__.py"):
        with (checkout / edited).open("a") as file:
            file.write("\n")
    before = compose.images()
    with Load(client) as load:
        log = run_documented(documented("**Upgrade**"), checkout, folder, compose.port)
    steps = re.findall(r"STEP \d+/\d+: RUN .*\n(.*)", log)
    assert steps
    assert all("Using cache" in step for step in steps), log
    after = compose.images()
    assert {name for name in after if after[name] != before[name]} == {name for name in after if name not in THEIRS}
    assert not load.refused
    assert not load.cut
    for job in load.accepted.values():
        until(lambda job=job: scored(client, job), f"{job} is scored", 120)


def test_a_backup_is_restored_into_an_empty_database(compose: Compose, client: httpx.Client, folder: Path) -> None:
    job = client.post("/v1/jobs", json=TREES, headers={**ORGANISER, "Prefer": "wait=60"}).json()
    commands = documented("**Backup and restore**").replace("/srv/backups", str(folder / "backups"))
    run_documented(commands, ROOT, folder, compose.port)
    until(lambda: scored(client, job["id"]), "the job is there")
    assert client.get(f"/v1/jobs/{job['id']}", headers=ORGANISER).json()["results"] == job["results"]


def test_no_root_is_written(compose: Compose) -> None:
    for name in compose.running():
        assert not compose.podman.succeeds("exec", "--user=0", name, "touch", "/tried"), name


def test_redis_asks_for_its_password(compose: Compose) -> None:
    bare = ("exec", "--env", "REDISCLI_AUTH=", "redis", "valkey-cli", "ping")
    assert "NOAUTH" in compose.podman(*bare)
    assert SECRETS["REDIS_PASSWORD"] not in compose.podman("top", "redis", "args")


def test_users_see_it_below_a_path(compose: Compose, client: httpx.Client) -> None:
    for name in ("api-1", "api-2"):
        address = f"http://127.0.0.1:{compose.port}/treescore"
        compose.services[name]["environment"]["TREESCORE_PUBLIC_URL"] = address
        compose.start(name)
        compose.wait_healthy(name)
    wait_ready(client)
    made = client.post("/treescore/v1/jobs", json=TREES, headers={**ORGANISER, "Prefer": "wait=60"})
    assert made.headers["Location"] == f"/treescore/v1/jobs/{made.json()['id']}"
    page = client.get("/treescore/docs", follow_redirects=True)
    addresses = re.findall(r'(?:href|src|action)="(/[^"]*)', page.text)
    assert len(addresses) > 10
    assert [each for each in addresses if not each.startswith("/treescore/")] == []


def test_caddy_stands_in_the_place_of_nginx(compose: Compose, client: httpx.Client) -> None:
    nginx = compose.services["proxy"]
    caddy = yaml.safe_load((ROOT / "docs" / "operate" / "caddy.yaml").read_text())["services"]["proxy"]
    without_names = {"ports": ["80:80"], "environment": {**caddy["environment"], "TREESCORE_SITE": ":80"}}
    compose.services["proxy"] = {**nginx, **caddy, **without_names, "volumes": nginx["volumes"] + caddy["volumes"]}
    compose.start("proxy")
    compose.wait_healthy("proxy")
    test_a_job_is_scored_behind_the_proxy(client)
