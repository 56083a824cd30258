"""The list of jobs: filters, views, columns, pages, and acting on many."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from horae.model.roles import Role

from .conftest import PHONE, OpenPage
from .console_app import HOSTILE
from .house import House


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
    page.get_by_role("textbox", name="Label").fill("team:mowers")
    shows(page, mixed, "succeeded")
    page.get_by_role("textbox", name="Label").fill("")
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


def test_what_changes_while_the_list_is_being_read_is_shown_too(house: House, page: Page):
    job_id, path = house.holding("slow-read")
    page.goto("/console/jobs?status=running,succeeded&task=hold")
    expect(row(page, job_id)).to_contain_text("running")
    page.evaluate(COUNT_PULSES)
    reads: list[Route] = []
    page.route("**/v1/jobs?*", lambda route: reads.append(route), times=1)  # noqa: PLW0108
    house.submit("add", {"a": 1}, delay="2h")
    while not reads:
        page.evaluate("")  # Its round trip lets the request come by.
    before = reads[0].fetch()
    path.touch()
    while not page.evaluate("window.pulses"):
        pass
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


def test_pages_follow_each_other_and_lead_back(house: House, page: Page):
    ids = [house.submit("add", {"a": n}, delay="2h", queue="paged") for n in range(53)]
    page.goto("/console/jobs?queue=paged")
    expect(page.locator("[data-row]")).to_have_count(50)
    page.get_by_role("button", name="Older").click()
    expect(page.locator("[data-row]")).to_have_count(3)
    assert {r.get_attribute("data-row") for r in page.locator("[data-row]").all()} == set(ids[:3])
    expect(page.get_by_role("button", name="Older")).to_be_disabled()
    page.get_by_role("button", name="Newer").click()
    expect(page.locator("[data-row]")).to_have_count(50)


def test_views_are_saved_opened_and_forgotten(page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs?status=failed&columns=state,task,error")
    page.get_by_role("button", name="Views").click()
    page.get_by_role("menuitem", name="Save this view…").click()
    page.get_by_role("textbox", name="Name").fill("My <b>failures</b>")
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
    expect(dialog.get_by_text(r"horae jobs --status failed --text 'it'\''s'")).to_be_visible()
    expect(dialog.get_by_text("/v1/jobs?status=failed&text=it%27s")).to_be_visible()


def test_the_keyboard_moves_opens_and_searches(page: Page, mixed: dict[str, str]):
    page.goto("/console/jobs?status=failed&task=fail")
    expect(row(page, mixed["failed"])).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search text")).to_be_focused()
    page.get_by_role("heading", name="Jobs").click()
    page.keyboard.press("j")
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
    expect(dialog.get_by_text(re.compile("horae cancel .* --reason 'not wanted'"))).to_be_visible()
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
    dialog = act(page, "Cancel")
    expect(dialog.get_by_role("region", name="Preview")).to_contain_text("3 jobs")
    dialog.get_by_role("button", name="Cancel 3 jobs").click()
    house.until(lambda: {state_of(house, job) for job in jobs} == {"cancelled"}, "all cancelled")


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
    act(page, verb).get_by_role("button", name=f"{verb} 1 job").click()
    house.until(lambda: house.client.job(job).attempt == 2, "a second attempt")


def test_priorities_are_changed(house: House, page: Page):
    jobs = waiting(house, 2, queue="urgent-ones")
    page.goto("/console/jobs?queue=urgent-ones&columns=state,task,priority")
    select(page, jobs)
    dialog = act(page, "Reprioritise")
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
