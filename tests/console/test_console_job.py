"""The page of one job: its life, its log, its data, and what can be done to it."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from horae.model.roles import Role

from .conftest import PHONE, OpenPage
from .console_app import HOSTILE
from .house import House, understood


def show(page: Page, job_id: str, tab: str = "") -> None:
    page.goto(f"/console/jobs/{job_id}" + (f"?tab={tab}" if tab else ""))


def state(page: Page, word: str) -> None:
    expect(page.get_by_role("banner").or_(page.get_by_role("main")).get_by_text(word, exact=True).first).to_be_visible()


def log(page: Page) -> Locator:
    return page.get_by_role("log", name="Log")


def open_tab(page: Page, name: str) -> Locator:
    page.get_by_role("tab", name=name).click()
    return page.get_by_role("tabpanel")


def test_a_job_is_followed_from_waiting_to_its_end(house: House, page: Page):
    job_id, path = house.holding("life")
    show(page, job_id)
    state(page, "running")
    expect(page.get_by_role("meter", name="Progress")).to_be_visible()
    expect(page.get_by_text(re.compile("step 9"))).to_be_visible()
    expect(page.get_by_text(re.compile("ends about|no estimate"))).to_be_visible()
    expect(log(page)).to_contain_text("holding")
    path.touch()
    state(page, "succeeded")
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline).to_contain_text("submitted by")
    expect(timeline).to_contain_text("ran (attempt 1) for")
    panel = open_tab(page, "Params and result")
    expect(panel.get_by_role("region", name="value of the result")).to_contain_text("let go")
    expect(panel.get_by_role("region", name="value of the params")).to_contain_text("life.release")


def test_why_a_job_waits_is_told_with_links_to_what_holds_it(house: House, page: Page):
    _, path = house.holding("why")
    first = house.submit("hold", {"until": str(path)}, concurrency_key="why")
    house.until(lambda: house.client.job(first).state == "running", "the first of its key")
    second = house.submit("hold", {"until": str(path)}, concurrency_key="why")
    show(page, second)
    why = page.get_by_role("region", name="Why is it not running?")
    expect(why).to_contain_text("limit running")
    held = why.get_by_role("list", name="Held by")
    expect(held.get_by_role("link", name=re.compile("hold on worker"))).to_have_attribute(
        "href", f"/console/jobs/{first}"
    )
    expect(page.get_by_role("region", name="Timeline")).to_contain_text("waits for a limit")
    path.touch()
    state(page, "succeeded")
    expect(why).to_have_count(0)


def test_a_waiting_job_is_edited(house: House, page: Page):
    job_id = house.submit("add", {"a": 1}, delay="1h")
    show(page, job_id)
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit this job")
    save = dialog.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    dialog.get_by_role("textbox", name="Params").fill("[1]")
    expect(dialog.get_by_text("Not a JSON object")).to_be_visible()
    dialog.get_by_role("textbox", name="Params").fill('{"a": 20, "b": 2}')
    dialog.get_by_role("spinbutton", name="Priority").fill("9")
    dialog.get_by_text("The same in a terminal").click()
    command = understood(dialog.get_by_text(f"horae change {job_id}").inner_text())
    assert "--priority 9 --json-params" in command
    save.click()
    expect(page.get_by_text("Job changed")).to_be_visible()
    job = house.client.job(job_id)
    assert (job.params, job.priority) == ({"a": 20, "b": 2}, 9)


def test_an_edit_that_the_task_refuses_says_why(house: House, page: Page):
    job_id = house.submit("add", {"a": 1}, delay="1h")
    show(page, job_id)
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit this job")
    dialog.get_by_role("textbox", name="Params").fill('{"a": "<b>one</b>"}')
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text('"<b>one</b>" is not of type')
    assert house.client.job(job_id).params == {"a": 1}


@pytest.mark.parametrize("running", [False, True])
def test_a_job_is_cancelled(house: House, page: Page, running: bool):
    job_id = house.holding("cancel")[0] if running else house.submit("add", {"a": 1}, delay="1h")
    show(page, job_id)
    page.get_by_role("button", name="Cancel", exact=True).click()
    dialog = page.get_by_role("dialog", name="Cancel this job")
    dialog.get_by_role("textbox", name="Reason").fill("not wanted")
    dialog.get_by_role("button", name="Cancel the job").click()
    expect(page.get_by_role("region", name="Error", exact=True)).to_contain_text("not wanted")
    assert house.client.job(job_id).state == "cancelled"


def test_a_failed_job_is_retried_with_other_parameters(house: House, page: Page):
    job_id = house.run("fail", {"reason": "the first"})
    show(page, job_id)
    expect(page.get_by_role("region", name="Error", exact=True)).to_contain_text("the first")
    page.get_by_role("button", name="Retry").click()
    dialog = page.get_by_role("dialog", name="Retry this job")
    dialog.get_by_role("textbox", name="Params").fill('{"reason": "the second"}')
    dialog.get_by_role("button", name="Retry").click()
    expect(page.get_by_role("region", name="Error", exact=True)).to_contain_text("the second")
    table = open_tab(page, "Attempts").get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["Attempt", "1", "2"])
    expect(table).to_contain_text("the first")
    expect(table).to_contain_text("the second")


def test_a_job_is_cloned_with_a_difference(house: House, page: Page):
    job_id = house.run("add", {"a": 1})
    show(page, job_id)
    page.get_by_role("button", name="Clone").click()
    dialog = page.get_by_role("dialog", name="Clone this job")
    dialog.get_by_role("textbox", name="Params").fill('{"a": 70, "b": 7}')
    dialog.get_by_role("button", name="Submit the clone").click()
    expect(page).not_to_have_url(re.compile(job_id))
    expect(page.get_by_role("link", name=job_id)).to_be_visible()
    expect(open_tab(page, "Params and result").get_by_role("region", name="value of the result")).to_contain_text("77")


def test_a_job_that_could_go_nowhere_is_not_moved_unless_forced(house: House, page: Page):
    job_id, path = house.holding("move")
    show(page, job_id)
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Move to another worker…").click()
    dialog = page.get_by_role("dialog", name="Move to another worker")
    dialog.get_by_role("button", name="Move the job").click()
    expect(dialog.get_by_role("alert")).to_contain_text("No other worker could run the job")
    dialog.get_by_role("checkbox").check()
    dialog.get_by_role("button", name="Move the job").click()
    expect(dialog).to_have_count(0)
    expect(open_tab(page, "Attempts").get_by_role("table")).to_contain_text("moved")
    path.touch()
    house.client.cancel(job_id)


def test_attempts_stand_side_by_side_and_pieces_are_shown(house: House, page: Page):
    job_id = house.run("flaky")
    show(page, job_id, "attempts")
    table = page.get_by_role("region", name="Attempts side by side").get_by_role("table")
    expect(table.get_by_role("row", name=re.compile("Ended as"))).to_contain_text(re.compile("error.*succeeded"))
    expect(table).to_contain_text("not the first time")
    pieces = open_tab(page, "Partial results")
    expect(pieces).to_contain_text("<img src=x")
    expect(pieces).to_contain_text("⟨U+202E⟩")
    expect(open_tab(page, "Files")).to_contain_text("No files")
    open_tab(page, "Log")
    expect(log(page)).to_contain_text("trying 1")
    page.get_by_role("combobox", name="Attempt").select_option("2")
    expect(log(page)).not_to_contain_text("trying 1")
    expect(log(page)).to_contain_text("trying 2")


def test_a_log_is_coloured_searched_and_downloaded(house: House, page: Page):
    job_id = house.run("chatter", {"lines": 30, "text": "line"})
    show(page, job_id)
    expect(page.get_by_text("30 lines")).to_be_visible()
    expect(log(page).get_by_text("line", exact=True).first).to_have_class(re.compile("green"))
    search = page.get_by_role("searchbox", name="Search the log")
    search.fill("LINE 2")
    expect(page.get_by_text("1 of 11")).to_be_visible()
    search.press("Enter")
    search.press("Enter")
    expect(page.get_by_text("2 of 11")).to_be_visible()
    search.fill("nowhere")
    expect(page.get_by_text("no match")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    text = download.value.path().read_text()
    assert text.splitlines()[-1] == "\x1b[32mline\x1b[0m 29"
    assert download.value.suggested_filename == f"{job_id}.log"


def test_a_search_of_a_log_is_of_the_chosen_attempt(house: House, page: Page):
    show(page, house.run("flaky"))
    page.get_by_role("searchbox", name="Search the log").fill("trying")
    expect(page.get_by_text("1 of 2", exact=True)).to_be_visible()
    page.get_by_role("combobox", name="Attempt").select_option("1")
    expect(page.get_by_text("1 of 1", exact=True)).to_be_visible()
    page.get_by_role("combobox", name="Attempt").select_option("")
    expect(page.get_by_text("1 of 2", exact=True)).to_be_visible()


def test_a_long_log_is_drawn_only_where_it_is_seen(house: House, page: Page):
    job_id = house.run("chatter", {"lines": 20_000, "text": "x"})
    show(page, job_id)
    expect(page.get_by_text("20,000 lines")).to_be_visible()
    expect(log(page)).to_contain_text("19999")
    assert page.evaluate("document.querySelectorAll('[role=log] bdi').length") < 200
    search = page.get_by_role("searchbox", name="Search the log")
    search.fill("7777")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    search.press("Enter")
    expect(log(page).locator("mark")).to_have_text("7777")


def test_a_live_log_goes_on_after_the_server_was_away(house: House, page: Page):
    job_id, path = house.holding("away")
    show(page, job_id)
    expect(log(page)).to_contain_text("holding")
    page.route("**/logs?follow=true*", lambda route: route.fulfill(status=502), times=1)
    house.stop_server()
    house.start_server()
    path.touch()
    state(page, "succeeded")
    expect(page.get_by_text("1 line", exact=False).first).to_be_visible()
    expect(page.get_by_role("button", name="Follow")).to_have_count(0)


def test_hostile_strings_are_text_everywhere(house: House, page: Page):
    good = house.run("hostile", labels={"l": HOSTILE[:150]})
    bad = house.run("hostile", {"fails": True})
    show(page, good, "data")
    expect(page.get_by_role("region", name="value of the result")).to_contain_text("<b>key</b>")
    expect(page.get_by_role("region", name="Details")).to_contain_text("⟨U+202E⟩")
    open_tab(page, "Log")
    expect(log(page)).to_contain_text("<script>document.title='owned'</script>⟨U+202E⟩txt.exe")
    show(page, bad)
    expect(page.get_by_role("region", name="Error", exact=True)).to_contain_text("<img src=x onerror=")
    open_tab(page, "Attempts")
    open_tab(page, "Commands")
    expect(page.locator("main img, main script")).to_have_count(0)
    assert "owned" not in page.title()


def test_huge_params_are_cut_until_asked_for(house: House, page: Page):
    job_id = house.submit("fail", {"reason": "y" * 50_000}, delay="1h")
    show(page, job_id, "data")
    params = page.get_by_role("region", name="value of the params")
    expect(params.get_by_role("button", name=re.compile("Show all"))).to_be_visible()
    params.get_by_role("button", name=re.compile("Show all")).click()
    expect(params).to_contain_text("y" * 49_000)


def test_commands_are_there_to_copy(house: House, open_page: OpenPage):
    job_id = house.run("add", {"a": 1})
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    show(page, job_id, "commands")
    expect(page.get_by_text(f"horae explain {job_id} --timeline")).to_be_visible()
    for command in page.get_by_role("tabpanel").locator("code").filter(has_text=re.compile("^horae (?!up)")).all():
        understood(command.inner_text())
    page.get_by_role("button", name="Copy the command: Look at it").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"horae job {job_id}"


def test_what_a_role_may_not_do_is_not_offered(house: House, open_page: OpenPage):
    job_id = house.submit("add", {"a": 1}, delay="1h")
    page = open_page(Role.VIEWER)
    show(page, job_id)
    expect(page.get_by_role("region", name="Details")).to_be_visible()
    for name in ("Edit", "Clone", "Cancel"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)


def test_links_of_a_job_lead_to_its_tenants_things(house: House, page: Page):
    house.key(Role.ADMIN, "red")
    job_id = house.submit("add", {"a": 1}, delay="1h", tenant="red", labels={"team": "mowers"})
    show(page, job_id)
    details = page.get_by_role("region", name="Details")
    expect(details.get_by_role("link", name="team: mowers")).to_have_attribute("href", re.compile("tenant=red"))
    details.get_by_role("link", name="add").click()
    expect(page).to_have_url(re.compile("/tasks/add.*tenant=red"))
    expect(page.get_by_role("tab", name="Overview")).to_be_visible()


def test_a_job_that_is_not_there_says_so(house: House, page: Page):
    show(page, "01a00000-0000-7000-8000-000000000000")
    expect(page.get_by_text("There is no such job")).to_be_visible()
    page.get_by_role("link", name="All jobs").click()
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()


def test_the_page_fits_a_phone(house: House, open_page: OpenPage):
    job_id = house.run("hostile", {"fails": True})
    page = open_page(viewport=PHONE)
    for tab in ("log", "data", "attempts", "commands"):
        show(page, job_id, tab)
        expect(page.get_by_role("region", name="Details")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), tab
