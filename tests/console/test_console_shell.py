"""What stands around every page: navigation, keys, the palette, themes, zones, and the server's going away."""

import re
from collections import Counter

import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect

from horae.model.roles import Role
from horae.wire.limits import LimitPut

from .conftest import OpenPage
from .house import House

PLACES = ["Home", "Jobs", "Dead letters", "Bulk actions", "Schedules", "Tasks", "Workers", "Queues", "Limits", "Gates"]


@pytest.mark.parametrize("name", PLACES)
def test_every_place_opens_and_has_its_heading(page: Page, name: str) -> None:
    page.goto("/console/")
    link = page.get_by_role("navigation", name="Console").get_by_role("link", name=name, exact=True)
    link.click()
    expect(link).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(name, re.IGNORECASE))
    expect(page).to_have_title(re.compile("Horae"))


def test_the_palette_goes_to_pages_and_finds_things(house: House, page: Page) -> None:
    job_id = house.run("add", {"a": 1})
    page.goto("/console/")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Go to or find")
    expect(box).to_be_focused()
    box.fill("work")
    expect(page.get_by_role("option", name="Workers")).to_be_visible()
    box.fill(job_id[:18])
    expect(page.get_by_role("option").filter(has_text=job_id[:8]).first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/console/jobs/{job_id}"))


def test_escape_closes_the_palette(page: Page) -> None:
    page.goto("/console/")
    page.get_by_role("button", name="Go to or find").click()
    expect(page.get_by_role("combobox", name="Go to or find")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox", name="Go to or find")).to_have_count(0)


def test_escape_closes_the_innermost_dialog_only(house: House, page: Page) -> None:
    house.client.put_limit("narrow", LimitPut(task="hold", max_running=1))
    try:
        page.goto("/console/limits?limit=narrow")
        drawer = page.get_by_role("dialog", name="Limit narrow")
        drawer.get_by_role("button", name="Delete…").click()
        inner = page.get_by_role("dialog", name=re.compile("Delete the limit"))
        expect(inner).to_be_visible()
        page.keyboard.press("Escape")
        expect(inner).to_have_count(0)
        expect(drawer).to_be_visible()
        page.keyboard.press("Escape")
        expect(drawer).to_have_count(0)
    finally:
        house.client.remove_limit("narrow")


def test_a_question_mark_shows_the_keys_and_g_goes_places(page: Page) -> None:
    page.goto("/console/")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("Next row")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("w")
    expect(page).to_have_url(re.compile("/console/workers"))


def test_rows_are_moved_in_and_opened_by_keys(house: House, page: Page) -> None:
    house.run("add", {"a": 1})
    page.goto("/console/jobs")
    row = page.locator("[data-row]").first
    expect(row).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("[data-row]:focus")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/console/jobs/[0-9a-f-]{36}"))


def test_a_theme_is_chosen_and_kept(page: Page) -> None:
    page.goto("/console/")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    before = page.evaluate(ground)
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("html")).not_to_have_css("background-color", before)  # It changes in passing.
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_times_are_shown_in_the_local_zone_or_in_utc(house: House, open_page: OpenPage) -> None:
    job_id = house.run("add", {"a": 1})
    page = open_page(timezone_id="Asia/Kolkata")
    page.goto(f"/console/jobs/{job_id}")
    expect(page.locator("time").first).to_have_attribute("title", re.compile("Asia/.*\n.*UTC", re.DOTALL))
    page.get_by_role("button", name="Time zone").click()
    page.get_by_role("menuitemradio", name="UTC").click()
    page.reload()
    page.get_by_role("button", name="Time zone").click()
    expect(page.get_by_role("menuitemradio", name="UTC")).to_have_attribute("aria-checked", "true")


def test_an_unknown_address_says_so_and_leads_home(page: Page) -> None:
    page.goto("/console/no/such/page")
    expect(page.get_by_text("There is no such page")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Home").click()
    expect(page.get_by_role("heading", name="Home")).to_be_visible()


def test_a_viewer_is_not_shown_what_it_may_not_do(open_page: OpenPage) -> None:
    page = open_page(Role.VIEWER)
    page.goto("/console/gates")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(
        page.get_by_role("main").get_by_role("button", name=re.compile("close a gate|emergency", re.I))
    ).to_have_count(0)


def test_windows_on_running_jobs_leave_each_other_connections(house: House, page: Page) -> None:
    """A browser opens six to a host for all its windows together, and a stream holds one for as long as it is open."""
    windows = (page, page.context.new_page())
    most = most_streams(page.context)
    release = house.folder / "windows.release"
    try:
        for window in windows:
            job_id = house.submit("hold", {"until": str(release), "total": 100_000})
            window.goto(f"/console/jobs/{job_id}")
            expect(window.get_by_role("log", name="Log")).to_contain_text("holding")
        for window in windows:
            expect(window.get_by_text(re.compile(r"step ([3-9]\d|\d{3,})"))).to_be_visible()
        assert [most[window] for window in windows] == [2, 2]
    finally:
        release.touch()
    for window in windows:
        expect(window.get_by_role("main").get_by_text("succeeded", exact=True).first).to_be_visible()


def most_streams(context: BrowserContext) -> Counter[Page]:
    """How many each window has had open at once, from now on: one that was lost is opened again."""
    streams, most = Counter[Page](), Counter[Page]()

    def change(request: Request, by: int) -> None:
        if request.resource_type == "eventsource":
            window = request.frame.page
            streams[window] += by
            most[window] = max(most[window], streams[window])

    context.on("request", lambda request: change(request, 1))
    context.on("requestfinished", lambda request: change(request, -1))
    context.on("requestfailed", lambda request: change(request, -1))
    return most


def test_the_console_survives_a_restart_of_the_server_and_says_so(house: House, page: Page) -> None:
    page.goto("/console/")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    house.stop_server()
    try:
        expect(page.get_by_text("The server does not answer: what you see may be old")).to_be_visible()
    finally:
        house.start_server()
    expect(page.get_by_text("Connected again")).to_be_visible()
    _, release = house.holding("again")
    running = page.get_by_role("region", name="Figures").get_by_role("link", name="Running")
    expect(running).to_contain_text("1")
    release.touch()
