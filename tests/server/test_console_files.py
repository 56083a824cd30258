"""The console's files: served with a strict policy, never from anywhere but the package."""

import gzip
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from horae.server import console
from horae.server.console import File

from .house import Answer, House

BUILT = {
    "index.html": File(b"<!doctype html><title>Horae</title>", None, b"text/html; charset=utf-8"),
    "assets/app-abc123.js": File(b"let a = 1", b"packed", b"text/javascript; charset=utf-8"),
    "icon.svg": File(b"<svg/>", None, b"image/svg+xml"),
}
PAGES = ("/console/", "/console/jobs", "/console/jobs/0198?tenant=x", "/console/sign-in", "/console/a/b/c")


@pytest.fixture(autouse=True)
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "shipped", lambda: BUILT)


async def raw(house: House, path: str, encoding: str = "identity") -> Answer:
    """A request with the path as it is written, and an answer as it is sent."""
    url, headers = URL(house.url + path, encoded=True), {"accept-encoding": encoding}
    async with (
        aiohttp.ClientSession(auto_decompress=False) as http,
        http.get(url, headers=headers, allow_redirects=False) as response,
    ):
        return Answer(response.status, response.headers, await response.read())


async def test_the_root_leads_to_the_console(house: House):
    for path in ("/", "/console"):
        answer = await raw(house, path)
        assert (answer.status, answer.headers["location"]) == (307, "/console/")


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_is_the_page_with_a_strict_policy(house: House, path: str):
    answer = await raw(house, path)
    assert answer.status == 200
    assert answer.body.startswith(b"<!doctype html>")
    rules = dict(rule.strip().partition(" ")[::2] for rule in answer.headers["content-security-policy"].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-cache"


async def test_scripts_never_change_and_come_packed_to_those_who_can_unpack(house: House):
    plain = await raw(house, "/console/assets/app-abc123.js")
    packed = await raw(house, "/console/assets/app-abc123.js", "br, gzip")
    assert plain.body == b"let a = 1"
    assert (packed.body, packed.headers["content-encoding"]) == (b"packed", "gzip")
    for answer in (plain, packed):
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-type"].startswith("text/javascript")
        assert answer.headers["vary"] == "accept-encoding"
        assert "content-security-policy" in answer.headers


async def test_a_script_that_is_gone_is_not_the_page(house: House):
    assert (await raw(house, "/console/assets/app-old.js")).code == "not_found"


@pytest.mark.parametrize(
    "path",
    [
        "/console/../server/app.py",
        "/console/../../../../etc/passwd",
        "/console/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/console/..%2f..%2f..%2fetc%2fpasswd",
        "/console/assets/..%2findex.html",
        "/console/assets/../../../../../../etc/passwd",
        "/console//etc/passwd",
        "/console/%00",
        "/console/..\\..\\etc\\passwd",
        "/console/assets/app-abc123.js%00.html",
        "/console/index.html/..",
        "/console.py",
        "/consolex",
    ],
)
async def test_no_path_leads_out_of_the_console(house: House, path: str):
    answer = await raw(house, path)
    assert answer.body == BUILT["index.html"].body or answer.status in {400, 404}
    assert b"root:" not in answer.body


async def test_what_is_served_are_the_files_of_the_package_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    static = tmp_path / "console" / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("page")
    (static / "assets" / "a.js").write_text("script")
    (static / "assets" / "a.js.gz").write_bytes(packed := gzip.compress(b"script"))
    (static / "index.html.gz").write_bytes(gzip.compress(b"an earlier page"))
    (tmp_path / "secret").write_text("secret")
    monkeypatch.undo()
    monkeypatch.setattr(console, "files", lambda _: tmp_path)
    console.shipped.cache_clear()
    try:
        found = console.shipped()
    finally:
        console.shipped.cache_clear()
    assert found.keys() == {"index.html", "assets/a.js"}
    assert (found["assets/a.js"].packed, found["index.html"].packed) == (packed, None)


async def test_without_a_build_the_answer_says_so(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(console, "shipped", dict)
    answer = await house.get("/console/")
    assert answer.code == "not_found"
    assert "make console" in answer.json["detail"]
    assert (await house.get("/healthz")).status == 200


async def test_only_reading_is_for_the_console(house: House):
    assert (await house.call("POST", "/console", {})).code == "method_not_allowed"
