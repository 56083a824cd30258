"""What one does on a page, and what has become of it on the server: deeds by what they leave behind."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from horae.model.errors import GateClosed
from horae.model.gates import Action
from horae.model.roles import Role
from horae.wire.access import KeyCreate

from .conftest import OpenPage, until
from .house import WORKER, House, understood


@pytest.fixture(autouse=True)
def nothing_held(house: House) -> Iterator[None]:
    """Every test begins without a gate, and with a worker that takes jobs."""
    yield
    for gate in house.client.gates().items:
        house.client.release_gate(gate.id)
    house.client.resume(worker_id(house))


def worker_id(house: House) -> int:
    return next(worker.id for worker in house.client.workers().items if worker.name == WORKER)


def dialog(page: Page, name: str) -> Locator:
    return page.get_by_role("dialog", name=re.compile(name))


# One job.


def test_a_failed_job_runs_again_as_it_was(house: House, page: Page) -> None:
    job_id = house.run("fail", {"reason": "as it was"}, priority=7)
    page.goto(f"/console/jobs/{job_id}?tab=attempts")
    page.get_by_role("button", name="Retry").click()
    asked = dialog(page, "Retry this job")
    asked.get_by_text("The same in a terminal").click()
    assert understood(asked.get_by_text("horae retry").inner_text()) == f"horae retry {job_id}"
    asked.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("The job runs again")).to_be_visible()
    expect(page.get_by_role("columnheader")).to_have_text(["Attempt", "1", "2"])
    job = house.client.job(job_id)
    assert (job.attempt, job.params, job.priority) == (2, {"reason": "as it was"}, 7)


# Dead letters.


def dead(house: House, tenant: str, count: int) -> list[str]:
    """Jobs that have failed for good, of one cause."""
    return [house.run("refuse", tenant=tenant) for _ in range(count)]


def open_cause(house: House, page: Page, tenant: str, job_id: str | None = None) -> Locator:
    """The dead letters of the tenant's only cause; one of them beside the list, if it is named."""
    (cause,) = house.client.dead_letters(tenant=tenant).causes
    page.goto(f"/console/dead-letters?cause={cause.cause}&tenant={tenant}" + (f"&job={job_id}" if job_id else ""))
    letters = page.get_by_role("table", name="Dead letters")
    expect(letters.locator("[data-row]")).to_have_count(cause.count)
    return letters


def left(house: House, tenant: str) -> int:
    return sum(cause.count for cause in house.client.dead_letters(tenant=tenant).causes)


def test_one_letter_is_discarded_and_the_others_stay(house: House, page: Page, tenant: str) -> None:
    gone, stays = dead(house, tenant, 2)
    letters = open_cause(house, page, tenant, gone)
    dialog(page, "Dead letter").get_by_role("button", name="Discard…").click()
    asked = dialog(page, "Discard dead letters")
    expect(asked.get_by_role("region", name="Preview")).to_contain_text(gone)
    asked.get_by_role("button", name="Discard 1 job").click()
    expect(letters.locator(f'[data-row="{gone}"]')).to_have_count(0)
    expect(letters.locator(f'[data-row="{stays}"]')).to_have_count(1)
    assert left(house, tenant) == 1
    assert house.client.job(gone).state == "failed"


def test_a_whole_cause_is_discarded_with_a_reason(house: House, page: Page, tenant: str) -> None:
    dead(house, tenant, 2)
    open_cause(house, page, tenant)
    page.get_by_role("button", name="Discard…").click()
    asked = dialog(page, "Discard dead letters")
    asked.get_by_label("Reason").fill("those customers are gone")
    assert "--reason 'those customers are gone'" in understood(asked.get_by_text("horae dead discard").inner_text())
    asked.get_by_role("button", name="Discard 2 jobs").click()
    expect(page.get_by_role("region", name="Bulk action: Discard")).to_contain_text("2 of 2 done")
    expect(page.get_by_text("None of this cause is left")).to_be_visible()
    (made,) = house.client.actions(tenant=tenant).items
    assert (made.action, made.reason, left(house, tenant)) == ("discard", "those customers are gone", 0)


def test_a_cause_is_redriven_with_another_priority(house: House, page: Page, tenant: str) -> None:
    ids = dead(house, tenant, 2)
    open_cause(house, page, tenant)
    page.get_by_role("button", name="Redrive…").click()
    asked = dialog(page, "Redrive dead letters")
    asked.get_by_label("Priority").select_option("9")
    assert "--priority 9" in understood(asked.get_by_text("horae dead redrive").inner_text())
    asked.get_by_role("button", name="Redrive 2 jobs").click()
    expect(page.get_by_role("region", name="Bulk action: Redrive")).to_contain_text("2 of 2 done")
    house.until(lambda: {house.client.job(each).attempt for each in ids} == {2}, "the second attempts")
    assert {house.client.job(each).priority for each in ids} == {9}


def test_a_letter_is_retried_as_it_was(house: House, page: Page, tenant: str) -> None:
    job_id = house.run("refuse", {"reason": "closed on mondays"}, tenant=tenant)
    open_cause(house, page, tenant, job_id)
    letter = dialog(page, "Dead letter")
    letter.get_by_role("tab", name="Params and retry").click()
    letter.get_by_role("button", name="Retry as it was").click()
    expect(page.get_by_text("It runs again", exact=True)).to_be_visible()
    expect(letter).to_have_count(0)
    house.until(lambda: house.client.job(job_id).attempt == 2, "the second attempt")
    assert house.client.job(job_id).params == {"reason": "closed on mondays"}


# Gates and the emergency stop.


def test_a_gate_that_rejects_refuses_new_jobs_and_lets_those_that_wait_go_on(house: House, page: Page) -> None:
    waits = house.submit("add", {"a": 1}, delay="1h", queue="refused")
    page.goto("/console/gates")
    page.get_by_role("button", name="New gate").click()
    form = dialog(page, "New gate")
    form.get_by_label("Running jobs").select_option("Cancel them")
    form.get_by_label("Action").select_option("Reject")
    expect(form.get_by_text("New jobs are refused; those that wait go on.")).to_be_visible()
    expect(form.get_by_label("Running jobs").locator("option")).to_have_text(["Leave them alone"])
    form.get_by_label("Queue", exact=True).fill("refused")
    form.get_by_label("Reason").fill("the address is wrong")
    form.get_by_role("button", name="Close the gate").click()
    shown = page.get_by_role("table", name="Gates in force").get_by_role("row").filter(has_text="the address is wrong")
    expect(shown.get_by_role("cell", name="reject", exact=True)).to_be_visible()
    with pytest.raises(GateClosed, match="the address is wrong"):
        house.submit("add", {"a": 1}, queue="refused")
    (gate,) = house.client.gates().items
    assert (gate.action, gate.queue, gate.running) == (Action.REJECT, "refused", "leave")
    assert house.client.job(waits).state == "scheduled"


def test_a_stop_that_ends_by_itself_says_when(house: House, page: Page, tenant: str) -> None:
    page.goto(f"/console/gates?tenant={tenant}&stop=1")
    asked = dialog(page, "Emergency stop of tenant")
    asked.get_by_label("Type STOP to go on").fill("STOP")
    ends = asked.get_by_label("Ends by itself in")
    ends.fill("soon")
    asked.get_by_role("button", name="Stop everything").click()
    expect(asked.get_by_role("alert")).to_contain_text("soon")
    assert house.client.gates().items == []
    ends.fill("2h")
    asked.get_by_role("button", name="Stop everything").click()
    banner = page.get_by_role("alert").filter(has_text="Emergency stop of tenant")
    expect(banner).to_contain_text(re.compile(r"it ends in (1 h|2 h)"))
    (stop,) = house.client.gates().items
    assert stop.expires_at is not None
    assert round((stop.expires_at - stop.made_at).total_seconds()) == 7200


# Workers.


def test_a_worker_is_drained_and_resumed_on_its_own_page(house: House, page: Page) -> None:
    page.goto(f"/console/workers/{worker_id(house)}")
    page.get_by_role("button", name="Drain…").click()
    asked = dialog(page, f"Drain {WORKER}")
    expect(asked).to_contain_text("until somebody resumes it")
    asked.get_by_label("Reason").fill("loose cable")
    asked.get_by_role("button", name="Drain", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text("loose cable. It takes nothing new until somebody resumes it.")
    expect(page.get_by_role("button", name="Drain…")).to_have_count(0)
    drained = house.client.worker(worker_id(house))
    assert (drained.state, drained.steer_reason, drained.steer_until) == ("draining", "loose cable", None)
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Drain…")).to_be_visible()
    assert house.client.worker(worker_id(house)).state == "active"


# Commands to copy.


def copied(page: Page, button: Locator) -> str:
    """What a press on the button puts on the clipboard."""
    page.evaluate("navigator.clipboard.writeText('')")
    button.click()
    # The button writes it a moment after the press.
    return str(until(page, lambda: page.evaluate("navigator.clipboard.readText()"), "text on the clipboard"))


def curled(house: House, command: str) -> object:
    """What the command prints when it is run as it was copied."""
    if shutil.which("curl") is None and os.environ.get("CI") != "true":
        pytest.skip("there is no curl")
    environ = {"PATH": os.environ["PATH"], "HORAE_KEY": house.key(Role.ADMIN)}
    ran = subprocess.run(["sh", "-c", command], env=environ, capture_output=True, check=True, timeout=60)
    return json.loads(ran.stdout)


def test_the_list_is_copied_as_a_curl_command_that_lists_the_same(house: House, open_page: OpenPage) -> None:
    wanted = house.submit("fail", {"reason": 'it\'s a "needle" & $more'}, delay="1h", queue="curled")
    house.submit("add", {"a": 1}, delay="1h", queue="curled")
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto("/console/jobs?queue=curled&text=it%27s&status=scheduled")
    expect(page.locator("[data-row]")).to_have_count(1)
    page.get_by_role("button", name="As a command").click()
    command = copied(page, page.get_by_role("dialog").get_by_role("button", name="Copy the curl command"))
    answer = curled(house, command)
    assert isinstance(answer, dict)
    assert [job["id"] for job in answer["items"]] == [wanted]


def test_deeds_on_a_job_are_copied_as_curl_commands_that_do_them(house: House, open_page: OpenPage) -> None:
    job_id = house.submit("add", {"a": 1}, delay="1h")
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"/console/jobs/{job_id}?tab=commands")
    look = curled(house, copied(page, page.get_by_role("button", name="Copy the curl command: Look at it")))
    assert isinstance(look, dict)
    assert (look["id"], look["params"]) == (job_id, {"a": 1})
    page.get_by_role("button", name="Cancel", exact=True).click()
    asked = dialog(page, "Cancel this job")
    asked.get_by_role("textbox", name="Reason").fill("isn't & wasn't wanted")
    asked.get_by_text("The same in a terminal").click()
    curled(house, copied(page, asked.get_by_role("button", name="Copy the curl command")))
    cancelled = house.client.job(job_id)
    assert cancelled.error is not None
    assert (cancelled.state, "isn't & wasn't wanted" in cancelled.error.message) == ("cancelled", True)


# The session.


def test_a_page_that_is_open_comes_to_the_sign_in_when_its_key_is_revoked(house: House, open_page: OpenPage) -> None:
    """What it reads again by itself tells it, or the end of its stream, which the server closes within ten seconds."""
    made = house.client.create_key(KeyCreate(name="leaving", role=Role.VIEWER))
    page = open_page(signed_in=False)
    page.goto("/console/gates?view=past")
    page.get_by_label("API key").fill(made.secret)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Gates")).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    house.client.revoke_key(made.key.id)
    expect(page.get_by_role("heading", name="Sign in to Horae")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("navigation")).to_have_count(0)
    page.get_by_label("API key").fill(house.key(Role.VIEWER))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("tab", name=re.compile("Past"))).to_have_attribute("aria-selected", "true")
