"""The log of a job that goes on writing."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from .conftest import OpenPage
from .house import House
from .talking_app import PART

TALKING = f"{Path(__file__).with_name('talking_app.py')}:app"
TALL = {"width": 1280, "height": 2000}
"""All of a job's page is on the screen."""


@pytest.fixture(scope="module")
def talking(house: House) -> None:
    """A worker for the task whose log grows when a test wants it to."""
    house.do(house.stack.worker("talker", TALKING))
    house.do(house.stack.until_joined("talker"))


def log(page: Page) -> Locator:
    return page.get_by_role("log", name="Log")


def test_the_end_of_a_log_is_followed_until_one_scrolls_up(
    house: House, open_page: OpenPage, talking: None, tmp_path: Path
) -> None:
    job_id = house.submit("talk", {"folder": str(tmp_path)})
    page = open_page(viewport=TALL)
    page.goto(f"/console/jobs/{job_id}")
    follow = page.get_by_role("button", name="Follow")

    def line(number: int) -> Locator:
        return log(page).get_by_text(f"spoken {number}", exact=True)

    expect(line(PART - 1)).to_be_in_viewport()
    expect(follow).to_have_attribute("aria-pressed", "true")
    (tmp_path / "1").touch()
    expect(line(2 * PART - 1)).to_be_in_viewport()
    log(page).hover()
    page.mouse.wheel(0, -100_000)
    expect(line(0)).to_be_in_viewport()
    expect(follow).to_have_attribute("aria-pressed", "false")
    (tmp_path / "2").touch()
    expect(page.get_by_text(f"{3 * PART} lines")).to_be_visible()
    expect(line(0)).to_be_in_viewport()
    follow.click()
    expect(line(3 * PART - 1)).to_be_in_viewport()
    (tmp_path / "end").touch()
    expect(follow).to_have_count(0)
