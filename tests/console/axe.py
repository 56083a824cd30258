"""What axe-core, a checker of accessibility, holds against a page."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "resultTypes": ["violations"]}


def settled(page: Page, path: str) -> None:
    page.goto(f"/console{path}")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Loading…")
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


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
