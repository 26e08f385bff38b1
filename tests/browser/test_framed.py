"""A board in a frame of another site's page: drawn whole, in the page's colours, and its one link opens the board."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


class Elsewhere(BaseHTTPRequestHandler):
    """Another site: each of its pages has the board in a frame that the path names."""

    def do_GET(self) -> None:
        """Answer with a page."""
        frame = f'<iframe src="http:/{self.path}" title="Leaderboard" width="100%" height="600"></iframe>'
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f'<!doctype html><meta name="color-scheme" content="light dark">{frame}'.encode())

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of the other site, whose name differs from the service's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("slug", ["hostile", "empty"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_another_site_shows_the_board(
    browser: Browser, origin: str, elsewhere: str, slug: str, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(f"{elsewhere}/{urlsplit(origin).netloc}/embed/b/{slug}")
    board = page.frames[1]
    board.locator("footer a").wait_for()
    assert board.locator("tbody tr").count() == (6 if slug == "hostile" else 0)
    assert board.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    colours = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}
    assert board.evaluate("getComputedStyle(document.body).backgroundColor") == colours[scheme]
    with context.expect_page() as opened:
        board.click("footer a")
    assert opened.value.url == f"{origin}/b/{slug}"
    assert said == []
    context.close()
