"""A task from its beginning to its end, as those who take part in it live it: by keyboard and by pointer, in two sizes.

Each story has a service of its own, in which what is sent is scored at once.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, FilePayload, Locator, Page, expect

from tests.browser.conftest import PATIENCE_MS
from tests.contract.checking import CheckedClient
from tests.contract.stage import ADMIN, Stage, close_stage, open_stage
from tests.fixtures.servers import Valkey
from tests.fixtures.site import conllu, served
from tests.fixtures.tasks import UNLIMITED

pytestmark = pytest.mark.browser

KEYBOARD, POINTER = "keyboard", "pointer"
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
LIVED = [
    pytest.param(KEYBOARD, WIDE, id="keyboard-1280"),
    pytest.param(POINTER, NARROW, id="pointer-390"),
    pytest.param(KEYBOARD, NARROW, id="keyboard-390", marks=pytest.mark.slow),
    pytest.param(POINTER, WIDE, id="pointer-1280", marks=pytest.mark.slow),
]
MOST_KEYS = 400
PARTS = ("en_news", "en_web")


class Reader:
    """Somebody at a page, who presses and fills in by keys alone or by a pointer."""

    def __init__(self, page: Page, way: str) -> None:
        self.page, self.way = page, way

    def press(self, target: Locator) -> None:
        """Press a button or follow a link."""
        if self.way == POINTER:
            target.click()
        else:
            self.reach(target)
            self.page.keyboard.press("Enter")

    def button(self, name: str) -> None:
        """Press the button of a name."""
        self.press(self.page.get_by_role("button", name=name, exact=True).first)

    def link(self, name: str) -> None:
        """Follow the first link of a name."""
        self.press(self.page.get_by_role("link", name=name, exact=True).first)

    def fill(self, label: str, text: str) -> None:
        """Fill in a field."""
        field = self.page.get_by_label(label, exact=True).first
        if self.way == POINTER or field.get_attribute("type") == "datetime-local":  # whose parts differ by browser
            field.fill(text)
        else:
            self.reach(field)
            self.page.keyboard.press("Control+a")
            self.page.keyboard.type(text)

    def choose(self, files: list[FilePayload]) -> None:
        """Choose files; the window of the system that a browser opens for that is not a page."""
        field = self.page.locator("main input[type=file]").first
        if self.way == KEYBOARD:
            self.reach(field)
        field.set_input_files(files)

    def reach(self, target: Locator) -> None:
        """Come to what is to be pressed by the tab key."""
        target.wait_for()
        self.page.wait_for_load_state()
        self.page.evaluate("new Promise(requestAnimationFrame)")
        for _ in range(MOST_KEYS):
            if target.evaluate("target => target === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        pytest.fail(f"the tab key never reached {target}")

    def sign_in(self, token: str) -> None:
        """Sign in with a token."""
        self.page.goto("/sign-in")
        self.fill("Token", token)
        self.button("Sign in")
        self.page.get_by_role("button", name="Sign out").wait_for()


@pytest.fixture
def stage(tmp_path: Path, valkey: Valkey) -> Iterator[Stage]:
    """A service of one story."""
    opened = open_stage(tmp_path, valkey.url)
    yield opened
    close_stage(opened)


@pytest.fixture
def someone(browser: Browser, stage: Stage) -> Iterator[Callable[..., Reader]]:
    """Makes somebody with a window of a size; all see the same service."""
    opened: list[BrowserContext] = []
    with served(stage) as origin:

        def make(way: str, size: Any) -> Reader:
            context = browser.new_context(base_url=origin, viewport=size)
            context.set_default_timeout(PATIENCE_MS)
            opened.append(context)
            return Reader(context.new_page(), way)

        yield make
        for context in opened:
            context.close()


def files_of(system: int | None) -> list[FilePayload]:
    """The files of a system, or of gold, named after the parts."""
    return [
        {"name": f"{part}.conllu", "mimeType": "text/plain", "buffer": conllu(system, at).encode()}
        for at, part in enumerate(PARTS)
    ]


def zip_of(files: list[FilePayload]) -> list[FilePayload]:
    """One zip of files."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as packed:
        for file in files:
            packed.writestr(file["name"], file["buffer"])
    return [{"name": "outputs.zip", "mimeType": "application/zip", "buffer": body.getvalue()}]


def tiny_trees(stage: Stage) -> CheckedClient:
    """An organiser's client, which has made the benchmark `tiny`."""
    organiser = stage.client()
    parts = {part: {"gold": conllu(None, at)} for at, part in enumerate(PARTS)}
    made = {"id": "tiny", "title": "Tiny trees", "format": "conllu", "metrics": ["attachment"], "parts": parts}
    assert organiser.post("/v1/benchmarks", json={**made, "quota": UNLIMITED}).status_code == 201
    return organiser


def fits(page: Page) -> bool:
    """Whether the page is no wider than its window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


@pytest.mark.parametrize(("way", "size"), LIVED)
def test_an_organiser_makes_opens_revises_and_closes_a_task(
    someone: Callable[..., Reader], stage: Stage, way: str, size: Any
) -> None:
    organiser = someone(way, size)
    page = organiser.page
    organiser.sign_in(ADMIN)
    page.goto("/admin")
    organiser.link("Make a benchmark")
    organiser.fill("Title", "Tiny trees 2026")
    organiser.choose(files_of(None))
    with stage.asleep():
        organiser.button("Create")
        expect(page.locator("#head")).to_contain_text("its gold is being checked")
    stage.queue.put(stage.client().get("/v1/benchmarks/tiny-trees-2026/revisions/1").json["id"], "live")
    expect(page.get_by_role("status").first).to_contain_text("Gold is checked")
    expect(page.locator("#head")).to_contain_text("Open.")
    assert fits(page)

    organiser.link("Teams")
    organiser.fill("Ends", "2099-12-31T23:59")
    organiser.button("Make an invite")
    invite = page.get_by_role("status").filter(has_text="shown only now").get_by_text("/join/")
    address = (invite.text_content() or "").strip()
    assert address.startswith("http")
    assert fits(page)

    for team in ("lyon", "oslo"):
        member = someone(way, size)
        member.page.goto(address)
        member.fill("Id", team)
        member.fill("Name", team.title())
        member.fill("Contact, for the organisers", f"{team}@example.org")
        member.button("Join")
        expect(member.page.get_by_role("heading", level=1)).to_have_text("Your team is registered")
        assert fits(member.page)
    for at, team in enumerate(("lyon", "oslo")):
        sent = {"team": team, "outputs": {part: conllu(at + 1, place) for place, part in enumerate(PARTS)}}
        assert stage.client().post("/v1/benchmarks/tiny-trees-2026/submissions", json=sent).status_code == 201

    page.goto("/admin/tiny-trees-2026")
    changed = files_of(None)
    changed[0]["buffer"] = changed[0]["buffer"].replace(b"\t4\t", b"\t2\t")
    page.get_by_label("Files, each named after its part").set_input_files(changed[:1])
    organiser.fill("Reason, for all", "Twelve heads were wrong.")
    organiser.button("Dry run")
    expect(page.get_by_role("heading", name=re.compile("[Dd]ry run")).first).to_be_visible()
    expect(page.locator("main")).to_contain_text("Lyon")
    organiser.button("Revise")
    expect(page.locator("main")).to_contain_text("Revision 2")
    page.goto("/b/tiny-trees-2026/revisions")
    expect(page.locator("main")).to_contain_text("Twelve heads were wrong.")

    page.goto("/admin/tiny-trees-2026")
    organiser.fill("Closes", "2026-01-01T00:00")
    organiser.button("Save")
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.goto("/b/tiny-trees-2026")
    expect(page.locator(".sub").first).to_contain_text("closed")
    assert fits(page)


@pytest.mark.parametrize(("way", "size"), LIVED)
def test_a_team_joins_sends_a_zip_mends_it_sends_again_and_compares(
    someone: Callable[..., Reader], stage: Stage, way: str, size: Any
) -> None:
    organiser = tiny_trees(stage)
    asked = {"expires_at": "2100-01-01T00:00:00Z", "teams_at_most": 3}
    invite = organiser.post("/v1/benchmarks/tiny/invites", json=asked).json["address"]

    team = someone(way, size)
    page = team.page
    page.goto(invite)
    team.fill("Id", "lyon")
    team.fill("Name", "Lyon")
    team.fill("Contact, for the organisers", "lyon@example.org")
    team.button("Join")
    token = page.locator("#token").text_content() or ""
    team.sign_in(token)

    page.goto("/submit")
    faulty = files_of(2)
    faulty[1]["buffer"] = faulty[1]["buffer"].replace(b"\t0\troot", b"\t99\troot", 1)
    team.choose(zip_of(faulty))
    team.button("Check")
    expect(page.get_by_role("alert")).to_contain_text("cannot all be scored")
    expect(page.locator("#check")).to_contain_text("en_web")
    expect(page.locator("#check")).to_contain_text(re.compile(r"line \d"))
    assert fits(page)
    for number, system in enumerate((2, 1), start=1):
        page.goto("/submit")
        team.choose(zip_of(files_of(system)))
        team.fill("Name", f"run {number}")
        team.button("Submit")
        expect(page).to_have_url(re.compile("/s/sub_"))
        expect(page.get_by_role("status").first).to_contain_text("Scored")
        expect(page.locator(".headline")).to_contain_text("rank 1 of 1")
    page.goto("/submit")
    rows = page.get_by_role("region", name="Submissions").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("run 2")
    expect(rows.first).to_contain_text("+")
    team.press(rows.first.get_by_role("link", name="+"))
    expect(page).to_have_url(re.compile("[?&]a=sub_"))
    team.button("Test the difference")
    expect(page.locator(".headline")).to_contain_text(re.compile(r"\+\d+\.\d\d on run 1, p "))
    assert fits(page)


@pytest.mark.parametrize(("way", "size"), LIVED)
def test_a_reader_finds_who_is_best_and_whether_it_is_so(
    someone: Callable[..., Reader], stage: Stage, way: str, size: Any
) -> None:
    organiser = tiny_trees(stage)
    for at, name in enumerate(("lyon", "oslo", "ulm")):
        organiser.post("/v1/benchmarks/tiny/teams", json={"id": name, "name": name.title()})
        sent = {"team": name, "outputs": {part: conllu(at + 1, place) for place, part in enumerate(PARTS)}}
        assert organiser.post("/v1/benchmarks/tiny/submissions", json=sent).status_code == 201
    board = stage.client(None).get("/v1/benchmarks/tiny/leaderboard").json
    first, second = board["rows"][:2]

    reader = someone(way, size)
    page = reader.page
    page.goto("/")
    expect(page.locator("main")).to_contain_text(first["team_name"])
    reader.link("Tiny trees")
    expect(page).to_have_url(re.compile("/b/tiny"))
    best = page.locator("#board tbody tr").first
    expect(best).to_contain_text(first["team_name"])
    expect(best).to_contain_text(f"{100 * first['score']:.2f}")
    assert fits(page)
    reader.link("Compare")
    other = page.locator("#by-b")
    if way == KEYBOARD:
        reader.reach(other)
    other.select_option(label=second["team_name"])
    told = "is better than" if first["p_next"] <= board["significance"]["alpha"] else "do not differ significantly"
    expect(page.locator("main p.lead")).to_contain_text(told)
    assert fits(page)
