"""Dead letters by cause, bulk actions, and what the palette finds."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from horae import ActionKind, ActionRequest, DeadLetterRequest, JobsFilter, ScheduleDefinition
from horae.model.roles import Role

from .conftest import OpenPage
from .house import WORKER, House, understood


def dead(house: House, tenant: str, *orders: int) -> list[str]:
    """Jobs that have failed for good, of one cause."""
    ids = [house.submit("charge", {"order": order}, tenant=tenant) for order in orders]
    house.until(lambda: all(house.client.job(each).state == "failed" for each in ids), "the failures")
    return ids


def state(house: House, job_id: str) -> str:
    return str(house.client.job(job_id).state)


def causes(page: Page, tenant: str) -> Any:
    page.goto(f"/console/dead-letters?tenant={tenant}")
    return page.get_by_role("table", name="Causes of failure")


def open_cause(page: Page, tenant: str) -> None:
    causes(page, tenant).get_by_role("link").first.click()
    expect(page.get_by_role("table", name="Dead letters")).to_be_visible()


def choose(page: Page, deed: str) -> Any:
    page.get_by_role("button", name=deed).click()
    return page.get_by_role("dialog")


def test_failures_read_as_one_line_a_cause(house: House, page: Page, tenant: str) -> None:
    dead(house, tenant, 1, 2, 3)
    house.run("refuse", tenant=tenant)
    table = causes(page, tenant)
    expect(table.get_by_role("row")).to_have_count(3)
    expect(table.get_by_role("row").nth(1)).to_contain_text(re.compile(r"3.*ValueError.*is not payable.*charge"))
    expect(table.get_by_role("row").nth(2)).to_contain_text("no such customer")
    expect(page.get_by_text("4 failed jobs of 2 causes")).to_be_visible()
    page.get_by_role("combobox", name="Task").fill("refuse")
    expect(table.get_by_role("row")).to_have_count(2)
    assert "task=refuse" in page.url


def test_an_error_that_would_be_markup_is_shown_as_text(house: House, page: Page, tenant: str) -> None:
    house.run("hostile", {"fails": True}, tenant=tenant)
    expect(causes(page, tenant)).to_contain_text("<script>document.title='owned'</script>⟨U+202E⟩txt.exe")
    open_cause(page, tenant)
    expect(page.get_by_role("region", name="Cause")).to_contain_text("<img src=x")
    assert "owned" not in page.title()


def test_a_dead_letter_tells_its_error_attempts_and_log(house: House, page: Page, tenant: str) -> None:
    (job_id,) = dead(house, tenant, 7)
    open_cause(page, tenant)
    page.get_by_role("row", name=re.compile("order 7 is not payable")).get_by_role("cell").last.click()
    letter = page.get_by_role("dialog", name=f"Dead letter {job_id}")
    expect(letter.get_by_role("region", name="Traceback")).to_contain_text("ValueError: order 7 is not payable")
    letter.get_by_role("tab", name="Attempts").click()
    expect(letter.get_by_role("table", name="Attempts").get_by_role("row")).to_have_count(3)
    letter.get_by_role("tab", name="Log").click()
    expect(letter.get_by_role("region", name="Log")).to_contain_text("charging order 7")


def test_the_link_of_a_dead_letter_opens_what_enter_does(house: House, page: Page, tenant: str) -> None:
    (job_id,) = dead(house, tenant, 7)
    open_cause(page, tenant)
    letter = page.get_by_role("dialog", name=f"Dead letter {job_id}")
    page.get_by_role("table", name="Dead letters").get_by_role("link").click()
    expect(letter).to_be_visible()
    page.keyboard.press("Escape")
    expect(letter).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    letter.get_by_role("link", name="Open the job").click()
    expect(page).to_have_url(re.compile(f"/console/jobs/{job_id}"))


def test_one_is_retried_with_mended_params(house: House, page: Page, tenant: str) -> None:
    (job_id,) = dead(house, tenant, 8)
    open_cause(page, tenant)
    page.goto(f"{page.url}&job={job_id}")
    letter = page.get_by_role("dialog")
    letter.get_by_role("tab", name="Params and retry").click()
    letter.get_by_label("order").fill("eight")
    letter.get_by_role("button", name="Retry with these params").click()
    expect(letter.get_by_text("eight cannot be read")).to_be_visible()
    letter.get_by_label("order").fill("9")
    letter.get_by_label("payable (optional)").select_option("true")
    letter.get_by_role("button", name="Retry with these params").click()
    expect(page.get_by_text("It runs again, with other params")).to_be_visible()
    house.until(lambda: state(house, job_id) == "succeeded", "the success")
    assert house.client.job(job_id).params == {"order": 9, "payable": True}


def test_a_cause_is_redriven_at_a_rate_after_a_look(house: House, page: Page, tenant: str) -> None:
    dead(house, tenant, 1, 2, 3)
    open_cause(page, tenant)
    dialog = choose(page, "Redrive…")
    expect(dialog.get_by_role("region", name="Preview")).to_contain_text("3 jobs")
    dialog.get_by_label("Jobs a second").fill("0")
    expect(dialog.get_by_role("button", name="Redrive 3 jobs")).to_be_disabled()
    dialog.get_by_label("Jobs a second").fill("1.5")
    expect(dialog.get_by_text("Takes about 2.00 s.")).to_be_visible()
    dialog.get_by_label("Reason").fill("the bank is back")
    assert "--reason 'the bank is back'" in understood(dialog.get_by_text("horae dead redrive").inner_text())
    dialog.get_by_role("button", name="Redrive 3 jobs").click()
    follow = page.get_by_role("region", name="Bulk action: Redrive")
    expect(follow).to_contain_text("3 of 3 done")
    (made,) = house.client.actions(tenant=tenant).items
    assert (made.rate, made.reason, made.by) == (1.5, "the bank is back", house.client.whoami().name)


def test_some_that_were_selected_are_redriven(house: House, page: Page, tenant: str) -> None:
    ids = dead(house, tenant, 1, 2, 3)
    open_cause(page, tenant)
    for job_id in ids[:2]:
        page.get_by_label(f"Select {job_id}").check()
    dialog = choose(page, "Redrive selected…")
    dialog.get_by_role("button", name="Redrive 2 jobs").click()
    expect(page.get_by_role("region", name="Bulk action: Redrive")).to_contain_text("2 of 2 done")


def test_all_of_a_task_are_redriven_and_no_others(house: House, page: Page, tenant: str) -> None:
    dead(house, tenant, 1, 2)
    other = house.run("refuse", tenant=tenant)
    page.goto(f"/console/dead-letters?tenant={tenant}&task=charge")
    dialog = choose(page, "Redrive all…")
    understood(dialog.get_by_text("horae dead redrive").inner_text())
    dialog.get_by_role("button", name="Redrive 2 jobs").click()
    expect(page.get_by_role("region", name="Bulk action: Redrive")).to_contain_text("2 of 2 done")
    assert len(house.client.executions(other).items) == 1


def test_some_that_were_selected_are_discarded(house: House, page: Page, tenant: str) -> None:
    gone, stays = dead(house, tenant, 1, 2)
    open_cause(page, tenant)
    page.get_by_label(f"Select {gone}").check()
    dialog = choose(page, "Discard selected…")
    dialog.get_by_role("button", name="Discard 1 job").click()
    letters = page.get_by_role("table", name="Dead letters")
    expect(letters.locator(f'[data-row="{gone}"]')).to_have_count(0)
    expect(letters.locator(f'[data-row="{stays}"]')).to_have_count(1)


def test_what_is_discarded_leaves_the_list_and_can_be_brought_back(house: House, page: Page, tenant: str) -> None:
    dead(house, tenant, 1, 2)
    causes(page, tenant)
    dialog = choose(page, "Discard all…")
    dialog.get_by_role("button", name="Discard 2 jobs").click()
    expect(page.get_by_text("Nothing has failed for good")).to_be_visible()
    page.get_by_role("link", name="Details").click()
    page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    page.get_by_role("dialog", name="Undo: discard").get_by_role("button", name="Undo it").click()
    expect(page.get_by_role("table", name="Bulk actions")).to_contain_text("2 undone")
    expect(causes(page, tenant)).to_contain_text("is not payable")


def test_actions_tell_how_far_they_are_and_can_be_undone(house: House, page: Page, tenant: str) -> None:
    ids = [house.submit("add", {"a": n}, tenant=tenant, delay="1h") for n in range(3)]
    house.client.act(
        ActionRequest(action=ActionKind.CANCEL, filter=JobsFilter(task="add", status="pending", tenant=tenant))
    )
    page.goto(f"/console/actions?tenant={tenant}")
    row = page.get_by_role("row", name=re.compile("Cancel"))
    expect(row).to_contain_text("3 of 3 done")
    expect(row).to_contain_text("waiting jobs of add")
    row.get_by_role("button", name="Undo").click()
    page.get_by_role("dialog").get_by_role("button", name="Undo it").click()
    expect(row).to_contain_text("3 undone")
    assert {state(house, job_id) for job_id in ids} == {"scheduled"}
    expect(row.get_by_role("button", name="Undo")).to_have_count(0)


def test_an_action_is_opened_by_its_link(house: House, page: Page, tenant: str) -> None:
    house.submit("add", {"a": 1}, tenant=tenant, delay="1h")
    house.client.act(
        ActionRequest(action=ActionKind.CANCEL, filter=JobsFilter(task="add", status="pending", tenant=tenant))
    )
    page.goto(f"/console/actions?tenant={tenant}")
    link = page.get_by_role("table", name="Bulk actions").get_by_role("link", name="Cancel")
    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name=re.compile("Cancel waiting jobs"))).to_contain_text("1 of 1 done")
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_action_under_way_is_stopped(house: House, page: Page, tenant: str) -> None:
    dead(house, tenant, *range(6))
    house.client.redrive(DeadLetterRequest(filter=JobsFilter(tenant=tenant), rate=0.1))
    page.goto(f"/console/actions?tenant={tenant}")
    row = page.get_by_role("row", name=re.compile("Redrive"))
    row.get_by_role("button", name="Stop").click()
    expect(row).to_contain_text("cancelled")
    row.get_by_text("Redrive").click()
    expect(page.get_by_role("dialog")).to_contain_text("0.1 jobs a second")


def test_a_cause_of_several_tenants_is_acted_on_for_one(house: House, page: Page, tenant: str) -> None:
    other = f"{tenant[:50]}-2"
    house.key(Role.ADMIN, other)
    for each in (tenant, other):
        house.run("refuse", {"reason": "several"}, tenant=each)
    (cause,) = house.client.dead_letters(tenant=other).causes
    page.goto(f"/console/dead-letters?cause={cause.cause}")
    expect(page.get_by_text("Several tenants have dead letters of this cause")).to_be_visible()
    expect(page.get_by_role("button", name="Redrive…")).to_have_count(0)
    page.get_by_role("link", name=f"{other} (1 job)").click()
    expect(page.get_by_role("button", name="Redrive…")).to_be_visible()


def test_who_may_only_look_sees_no_deeds(house: House, open_page: OpenPage, tenant: str) -> None:
    dead(house, tenant, 1)
    page = open_page(Role.VIEWER, tenant)
    open_cause(page, tenant)
    expect(page.get_by_role("button", name=re.compile("Redrive|Discard"))).to_have_count(0)
    expect(page.get_by_role("checkbox")).to_have_count(0)
    page.get_by_role("row", name=re.compile("is not payable")).get_by_role("cell").last.click()
    page.get_by_role("tab", name="Params and retry").click()
    expect(page.get_by_role("region", name="Params")).to_contain_text('"order"')
    expect(page.get_by_role("button", name=re.compile("Retry"))).to_have_count(0)


def find(page: Page, text: str) -> Any:
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to or find").fill(text)
    return page.get_by_role("listbox", name="Found")


def test_the_palette_finds_jobs_tasks_schedules_and_workers(house: House, page: Page) -> None:
    house.client.schedules.put(ScheduleDefinition(name="chatter-weekly", task="chatter", cron="0 10 * * FRI"))
    job_id = house.submit("chatter", delay="1h")
    page.goto("/console/tasks")
    expect(page.get_by_role("heading", name="Tasks")).to_be_visible()
    found = find(page, "chatt")
    for name in ("chatter Writes to its log", "Submit chatter", "chatter-weekly"):
        expect(found.get_by_role("option", name=re.compile(name))).to_have_count(1)
    page.keyboard.press("Escape")
    expect(find(page, WORKER).get_by_role("option", name=re.compile(f"^{WORKER}"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(find(page, job_id[:18]).get_by_role("option", name=re.compile(job_id))).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/jobs/{job_id}*")


def test_what_could_not_be_read_does_not_look_as_if_it_loaded_or_were_not_there(house: House, page: Page) -> None:
    page.route(re.compile(r"/v1/(dead-letters|find)\b"), lambda route: route.fulfill(status=500))
    page.goto("/console/dead-letters")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to or find").fill("charge")
    expect(page.get_by_text("It could not be searched for")).to_be_visible()
