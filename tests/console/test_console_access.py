"""Everybody can use the console: axe finds no serious fault on any page, in both themes."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from .conftest import OpenPage
from .house import House

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = [
    "/", "/jobs", "/dead-letters", "/actions", "/schedules", "/tasks", "/tasks/add", "/workers", "/queues", "/limits",
    "/gates",
]  # fmt: skip
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "resultTypes": ["violations"]}


@pytest.fixture(params=["light", "dark"])
def themed(request: pytest.FixtureRequest, house: House, open_page: OpenPage) -> Page:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: cd web && npm ci")
    page: Page = open_page(color_scheme=request.param)
    return page


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_no_serious_fault(themed: Page, path: str) -> None:
    themed.goto(f"/console{path}")
    expect(themed.get_by_role("heading", level=1)).not_to_have_text("Loading…")
    expect(themed.locator("[aria-busy=true]")).to_have_count(0)
    assert faults(themed) == []


def test_axe_finds_no_serious_fault_on_the_page_of_a_job(house: House, themed: Page) -> None:
    job_id = house.run("chatter")
    themed.goto(f"/console/jobs/{job_id}")
    expect(themed.get_by_role("heading", level=1)).to_contain_text("chatter")
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


def faults(page: Page) -> list[str]:
    """What axe holds against the page, each with the element it means."""
    page.evaluate(AXE.read_text())
    answer: dict[str, Any] = page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{violation['id']}: {node['html'][:200]} {node['failureSummary']}"
        for violation in answer["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
