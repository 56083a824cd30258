"""The console in a real browser: Debian's Chromium against a server and a worker of the module's own.

How to write a test of a page:

    def test_a_job_is_cancelled(house: House, page: Page) -> None:
        job_id, _ = house.holding()
        page.goto(f"/console/jobs/{job_id}")
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("cancelled")).to_be_visible()

`page` is signed in as an admin of all tenants; `open_page` makes pages of other roles, sizes and themes, and with
`signed_in=False` of nobody. Each page fails its test if anything was asked of another host, if the content security
policy was broken, or if a script threw.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.resources import files
from time import monotonic
from typing import Any, Final, TypeVar

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from horae.model.roles import Role

from .house import House, open_house

ARGUMENTS: Final = [
    "--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip
PATIENCE: Final = 20_000
"""Milliseconds; costs time only where something is wrong."""
DESKTOP: Final = {"width": 1280, "height": 800}
PHONE: Final = {"width": 390, "height": 844}
T = TypeVar("T")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The system's Chromium, and a console that was built.

    The one without windows takes half the processor time: the other draws a window of its own around each page.
    """
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        _missing("there is no Chromium: apt-get install chromium-headless-shell")
    if not files("horae").joinpath("console", "static", "index.html").is_file():
        _missing("the console is not built: make console")
    return program or ""


def _missing(what: str) -> None:
    """Elsewhere one may test without it; where all must be tested, it is a fault."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def house(chromium: str, cluster_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A Horae of the module's own, with one server and one worker that has the tasks of console_app.py."""
    with open_house(cluster_dsn, tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest.fixture(scope="module")
def browser(chromium: str, cluster_dsn: str) -> Iterator[Browser]:
    """Ends with the module: while it lives, no other test in this process can have an event loop."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(house: House, browser: Browser) -> Iterator[OpenPage]:
    """Makes pages, each in a browser profile of its own. Options are those of Playwright's new_context."""
    contexts, complaints = [], []

    def open_one(role: Role = Role.ADMIN, tenant: str | None = None, *, signed_in: bool = True, **options: Any) -> Page:
        context = browser.new_context(
            base_url=house.url, **{"viewport": DESKTOP, "reduced_motion": "reduce", "locale": "en-GB", **options}
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        if signed_in:
            answer = context.request.post(
                "/v1/session", data={"key": house.key(role, tenant)}, headers={"Horae-Console": "1"}
            )
            assert answer.status == 201, answer.text()
        page = context.new_page()
        _watch(page, house.url, complaints)
        return page

    yield open_one
    for context in contexts:
        for page in context.pages:  # which pytest shows when the test has failed
            with suppress(Error):  # One that has crashed tells nothing, and spoils neither the test nor the next page.
                print(f"--- {page.url}\n{page.locator('body').inner_text(timeout=2_000)[:3000]}")
        context.close()
    assert complaints == []


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """Signed in as an admin of all tenants."""
    return open_page()


@pytest.fixture
def tenant(house: House, request: pytest.FixtureRequest) -> str:
    """A tenant of the test's own: what others left behind is not in its figures and lists."""
    name = re.sub(r"[^a-z0-9]", "-", request.node.name)[:60]
    house.key(Role.ADMIN, name)
    return name


def see_some_and_find_all(page: Page, things: str) -> None:
    """Of the 150 in the table of such things a hundred are drawn at first; the search looks through all."""
    rows = page.get_by_role("table", name=things.capitalize()).locator("tbody").get_by_role("row")
    expect(page.get_by_text(f"100 of 150 {things}")).to_be_visible()
    expect(rows).to_have_count(100)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(150)
    page.get_by_label(f"Search {things}").fill("many-149")
    expect(rows).to_have_count(1)


def until(page: Page, look: Callable[[], T], what: str) -> T:
    """What a look gives, once it gives something; in between, requests and events of the page come by."""
    end = monotonic() + PATIENCE / 1000
    while not (found := look()):
        assert monotonic() < end, f"waited in vain for {what}"
        page.wait_for_timeout(20)
    return found


def _watch(page: Page, url: str, complaints: list[str]) -> None:
    page.on("pageerror", lambda error: complaints.append(f"a script threw: {error}"))
    page.on(
        "console",
        lambda message: (
            complaints.append(f"the policy was broken: {message.text}")
            if "Content Security Policy" in message.text
            else None
        ),
    )
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((url, "data:", "blob:", "about:"))
            else complaints.append(f"a request to another host: {request.url}")
        ),
    )
