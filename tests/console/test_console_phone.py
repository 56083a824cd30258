"""The console on a phone: no page scrolls sideways, what one comes for can be pressed, axe finds no serious fault."""

from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from horae import ActionKind, ActionRequest, JobsFilter, Script, TaskDefinition
from horae.wire.gates import GateCreate
from horae.wire.limits import LimitPut

from .axe import AXE, faults, settled
from .conftest import PHONE, OpenPage
from .house import House

LONG = "the address of the customer in the northern office could not be told apart from that of the southern"


@dataclass
class Things:
    """What there is to look at: names and ids as they stand in an address."""

    letter: str
    """The query of a dead letter."""
    action: str
    gate: int
    worker: int
    job: str
    """One with two attempts, a log and pieces of its result."""


@pytest.fixture(scope="module")
def things(house: House) -> Things:
    failed = house.run("refuse", {"reason": LONG}, queue="northern-office-addresses")
    (cause,) = house.client.dead_letters().causes
    house.submit("add", {"a": 1}, delay="1h", queue="northern-office-addresses", labels={"customer": LONG})
    which = JobsFilter(task="add", status="pending", tenant="default")
    action = house.client.act(ActionRequest(action=ActionKind.CANCEL, filter=which, reason=LONG))
    gate = house.client.create_gate(GateCreate(queue="southern", condition=f"params.a == '{LONG}'", reason=LONG))
    house.client.put_limit("northern-office-addresses", LimitPut(task="hold", max_running=5, reason=LONG))
    for source in ("echo hello\n", f"echo {LONG}\n"):
        script = Script(source=source, interpreter="sh")
        definition = TaskDefinition(name="northern-office-addresses", script=script, description=LONG)
        house.client.tasks.put(definition, reason=LONG, tenant="default")
    return Things(
        letter=f"cause={cause.cause}&tenant=default&job={failed}",
        action=str(action.id),
        gate=gate.id,
        worker=house.client.workers().items[0].id,
        job=house.run("flaky"),
    )


@pytest.fixture
def phone(open_page: OpenPage) -> Page:
    return open_page(viewport=PHONE, has_touch=True)


def reachable(page: Page, deed: Locator) -> None:
    """Nothing is wider than the screen, in the page or in a dialog over it, and the deed can be pressed."""
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    deed.tap(trial=True)
    box = deed.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    assert page.evaluate(WIDER) == []


WIDER = """() => {
    const wide = (each, most) =>
        each.scrollWidth > most ? [`${each.tagName} ${each.className}: ${each.scrollWidth}`] : [];
    const parts = [...document.querySelectorAll("main, dialog[open], dialog[open] > div, dialog[open] > div > *")];
    return [...wide(document.documentElement, innerWidth), ...parts.flatMap((each) => wide(each, each.clientWidth))];
}"""


def test_lists_fit_a_phone_with_what_can_be_done(phone: Page, things: Things) -> None:
    for path, deed in (
        ("/dead-letters?tenant=default", "Redrive all…"),
        (f"/dead-letters?{things.letter.rpartition('&')[0]}", "Redrive…"),
        ("/actions?tenant=default", "Undo"),
        ("/limits", "New limit"),
        ("/gates", "Emergency stop…"),
        ("/tasks/northern-office-addresses?tenant=default", "Submit…"),
        ("/tasks/northern-office-addresses?tenant=default&tab=versions", "Roll back to version 1"),
        (f"/workers/{things.worker}", "Drain…"),
    ):
        settled(phone, path)
        reachable(phone, phone.get_by_role("main").get_by_role("button", name=deed, exact=True))
    for path, link in (("/queues", "northern-office-addresses"), ("/tasks", "northern-office-addresses")):
        settled(phone, path)
        reachable(phone, phone.get_by_role("main").get_by_role("link", name=link, exact=True))


def test_drawers_fit_a_phone_with_what_can_be_done(phone: Page, things: Things) -> None:
    for path, deed in (
        (f"/dead-letters?{things.letter}", "Discard…"),
        (f"/actions?id={things.action}", "Undo"),
        ("/queues?queue=northern-office-addresses", "Close"),
        ("/limits?limit=northern-office-addresses", "Change…"),
        (f"/gates?gate={things.gate}", "Release…"),
        ("/tasks/northern-office-addresses?tenant=default&submit=yes", "Submit"),
    ):
        settled(phone, path)
        reachable(phone, phone.get_by_role("dialog").get_by_role("button", name=deed, exact=True))


@pytest.mark.parametrize(
    ("path", "opens", "deed"),
    [
        ("/limits", "New limit", "Create"),
        ("/gates", "New gate", "Close the gate"),
        ("/gates", "Emergency stop…", "Back"),
    ],
)
def test_forms_fit_a_phone(phone: Page, things: Things, path: str, opens: str, deed: str) -> None:
    settled(phone, path)
    phone.get_by_role("button", name=opens, exact=True).tap()
    reachable(phone, phone.get_by_role("dialog").get_by_role("button", name=deed, exact=True))


def test_one_signs_in_on_a_phone(house: House, open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE, has_touch=True, signed_in=False)
    page.goto("/console/jobs")
    page.get_by_label("API key").fill(house.key())
    reachable(page, page.get_by_role("button", name="Sign in"))
    page.get_by_role("button", name="Sign in").tap()
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()


# Everybody can use it.


@pytest.fixture(params=["light", "dark"])
def themed(request: pytest.FixtureRequest, open_page: OpenPage) -> Page:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: cd web && npm ci")
    page: Page = open_page(viewport=PHONE, color_scheme=request.param)
    return page


def test_axe_finds_no_serious_fault_on_a_phone(themed: Page, things: Things) -> None:
    for path in ("/", "/jobs", "/dead-letters", "/tasks/northern-office-addresses?tenant=default&tab=versions"):
        settled(themed, path)
        assert faults(themed) == [], path


def test_axe_finds_no_serious_fault_in_drawers(themed: Page, things: Things) -> None:
    for path in (f"/dead-letters?{things.letter}", f"/gates?gate={things.gate}", f"/actions?id={things.action}"):
        settled(themed, path)
        expect(themed.get_by_role("dialog").locator("footer")).to_be_visible()
        assert faults(themed) == [], path


def test_axe_finds_no_serious_fault_in_the_tabs_of_a_job(themed: Page, things: Things) -> None:
    for tab in ("data", "attempts", "pieces", "files", "commands"):
        settled(themed, f"/jobs/{things.job}?tab={tab}")
        expect(themed.get_by_role("tabpanel")).to_be_visible()
        assert faults(themed) == [], tab
