"""The list of jobs: filters, views, columns, pages, and acting on many."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from horae.model.roles import Role

from .conftest import PHONE, OpenPage, until
from .console_app import HOSTILE
from .house import House, understood


@pytest.fixture(scope="module")
def mixed(house: House) -> Iterator[dict[str, str]]:
    """Jobs in several states, by its name."""
    release = house.folder / "mixed.release"
    jobs = {
        "succeeded": house.run("add", {"a": 41}, labels={"team": "mowers"}),
        "failed": house.run("fail", {"reason": "a needle in the hay"}),
        "running": house.submit("hold", {"until": str(release)}),
        "scheduled": house.submit("add", {"a": 2}, delay="1h", queue="later"),
    }
    house.until(lambda: house.client.job(jobs["running"]).state == "running", "a running job")
    yield jobs
    release.touch()


def table(page: Page) -> Locator:
    return page.get_by_role("table", name="Jobs")


def row(page: Page, job_id: str) -> Locator:
    return page.locator(f'[data-row="{job_id}"]')


def shows(page: Page, jobs: dict[str, str], *names: str) -> None:
    """Of these jobs exactly those named are in the list."""
    for name, job_id in jobs.items():
        expect(row(page, job_id)).to_have_count(1 if name in names else 0)


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlparse(page.url).query)


def test_every_filter_narrows_the_list_and_stands_in_the_address(house: House, page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs")
    shows(page, mixed, *mixed)
    states = page.get_by_role("group", name="States")
    states.get_by_role("button", name="failed").click()
    shows(page, mixed, "failed")
    states.get_by_role("button", name="running").click()
    shows(page, mixed, "failed", "running")
    expect(page).to_have_url(re.compile("status=failed"))
    page.reload()
    shows(page, mixed, "failed", "running")
    states.get_by_role("button", name="all").click()
    page.get_by_role("searchbox", name="Search text").fill("NEEDLE in")
    shows(page, mixed, "failed")
    page.get_by_role("searchbox", name="Search text").fill("")
    page.get_by_role("combobox", name="Queue").fill("later")
    shows(page, mixed, "scheduled")
    page.get_by_role("combobox", name="Queue").fill("")
    page.get_by_role("combobox", name="Task").fill("hold")
    shows(page, mixed, "running")


def test_labels_workers_users_and_times_are_filters_too(house: House, page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs")
    page.get_by_role("button", name="More filters").click()
    label = page.get_by_role("textbox", name="Label")
    label.fill("team")
    expect(label).to_have_accessible_description("Write name:value")
    expect(page.get_by_text("A filter cannot be read")).to_be_visible()
    shows(page, mixed)
    expect(label).to_have_value("team")
    expect(page.get_by_role("button", name="Fewer filters")).to_be_disabled()
    label.fill("team:mowers")
    shows(page, mixed, "succeeded")
    label.fill("")
    worker = str(house.client.job(mixed["running"]).worker_id)
    page.get_by_role("textbox", name="Worker").fill(worker)
    shows(page, mixed, "succeeded", "failed", "running")
    page.get_by_role("textbox", name="Worker").fill("")
    page.get_by_role("combobox", name="Made since").fill("1h")
    shows(page, mixed, *mixed)
    page.get_by_role("textbox", name="Made before").fill("1h")
    expect(page.get_by_text("No job matches")).to_be_visible()
    page.get_by_role("button", name="Clear the filter").click()
    shows(page, mixed, *mixed)
    page.get_by_role("textbox", name="Submitted by").fill("nobody")
    expect(page.get_by_text("No job matches")).to_be_visible()
    expect(page.get_by_text("horae jobs --user nobody")).to_be_visible()


def test_labels_may_have_spaces_in_their_values(house: House, page: Page):
    job = house.submit("add", {"a": 1}, delay="2h", labels={"place": "far  meadow", "team": "rakers"})
    other = house.submit("add", {"a": 1}, delay="2h", labels={"place": "far", "team": "rakers"})
    page.goto("/console/jobs?label=team:rakers")
    label = page.get_by_role("textbox", name="Label")
    label.fill("place:far  meadow team:rakers")
    expect(row(page, other)).to_have_count(0)
    expect(row(page, job)).to_be_visible()
    assert query(page) == {"label": ["place:far  meadow", "team:rakers"]}
    page.reload()
    expect(label).to_have_value("place:far  meadow team:rakers")
    expect(row(page, job)).to_be_visible()


def test_what_is_no_state_is_a_filter_that_cannot_be_read(page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs?status=canceled")
    expect(page.get_by_text("There is no state canceled")).to_be_visible()
    shows(page, mixed)
    expect(page.get_by_role("button", name="As a command")).to_be_disabled()
    page.get_by_role("group", name="States").get_by_role("button", name="failed").click()
    shows(page, mixed, "failed")


def test_the_list_is_live(house: House, page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs?status=running,succeeded&task=hold")
    job_id, path = house.holding("live")
    expect(row(page, job_id)).to_contain_text("running")
    path.touch()
    expect(row(page, job_id)).to_contain_text("succeeded")


COUNT_PULSES = """() => new Promise((greeted) => {
    window.pulses = 0;
    const events = new EventSource("/v1/events");
    events.addEventListener("pulse", (event) => { window.pulses += JSON.parse(event.data).succeeded; });
    events.addEventListener("hello", greeted, { once: true });
})"""
PULSES = "(least) => window.pulses >= least"
"""A function, not an expression: the page's policy lets none be read anew with each look."""


def test_what_changes_while_the_list_is_being_read_is_shown_too(house: House, page: Page):
    job_id, path = house.holding("slow-read")
    page.goto("/console/jobs?status=running,succeeded&task=hold")
    expect(row(page, job_id)).to_contain_text("running")
    page.evaluate(COUNT_PULSES)
    reads: list[Route] = []
    page.route("**/v1/jobs?*", lambda route: reads.append(route), times=1)  # noqa: PLW0108
    house.submit("add", {"a": 1}, delay="2h")
    before = until(page, lambda: reads, "the list's being read")[0].fetch()
    path.touch()
    page.wait_for_function(PULSES, arg=1)
    reads[0].fulfill(response=before)
    expect(row(page, job_id)).to_contain_text("succeeded")


def test_rows_do_not_move_under_the_pointer(house: House, page: Page):
    first = house.run("add", {"a": 1})
    page.goto("/console/jobs?task=add")
    expect(page.locator("[data-row]").first).to_have_attribute("data-row", first)
    row(page, first).hover()
    newer = house.run("add", {"a": 2})
    page.get_by_role("button", name="Show newer jobs").wait_for()
    expect(page.locator("[data-row]").first).to_have_attribute("data-row", first)
    page.get_by_role("button", name="Show newer jobs").click()
    expect(page.locator("[data-row]").first).to_have_attribute("data-row", newer)


def test_under_the_pointer_another_filter_lists_the_newest_too(house: House, page: Page):
    house.submit("add", {"a": 1}, delay="2h", queue="under")
    page.goto("/console/jobs?queue=under")
    page.locator("[data-row]").hover()
    newer = house.submit("add", {"a": 271828}, delay="2h", queue="under")
    page.get_by_role("button", name="Show newer jobs").wait_for()
    page.get_by_role("searchbox", name="Search text").fill("271828")
    expect(row(page, newer)).to_be_visible()
    expect(page.get_by_role("button", name="Show newer jobs")).to_have_count(0)


def test_the_pointer_does_not_hold_what_the_filter_before_listed(house: House, page: Page):
    older = house.submit("add", {"a": 1}, delay="2h", queue="placeholder")
    page.goto("/console/jobs?queue=placeholder")
    row(page, older).wait_for()
    newer = house.submit("add", {"a": 314159}, delay="2h", queue="elsewhere")
    reads: list[Route] = []
    page.route(re.compile(r"/v1/jobs\?.*queue=elsewhere"), lambda route: reads.append(route), times=1)  # noqa: PLW0108
    page.get_by_role("combobox", name="Queue").fill("elsewhere")
    until(page, lambda: reads, "the other list's being read")
    row(page, older).hover()
    reads[0].continue_()
    expect(row(page, newer)).to_be_visible()


def test_rows_do_not_move_under_the_focus_of_a_keyboard(house: House, page: Page):
    first = house.submit("add", {"a": 1}, delay="2h", queue="by-key")
    page.goto("/console/jobs?queue=by-key")
    row(page, first).wait_for()
    page.keyboard.press("j")
    expect(row(page, first)).to_be_focused()
    newer = house.submit("add", {"a": 2}, delay="2h", queue="by-key")
    page.get_by_role("button", name="Show newer jobs").wait_for()
    expect(row(page, newer)).to_have_count(0)
    page.get_by_role("searchbox", name="Search text").focus()
    expect(row(page, newer)).to_be_visible()
    expect(page.get_by_role("button", name="Show newer jobs")).to_have_count(0)


def test_rows_do_not_move_while_one_is_selected_by_touch(house: House, open_page: OpenPage):
    page = open_page(viewport=PHONE, has_touch=True)
    first = house.submit("add", {"a": 1}, delay="2h", queue="by-touch")
    page.goto("/console/jobs?queue=by-touch")
    row(page, first).get_by_role("checkbox").tap()
    expect(page.get_by_role("region", name="Selected jobs")).to_be_visible()
    newer = house.submit("add", {"a": 2}, delay="2h", queue="by-touch")
    page.get_by_role("button", name="Show newer jobs").click()
    expect(row(page, newer)).to_be_visible()
    newest = house.submit("add", {"a": 3}, delay="2h", queue="by-touch")
    page.get_by_role("button", name="Show newer jobs").wait_for()
    expect(row(page, newest)).to_have_count(0)
    page.get_by_role("region", name="Selected jobs").get_by_role("button", name="Clear").click()
    expect(row(page, newest)).to_be_visible()


def test_a_line_stands_still_while_one_of_it_is_selected_by_touch(house: House, open_page: OpenPage):
    page = open_page(viewport=PHONE, has_touch=True)
    job_id, path = house.holding("selected-in-line")
    page.goto("/console/jobs?status=running&task=hold")
    row(page, job_id).get_by_role("checkbox").tap()
    bar = page.get_by_role("region", name="Selected jobs")
    expect(bar).to_be_visible()
    page.evaluate(COUNT_PULSES)
    path.touch()
    page.wait_for_function(PULSES, arg=1)
    # Pulses are a second apart: what the first one has changed would be on the page by the next.
    house.run("add", {"a": 1})
    page.wait_for_function(PULSES, arg=2)
    expect(row(page, job_id)).to_contain_text("running")
    bar.get_by_role("button", name="Clear").click()
    expect(row(page, job_id)).to_have_count(0)


def test_pages_follow_each_other_and_lead_back(house: House, page: Page):
    ids = [house.submit("add", {"a": n}, delay="2h", queue="paged") for n in range(53)]
    page.goto("/console/jobs?queue=paged")
    expect(page.locator("[data-row]")).to_have_count(50)
    select(page, [ids[-1]])
    page.get_by_role("button", name="Older").click()
    expect(page.locator("[data-row]")).to_have_count(3)
    select(page, [ids[0]])
    bar = page.get_by_role("region", name="Selected jobs")
    expect(bar).to_contain_text("2 jobs selected")
    expect(bar).to_contain_text("1 of them not on this page")
    bar.get_by_role("button", name="Clear").click()
    expect(bar).to_have_count(0)
    assert {r.get_attribute("data-row") for r in page.locator("[data-row]").all()} == set(ids[:3])
    expect(page.get_by_role("button", name="Older")).to_be_disabled()
    page.get_by_role("button", name="Newer").click()
    expect(page.locator("[data-row]")).to_have_count(50)


def test_the_way_to_newer_jobs_is_the_way_that_one_came(house: House, page: Page):
    ids = [house.submit("add", {"a": n}, delay="2h", queue="shared") for n in range(53)]
    newer = page.get_by_role("button", name="Newer")
    page.goto(f"/console/jobs?queue=shared&cursor={ids[-1]}")
    expect(row(page, ids[-2])).to_be_visible()
    expect(newer).to_be_disabled()
    page.get_by_role("button", name="Older").click()
    expect(page.locator("[data-row]")).to_have_count(2)
    page.get_by_role("combobox", name="Tenant").select_option("default")
    expect(page).to_have_url(re.compile("tenant=default"))
    expect(newer).to_be_disabled()
    page.go_back()
    page.reload()
    newer.click()
    expect(row(page, ids[-2])).to_be_visible()
    expect(newer).to_be_disabled()
    page.get_by_role("button", name="Newest").click()
    expect(row(page, ids[-1])).to_be_visible()


def test_views_are_saved_opened_and_forgotten(page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs?status=failed&columns=state,task,error")
    page.get_by_role("button", name="Views").click()
    page.get_by_role("menuitem", name="Save this view…").click()
    name = page.get_by_role("textbox", name="Name")
    expect(name).to_be_focused()
    name.fill("My <b>failures</b>")
    select_out_of(page, name)
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto("/console/jobs")
    page.get_by_role("button", name="Views").click()
    page.get_by_role("menuitemradio", name="My <b>failures</b>").click()
    shows(page, mixed, "failed")
    expect(table(page).get_by_role("columnheader", name="Error")).to_be_visible()
    assert query(page) == {"status": ["failed"], "columns": ["state,task,error"]}
    page.get_by_role("button", name="My <b>failures</b>").click()
    page.get_by_role("menuitem", name=re.compile("Forget")).click()
    page.get_by_role("button", name="Views").click()
    expect(page.get_by_role("menuitemradio", name="My <b>failures</b>")).to_have_count(0)
    page.get_by_role("menuitemradio", name="Running").click()
    shows(page, mixed, "running")


def select_out_of(page: Page, field: Locator) -> None:
    """Drags from a field's end to beside its dialog, as whoever selects its text does."""
    box = field.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(5, 5, steps=4)
    page.mouse.up()


def test_columns_are_chosen(page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs?label=team:mowers")
    expect(table(page).get_by_role("columnheader", name="Labels")).to_have_count(0)
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("checkbox", name="Labels").check()
    page.get_by_role("checkbox", name="Queue").uncheck()
    page.get_by_role("button", name="Close").click()
    expect(table(page).get_by_role("columnheader", name="Labels")).to_be_visible()
    expect(table(page).get_by_role("columnheader", name="Queue")).to_have_count(0)
    expect(row(page, mixed["succeeded"])).to_contain_text("team:mowers")


def test_the_list_is_told_as_a_command(page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs?status=failed&text=it's")
    page.get_by_role("button", name="As a command").click()
    dialog = page.get_by_role("dialog")
    command = dialog.get_by_text(r"horae jobs --status failed --text 'it'\''s'")
    understood(command.inner_text())
    expect(dialog.get_by_text("/v1/jobs?status=failed&text=it%27s")).to_be_visible()


def test_the_keyboard_moves_opens_and_searches(page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs?status=failed&task=fail")
    expect(row(page, mixed["failed"])).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search text")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_role("region", name="Selected jobs")).to_contain_text("1 job selected")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/console/jobs/[0-9a-f-]{36}"))


def waiting(house: House, count: int, **options) -> list[str]:
    return [house.submit("add", {"a": n}, delay="2h", **options) for n in range(count)]


def act(page: Page, verb: str) -> Locator:
    """Opens the dialog of an action on what is selected."""
    bar = page.get_by_role("region", name="Selected jobs")
    bar.get_by_role("button", name=verb, exact=True).click()
    dialog = page.get_by_role("dialog", name=f"{verb} jobs")
    expect(dialog).to_be_visible()
    return dialog


def select(page: Page, ids: list[str]) -> None:
    for job_id in ids:
        row(page, job_id).get_by_role("checkbox").check()


def state_of(house: House, job_id: str) -> str:
    return house.client.job(job_id).state.value


def test_selected_jobs_are_cancelled_after_a_preview_and_that_is_undone(house: House, page: Page):
    chosen, other = waiting(house, 2, queue="cancelled-ones"), waiting(house, 1, queue="cancelled-ones")
    page.goto("/console/jobs?queue=cancelled-ones")
    select(page, chosen)
    dialog = act(page, "Cancel")
    expect(dialog.get_by_role("region", name="Preview")).to_contain_text("2 jobs")
    assert {state_of(house, job) for job in chosen} == {"scheduled"}
    dialog.get_by_role("textbox", name="Reason").fill("not wanted")
    dialog.get_by_text("The same in a terminal").click()
    assert "--reason 'not wanted'" in understood(dialog.get_by_text(re.compile("^horae cancel")).inner_text())
    dialog.get_by_role("button", name="Cancel 2 jobs").click()
    for job in chosen:
        expect(row(page, job)).to_contain_text("cancelled")
    assert state_of(house, other[0]) == "scheduled"
    page.get_by_role("button", name="Undo").click()
    for job in chosen:
        expect(row(page, job)).to_contain_text("scheduled")


def test_all_that_match_are_cancelled_however_few_are_selected(house: House, page: Page):
    jobs = waiting(house, 3, queue="all-of-these")
    page.goto("/console/jobs?queue=all-of-these&tenant=default")
    select(page, jobs[:1])
    page.get_by_role("button", name="All that match").click()
    page.get_by_role("button", name="Clear", exact=True).click()
    select(page, jobs[:1])
    expect(page.get_by_role("button", name="1 job selected")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="All that match").click()
    dialog = act(page, "Cancel")
    dialog.get_by_text("The same in a terminal").click()
    understood(dialog.get_by_text(re.compile("^horae action run")).inner_text())
    expect(dialog.get_by_role("region", name="Preview")).to_contain_text("3 jobs")
    dialog.get_by_role("button", name="Cancel 3 jobs").click()
    house.until(lambda: {state_of(house, job) for job in jobs} == {"cancelled"}, "all cancelled")


def test_what_matches_is_not_acted_on_where_none_of_it_can_be(page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs?status=succeeded&tenant=default")
    select(page, [mixed["succeeded"]])
    page.get_by_role("button", name="All that match").click()
    bar = page.get_by_role("region", name="Selected jobs")
    for verb in ("Cancel", "Retry", "Redrive", "Reprioritise", "Reschedule"):
        deed = bar.get_by_role("button", name=verb, exact=True)
        expect(deed).to_be_disabled()
        expect(deed).to_have_attribute("title", re.compile("listed are those that are succeeded"))


def test_an_action_over_all_tenants_asks_for_one(house: House, page: Page):
    jobs = waiting(house, 1, queue="whose")
    page.goto("/console/jobs?queue=whose")
    select(page, jobs)
    page.get_by_role("button", name="All that match").click()
    dialog = act(page, "Cancel")
    expect(dialog.get_by_role("button", name="Cancel", exact=True)).to_be_disabled()
    dialog.get_by_role("combobox", name="Tenant").select_option("default")
    dialog.get_by_role("button", name="Cancel 1 job").click()
    expect(row(page, jobs[0])).to_contain_text("cancelled")


@pytest.mark.parametrize("verb", ["Retry", "Redrive"])
def test_failed_jobs_run_again(house: House, page: Page, verb: str):
    queue = f"again-{verb.lower()}"
    job = house.run("fail", queue=queue)
    page.goto(f"/console/jobs?queue={queue}")
    select(page, [job])
    dialog = act(page, verb)
    dialog.get_by_text("The same in a terminal").click()
    understood(dialog.get_by_text(re.compile("^horae ")).inner_text())
    dialog.get_by_role("button", name=f"{verb} 1 job").click()
    house.until(lambda: house.client.job(job).attempt == 2, "a second attempt")


def test_what_fails_for_one_tenant_is_not_done_again_for_another(house: House, page: Page, tenant: str):
    jobs = {whose: house.run("fail", queue="of-two", tenant=whose) for whose in ("default", tenant)}
    sent: list[str] = []

    def refuse_once(route: Route) -> None:
        asked = route.request.post_data_json
        acts, whose = not asked.get("preview"), asked["filter"]["tenant"]
        refused = acts and whose == tenant and tenant not in sent
        if acts:
            sent.append(whose)
        if refused:
            route.fulfill(status=503)
        else:
            route.continue_()

    page.route("**/v1/jobs/actions", refuse_once)
    page.goto("/console/jobs?queue=of-two")
    select(page, list(jobs.values()))
    dialog = act(page, "Redrive")
    dialog.get_by_role("button", name="Redrive 2 jobs").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.get_by_text("It is done for default")).to_be_visible()
    expect(page.get_by_text("Redrive: 1 job")).to_have_count(1)
    dialog.get_by_role("button", name="Redrive 1 job").click()
    house.until(lambda: [house.client.job(job).attempt for job in jobs.values()] == [2, 2], "the second attempts")
    assert sorted(sent) == sorted(["default", tenant, tenant])


def test_what_is_selected_can_be_done_to_as_it_is_now(house: House, page: Page):
    job_id, path = house.holding("selected-while-it-runs")
    page.goto(f"/console/jobs?task=hold&text={job_id}")
    select(page, [job_id])
    cancel = page.get_by_role("region", name="Selected jobs").get_by_role("button", name="Cancel", exact=True)
    expect(cancel).to_be_enabled()
    path.touch()
    expect(row(page, job_id)).to_contain_text("succeeded")
    expect(cancel).to_be_disabled()


def test_priorities_are_changed(house: House, page: Page):
    jobs = waiting(house, 2, queue="urgent-ones")
    page.goto("/console/jobs?queue=urgent-ones&columns=state,task,priority")
    select(page, jobs)
    dialog = act(page, "Reprioritise")
    dialog.get_by_role("button", name="Reprioritise 2 jobs").wait_for()
    dialog.get_by_role("spinbutton", name="Priority").fill("")
    expect(dialog.get_by_role("button", name="Reprioritise", exact=True)).to_be_disabled()
    dialog.get_by_role("spinbutton", name="Priority").fill("9")
    dialog.get_by_role("button", name="Reprioritise 2 jobs").click()
    house.until(lambda: [house.client.job(job).priority for job in jobs] == [9, 9], "the new priorities")


def test_times_are_changed(house: House, page: Page):
    jobs = waiting(house, 1, queue="sooner")
    page.goto("/console/jobs?queue=sooner")
    select(page, jobs)
    dialog = act(page, "Reschedule")
    expect(dialog.get_by_role("button", name="Reschedule", exact=True)).to_be_disabled()
    dialog.get_by_role("textbox", name="Run in").fill("0s")
    dialog.get_by_role("button", name="Reschedule 1 job").wait_for()
    page.route("**/v1/jobs/actions", lambda route: route.fulfill(status=500), times=1)
    dialog.get_by_role("button", name="Reschedule 1 job").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_role("button", name="Reschedule 1 job").click()
    expect(row(page, jobs[0])).to_contain_text("succeeded")


def test_what_a_role_may_not_do_is_not_offered(house: House, open_page: OpenPage, mixed: dict[str, str]):
    page = open_page(Role.VIEWER)
    page.goto("/console/jobs?status=failed&text=needle")
    expect(row(page, mixed["failed"])).to_be_visible()
    expect(table(page).get_by_role("checkbox")).to_have_count(0)


def test_hostile_strings_are_shown_as_text(house: House, page: Page):
    job = house.submit("fail", {"reason": HOSTILE}, delay="2h", queue="hostile", labels={"l": HOSTILE[:150]})
    failed = house.run("hostile", {"fails": True})
    page.goto(f"/console/jobs?columns=state,task,params,labels,error&text={'%3Cimg'}")
    expect(row(page, job)).to_contain_text("<img src=x onerror=")
    expect(row(page, job)).to_contain_text("⟨U+202E⟩")
    expect(row(page, failed)).to_contain_text("<script>")
    expect(page.locator("main img")).to_have_count(0)
    expect(page).to_have_title(re.compile("Jobs"))
    assert "owned" not in page.title()


def test_the_list_fits_a_phone(house: House, open_page: OpenPage, mixed: dict[str, str]):
    page = open_page(viewport=PHONE)
    page.goto("/console/jobs?status=failed&text=needle")
    expect(row(page, mixed["failed"])).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
