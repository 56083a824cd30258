"""Tasks: the list, the form made from the schema, versions, sharing, figures."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from horae import Script, TaskDefinition
from horae.model.roles import Role
from horae.wire.jobs import Job

from .conftest import PHONE, OpenPage
from .house import House, understood

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Whom to greet"},
        "times": {"type": "integer", "minimum": 1},
    },
    "required": ["name"],
}


@pytest.fixture
def script(house: House, request: pytest.FixtureRequest) -> str:
    """A task of the test's own that is data, with two versions."""
    name = re.sub(r"[^a-z0-9]", "-", request.node.name)[:60]
    for source, reason in (("echo hello\n", "as agreed"), ("echo hello there\n", "politer")):
        definition = TaskDefinition(
            name=name, script=Script(source=source, interpreter="sh"), params_schema=SCHEMA, description="Says hello."
        )
        house.client.tasks.put(definition, reason=reason, tenant="default")
    return name


def submit_form(page: Page, task: str) -> Locator:
    page.goto(f"/console/tasks/{task}")
    page.get_by_role("button", name="Submit…").click()
    return page.get_by_role("dialog", name=f"Submit {task}")


def submitted(house: House, form: Locator) -> Job:
    """Presses the button; the job it made."""
    form.get_by_role("button", name="Submit", exact=True).click()
    link = form.get_by_role("link", name=re.compile(r"^[0-9a-f-]{36}$"))
    expect(link).to_be_visible()
    return house.client.job(link.inner_text())


def test_tasks_are_listed_and_found(house: House, page: Page, script: str) -> None:
    page.goto("/console/tasks")
    table = page.get_by_role("table", name="Tasks")
    expect(table.get_by_role("row", name=re.compile("deliver.*function.*Gives back what it got"))).to_be_visible()
    page.get_by_label("Kind").select_option("script")
    expect(table.get_by_role("link", name="deliver")).to_have_count(0)
    expect(table.get_by_role("link", name=script)).to_be_visible()
    page.get_by_label("Find a task").fill("no such thing")
    expect(page.get_by_text("No task fits these filters")).to_be_visible()
    assert "kind=script" in page.url


def test_a_form_made_from_the_schema_submits_a_job(house: House, page: Page) -> None:
    form = submit_form(page, "deliver")
    form.get_by_label("customer").fill("42")
    form.get_by_label("street").fill("Main Street 1")
    form.get_by_label("city (optional)").fill("Hamburg")
    for number, item in ((1, "apple"), (2, "pear"), (3, "plum")):
        form.get_by_role("button", name="Add to items").click()
        form.get_by_label(f"items {number}", exact=True).fill(item)
    form.get_by_role("button", name="Remove items 2").click()
    form.get_by_label("level (optional)").select_option("high")
    form.get_by_label("gift (optional)").select_option("true")
    form.get_by_role("button", name="Add notes").click()
    form.get_by_label("New name in notes").fill("door")
    form.get_by_role("button", name="Add", exact=True).click()
    form.get_by_role("textbox", name="door").fill("the red one")
    job = submitted(house, form)
    assert job.params == {
        "customer": 42,
        "address": {"street": "Main Street 1", "city": "Hamburg"},
        "items": ["apple", "plum"],
        "level": "high",
        "gift": True,
        "notes": {"door": "the red one"},
    }
    house.until(lambda: house.client.job(str(job.id)).state == "succeeded", "the delivery")


def test_what_is_missing_or_unreadable_is_told_at_the_field(house: House, page: Page) -> None:
    form = submit_form(page, "deliver")
    form.get_by_label("customer").fill("many")
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(form.get_by_label("customer")).to_have_accessible_description("many cannot be read")
    expect(form.get_by_label("street")).to_have_accessible_description("This is needed")
    expect(form.get_by_role("link")).to_have_count(0)


def test_what_the_server_refuses_is_told_at_the_field(house: House, page: Page, script: str) -> None:
    form = submit_form(page, script)
    form.get_by_label("name").fill("ann")
    form.get_by_label("times (optional)").fill("0")
    form.get_by_label("Queue").fill("no name!")
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(form.get_by_label("Queue")).to_have_accessible_description(re.compile("queue"))
    form.get_by_label("Queue").fill("")
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(form.get_by_label("times (optional)")).to_have_accessible_description(re.compile("0 is less than"))
    form.get_by_label("times (optional)").fill("2")
    assert submitted(house, form).params == {"name": "ann", "times": 2}


def test_raw_json_is_the_other_way(house: House, page: Page) -> None:
    form = submit_form(page, "add")
    form.get_by_label("a", exact=True).fill("1")
    form.get_by_role("button", name="JSON").click()
    raw = form.get_by_label("Params as JSON")
    expect(raw).to_have_value(re.compile('"a": 1'))
    raw.fill('{"a": 20, "b":')
    expect(raw).to_have_accessible_description("This is not JSON")
    raw.fill('{"a": 20, "b": 22}')
    form.get_by_role("button", name="Form").click()
    expect(form.get_by_label("b (optional)")).to_have_value("22")
    assert submitted(house, form).params == {"a": 20, "b": 22}


def test_options_say_when_and_how_it_runs(house: House, page: Page) -> None:
    form = submit_form(page, "add")
    form.get_by_label("a", exact=True).fill("1")
    form.get_by_role("button", name="Later").click()
    form.get_by_label("Run in").fill("2h")
    form.get_by_label("Priority").select_option("8")
    form.get_by_label("Queue").fill("reports")
    form.get_by_label("Attempts").fill("3")
    form.get_by_label("Timeout").fill("30s")
    form.get_by_label("Labels").fill("customer=42, wave=7")
    form.get_by_text("The same in a terminal").click()
    command = understood(form.get_by_text("horae submit add").inner_text())
    assert "--delay 2h --priority 8 --queue reports" in command
    job = submitted(house, form)
    assert (job.state, job.priority, job.queue, job.max_attempts) == ("scheduled", 8, "reports", 3)
    assert (job.timeout, job.labels) == ("30s", {"customer": "42", "wave": "7"})


def test_versions_are_compared_and_rolled_back(house: House, page: Page, script: str) -> None:
    page.goto(f"/console/tasks/{script}?tenant=default&tab=versions")
    difference = page.get_by_role("region", name="Difference")
    expect(difference).to_contain_text("echo hello there")
    versions = page.get_by_role("table", name="Versions")
    expect(versions.get_by_role("row", name=re.compile("2.*in force.*politer"))).to_be_visible()
    versions.get_by_role("button", name="Roll back to version 1").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("too polite")
    dialog.get_by_role("button", name="Put version 1 in force").click()
    expect(versions.get_by_role("row", name=re.compile("3.*in force.*too polite"))).to_be_visible()
    page.get_by_label("From", exact=True).select_option("1")
    page.get_by_label("To", exact=True).select_option("3")
    expect(page.get_by_text("These two are the same.")).to_be_visible()
    saved = house.client.tasks.get(script, "default")
    assert saved.version == 3
    assert saved.definition.script is not None
    assert saved.definition.script.source == "echo hello\n"


def test_a_task_is_shared_and_taken_back(house: House, page: Page, script: str) -> None:
    house.key(Role.VIEWER, "guest")
    page.goto(f"/console/tasks/{script}?tenant=default&tab=sharing")
    expect(page.get_by_text("Only its own tenant may use it")).to_be_visible()
    page.get_by_role("button", name="Share…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Tenants").fill("nobody-such")
    dialog.get_by_role("button", name="Share", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("nobody-such")
    dialog.get_by_label("Tenants").fill("guest")
    dialog.get_by_label("With the secrets of this tenant").check()
    dialog.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_role("row", name=re.compile("guest.*with the owner's"))).to_be_visible()
    page.get_by_role("button", name="Take back from guest").click()
    expect(page.get_by_text("Only its own tenant may use it")).to_be_visible()
    assert house.client.tasks.shares(script, "default").items == []


def test_a_task_is_deleted_unless_somebody_needs_it(house: House, page: Page, script: str) -> None:
    house.submit(script, {"name": "ann"}, delay="1h")
    page.goto(f"/console/tasks/{script}?tenant=default")
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Delete the task").click()
    expect(dialog.get_by_role("alert")).to_contain_text("job")
    dialog.get_by_label("Delete it all the same").check()
    dialog.get_by_role("button", name="Delete the task").click()
    expect(page).to_have_url(re.compile(r"/console/tasks\?tenant=default$"))
    expect(page.get_by_role("link", name=script)).to_have_count(0)


def test_a_task_tells_how_it_did_and_its_newest_jobs(house: House, page: Page) -> None:
    job_id = house.run("add", {"a": 1})
    house.run("fail", {"reason": "told"})
    page.goto("/console/tasks/fail?range=1h")
    failed = page.get_by_role("region", name="Figures").get_by_text("Failed").locator("..")
    expect(failed).to_contain_text(re.compile(r"Failed[1-9]"))
    expect(page.get_by_role("figure", name="Jobs that ended, by outcome")).to_be_visible()
    page.goto("/console/tasks/add")
    expect(page.get_by_role("table", name="Newest jobs").locator(f"[href*='{job_id}']")).to_be_visible()
    page.get_by_role("tab", name="Definition").click()
    params = page.get_by_role("table", name="Params")
    expect(params.get_by_role("row", name=re.compile("a.*integer.*required"))).to_be_visible()


def test_a_task_that_is_not_there_says_so(page: Page) -> None:
    page.goto("/console/tasks/nothing")
    expect(page.get_by_text("There is no such task")).to_be_visible()


def test_who_may_only_look_cannot_submit_or_change(house: House, open_page: OpenPage, script: str) -> None:
    page = open_page(Role.VIEWER, "default")
    page.goto(f"/console/tasks/{script}?tab=versions&submit=yes")
    expect(page.get_by_role("table", name="Versions").get_by_text("politer")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Submit|Roll back|Delete"))).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_form_fits_a_phone(house: House, open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE)
    form = submit_form(page, "add")
    form.get_by_label("a", exact=True).fill("5")
    assert submitted(house, form).params == {"a": 5}
    wide: Any = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= PHONE["width"]
