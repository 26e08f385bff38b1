"""The service below a path, behind each shipped proxy: every page that can be reached, what they load, and a job."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import orjson
import pytest

from service.commands.processes import views_command
from tests.contract.stage import ADMIN
from tests.fixtures.api_process import ApiProcess, api
from tests.fixtures.contexts import work_of
from tests.fixtures.proxies import proxy
from tests.fixtures.requests import DEPENDENCIES
from tests.fixtures.servers import Valkey
from tests.fixtures.service_process import PATIENCE, ROOT
from tests.service.pages.reading import BROWSER, Page
from treescore.client import Client

pytestmark = [pytest.mark.e2e, pytest.mark.faults, pytest.mark.timeout(300)]

PREFIX = "/treescore"


PUBLIC = {"TREESCORE_PUBLIC_URL": f"https://scores.example.org{PREFIX}"}
TAKEN_OFF = {
    "proxy_pass http://treescore;": "proxy_pass http://treescore/;",
    "location / {": f"location {PREFIX}/ {{",
    "location /metrics {": f"location {PREFIX}/metrics {{",
    'X-Forwarded-Prefix "";': f"X-Forwarded-Prefix {PREFIX};",
}
"""What nginx is told where it takes the path off."""
WAYS = {"nginx": ("nginx", {}, PUBLIC), "caddy": ("caddy", {}, PUBLIC), "nginx takes it off": ("nginx", TAKEN_OFF, {})}


@pytest.mark.parametrize("way", WAYS)
def test_everything_is_found_below_the_path(way: str, tmp_path: Path, valkey: Valkey) -> None:
    name, changes, given = WAYS[way]
    given = {"TREESCORE_TRUSTED_PROXIES": "1", "TREESCORE_ADMIN_TOKEN": ADMIN, **given}
    with ExitStack() as stack:
        served = stack.enter_context(api(tmp_path, valkey.url, **given))
        stack.enter_context(views(served))
        port = stack.enter_context(proxy(name, tmp_path, [f"127.0.0.1:{served.port}"] * 2, **changes))
        site = f"http://127.0.0.1:{port}{PREFIX}"
        with Client(site, ADMIN) as client:
            made = client.call("submit_job", json=DEPENDENCIES)
            work_of(served.context)()
            assert client.job(made.document()["id"]).get().state == "succeeded"
        with httpx.Client(base_url=site, headers=BROWSER, timeout=PATIENCE) as browser:
            signed = browser.post("/sign-in", data={"token": ADMIN, "next": "/admin"})
            assert (signed.status_code, signed.headers["Location"]) == (303, f"{PREFIX}/admin")
            assert f"; Path={PREFIX}/" in signed.headers["Set-Cookie"]
            pages = set(reached(browser, f"{PREFIX}/j/{made.document()['id']}", f"{PREFIX}/"))
            assert {f"{PREFIX}{each}" for each in ("/admin", "/docs/jobs", "/submit", "/problems/conflict")} <= pages
            forged = browser.get("/v1/nowhere", headers={"Accept": "*/*", "X-Forwarded-Prefix": "/evil"})
            assert orjson.loads(forged.content)["type"] == f"{PREFIX}/problems/not-found"
            assert not browser.get("/metrics").is_success
        assert httpx.get(f"{served.address}/readyz").is_success


@contextmanager
def views(served: ApiProcess) -> Iterator[None]:
    """The process that makes what pages show of sentences."""
    environment = {**os.environ, **served.variables}
    with subprocess.Popen(views_command(), cwd=ROOT, env=environment, stderr=served.log) as process:
        yield
        process.terminate()


def reached(browser: httpx.Client, *first: str) -> Iterator[str]:
    """Addresses of all that links, polls and loads of pages lead to; each is there and below the path."""
    waiting, known = [*first], set(first)
    while waiting:
        address = waiting.pop()
        answer = browser.get(urljoin(str(browser.base_url), address))
        assert answer.is_success or answer.status_code == 303, (address, answer.status_code)
        yield address.partition("?")[0]
        if not answer.headers.get("Content-Type", "").startswith("text/html"):
            continue
        page = Page(answer.text, address)
        assert all(value.startswith(f"{PREFIX}/") for _, value in page.rooted), address
        for link in page.links:
            target = urlsplit(urljoin(address, link))
            if not target.netloc and target.path not in known:  # once, with the query that comes first
                known.add(target.path)
                waiting.append(target._replace(fragment="").geturl())
