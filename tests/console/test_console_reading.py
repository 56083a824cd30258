"""What pages tell: figures and whose they are, what holds a job, its log, times, and words that would be markup."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

from playwright.sync_api import Locator, Page, expect

from horae import ActionKind, ActionRequest, JobsFilter, Script, TaskDefinition
from horae.model.calendars import CalendarDefinition
from horae.model.definition import ScheduleDefinition
from horae.model.placement import Requirements
from horae.wire.gates import GateCreate
from horae.wire.limits import LimitPut

from .conftest import OpenPage
from .console_app import HOSTILE
from .house import WORKER, House
from .standin import stand_in

HOUR = (datetime.now(UTC).hour + 12) % 24
"""Of schedules: none of them fires while it is looked at."""
NEXT_LOOK = 45_000
"""Milliseconds. Home looks again after 15 seconds, if nothing happens, at what was not summed up at its first look."""
TALL = {"width": 1280, "height": 2000}
"""All of a job's page is on the screen."""


def figure(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name="Figures").get_by_role("link", name=name)


# Home.


def test_home_narrows_to_the_tenant_that_is_chosen(house: House, page: Page, tenant: str) -> None:
    release = house.folder / "narrowed.release"
    for whose in ("default", tenant):
        house.run("refuse", {"reason": f"the fault of {whose}"}, tenant=whose)
        running = house.submit("hold", {"until": str(release)}, tenant=whose)
        house.until(lambda job_id=running: house.client.job(job_id).state == "running", "a running job")
        house.client.schedules.put(
            ScheduleDefinition(name=f"of-{whose}", task="chatter", cron=f"0 {HOUR} * * *"), tenant=whose
        )
        house.submit("add", {"a": 1}, delay="1h", tenant=whose)
    gate = house.client.create_gate(GateCreate(tenant=tenant, condition="params.a == 7", reason="no sevens"))
    house.submit("add", {"a": 7}, tenant=tenant)
    waits = house.submit("add", {"a": 1}, tenant=tenant, requires=Requirements(labels={"room": "none"}))
    try:
        page.goto("/console/")
        failures = page.get_by_role("table", name="Failures by cause")
        ticks = page.get_by_role("region", name="Next ticks")
        expect(figure(page, "Running")).to_have_text(only("2"), timeout=NEXT_LOOK)
        for whose in ("default", tenant):
            expect(failures).to_contain_text(f"the fault of {whose}", timeout=NEXT_LOOK)
            expect(ticks.get_by_role("listitem").filter(has_text=f"of-{whose}")).to_contain_text(
                re.compile(r"chatter.*in 1[012] h")
            )
        page.get_by_label("Tenant", exact=True).select_option(tenant)
        for name in ("Running", "Ready", "Scheduled", "Blocked"):
            expect(figure(page, name)).to_have_text(only("1"), timeout=NEXT_LOOK)
        expect(failures).to_contain_text(f"the fault of {tenant}")
        expect(failures).not_to_contain_text("the fault of default")
        expect(ticks.get_by_role("link", name="of-default")).to_have_count(0)
        oldest = figure(page, "Oldest waiting")
        expect(oldest).to_have_text(re.compile(r"\d+ (s|min)\s*add$"))
        expect(oldest).to_have_attribute("href", re.compile(waits))
        ticks.get_by_role("link", name=f"of-{tenant}").click()
        expect(page.get_by_role("heading", name=f"of-{tenant}")).to_be_visible()
    finally:
        release.touch()
        house.client.release_gate(gate.id)


def only(number: str) -> re.Pattern[str]:
    return re.compile(rf"^\D*{number}\D*$")


def test_home_tells_how_many_jobs_come_and_end_a_second(house: House, page: Page, tenant: str) -> None:
    page.goto(f"/console/?tenant={tenant}")
    rate = page.get_by_role("region", name="Figures").get_by_text("Jobs a second").locator("..")
    expect(rate).to_have_text(re.compile(r"second0/s0/s submitted"))
    for number in range(5):
        house.submit("add", {"a": number}, tenant=tenant)
    expect(rate).to_have_text(re.compile(r"/s[\d.]*[1-9][\d.]*/s submitted"))
    expect(rate).to_have_text(re.compile(r"second[\d.]*[1-9][\d.]*/s"))


# The list of jobs.


def test_the_list_of_jobs_leaves_out_those_of_other_tenants(house: House, page: Page, tenant: str) -> None:
    theirs = house.submit("add", {"a": 1}, delay="1h", queue="whose")
    own = house.submit("add", {"a": 1}, delay="1h", queue="whose", tenant=tenant)
    rows = page.locator("[data-row]")
    page.goto("/console/jobs?queue=whose")
    expect(rows).to_have_count(2)
    page.get_by_label("Tenant", exact=True).select_option(tenant)
    expect(rows).to_have_count(1)
    expect(rows).to_have_attribute("data-row", own)
    expect(page).to_have_url(re.compile(f"queue=whose.*tenant={tenant}"))
    page.goto("/console/jobs?queue=whose&tenant=default")
    expect(rows).to_have_count(1)
    expect(rows).to_have_attribute("data-row", theirs)


def test_j_and_k_step_down_and_up_the_rows(house: House, page: Page) -> None:
    ids = [house.submit("add", {"a": n}, delay="1h", queue="stepped") for n in range(3)]
    rows = page.locator("[data-row]")
    page.goto("/console/jobs?queue=stepped&status=scheduled,cancelled")
    expect(rows).to_have_count(len(ids))
    for key, at in (("j", 0), ("j", 1), ("j", 2), ("k", 1), ("k", 0), ("k", 0)):
        page.keyboard.press(key)
        expect(rows.nth(at)).to_be_focused()


# Why a job waits.


def held_by(page: Page, job_id: str) -> Locator:
    page.goto(f"/console/jobs/{job_id}")
    return page.get_by_role("region", name="Why is it not running?").get_by_role("list", name="Held by")


def test_a_job_that_a_gate_holds_leads_to_the_gate(house: House, page: Page) -> None:
    gate = house.client.create_gate(GateCreate(queue="gated", reason="the press is down"))
    try:
        held = held_by(page, house.submit("add", {"a": 1}, queue="gated"))
        held.get_by_role("link", name=f"Gate {gate.id} of").click()
        expect(page.get_by_role("dialog", name=f"Gate {gate.id}")).to_contain_text("the press is down")
    finally:
        house.client.release_gate(gate.id)


def test_a_job_that_a_limit_holds_leads_to_the_limit(house: House, page: Page) -> None:
    house.client.put_limit("one-hold", LimitPut(task="hold", max_running=1))
    _, release = house.holding("limited")
    try:
        waits = house.submit("hold", {"until": str(release)})
        held_by(page, waits).get_by_role("link", name="Limit one-hold").click()
        expect(page.get_by_role("dialog", name="Limit one-hold")).to_contain_text("1 of 1")
    finally:
        release.touch()
        house.client.remove_limit("one-hold")


def test_a_job_that_no_worker_fits_leads_to_the_one_that_lacks_least(house: House, page: Page) -> None:
    held = held_by(page, house.submit("add", {"a": 1}, requires=Requirements(labels={"room": "none"})))
    expect(held).to_contain_text(re.compile(rf"Worker {WORKER}, \d of 2 slots taken: .*room"))
    held.get_by_role("link", name=f"Worker {WORKER}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(WORKER)


# The log.


def log(page: Page) -> Locator:
    return page.get_by_role("log", name="Log")


def test_matches_in_a_log_are_gone_through_both_ways(house: House, open_page: OpenPage) -> None:
    job_id = house.run("chatter", {"lines": 300})
    page = open_page(viewport=TALL)
    page.goto(f"/console/jobs/{job_id}")
    expect(page.get_by_text("300 lines")).to_be_visible()
    search = page.get_by_role("searchbox", name="Search the log")
    search.fill("line 2")
    expect(page.get_by_text("1 of 111")).to_be_visible()
    back, on = page.get_by_role("button", name="Previous match"), page.get_by_role("button", name="Next match")
    steps: list[tuple[Callable[[], None], str, str]] = [
        (back.click, "111 of 111", "line 299"),
        (back.click, "110 of 111", "line 298"),
        (lambda: search.press("Shift+Enter"), "109 of 111", "line 297"),
        (on.click, "110 of 111", "line 298"),
        (on.click, "111 of 111", "line 299"),
        (on.click, "1 of 111", "line 2"),
    ]
    for step, place, text in steps:
        step()
        expect(page.get_by_text(place, exact=True)).to_be_visible()
        current = log(page).locator("[class*=current]")
        expect(current).to_have_text(text)
        expect(current).to_be_in_viewport()


def test_the_log_of_one_attempt_is_downloaded(house: House, page: Page) -> None:
    job_id = house.run("flaky")
    page.goto(f"/console/jobs/{job_id}")
    expect(log(page)).to_contain_text("trying 1")
    assert tries(page) == ["1", "2"]
    page.get_by_role("combobox", name="Attempt").select_option("2")
    expect(log(page)).not_to_contain_text("trying 1")
    assert tries(page) == ["2"]


def tries(page: Page) -> list[str]:
    """The attempts that a downloaded log tells of."""
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    return re.findall(r"trying\x1b\[0m (\d)", download.value.path().read_text())


# Schedules, workers.


def test_a_holiday_is_marked_while_a_schedule_is_being_written(house: House, page: Page) -> None:
    day = (datetime.now(UTC) + timedelta(days=4)).date().isoformat()
    house.client.schedules.put_calendar(CalendarDefinition(name="feasts", days={day: "Stocktaking"}))
    page.goto("/console/schedules?view=new")
    runs = page.get_by_role("list", name="The next runs").get_by_role("listitem")
    page.get_by_label("Zone of the rules").fill("UTC")
    page.get_by_label("Cron expression").fill("0 12 * * *")
    blocked = runs.filter(has_text="Skipped: calendar")
    expect(runs).to_have_count(12)
    expect(blocked).to_have_count(0)
    page.get_by_role("checkbox", name="feasts").check()
    expect(blocked).to_have_count(1)
    expect(blocked).to_contain_text("Stocktaking")
    page.get_by_label("On a blocked day").select_option("next")
    expect(runs.filter(has_text="Calendar: moved later")).to_contain_text("Stocktaking")
    expect(blocked).to_have_count(0)


def test_the_load_of_a_worker_stands_in_the_list_and_on_its_page(house: House, page: Page) -> None:
    with stand_in(house, "loaded", running=3, cpus=8.0, memory=2**34) as loaded:
        page.goto("/console/workers?text=loaded")
        cells = page.get_by_role("table", name="Workers").locator("tbody").get_by_role("row").get_by_role("cell")
        expect(cells.nth(1)).to_have_text("3/4")
        expect(cells.nth(4)).to_have_text("40 %")
        page.goto(f"/console/workers/{loaded}")
        load = page.get_by_role("region", name="Load")
        expect(load).to_contain_text("Slots in use3of 4")
        expect(load).to_contain_text("CPU40 %8 cores")
        expect(load).to_contain_text("of 16.0 GiB")


# How it looks.


def test_a_time_is_shown_in_the_zone_that_is_chosen(house: House, open_page: OpenPage) -> None:
    job = house.client.job(house.run("add", {"a": 1}))
    page = open_page(timezone_id="Asia/Kolkata")
    page.goto(f"/console/jobs/{job.id}")
    shown = page.get_by_role("region", name="Details").locator("time").filter(has_text=re.compile(r"\d{4}-")).first
    local = job.run_at.astimezone(timezone(timedelta(hours=5, minutes=30)))
    expect(shown).to_contain_text(f"{local:%Y-%m-%d %H:%M:%S}")
    for choice, at in (("UTC", job.run_at.astimezone(UTC)), ("Local: Asia/Calcutta", local)):
        page.get_by_role("button", name="Time zone").click()
        page.get_by_role("menuitemradio", name=choice).click()
        expect(shown).to_contain_text(f"{at:%Y-%m-%d %H:%M:%S}")


def test_light_is_light_and_as_the_system_follows_the_system(open_page: OpenPage) -> None:
    page = open_page(color_scheme="dark")
    page.goto("/console/")
    looks(page, "dark")

    def choose(theme: str) -> None:
        page.get_by_role("button", name="Theme").click()
        page.get_by_role("menuitemradio", name=theme).click()

    choose("Light")
    looks(page, "light")
    page.reload()
    looks(page, "light")
    choose("As the system")
    looks(page, "dark")
    page.reload()
    looks(page, "dark")
    page.emulate_media(color_scheme="light")
    looks(page, "light")


SHINES = """([from, to]) => {
  const one = new OffscreenCanvas(1, 1).getContext("2d");
  one.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
  one.fillRect(0, 0, 1, 1);
  const green = one.getImageData(0, 0, 1, 1).data[1];
  return from <= green && green <= to;
}"""


def looks(page: Page, theme: str) -> None:
    """Colours change in passing, so they are looked at until they are there."""
    expect(page.get_by_role("button", name="Theme")).to_be_visible()
    page.wait_for_function(SHINES, arg=[200, 255] if theme == "light" else [0, 60])


# Words that would be markup.


def is_text(page: Page, *where: Locator) -> None:
    """What was written as markup is read there, and nothing has come of it."""
    for place in where:
        expect(place).to_contain_text("<img src=x onerror=")
        expect(place).to_contain_text("</script>⟨U+202E⟩txt.exe")
    expect(page.locator("img")).to_have_count(0)
    expect(page).not_to_have_title("owned")


def test_hostile_words_of_a_task_are_shown_as_text(house: House, page: Page) -> None:
    for source in ("echo\n", HOSTILE):
        definition = TaskDefinition(
            name="hostile-script", script=Script(source=source, interpreter="sh"), description=HOSTILE
        )
        house.client.tasks.put(definition, reason=HOSTILE, tenant="default")
    page.goto("/console/tasks?text=hostile-script")
    is_text(page, page.get_by_role("row").filter(has=page.get_by_role("link", name="hostile-script")))
    page.goto("/console/tasks/hostile-script?tenant=default&tab=definition")
    is_text(page, page.get_by_role("main").locator("header").first, page.get_by_role("region", name="Source"))
    page.get_by_role("tab", name="Versions").click()
    versions = page.get_by_role("table", name="Versions").get_by_role("row")
    is_text(page, versions.nth(1), versions.nth(2), page.get_by_role("region", name="Difference"))


def test_a_hostile_reason_of_a_bulk_action_is_shown_as_text(house: House, page: Page, tenant: str) -> None:
    house.submit("add", {"a": 1}, delay="1h", tenant=tenant)
    which = JobsFilter(task="add", status="pending", tenant=tenant)
    house.client.act(ActionRequest(action=ActionKind.CANCEL, filter=which, reason=HOSTILE))
    page.goto(f"/console/actions?tenant={tenant}")
    row = page.get_by_role("table", name="Bulk actions").locator("[data-row]")
    is_text(page, row)
    row.get_by_role("cell").first.click()
    is_text(page, page.get_by_role("dialog"))


def test_a_hostile_failure_is_shown_as_text_at_home(house: House, page: Page, tenant: str) -> None:
    page.goto(f"/console/?tenant={tenant}")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    house.run("hostile", {"fails": True}, tenant=tenant)
    is_text(page, page.get_by_role("table", name="Failures by cause"))


def test_hostile_names_in_the_palette_are_shown_as_text(page: Page) -> None:
    """The server takes no such names: if it did, they were text here all the same."""
    found = {"kind": "worker", "name": HOSTILE, "id": "1", "note": HOSTILE, "tenant": None}
    page.route("**/v1/find?*", lambda route: route.fulfill(json={"items": [found]}))
    page.goto("/console/tasks")
    expect(page.get_by_role("heading", name="Tasks")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to or find").fill("img")
    option = page.get_by_role("listbox", name="Found").get_by_role("option")
    is_text(page, option.locator("span").first, option.locator("span").last)
