"""Makes the screenshots of docs/console.md: every page, in both themes, at the width of a desk and of a phone.

    python web/scripts/shots.py http://127.0.0.1:8420 KEY [PAGE …]

against a Horae with something to see, such as that of `make up` with a few schedules, gates and limits, of which
one holds jobs back.
"""

import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

FOLDER = Path(__file__).parents[2] / "docs" / "console"
SIZES: dict[str, dict[str, Any]] = {
    "": {"viewport": {"width": 1280, "height": 800}},
    "-phone": {"viewport": {"width": 390, "height": 844}},
}
THERE = """() => {
    const heading = document.querySelector("h1");
    const unfinished = "[aria-busy=true], [class*=skeleton]";
    return heading && heading.textContent !== "Loading…" && !document.querySelector(unfinished);
}"""


def main(url: str, key: str, *names: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        pages = {name: path for name, path in places(browser, url, key).items() if not names or name in names}
        for theme in ("light", "dark"):
            for suffix, size in SIZES.items():
                context = signed_in(browser, url, key, color_scheme=theme, reduced_motion="reduce", **size)
                page = context.new_page()
                for name, path in pages.items():
                    shoot(page, path, FOLDER / f"{name}-{theme}{suffix}.png")
                context.close()
        browser.close()


def signed_in(browser: Browser, url: str, key: str, **options: Any) -> BrowserContext:
    context = browser.new_context(base_url=url, **options)
    context.set_default_timeout(120_000)
    context.request.post("/v1/session", data={"key": key}, headers={"Horae-Console": "1"})
    return context


def places(browser: Browser, url: str, key: str) -> dict[str, str]:
    """Lists are where they are; of things, the first one is taken."""
    context = signed_in(browser, url, key)

    def first(call: str, of: str = "items") -> dict[str, Any]:
        items: list[dict[str, Any]] = context.request.get(call).json()[of]
        return items[0]

    job = first("/v1/jobs?task=chatter&status=succeeded&limit=1")["id"]
    waiting = first("/v1/jobs?status=blocked&limit=1")["id"]
    cause = first("/v1/dead-letters?tenant=default", "causes")["cause"]
    worker = first("/v1/workers")["id"]
    schedule = first("/v1/schedules?tenant=default")["definition"]["name"]
    context.close()
    lists = ("jobs", "dead-letters", "actions", "schedules", "tasks", "workers", "queues", "limits", "gates")
    return {
        "sign-in": "/sign-in",
        "home": "/",
        **{name: f"/{name}" for name in lists},
        "job": f"/jobs/{job}",
        "waiting-job": f"/jobs/{waiting}",
        "cause": f"/dead-letters?tenant=default&cause={cause}",
        "schedule": f"/schedules/{schedule}?tenant=default",
        "schedule-editor": f"/schedules/{schedule}?tenant=default&edit=1",
        "calendar": "/schedules?view=calendar",
        "collisions": "/schedules?view=collisions&tenant=default",
        "task": "/tasks/add",
        "submit": "/tasks/fetch?tenant=default&submit=1",
        "stop": "/gates?stop=1",
        "worker": f"/workers/{worker}",
    }


def shoot(page: Page, path: str, file: Path) -> None:
    page.goto(f"/console{path}")
    page.wait_for_function(THERE)
    page.wait_for_timeout(1500)  # plots and live figures settle
    page.screenshot(path=file)
    print(file.name)


if __name__ == "__main__":
    main(*sys.argv[1:])
