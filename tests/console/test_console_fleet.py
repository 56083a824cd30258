"""Workers and queues in the console: what is shown of them, and steering them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import pytest
from playwright.sync_api import Locator, Page, expect

from horae.model.gates import Action
from horae.model.roles import Role
from horae.wire.gates import GateCreate
from horae.wire.quotas import QueuePage
from horae.wire.workers import WorkerPage

from .conftest import PHONE, OpenPage, see_some_and_find_all
from .console_app import HOSTILE
from .house import WORKER, House
from .standin import stand_in

JSON: Final = "application/json"


def row(page: Page, table: str, text: str) -> Locator:
    return page.get_by_role("table", name=table).get_by_role("row").filter(has_text=text).first


def worker_id(house: House) -> int:
    return next(worker.id for worker in house.client.workers().items if worker.name == WORKER)


def holding(house: House) -> Path:
    """A job runs until the file is there, or until the test is over."""
    (house.folder / "fleet.release").unlink(missing_ok=True)
    return house.holding("fleet")[1]


@pytest.fixture(autouse=True)
def all_well(house: House) -> Iterator[None]:
    """Every test begins with a worker that takes jobs and has its slots free, and no gate."""
    yield
    (house.folder / "fleet.release").touch()
    house.client.resume(worker_id(house))
    for gate in house.client.gates().items:
        house.client.release_gate(gate.id)


# Workers.


def test_a_worker_is_shown_with_its_health_and_what_it_runs(house: House, page: Page) -> None:
    release = holding(house)
    page.goto("/console/workers")
    mine = row(page, "Workers", WORKER)
    expect(mine).to_contain_text("active")
    # A machine that runs many tests at once is overloaded now and then.
    expect(mine).to_contain_text(re.compile("healthy|overloaded"))
    expect(mine).to_contain_text("hold")
    expect(mine).to_contain_text("1/2")
    release.touch()
    expect(mine).to_contain_text("nothing")


def test_the_fleet_is_grouped_by_region_and_type(house: House, page: Page) -> None:
    with stand_in(house, "far", region="eu", kind="gpu"), stand_in(house, "near", region="us", kind="cpu"):
        page.goto("/console/workers")
        groups = page.get_by_role("region", name="Groups by region and type")
        expect(groups.get_by_role("button")).to_have_count(3)
        groups.get_by_role("button", name=re.compile("eu · gpu")).click()
        expect(page).to_have_url(re.compile("group=eu"))
        expect(row(page, "Workers", "far")).to_be_visible()
        expect(row(page, "Workers", "near")).to_have_count(0)


def test_the_fleet_is_filtered_by_an_address_that_can_be_shared(house: House, page: Page) -> None:
    page.goto("/console/workers?text=nosuchworker")
    expect(page.get_by_text("No worker matches")).to_be_visible()
    page.get_by_label("Search workers").fill(WORKER)
    expect(row(page, "Workers", WORKER)).to_be_visible()
    expect(page).to_have_url(re.compile(f"text={WORKER}"))


def test_a_worker_that_left_is_found_among_those_that_left(house: House, page: Page) -> None:
    with stand_in(house, "short-lived"):
        pass
    page.goto("/console/workers")
    expect(row(page, "Workers", WORKER)).to_be_visible()
    expect(row(page, "Workers", "short-lived")).to_have_count(0)
    page.get_by_label("State").select_option("Left and lost")
    expect(row(page, "Workers", "short-lived")).to_contain_text("left")


def test_a_worker_is_drained_with_a_reason_and_resumed_from_the_list(house: House, page: Page) -> None:
    page.goto("/console/workers")
    mine = row(page, "Workers", WORKER)
    mine.get_by_role("button", name=re.compile("Actions on")).click()
    page.get_by_role("menuitem", name="Drain…").click()
    page.get_by_label("Reason").fill("new disk")
    page.get_by_role("button", name="Drain", exact=True).click()
    expect(mine).to_contain_text("draining")
    drained = house.client.worker(worker_id(house))
    assert (drained.state, drained.steer_reason) == ("draining", "new disk")
    mine.get_by_role("button", name=re.compile("Actions on")).click()
    page.get_by_role("menuitem", name="Resume").click()
    expect(mine).to_contain_text("active")


def test_a_maintenance_has_an_end_and_moves_what_runs(house: House, page: Page) -> None:
    release = holding(house)
    page.goto(f"/console/workers/{worker_id(house)}")
    page.get_by_role("button", name="Maintenance…").click()
    begin = page.get_by_role("button", name="Begin maintenance")
    expect(begin).to_be_disabled()
    page.get_by_label("Reason").fill("new kernel")
    page.get_by_label("For", exact=True).fill("2h")
    page.get_by_label("Move what it runs to other workers").check()
    begin.click()
    # Nobody else has the task, so what it runs stays.
    expect(page.get_by_text(re.compile("0 jobs go on elsewhere, 1 stay"))).to_be_visible()
    expect(page.get_by_text("In maintenance")).to_be_visible()
    assert house.client.worker(worker_id(house)).steer_until is not None
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("In maintenance")).to_have_count(0)
    release.touch()


def test_a_duration_that_is_none_is_told_in_the_window(house: House, page: Page) -> None:
    page.goto(f"/console/workers/{worker_id(house)}")
    page.get_by_role("button", name="Maintenance…").click()
    page.get_by_label("Reason").fill("x")
    page.get_by_label("For", exact=True).fill("soon")
    page.get_by_role("button", name="Begin maintenance").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("lasts")
    assert house.client.worker(worker_id(house)).state == "active"


def test_one_worker_tells_what_it_ran_and_what_happened_to_it(house: House, page: Page) -> None:
    job_id = house.run("add", {"a": 1})
    house.client.drain(worker_id(house), "new disk")
    house.client.resume(worker_id(house))
    page.goto(f"/console/workers/{worker_id(house)}")
    ran = row(page, "Executions", job_id[-6:])
    expect(ran).to_contain_text("add")
    expect(ran).to_contain_text("succeeded")
    history = page.get_by_role("list", name="Health history")
    expect(history).to_contain_text("Resumed")
    expect(history).to_contain_text("new disk")
    expect(history.get_by_role("listitem").last).to_contain_text("Joined")


def test_a_worker_that_is_not_there_is_told_so(house: House, page: Page) -> None:
    page.goto("/console/workers/987654")
    expect(page.get_by_role("alert")).to_contain_text("there is no worker 987654")


def test_a_viewer_sees_the_fleet_and_no_action(house: House, open_page: OpenPage) -> None:
    page = open_page(Role.VIEWER)
    page.goto("/console/workers")
    expect(row(page, "Workers", WORKER)).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Actions on"))).to_have_count(0)
    page.goto(f"/console/workers/{worker_id(house)}")
    expect(page.get_by_role("list", name="Health history")).to_contain_text("Joined")
    for deed in ("Drain…", "Maintenance…", "Resume"):
        expect(page.get_by_role("button", name=deed)).to_have_count(0)


def test_a_tenants_operator_steers_its_own_workers_only(house: House, open_page: OpenPage) -> None:
    with stand_in(house, "reds-own", tenant="red"):
        page = open_page(Role.OPERATOR, "red")
        page.goto("/console/workers")
        expect(row(page, "Workers", "reds-own").get_by_role("button", name=re.compile("Actions on"))).to_be_visible()
        expect(row(page, "Workers", WORKER)).to_be_visible()
        expect(row(page, "Workers", WORKER).get_by_role("button")).to_have_count(0)
        page.goto(f"/console/workers/{worker_id(house)}")
        expect(page.get_by_role("list", name="Health history")).to_contain_text("Joined")
        for deed in ("Drain…", "Maintenance…"):
            expect(page.get_by_role("button", name=deed)).to_have_count(0)


def test_a_fleet_that_is_not_all_there_says_so_and_shows_more(house: House, page: Page) -> None:
    page.route(re.compile(r"/v1/workers\?"), lambda route: route.continue_(url=f"{route.request.url}&limit=1"))
    with stand_in(house, "one-more"):
        page.goto("/console/workers")
        expect(page.get_by_text("This is the worker that joined last")).to_be_visible()
        expect(page.get_by_role("region", name="The fleet")).to_contain_text("1+")
        expect(row(page, "Workers", WORKER)).to_have_count(0)
        page.get_by_role("button", name="Read more").click()
        expect(row(page, "Workers", WORKER)).to_be_visible()
        expect(page.get_by_text("joined last")).to_have_count(0)


def test_of_many_workers_some_are_drawn_and_all_are_found(house: House, page: Page) -> None:
    worker = house.client.workers().items[0]
    many = WorkerPage([msgspec.structs.replace(worker, id=n, name=f"many-{n}") for n in range(150)])
    answer = msgspec.json.encode(many)
    page.route(re.compile(r"/v1/workers\?"), lambda route: route.fulfill(body=answer, content_type=JSON))
    page.goto("/console/workers")
    see_some_and_find_all(page, "workers")


def test_a_hostile_host_name_is_shown_as_text(house: House, page: Page) -> None:
    with stand_in(house, "stranger", host=HOSTILE) as stranger:
        page.goto("/console/workers")
        expect(row(page, "Workers", "stranger")).to_contain_text("<img src=x")
        page.goto(f"/console/workers/{stranger}")
        expect(page.get_by_text("<script>").first).to_be_visible()
        expect(page).not_to_have_title("owned")


def test_the_fleet_fits_on_a_phone(house: House, open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE)
    page.goto("/console/workers")
    expect(row(page, "Workers", WORKER)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


# Queues.


def test_queues_tell_depth_flow_and_the_oldest(house: House, page: Page) -> None:
    house.client.create_gate(GateCreate(task="add", reason="closed for the test"))
    for _ in range(3):
        house.submit("add", {"a": 1}, queue="reports")
    page.goto("/console/queues")
    reports = row(page, "Queues", "reports")
    expect(reports.get_by_role("cell").nth(2)).to_have_text("3")
    expect(reports.get_by_role("link", name=re.compile("ago|now"))).to_be_visible()


def test_a_queue_tells_who_waits_and_for_what(house: House, page: Page) -> None:
    gate = house.client.create_gate(GateCreate(task="add", reason="closed for the test"))
    house.submit("add", {"a": 1}, queue="mail")
    page.goto("/console/queues")
    row(page, "Queues", "mail").get_by_role("link", name="mail").click()
    drawer = page.get_by_role("dialog", name=re.compile("Queue mail"))
    expect(drawer.get_by_role("figure", name="Flow of the queue mail")).to_be_visible()
    lane = drawer.get_by_role("table", name="Who waits").get_by_role("row").filter(has_text="add")
    expect(lane.get_by_role("link", name=f"gate {gate.id}")).to_be_visible()
    drawer.get_by_role("button", name="6 h").click()
    expect(page).to_have_url(re.compile("range=6h"))
    drawer.get_by_role("button", name="Close").click()
    expect(page).not_to_have_url(re.compile("queue="))


def test_a_queue_is_held_from_its_drawer(house: House, page: Page) -> None:
    house.run("add", {"a": 1}, queue="post")
    page.goto("/console/queues?queue=post&of=default")
    page.get_by_role("link", name="Hold this queue…").click()
    form = page.get_by_role("dialog", name="New gate")
    expect(form.get_by_label("Queue", exact=True)).to_have_value("post")
    expect(form.get_by_label("Tenant", exact=True)).to_have_value("default")
    form.get_by_label("Reason").fill("no stamps")
    form.get_by_role("button", name="Close the gate").click()
    expect(row(page, "Gates in force", "no stamps")).to_contain_text("queue post")
    (gate,) = house.client.gates().items
    assert (gate.tenant, gate.queue, gate.action) == ("default", "post", Action.HOLD)
    expect(page).not_to_have_url(re.compile("queue="))


def test_a_viewer_cannot_hold_a_queue(house: House, open_page: OpenPage) -> None:
    house.run("add", {"a": 1}, queue="post")
    page = open_page(Role.VIEWER)
    page.goto("/console/queues?queue=post&of=default")
    expect(page.get_by_role("dialog", name=re.compile("Queue post"))).to_contain_text("Nobody waits")
    expect(page.get_by_role("link", name="Hold this queue…")).to_have_count(0)
    page.goto("/console/gates?new=1&queue=post")
    expect(page.get_by_text("No gate is closed")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_queues_are_opened_by_keyboard(house: House, page: Page) -> None:
    house.run("add", {"a": 1}, queue="keys")
    page.goto("/console/queues?text=keys")
    expect(row(page, "Queues", "keys")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name=re.compile("Queue keys"))).to_contain_text("Nobody waits")


def test_of_thousands_of_queues_some_are_drawn_and_all_are_found(house: House, page: Page) -> None:
    house.run("add", {"a": 1}, queue="many")
    queue = house.until(lambda: house.client.queues().items, "the sums")[0]
    many = QueuePage([msgspec.structs.replace(queue, queue=f"many-{n}", pending=2) for n in range(5000)], more=True)
    answer = msgspec.json.encode(many)
    page.route(re.compile(r"/v1/queues(\?|$)"), lambda route: route.fulfill(body=answer, content_type=JSON))
    page.goto("/console/queues")
    rows = page.get_by_role("table", name="Queues").locator("tbody").get_by_role("row")
    expect(page.get_by_text("The server tells of 5,000 queues at most")).to_be_visible()
    expect(page.get_by_role("region", name="All queues")).to_contain_text("10K")
    expect(rows).to_have_count(100)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(200)
    expect(page.get_by_text("200 of 5,000 queues")).to_be_visible()
    page.get_by_label("Search queues").fill("many-4999")
    expect(rows).to_have_count(1)


def test_a_tenants_key_sees_its_own_queues_only(house: House, open_page: OpenPage) -> None:
    house.run("add", {"a": 1}, queue="ours")
    page = open_page(Role.VIEWER, "red")
    page.goto("/console/queues")
    expect(page.get_by_text("No queue yet")).to_be_visible()
