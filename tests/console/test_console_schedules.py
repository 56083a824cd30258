"""Schedules in the browser: the list, a schedule's page, the editor, the calendar, the collisions, and every deed."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from horae.client.client import Client
from horae.client.schedules import Schedules
from horae.model.calendars import CalendarDefinition
from horae.model.definition import ScheduleDefinition
from horae.model.errors import NotFound
from horae.model.roles import Role
from horae.model.task import TaskDefinition

from .conftest import PHONE, OpenPage, until
from .house import House

HOUR = (datetime.now(UTC).hour + 12) % 24
HOSTILE = "<img src=x onerror=\"document.title='owned'\">\u202etxt"


@pytest.fixture
def schedules(house: House) -> Schedules:
    return house.client.schedules


def make(schedules: Schedules, name: str, **given: Any) -> None:
    """A schedule of `add` that does not fire while it is looked at, unless told otherwise."""
    given = {"task": "add", "params": {"a": 1}, "cron": f"0 {HOUR} * * *"} | given
    if given.keys() & {"every", "rules"}:
        given.pop("cron")
    schedules.put(ScheduleDefinition(name=name, **given))


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


def confirm(page: Page, button: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()


# The list.


def test_the_list_tells_the_next_ticks_and_how_punctual_the_last_ones_were(
    house: House, schedules: Schedules, page: Page
) -> None:
    make(schedules, "often", every="1s")
    house.until(lambda: any(t.started_at for t in schedules.ticks("often").items), "a tick that started")
    page.goto("/console/schedules")
    shown = row(page, "often")
    expect(shown).to_contain_text("every 1s")
    expect(shown).to_contain_text("active")
    expect(shown.get_by_role("img", name=re.compile(r"tick.* late at the median"))).to_be_visible()
    expect(shown.locator("time").nth(2)).to_be_visible()
    schedules.delete("often")


def test_the_list_is_filtered_by_text_and_state_and_the_address_can_be_shared(schedules: Schedules, page: Page) -> None:
    make(schedules, "filter-one")
    make(schedules, "filter-two")
    schedules.pause("filter-two")
    page.goto("/console/schedules")
    page.get_by_label("Find schedules").fill("FILTER")
    expect(row(page, "filter-one")).to_be_visible()
    page.get_by_label("State").select_option("paused")
    expect(row(page, "filter-one")).to_be_hidden()
    expect(row(page, "filter-two")).to_be_visible()
    expect(page).to_have_url(re.compile("text=FILTER"))
    page.reload()
    expect(page.get_by_label("Find schedules")).to_have_value("FILTER")
    expect(row(page, "filter-two")).to_be_visible()
    page.get_by_label("Find schedules").fill("no such thing")
    page.get_by_role("button", name="Clear the filter").click()
    expect(row(page, "filter-one")).to_be_visible()


def test_a_schedule_is_run_from_the_list(house: House, schedules: Schedules, page: Page) -> None:
    make(schedules, "run-me")
    page.goto("/console/schedules?text=run-me")
    page.get_by_role("button", name="Run run-me now").click()
    confirm(page, "Run now")
    expect(page.get_by_text("run-me runs now")).to_be_visible()
    (tick,) = schedules.ticks("run-me").items
    page.get_by_role("button", name="Open the job").click()
    expect(page).to_have_url(re.compile(f"/console/jobs/{tick.job_id}"))


def test_a_schedule_is_paused_and_resumed_from_the_list(schedules: Schedules, page: Page) -> None:
    make(schedules, "rests")
    page.goto("/console/schedules?text=rests")
    page.get_by_role("button", name="More for rests").click()
    page.get_by_role("menuitem", name="Pause").click()
    page.get_by_role("dialog").get_by_label("Why").fill("stocktaking")
    confirm(page, "Pause")
    expect(row(page, "rests")).to_contain_text("paused")
    assert schedules.history("rests").items[0].why == "stocktaking"
    page.get_by_role("button", name="More for rests").click()
    page.get_by_role("menuitem", name="Resume").click()
    confirm(page, "Resume")
    expect(row(page, "rests")).to_contain_text("active")


# A schedule's page.


def test_a_schedule_is_told_in_words_with_what_clock_changes_do(schedules: Schedules, page: Page) -> None:
    make(schedules, "told", cron="30 2 * * *", tz="Europe/Berlin", overlap="queue", description="the nightly one")
    page.goto("/console/schedules/told")
    expect(page.get_by_role("heading", name="told")).to_be_visible()
    expect(page.get_by_text("at 02:30 every day, Europe/Berlin")).to_be_visible()
    expect(page.get_by_text("Wait until it has ended")).to_be_visible()
    expect(page.get_by_text("the nightly one")).to_be_visible()
    # A key of no tenant: the links must say whose task and whose jobs are meant.
    task = page.get_by_role("main").get_by_role("link", name="add", exact=True)
    expect(task).to_have_attribute("href", re.compile(r"/tasks/add\?tenant=default"))
    page.get_by_role("link", name="Its jobs").click()
    expect(page).to_have_url(re.compile(r"/jobs\?label=schedule%3Atold&tenant=default"))
    page.go_back()
    expect(page.get_by_role("table", name="The next ticks").get_by_role("row")).to_have_count(21)
    effects = page.get_by_role("table", name="Effects further on")
    expect(effects).to_contain_text("Clock change: moved")
    expect(effects).to_contain_text("does not exist")


def test_holidays_are_marked_with_their_names(schedules: Schedules, page: Page) -> None:
    schedules.put_calendar(CalendarDefinition(name="own", days={_day(2): "Stocktaking"}))
    make(schedules, "holidays", calendars=["own"], cron="0 12 * * *")
    page.goto("/console/schedules/holidays")
    ticks = page.get_by_role("table", name="The next ticks")
    expect(ticks).to_contain_text("Skipped: calendar")
    expect(ticks).to_contain_text("Stocktaking")


def _day(ahead: int) -> str:
    return (datetime.now(UTC) + timedelta(days=ahead)).date().isoformat()


def test_past_ticks_tell_their_jobs_and_why_others_were_skipped(house: House, schedules: Schedules, page: Page) -> None:
    make(schedules, "past", task="hold", params={"until": str(house.folder / "past")}, every="1s", overlap="skip")
    house.until(lambda: schedules.ticks("past", "skipped").items, "a tick that was skipped")
    page.goto("/console/schedules/past?tab=past")
    ticks = page.get_by_role("table", name="Past ticks")
    expect(ticks).to_contain_text("running")
    expect(ticks).to_contain_text("Skipped: overlap")
    page.get_by_label("Which ticks").select_option("fired")
    expect(ticks).not_to_contain_text("Skipped: overlap")
    ticks.get_by_role("link", name="Job").first.click()
    expect(page).to_have_url(re.compile("/console/jobs/"))
    schedules.delete("past")
    (house.folder / "past").touch()


def test_a_schedule_is_paused_resumed_and_deleted_on_its_page(schedules: Schedules, page: Page) -> None:
    make(schedules, "short-lived")
    page.goto("/console/schedules/short-lived")
    page.get_by_role("button", name="Pause").click()
    confirm(page, "Pause")
    expect(page.get_by_text("It is paused: these ticks come only if it goes on.")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    confirm(page, "Resume")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Delete")).to_be_disabled()
    page.get_by_label("Type short-lived to go on").fill("short-lived")
    confirm(page, "Delete")
    expect(page).to_have_url(re.compile(r"/console/schedules(\?.*)?$"))
    with pytest.raises(NotFound):
        schedules.get("short-lived")


def test_a_schedule_is_run_now_with_other_params(house: House, schedules: Schedules, page: Page) -> None:
    make(schedules, "other-params")
    page.goto("/console/schedules/other-params")
    page.get_by_role("button", name="Run now").click()
    page.get_by_label("With other params").check()
    page.get_by_role("dialog").get_by_role("button", name="JSON", exact=True).click()
    page.get_by_label("Params as JSON").fill('{"a": 41}')
    confirm(page, "Run now")
    expect(page.get_by_text("other-params runs now")).to_be_visible()
    (tick,) = schedules.ticks("other-params").items
    assert house.client.job(str(tick.job_id)).params == {"a": 41}


def test_the_history_tells_who_changed_what_and_why(schedules: Schedules, page: Page) -> None:
    make(schedules, "changed")
    schedules.change("changed", {"cron": "H 3 * * *"}, "spread the load")
    page.goto("/console/schedules/changed?tab=history")
    versions = page.get_by_role("list", name="Versions")
    expect(versions).to_contain_text("spread the load")
    expect(versions.locator("del")).to_have_text(f'[{{"cron":"0 {HOUR} * * *"}}]')
    expect(versions.locator("ins")).to_have_text('[{"cron":"H 3 * * *"}]')


def test_a_backfill_is_looked_at_started_and_followed_to_its_end(
    house: House, schedules: Schedules, page: Page
) -> None:
    make(schedules, "filled", every="6h")
    page.goto("/console/schedules/filled?tab=backfills")
    page.get_by_role("button", name="New backfill").click()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_disabled()
    page.get_by_role("button", name="Look at it").click()
    expect(page.get_by_role("table", name="What the backfill would do").get_by_role("row")).to_have_count(5)
    page.get_by_role("button", name="Start 4 runs").click()
    expect(page.get_by_role("table", name="Backfills")).to_contain_text("4 of 4")
    expect(page.get_by_role("table", name="Backfills")).to_contain_text("done")


def test_a_backfill_starts_only_for_the_range_that_was_looked_at(schedules: Schedules, page: Page) -> None:
    make(schedules, "looked-at-late", every="6h")
    page.goto("/console/schedules/looked-at-late?tab=backfills")
    page.get_by_role("button", name="New backfill").click()
    since = page.get_by_label("From")
    before = since.input_value()
    answers: list[Route] = []
    page.route("**/looked-at-late/backfill?*", lambda route: answers.append(route), times=1)  # noqa: PLW0108
    page.get_by_role("button", name="Look at it").click()
    since.fill("2020-01-01T00:00")
    until(page, lambda: answers, "the look at the backfill")[0].continue_()
    expect(page.get_by_role("button", name="Look at it")).to_be_enabled()
    expect(page.get_by_text("Look at it first")).to_be_visible()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_disabled()
    since.fill(before)
    expect(page.get_by_role("button", name="Start 4 runs")).to_be_enabled()


def test_a_backfill_is_cancelled(house: House, schedules: Schedules, page: Page) -> None:
    make(schedules, "stopped", task="hold", params={"until": str(house.folder / "stopped")}, every="1h")
    now = datetime.now(UTC)
    schedules.backfill("stopped", now - timedelta(hours=5), now)
    page.goto("/console/schedules/stopped?tab=backfills")
    page.get_by_role("table", name="Backfills").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("table", name="Backfills")).to_contain_text("cancelled")
    (house.folder / "stopped").touch()


def test_the_calendar_of_a_schedule_shows_what_became_of_ticks_and_what_is_to_come(
    house: House, schedules: Schedules, page: Page
) -> None:
    make(schedules, "monthly-look", every="1s", max_runs=1)
    house.until(lambda: any(tick.finished_at for tick in schedules.ticks("monthly-look").items), "a tick's end")
    page.goto("/console/schedules/monthly-look?tab=calendar")
    expect(page.get_by_role("link", name=re.compile("succeeded"))).to_be_visible()
    page.route("**/v1/schedules/monthly-look/ticks?*", _as_if_more)
    page.reload()
    expect(page.get_by_text("The latest 1 tick, back to")).to_be_visible()
    page.unroute_all()
    with page.expect_request(re.compile("/monthly-look/ticks")) as asked:
        page.get_by_role("button", name="The month before").click()
    # From the end of that month on, however many ticks lie between it and now.
    assert "cursor=" in asked.value.url
    page.get_by_role("button", name="The month after").click()
    make(schedules, "monthly-look", cron="0 12 * * *")
    page.reload()
    page.get_by_role("button", name="The month after").click()
    expect(page.get_by_text("to come").first).to_be_visible()
    assert "month=" in page.url


def _as_if_more(route: Route) -> None:
    answer = route.fetch()
    ticks = answer.json()
    route.fulfill(response=answer, json=ticks | {"next_cursor": ticks["items"][-1]["at"]})


# The editor.


def test_a_schedule_is_created_with_the_next_runs_shown_as_one_types(
    house: House, schedules: Schedules, page: Page
) -> None:
    page.goto("/console/schedules")
    page.get_by_role("button", name="New schedule").click()
    runs = page.get_by_role("list", name="The next runs")
    expect(runs.get_by_role("listitem")).to_have_count(12)
    page.get_by_label("Tenant of the schedule").select_option("default")
    page.get_by_label("Name", exact=True).fill("made-here")
    page.get_by_label("Task", exact=True).fill("add")
    page.get_by_label("Zone of the rules").fill("Europe/Berlin")
    page.get_by_label("Cron expression").fill("30 2 * * *")
    expect(page.get_by_text("at 02:30 every day, Europe/Berlin")).to_be_visible()
    expect(page.get_by_role("list", name="Effects further on")).to_contain_text("Clock change: moved")
    page.get_by_role("button", name="JSON", exact=True).click()
    page.get_by_label("Params as JSON").fill('{"a": 2}')
    page.get_by_label("Why").fill("tried out")
    page.get_by_role("button", name="Create").first.click()
    expect(page.get_by_role("heading", name="made-here")).to_be_visible()
    made = schedules.get("made-here").definition
    assert (made.task, made.tz, made.params, made.rules[0].cron) == ("add", "Europe/Berlin", {"a": 2}, "30 2 * * *")
    assert schedules.history("made-here").items[0].why == "tried out"


def test_what_the_server_refuses_is_told_at_the_field(schedules: Schedules, page: Page) -> None:
    page.goto("/console/schedules?view=new")
    cron = page.get_by_label("Cron expression")
    cron.fill("61 * * * *")
    expect(cron).to_have_attribute("aria-invalid", "true")
    expect(cron).to_have_accessible_description(re.compile("61"))
    cron.fill("0 9 * * *")
    expect(cron).not_to_have_attribute("aria-invalid", "true")
    zone = page.get_by_label("Zone of the rules")
    zone.fill("Europe/Berln")
    expect(zone).to_have_accessible_description(re.compile("did you mean 'Europe/Berlin'"))
    zone.fill("UTC")
    task = page.get_by_label("Task", exact=True)
    task.fill("nobody")
    expect(task).to_have_accessible_description(re.compile("No task 'nobody'"))
    page.get_by_role("button", name="Create").first.click()
    expect(page.get_by_label("Name", exact=True)).to_have_accessible_description("A schedule needs a name")


def test_every_field_of_a_schedule_is_edited(schedules: Schedules, page: Page) -> None:
    schedules.put_calendar(CalendarDefinition(name="office", weekend=["SAT", "SUN"]))
    make(schedules, "edited", task="chatter", params={"lines": 1})
    page.goto("/console/schedules/edited")
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Name", exact=True)).to_be_disabled()
    page.get_by_label("Description").fill("all of it")
    page.get_by_label("Param that gets the tick's time").fill("text")
    page.get_by_role("button", name="Add a rule").click()
    page.get_by_label("Kind of rule 2").select_option("every")
    page.get_by_label("Every 2").fill("2h")
    page.get_by_label("Zone of the rules").fill("Europe/Paris")
    page.get_by_label("Not before").fill("2026-01-01T00:00")
    page.get_by_label("Not after").fill("2099-01-01T00:00")
    page.get_by_label("Jitter").fill("30s")
    page.get_by_label("Ends after runs").fill("100")
    page.get_by_label("A time that the clock jumps over").select_option("skip")
    page.get_by_label("A time that happens twice").select_option("both")
    page.get_by_label("office").check()
    page.get_by_label("On a blocked day").select_option("next")
    page.get_by_role("button", name="Add a window").click()
    page.get_by_label("Days of window 1").fill("MON-FRI")
    page.get_by_label("Start of window 1").fill("01:00")
    page.get_by_label("End of window 1").fill("23:00")
    page.get_by_label("A tick outside all windows").select_option("defer")
    page.get_by_label("While an earlier run goes on").select_option("queue")
    page.get_by_label("Missed ticks", exact=True).select_option("all")
    page.get_by_label("How many at most").fill("3")
    page.get_by_label("Queue", exact=True).fill("later")
    page.get_by_label("Priority").fill("7")
    page.get_by_label("Attempts at most").fill("2")
    page.get_by_label("Timeout").fill("1m")
    page.get_by_label("Expires after").fill("2h")
    page.get_by_label("Labels").fill("team=a")
    page.get_by_label("Further options as JSON").fill('{"concurrency_key": "one"}')
    page.get_by_label("Why").fill("all at once")
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_role("status").get_by_text("edited is changed")).to_be_visible()
    it = schedules.get("edited").definition
    assert [(rule.cron, rule.every) for rule in it.rules] == [(f"0 {HOUR} * * *", None), (None, "2h")]
    assert (it.description, it.tick_param, it.tz, it.jitter, it.max_runs) == (
        "all of it", "text", "Europe/Paris", "30s", 100,
    )  # fmt: skip
    assert (it.starts_at is not None, it.ends_at is not None) == (True, True)
    assert (it.gap, it.fold, it.calendars, it.on_blocked) == ("skip", "both", ["office"], "next")
    assert ([(w.days, w.start, w.end) for w in it.windows], it.outside) == ([("MON-FRI", "01:00", "23:00")], "defer")
    assert (it.overlap, it.missed, it.missed_limit) == ("queue", "all", 3)
    assert it.job == {
        "queue": "later", "priority": 7, "max_attempts": 2, "timeout": "1m", "expires_in": "2h",
        "labels": {"team": "a"}, "concurrency_key": "one",
    }  # fmt: skip


def test_an_instant_is_typed_over_key_by_key(page: Page) -> None:
    page.goto("/console/schedules?view=new")
    field = page.get_by_label("Not before")
    field.fill("2026-11-16T10:00")
    # Whether the day or the month stands first is the browser's affair.
    field.press_sequentially("050520270930")
    expect(field).to_have_value("2027-05-05T09:30")


# All together.


def test_the_calendar_shows_a_month_of_ticks_and_opens_a_day(schedules: Schedules, page: Page) -> None:
    before = (datetime.now(UTC).date().replace(day=1) + timedelta(days=32)).replace(day=1)
    shown = (before + timedelta(days=32)).replace(day=1)
    tenth = shown.replace(day=10)
    schedules.put_calendar(CalendarDefinition(name="once", days={tenth.isoformat(): "Stocktaking"}))
    make(schedules, "cal-nightly", calendars=["once"])
    make(schedules, "cal-often", every="10m")
    page.goto(f"/console/schedules?view=calendar&month={shown:%Y-%m}&text=cal-")
    expect(page.get_by_role("heading", name=f"{shown:%B %Y}")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("cal-nightly"))).to_have_count(days_of(shown))
    expect(page.get_by_text("Many times a day")).to_contain_text("cal-often")
    page.get_by_role("button", name=f"{tenth:%A} 10 {tenth:%B}").click()
    expect(page.get_by_role("dialog")).to_contain_text("Stocktaking")
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="The month before").click()
    expect(page.get_by_role("link", name=re.compile("cal-nightly"))).to_have_count(days_of(before))


def days_of(month: date) -> int:
    return monthrange(month.year, month.month)[1]


def test_collisions_are_shown_and_spread(house: House, open_page: OpenPage) -> None:
    with Client(house.url, house.key(Role.ADMIN, "crowded")) as client:
        client.put_task(TaskDefinition(name="add"))
        for number in range(5):
            make(client.schedules, f"crowd-{number}")
    page = open_page(Role.ADMIN, "crowded")
    page.goto("/console/schedules?view=collisions")
    expect(page.get_by_role("img", name=re.compile("5 in the fullest minute"))).to_be_visible()
    expect(page.get_by_role("table", name="Fullest minutes")).to_contain_text("crowd-0, crowd-1")
    proposals = page.get_by_role("table", name="Proposals")
    proposals.get_by_label("Select crowd-0").uncheck()
    page.get_by_role("button", name="Change 4 schedules").click()
    confirm(page, "Change")
    expect(page.get_by_text("4 schedules changed")).to_be_visible()
    found = house.client.schedules.list(tenant="crowded").items
    rules = {schedule.definition.name: schedule.definition.rules[0].cron for schedule in found}
    assert rules == {"crowd-0": f"0 {HOUR} * * *"} | {f"crowd-{n}": f"H {HOUR} * * *" for n in range(1, 5)}


# Who may, hostile strings, the phone.


def test_a_viewer_looks_and_is_offered_nothing_to_change(
    house: House, schedules: Schedules, open_page: OpenPage
) -> None:
    make(schedules, "looked-at")
    page = open_page(Role.VIEWER)
    page.goto("/console/schedules?text=looked-at")
    expect(row(page, "looked-at")).to_be_visible()
    expect(page.get_by_role("button", name="New schedule")).to_have_count(0)
    expect(page.get_by_role("button", name="Run looked-at now")).to_have_count(0)
    page.goto("/console/schedules/looked-at?tab=backfills&edit=1")
    expect(page.get_by_role("heading", name="looked-at")).to_be_visible()
    for name in ("Run now", "Pause", "Edit", "New backfill", "Save"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


def test_hostile_words_of_a_schedule_are_shown_as_text(schedules: Schedules, page: Page) -> None:
    make(schedules, "hostile-words", description=HOSTILE)
    page.goto("/console/schedules/hostile-words?tab=source")
    expect(page.get_by_text("<img src=x").first).to_be_visible()
    expect(page.get_by_text("⟨U+202E⟩").first).to_be_visible()
    assert page.locator("img").count() == 0
    assert "owned" not in page.title()


def test_a_schedule_whose_name_has_a_slash_opens(schedules: Schedules, page: Page) -> None:
    make(schedules, "team/nightly:a")
    page.goto("/console/schedules?text=team/")
    page.get_by_role("link", name="team/nightly:a").click()
    expect(page.get_by_role("heading", name="team/nightly:a")).to_be_visible()
    expect(page.get_by_text(f"at {HOUR:02}:00 every day")).to_be_visible()


@pytest.mark.parametrize("path", ["schedules", "schedules/phone", "schedules?view=calendar", "schedules?view=new"])
def test_a_phone_shows_it_without_scrolling_sideways(schedules: Schedules, open_page: OpenPage, path: str) -> None:
    make(schedules, "phone", tz="Europe/Berlin", calendars=[])
    page = open_page(viewport=PHONE)
    page.goto(f"/console/{path}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
