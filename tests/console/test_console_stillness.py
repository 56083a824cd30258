"""Nothing jumps while data stream in: figures, plots and rows change where they stand."""

from collections.abc import Callable
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Page, Response, expect

from .house import House

WATCH = """
() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      window.shifts.push([entry.value, entry.sources.map(({ node }) => (node?.outerHTML ?? "gone").slice(0, 200))]);
  }).observe({ type: "layout-shift" });
}
"""
PAINTED = "() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))"
READS = 2
"""Answers to what the page shows, after which it has drawn some of them."""
UNSEEN = 0.005
"""Of the window, by how much and how far at once. A line that pushes a page down is twice that; a figure that becomes
wider, with its column, is a thirtieth."""


@pytest.mark.parametrize(
    ("path", "settled", "shows"),
    [
        ("/console/", "always the same", "/v1/overview"),
        ("/console/queues", "default", "/v1/queues"),
        ("/console/workers", "w1", "/v1/workers"),
    ],
)
def test_a_page_stands_still_while_jobs_run(house: House, page: Page, path: str, settled: str, shows: str) -> None:
    some_jobs(house)
    page.goto(path)
    expect(page.get_by_role("main")).to_contain_text(settled)
    with page.expect_response(last_of(READS, shows)):  # By then all that the page shows is there.
        some_jobs(house)
    page.evaluate(WATCH)
    with page.expect_response(last_of(READS, shows)):
        some_jobs(house)
    shifts = page.evaluate("() => window.shifts")
    assert all(value < UNSEEN for value, _ in shifts), shifts


def test_a_jump_would_be_seen(page: Page) -> None:
    page.goto("/console/workers")
    with page.expect_response(last_of(READS, "/v1/workers")):  # What comes at the beginning is not the jump.
        expect(page.get_by_role("main")).to_contain_text("w1")
    page.evaluate(PAINTED)  # Only what was painted before can move.
    page.evaluate(WATCH)
    page.evaluate(
        "() => document.querySelector('main').prepend(Object.assign(document.createElement('p'), {innerText: 'new'}))"
    )
    page.wait_for_function("(least) => window.shifts.some(([value]) => value > least)", arg=UNSEEN)


def last_of(count: int, path: str) -> Callable[[Response], bool]:
    """Of so many answers from there the last."""
    seen: list[Response] = []

    def is_last(response: Response) -> bool:
        if urlparse(response.url).path == path:
            seen.append(response)
        return len(seen) >= count

    return is_last


def some_jobs(house: House) -> None:
    for n in range(10):
        house.submit("add", {"a": n})
    house.run("refuse", {"reason": "always the same"})
