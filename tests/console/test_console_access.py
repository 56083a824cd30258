"""Everybody can use the console: axe finds no serious fault on any page, in both themes."""

import pytest
from playwright.sync_api import Page, expect

from horae.model.definition import ScheduleDefinition
from horae.wire.limits import LimitPut

from .axe import AXE, faults, settled
from .conftest import OpenPage
from .house import House

PAGES = [
    "/", "/jobs", "/dead-letters", "/actions", "/schedules", "/tasks", "/tasks/add", "/workers", "/queues", "/limits",
    "/gates",
]  # fmt: skip


@pytest.fixture(params=["light", "dark"])
def themed(request: pytest.FixtureRequest, house: House, open_page: OpenPage) -> Page:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: cd web && npm ci")
    page: Page = open_page(color_scheme=request.param)
    return page


@pytest.fixture(scope="module")
def looked_at(house: House) -> str:
    """A schedule and a limit of that name, a dead letter, and the id of the worker."""
    house.client.schedules.put(ScheduleDefinition(name="looked-at", task="add", params={"a": 1}, every="1h"))
    house.client.put_limit("looked-at", LimitPut(task="hold", max_running=5))
    house.run("fail")
    return str(house.client.workers().items[0].id)


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_no_serious_fault(themed: Page, path: str) -> None:
    settled(themed, path)
    assert faults(themed) == []


def test_axe_finds_no_serious_fault_on_the_page_of_a_job(house: House, themed: Page) -> None:
    job_id = house.run("chatter")
    themed.goto(f"/console/jobs/{job_id}")
    expect(themed.get_by_role("heading", level=1)).to_contain_text("chatter")
    assert faults(themed) == []


def test_axe_finds_no_serious_fault_on_the_pages_of_things(house: House, themed: Page, looked_at: str) -> None:
    letter = house.client.dead_letters().causes[0].cause
    paths = [
        "/schedules/looked-at", "/schedules/looked-at?tab=calendar", "/schedules/looked-at?edit=1",
        "/schedules?view=calendar", "/schedules?view=collisions", f"/workers/{looked_at}", "/limits?limit=looked-at",
        f"/dead-letters?cause={letter}", "/queues?queue=default", "/sign-in",
    ]  # fmt: skip
    for path in paths:
        settled(themed, path)
        assert faults(themed) == [], path


@pytest.mark.parametrize(
    ("path", "button"),
    [
        ("/limits", "New limit"), ("/gates", "New gate"), ("/gates", "Emergency stop…"), ("/tasks/add", "Submit…"),
        ("/workers/{worker}", "Maintenance…"), ("/schedules/looked-at", "Run now"),
        ("/schedules/looked-at?tab=backfills", "New backfill"),
    ],
)  # fmt: skip
def test_axe_finds_no_serious_fault_in_a_form(themed: Page, looked_at: str, path: str, button: str) -> None:
    settled(themed, path.format(worker=looked_at))
    themed.get_by_role("main").get_by_role("button", name=button, exact=True).click()
    expect(themed.get_by_role("dialog")).to_be_visible()
    expect(themed.locator("[aria-busy=true]")).to_have_count(0)
    assert faults(themed) == []


def test_axe_finds_no_serious_fault_in_the_palette_and_the_help(themed: Page) -> None:
    themed.goto("/console/")
    expect(themed.get_by_role("heading", name="Home")).to_be_visible()
    themed.keyboard.press("?")
    expect(themed.get_by_role("dialog", name="Keyboard")).to_be_visible()
    assert faults(themed) == []
    themed.keyboard.press("Escape")
    themed.keyboard.press("Control+k")
    expect(themed.get_by_role("combobox", name="Go to or find")).to_be_visible()
    assert faults(themed) == []
