"""A browser that looks at the console, and what that costs it. Needs Chromium and the package playwright."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import psutil

from horae.bench.usage import MB

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

ARGUMENTS: Final = [
    "--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip
SETTLE_SECONDS: Final = 5.0
"""Until the first reading: by then the page has loaded and has had its first pulses."""
SIZE: Final = {"width": 1280, "height": 800}
WATCH_FRAMES: Final = """() => {
    window.frameTimes = [];
    let last;
    const frame = (at) => {
        if (last !== undefined) window.frameTimes.push(at - last);
        last = at;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}"""
TAKE_FRAMES: Final = "() => window.frameTimes.splice(0)"


class Stay(NamedTuple):
    """What a tab did while it was open."""

    frames: list[float]
    """Milliseconds from each frame to the next."""
    heap: list[float]
    """Megabytes that the scripts held, garbage not counted: at the beginning and at the end."""
    nodes: list[float]
    memory: float
    """Megabytes of the tab's process that are its own; `resident` has the program in it too, which tabs share."""
    resident: float
    requests: float
    """A second."""


def missing() -> str | None:
    """Why there can be no browser; None when there can."""
    if find_spec("playwright") is None:
        return "the package playwright is not installed"
    if shutil.which("chromium") is None:
        return "there is no chromium"
    if not files("horae").joinpath("console", "static", "index.html").is_file():
        return "the console is not built"
    return None


async def visit(url: str, key: str, tabs: Mapping[str, str], seconds: float) -> dict[str, Stay]:
    """Each page in a tab of its own browser, one after another."""
    stays = {}
    for name, path in tabs.items():
        async with opened(url, key) as (browser, context):
            stays[name] = await _stay(browser, context, path, seconds)
    return stays


@asynccontextmanager
async def opened(url: str, key: str) -> "AsyncIterator[tuple[Browser, BrowserContext]]":
    """A browser, in which somebody has signed in."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        try:
            context = await browser.new_context(base_url=url, viewport=SIZE)  # type: ignore[arg-type]
            await context.request.post("/v1/session", data={"key": key}, headers={"Horae-Console": "1"})
            yield browser, context
        finally:
            await browser.close()


async def _stay(browser: "Browser", context: "BrowserContext", path: str, seconds: float) -> Stay:
    page = await context.new_page()
    await page.goto(path)
    await asyncio.sleep(SETTLE_SECONDS)
    first = await collected(page)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    await page.evaluate(WATCH_FRAMES)
    await asyncio.sleep(seconds)
    frames = await page.evaluate(TAKE_FRAMES)
    asked = len(requests)
    memory, resident = await _memory(browser)
    last = await collected(page)
    return Stay(
        frames=frames,
        heap=[each["JSHeapUsedSize"] / MB for each in (first, last)],
        nodes=[each["Nodes"] for each in (first, last)],
        memory=memory / MB,
        resident=resident / MB,
        requests=asked / seconds,
    )


async def collected(page: "Page") -> dict[str, Any]:
    """After the garbage is gone: what is left then is what grows."""
    session = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.enable")
    await session.send("HeapProfiler.collectGarbage")
    await session.send("Performance.enable")
    found = await session.send("Performance.getMetrics")
    await session.detach()
    return {each["name"]: each["value"] for each in found["metrics"]}


async def _memory(browser: "Browser") -> tuple[int, int]:
    """Of the tab's process: what is its own, and all that is resident. There may be a spare one, without a page."""
    session = await browser.new_browser_cdp_session()
    found = await session.send("SystemInfo.getProcessInfo")
    await session.detach()
    renderers = [psutil.Process(each["id"]) for each in found["processInfo"] if each["type"] == "renderer"]
    used = [process.memory_full_info() for process in renderers]
    largest = max(used, key=lambda each: each.uss)
    return largest.uss, largest.rss
