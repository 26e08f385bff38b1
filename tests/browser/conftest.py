"""A real Chromium on the site of the tests: TREESCORE_CHROMIUM, or the one on the path; none is ever downloaded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser.watching import Watched, watched
from tests.conftest import ROOT
from tests.fixtures.site import Site, served

Visit = Callable[..., Watched]
SCREENSHOTS = ROOT / "build" / "screenshots"
SIZE = {"width": 1280, "height": 900}
PATIENCE_MS = 60_000
"""A busy machine only makes the tests slow; Playwright's own limits are 5 s for what a page must come to show."""
expect.set_options(timeout=PATIENCE_MS)


def chromium_path() -> str:
    """The program; skips where there is none, which pytest says in one line for all tests."""
    found = os.environ.get("TREESCORE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("browser tests: no Chromium is installed here; install it or name it in TREESCORE_CHROMIUM")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    path = chromium_path()
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to run as root with one
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=as_root)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def origin(browser: Browser, site: Site) -> Iterator[str]:
    """Where the site is served."""
    with served(site.stage) as address:
        yield address


@pytest.fixture(scope="session")
def signed_in(browser: Browser, site: Site, origin: str) -> Iterator[Callable[[str | None], object]]:
    """The cookies of a browser that has signed in with a token, once for each token."""
    known: dict[str, object] = {}

    def state(token: str | None) -> object:
        if token is None:
            return None
        if token not in known:
            context = browser.new_context(base_url=origin)
            page = context.new_page()
            page.goto("/sign-in")
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Sign in").click()
            page.get_by_role("button", name="Sign out").wait_for()
            known[token] = context.storage_state()
            context.close()
        return known[token]

    return state


@pytest.fixture
def visit(browser: Browser, site: Site, origin: str, signed_in: Callable[[str | None], object]) -> Iterator[Visit]:
    """Opens a page as a principal in a window of its own; what goes wrong there is noted."""
    opened: list[BrowserContext] = []

    def open_page(path: str | None, principal: str = "anonymous", benchmark: str = "deps-scores", **more: object):
        state = signed_in(site.token(principal, benchmark))
        context = browser.new_context(**{"base_url": origin, "viewport": SIZE, "storage_state": state, **more})
        context.set_default_timeout(PATIENCE_MS)
        opened.append(context)
        return watched(context, origin, path)

    yield open_page
    for context in opened:
        context.close()


@pytest.fixture(scope="session")
def windows(
    browser: Browser, origin: str, signed_in: Callable[[str | None], object]
) -> Iterator[Callable[[str | None], BrowserContext]]:
    """A window for each token, for tests that only look: its files are fetched once."""
    known: dict[str | None, BrowserContext] = {}

    def window(token: str | None) -> BrowserContext:
        if token not in known:
            known[token] = browser.new_context(base_url=origin, storage_state=signed_in(token))
            known[token].set_default_timeout(PATIENCE_MS)
        return known[token]

    yield window
    for context in known.values():
        context.close()


@pytest.fixture
def look(site: Site, origin: str, windows: Callable[[str | None], BrowserContext]) -> Iterator[Visit]:
    """Opens a page as a principal to look at it, in the window of all who look so; what goes wrong there is noted."""
    opened: list[Watched] = []

    def open_page(path: str, principal: str, benchmark: str) -> Watched:
        opened.append(watched(windows(site.token(principal, benchmark)), origin, path, SIZE))
        return opened[-1]

    yield open_page
    for seen in opened:
        seen.page.close()


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures of the pages are kept to look at; nothing compares them."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS
