"""Limits, gates and the emergency stop in the console: every deed, and that whoever may only read sees none."""

import re
from collections.abc import Iterator
from typing import Final

import msgspec
import pytest
from playwright.sync_api import Locator, Page, expect

from horae.model.gates import Action
from horae.model.roles import Role
from horae.wire.gates import GateCreate, GatePage, Stop
from horae.wire.limits import LimitPage, LimitPut

from .conftest import OpenPage, see_some_and_find_all
from .console_app import HOSTILE
from .house import House

JSON: Final = "application/json"


def row(page: Page, table: str, text: str) -> Locator:
    return page.get_by_role("table", name=table).get_by_role("row").filter(has_text=text).first


def dialog(page: Page, name: str) -> Locator:
    return page.get_by_role("dialog", name=re.compile(name))


@pytest.fixture(autouse=True)
def no_policy(house: House) -> Iterator[None]:
    """Every test begins without limits, gates and jobs that hold a slot."""
    yield
    (house.folder / "gate.release").touch()
    for gate in house.client.gates().items:
        house.client.release_gate(gate.id)
    for limit in house.client.limits().items:
        if not limit.of_task:
            house.client.remove_limit(limit.name, limit.tenant)


def holding(house: House) -> str:
    """A job that runs until the test is over."""
    (house.folder / "gate.release").unlink(missing_ok=True)
    return house.holding("gate")[0]


# Limits.


def test_a_limit_is_made_changed_and_deleted(house: House, page: Page) -> None:
    page.goto("/console/limits")
    page.get_by_role("button", name="New limit").click()
    form = dialog(page, "New limit")
    form.get_by_label("Name").fill("slow-adds")
    form.get_by_label("Running at once").fill("3")
    form.get_by_label("Starts").fill("10/s")
    form.get_by_label("Task", exact=True).fill("add")
    form.get_by_label("Each concurrency key for itself").check()
    form.get_by_label("Reason").fill("their API")
    form.get_by_role("button", name="Create").click()
    expect(row(page, "Limits", "slow-adds")).to_contain_text("task add; each key for itself")
    made = house.client.limit("slow-adds")
    assert (made.max_running, made.rate, made.reason) == (3, 10.0, "their API")

    page.get_by_role("link", name="slow-adds").click()
    page.get_by_role("button", name="Change…").click()
    form = dialog(page, "Change the limit")
    form.get_by_label("Running at once").fill("5")
    form.get_by_role("button", name="Change").click()
    expect(form).to_have_count(0)
    assert house.client.limit("slow-adds").max_running == 5

    page.get_by_role("button", name="Delete…").click()
    dialog(page, "Delete the limit").get_by_role("button", name="Delete").click()
    expect(row(page, "Limits", "slow-adds")).to_have_count(0)
    assert [limit.name for limit in house.client.limits().items if limit.name == "slow-adds"] == []


def test_a_limit_that_makes_no_sense_is_told_in_its_form(house: House, page: Page) -> None:
    page.goto("/console/limits")
    page.get_by_role("button", name="New limit").click()
    form = dialog(page, "New limit")
    form.get_by_role("button", name="Create").click()
    expect(form.get_by_text("A limit needs a name.")).to_be_visible()
    form.get_by_label("Name").fill("bad")
    form.get_by_label("Starts").fill("fast")
    form.get_by_role("button", name="Create").click()
    expect(form.get_by_role("alert")).to_contain_text("is not a rate")
    assert "bad" not in {limit.name for limit in house.client.limits().items}


def test_a_limit_tells_who_runs_under_it_and_who_waits_behind_it(house: House, page: Page) -> None:
    house.client.put_limit("one-hold", LimitPut(task="hold", max_running=1))
    runs = holding(house)
    waits = house.submit("hold", {"until": str(house.folder / "gate.release")})
    page.goto("/console/limits?limit=one-hold")
    drawer = dialog(page, "Limit one-hold")
    expect(row(page, "Jobs that run under it", runs[-6:])).to_contain_text("hold")
    lane = drawer.get_by_role("table", name="Who waits").get_by_role("row").filter(has_text="hold")
    expect(lane.get_by_role("link", name="limit one-hold")).to_have_attribute("href", re.compile("tenant=default"))
    expect(lane.get_by_role("link").first).to_have_attribute("href", re.compile(waits))
    expect(drawer.get_by_text("1 of 1")).to_be_visible()


def test_what_went_wrong_in_a_window_is_told_above_it(house: House, page: Page) -> None:
    house.client.put_limit("stuck", LimitPut(task="add", max_running=1))
    page.route(
        "**/v1/limits/stuck*",
        lambda route: route.fulfill(status=500) if route.request.method == "DELETE" else route.fallback(),
    )
    page.goto("/console/limits?limit=stuck")
    page.get_by_role("button", name="Delete…").click()
    asked = dialog(page, "Delete the limit")
    asked.get_by_role("button", name="Delete").click()
    expect(asked.get_by_role("alert")).to_be_visible()
    asked.get_by_role("button", name="Back").click()
    told = dialog(page, "Limit stuck").get_by_role("alert")
    told.get_by_role("button", name="Dismiss").click()
    expect(told).to_have_count(0)
    page.unroute("**/v1/limits/stuck*")
    page.get_by_role("button", name="Delete…").click()
    asked.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status").filter(has_text="The limit stuck is gone")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_viewer_sees_limits_and_no_deed(house: House, open_page: OpenPage) -> None:
    house.client.put_limit("seen", LimitPut(task="add", max_running=1, reason=HOSTILE))
    page = open_page(Role.VIEWER)
    page.goto("/console/limits")
    expect(row(page, "Limits", "seen")).to_contain_text("<img src=x")
    expect(page).not_to_have_title("owned")
    expect(page.get_by_role("button", name="New limit")).to_have_count(0)
    page.get_by_role("link", name="seen").click()
    expect(dialog(page, "Limit seen")).to_contain_text("Nothing runs under it")
    for deed in ("Change…", "Delete…"):
        expect(page.get_by_role("button", name=deed)).to_have_count(0)


def test_of_many_limits_some_are_drawn_and_all_are_found(house: House, page: Page) -> None:
    limit = house.client.put_limit("many", LimitPut(task="add", max_running=1))
    many = LimitPage([msgspec.structs.replace(limit, name=f"many-{n}") for n in range(150)])
    answer = msgspec.json.encode(many)
    page.route(re.compile(r"/v1/limits(\?|$)"), lambda route: route.fulfill(body=answer, content_type=JSON))
    page.goto("/console/limits")
    see_some_and_find_all(page, "limits")


def test_a_limit_of_all_is_not_a_tenants_to_change(house: House, open_page: OpenPage) -> None:
    house.client.put_limit("of-all", LimitPut(max_running=100))
    page = open_page(Role.ADMIN, "red")
    page.goto("/console/limits?limit=of-all")
    expect(dialog(page, "Limit of-all")).to_contain_text("everything")
    expect(page.get_by_role("button", name="Delete…")).to_have_count(0)
    expect(page.get_by_role("button", name="New limit")).to_have_count(1)


# Gates.


def test_a_gate_shows_the_jobs_it_is_for_before_it_is_closed(house: House, page: Page) -> None:
    wanted = house.submit("chatter", {"text": "acme"}, delay="1h", queue="preview")
    house.submit("chatter", {"text": "other"}, delay="1h", queue="preview")
    page.goto("/console/gates")
    page.get_by_role("button", name="New gate").click()
    form = dialog(page, "New gate")
    form.get_by_label("Queue", exact=True).fill("preview")
    expect(form.get_by_text("2 of 2 waiting jobs")).to_be_visible()
    form.get_by_label("Condition").fill("params.text == 'acme'")
    expect(form.get_by_text("1 of 2 waiting jobs")).to_be_visible()
    expect(form.get_by_role("link", name=wanted[-6:])).to_be_visible()
    form.get_by_role("button", name="Close the gate").click()
    expect(form.get_by_text("Say why")).to_be_visible()
    form.get_by_label("Reason").fill("acme is on holiday")
    form.get_by_label("Expires in").fill("2h")
    form.get_by_role("button", name="Close the gate").click()
    expect(row(page, "Gates in force", "acme is on holiday")).to_contain_text("if params.text == 'acme'")
    (gate,) = house.client.gates().items
    assert gate.expires_at is not None
    assert (gate.action, gate.queue, gate.state) == (Action.HOLD, "preview", "closed")


def test_a_condition_that_is_none_is_told_while_it_is_typed(house: House, page: Page) -> None:
    page.goto("/console/gates")
    page.get_by_role("button", name="New gate").click()
    form = dialog(page, "New gate")
    form.get_by_label("Condition").fill("params.")
    expect(form.get_by_text(re.compile("condition"))).not_to_have_count(0)
    form.get_by_label("Condition").fill("params.a == 1")
    form.get_by_label("Percent").fill("50")
    form.get_by_label("Reason").fill("half of them")
    form.get_by_label("Action").select_option("Drop")
    form.get_by_label("Running jobs").select_option("Cancel them")
    form.get_by_role("button", name="Close the gate").click()
    expect(row(page, "Gates in force", "half of them")).to_contain_text("50 % of them")
    (gate,) = house.client.gates().items
    assert (gate.action, gate.percent, gate.running) == (Action.DROP, 50, "cancel")


def test_a_gate_is_changed_and_released_at_once(house: House, page: Page) -> None:
    gate = house.client.create_gate(GateCreate(task="add", reason="down"))
    job_id = house.submit("add", {"a": 1})
    page.goto(f"/console/gates?gate={gate.id}")
    page.get_by_role("button", name="Change…").click()
    change = dialog(page, "Change gate")
    change.get_by_label("Reason").fill("still down")
    change.get_by_label("Expires in").fill("4h")
    change.get_by_role("button", name="Change").click()
    expect(dialog(page, f"Gate {gate.id}").get_by_text("still down")).to_be_visible()
    changed = house.client.gate(gate.id)
    assert changed.reason == "still down"
    assert changed.expires_at is not None
    page.get_by_role("button", name="Release…").click()
    page.get_by_role("button", name="Release at once").click()
    expect(page.get_by_text(f"Gate {gate.id} is open")).to_be_visible()
    dialog(page, f"Gate {gate.id}").get_by_role("button", name="Close").click()
    page.get_by_role("tab", name=re.compile("Past")).click()
    expect(row(page, "Past gates", "still down")).to_contain_text("over")
    house.until(lambda: house.client.job(job_id).state == "succeeded", "the job that was held")


def test_a_gate_lets_its_backlog_out_at_a_rate(house: House, page: Page) -> None:
    gate = house.client.create_gate(GateCreate(task="add", condition="params.a > 0", reason="slowly"))
    for _ in range(5):
        house.submit("add", {"a": 1}, queue="slowly")
    house.until(lambda: house.client.gate(gate.id).held == 5, "five jobs behind the gate")
    page.goto(f"/console/gates?gate={gate.id}")
    page.get_by_role("button", name="Release…").click()
    page.get_by_label("Rate").fill("6/m")
    page.get_by_role("button", name="Release at 6/m").click()
    expect(row(page, "Gates in force", "slowly")).to_contain_text("releasing")
    page.get_by_role("button", name="Change the rate…").click()
    page.get_by_role("button", name="Release at once").click()
    house.until(lambda: house.client.gate(gate.id).state == "over", "the end of the gate")
    expect(dialog(page, f"Gate {gate.id}").get_by_text("over", exact=True)).to_be_visible()


def test_what_a_gate_dropped_is_brought_back(house: House, page: Page) -> None:
    gate = house.client.create_gate(GateCreate(queue="wrong", action=Action.DROP, reason="wrong list"))
    job_id = house.submit("add", {"a": 1}, queue="wrong", delay="1h")
    house.until(lambda: house.client.job(job_id).state == "dropped", "the drop")
    page.goto(f"/console/gates?gate={gate.id}")
    page.get_by_role("button", name="Release…").click()
    page.get_by_role("button", name="Release at once").click()
    page.get_by_role("button", name="Bring back what it dropped…").click()
    page.get_by_role("button", name="Bring back 1 jobs").click()
    expect(page.get_by_text("1 job brought back")).to_be_visible()
    assert house.client.job(job_id).state == "scheduled"


def test_a_gate_in_force_is_shown_however_many_newer_ones_are_over(house: House, page: Page) -> None:
    gate = house.client.create_gate(GateCreate(task="add", reason="for a month"))
    house.client.release_gate(house.client.create_gate(GateCreate(task="add", reason="short")).id)
    (over,) = (one for one in house.client.gates(over=True).items if one.reason == "short")
    latest = GatePage([msgspec.structs.replace(over, id=gate.id + 1 + n) for n in range(500)], more=True)
    answer = msgspec.json.encode(latest)
    page.route("**/v1/gates?*all=true*", lambda route: route.fulfill(body=answer, content_type=JSON))
    page.goto("/console/gates")
    expect(row(page, "Gates in force", "for a month")).to_be_visible()
    expect(page.get_by_text("are looked at")).to_have_count(0)
    page.get_by_role("tab", name="Past").click()
    expect(row(page, "Past gates", "short")).to_be_visible()
    expect(page.get_by_text("Of all gates, the latest 500 are looked at.")).to_be_visible()


def test_a_viewer_sees_gates_and_no_deed(house: House, open_page: OpenPage) -> None:
    gate = house.client.create_gate(GateCreate(task="add", reason=HOSTILE))
    page = open_page(Role.VIEWER)
    page.goto("/console/gates?stop=1")
    expect(row(page, "Gates in force", f"Gate {gate.id}")).to_contain_text("<img src=x")
    expect(page).not_to_have_title("owned")
    for deed in ("New gate", "Emergency stop…", "Stop everything"):
        expect(page.get_by_role("button", name=deed)).to_have_count(0)
    page.get_by_role("link", name=f"Gate {gate.id}").click()
    expect(dialog(page, f"Gate {gate.id}")).to_contain_text("Jobs that wait for it")
    for deed in ("Change…", "Release…"):
        expect(page.get_by_role("button", name=deed)).to_have_count(0)


# The emergency stop.


def test_a_stop_names_its_reach_and_asks_for_a_word(house: House, page: Page) -> None:
    runs = holding(house)
    house.submit("add", {"a": 1}, delay="1h", queue="later")
    page.goto("/console/gates")
    page.get_by_role("button", name="Emergency stop…").click()
    asked = dialog(page, "Emergency stop of all tenants")
    reach = asked.get_by_role("region", name="How far it reaches")
    expect(reach).to_contain_text(re.compile(r"\d+ waiting jobs? in \d+ queues? of 1 tenant will not start"))
    expect(reach).to_contain_text("1 running job on 1 worker goes on to its end")
    expect(reach.get_by_role("row").filter(has_text="later")).to_be_visible()
    asked.get_by_label("Running jobs").select_option("Cancel them")
    expect(reach).to_contain_text("1 running job on 1 worker is cancelled")
    stop = asked.get_by_role("button", name="Stop everything")
    expect(stop).to_be_disabled()
    asked.get_by_label("Type STOP to go on").fill("stop")
    expect(stop).to_be_disabled()
    asked.get_by_label("Type STOP to go on").fill("STOP")
    asked.get_by_label("Reason").fill("smoke in the hall")
    stop.click()
    banner = page.get_by_role("alert").filter(has_text="Emergency stop of all tenants")
    expect(banner).to_contain_text("smoke in the hall")
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Jobs", exact=True).click()
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    expect(banner).to_contain_text("smoke in the hall")
    house.until(lambda: house.client.job(runs).state == "cancelled", "the end of the job that ran")


def test_a_stop_is_ended_at_a_rate(house: House, page: Page) -> None:
    stopped = house.client.stop(Stop(reason="smoke"))
    job_id = house.submit("add", {"a": 1})
    page.goto("/console/gates")
    page.get_by_role("button", name="End the stop…").click()
    end = dialog(page, "End the emergency stop")
    end.get_by_label("Rate").fill("100/s")
    end.get_by_role("button", name="End the stop").click()
    expect(page.get_by_text("The stop is over")).to_be_visible()
    assert house.client.gate(stopped.id).release_rate == 100.0
    house.until(lambda: house.client.job(job_id).state == "succeeded", "the job that was held")


def test_a_stop_of_one_tenant_leaves_the_others(house: House, page: Page) -> None:
    house.key(Role.VIEWER, "red")
    page.goto("/console/gates?tenant=red&stop=1")
    asked = dialog(page, "Emergency stop of tenant red")
    asked.get_by_label("Type STOP to go on").fill("STOP")
    asked.get_by_role("button", name="Stop everything").click()
    expect(page.get_by_role("alert").filter(has_text="Emergency stop of tenant red")).to_be_visible()
    house.run("add", {"a": 1})


def test_a_viewer_sees_a_stop_and_cannot_end_it(house: House, open_page: OpenPage) -> None:
    house.client.stop(Stop(reason="smoke"))
    page = open_page(Role.VIEWER)
    page.goto("/console/gates")
    expect(page.get_by_role("alert").filter(has_text="Emergency stop of all tenants")).to_be_visible()
    expect(page.get_by_role("button", name="End the stop…")).to_have_count(0)
