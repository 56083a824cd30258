"""The way into the console in a real browser: signing in and out, one-time addresses, roles, and what is served."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import Page, expect

from horae.model.roles import Role

from .conftest import OpenPage
from .house import House


def test_a_key_signs_in_and_one_can_sign_out(house: House, open_page: OpenPage) -> None:
    page = open_page(signed_in=False)
    page.goto("/console/")
    expect(page).to_have_url(re.compile("/console/sign-in"))
    page.get_by_label(re.compile("key", re.IGNORECASE)).first.fill(house.key(Role.VIEWER))
    page.get_by_role("button", name=re.compile("sign in", re.IGNORECASE)).click()
    expect(page.get_by_role("navigation").first).to_be_visible()
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("horae_session", True, "Strict")
    assert page.evaluate("document.cookie") == ""


def test_one_who_could_not_be_signed_out_is_told_so_and_can_try_again(page: Page) -> None:
    page.goto("/console/jobs")
    page.route("**/v1/session", lambda route: route.abort() if route.request.method == "DELETE" else route.continue_())
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("alert")).to_contain_text("You are still signed in")
    expect(page).to_have_url(re.compile("/console/jobs"))
    page.unroute_all()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/console/sign-in"))
    assert page.context.cookies() == []


def test_a_wrong_key_is_told_so(open_page: OpenPage) -> None:
    page = open_page(signed_in=False)
    page.goto("/console/sign-in")
    page.get_by_label(re.compile("key", re.IGNORECASE)).first.fill("hk_wrong")
    page.get_by_role("button", name=re.compile("sign in", re.IGNORECASE)).click()
    expect(page.get_by_role("alert").first).to_contain_text("unknown")
    assert page.context.cookies() == []


def test_a_one_time_address_signs_in_once_and_leaves_no_ticket_behind(house: House, open_page: OpenPage) -> None:
    path = house.client.console_ticket().path
    page = open_page(signed_in=False)
    page.goto(path)
    expect(page.get_by_role("navigation").first).to_be_visible()
    assert "ticket" not in page.url
    thief = open_page(signed_in=False)
    thief.goto(path)
    expect(thief.get_by_role("alert").first).to_contain_text("used")


def test_a_session_that_ends_leads_back_to_the_sign_in(house: House, page: Page) -> None:
    page.goto("/console/jobs")
    expect(page.get_by_role("navigation").first).to_be_visible()
    page.context.clear_cookies()
    page.reload()
    expect(page).to_have_url(re.compile("/console/sign-in"))


def test_a_script_that_is_not_the_consoles_changes_nothing(house: House, page: Page) -> None:
    """One that got into our origin somehow, and knows nothing of the header."""
    page.goto("/console/")
    statuses = page.evaluate(
        """async () => {
            const read = await fetch("/v1/jobs");
            const written = await fetch("/v1/jobs", {method: "POST", body: "{}"});
            return [read.status, written.status];
        }"""
    )
    assert statuses == [200, 403]


ELSEWHERE = """<!doctype html><form id="f" method="post" action="{url}/v1/session" enctype="text/plain" target="t">
<input name='{{"key":"' value='hk_x"}}'></form><iframe name="t"></iframe><iframe src="{url}/console/"></iframe>
<script>
f.submit();
const ask = (how) => fetch("{url}/v1/jobs", {{credentials: "include", ...how}}).then(a => a.status, () => "refused");
Promise.all([
  ask({{}}),
  ask({{method: "POST", body: '{{"task":"add","params":{{"a":1}}}}'}}),
  ask({{method: "POST", body: '{{"task":"add","params":{{"a":1}}}}', headers: {{"Horae-Console": "1"}}}}),
  ask({{method: "POST", mode: "no-cors", body: '{{"task":"add","params":{{"a":1}}}}'}}).then(s => s || "refused"),
]).then(found => document.title = found.join(" "));
</script>"""


def test_a_page_of_another_port_of_this_host_can_do_nothing_with_the_session(house: House, page: Page) -> None:
    """It is of the same site, so the browser sends it the cookie and us its requests."""
    page.goto("/console/")
    before = {str(job.id) for job in house.client.jobs().items}
    with elsewhere(ELSEWHERE.format(url=house.url)) as address:
        other = page.context.new_page()
        other.goto(address)
        expect(other).to_have_title("refused refused refused refused")
        frame = other.frames[-1]
        assert frame.locator("nav").count() == 0, "it was framed"
        other.close()
    assert {str(job.id) for job in house.client.jobs().items} == before
    page.reload()
    expect(page.get_by_role("navigation").first).to_be_visible()


@contextmanager
def elsewhere(body: str) -> Iterator[str]:
    """A page on another port of the host of the house."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name that http.server asks for
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()
