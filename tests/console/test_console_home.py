"""The home page in a real browser: what is happening now, live, with a time range, per tenant and over all."""

import re

from playwright.sync_api import Page, expect

from horae.model.gates import Action
from horae.model.roles import Role
from horae.wire.gates import GateCreate
from horae.wire.limits import LimitPut

from .conftest import PHONE, OpenPage
from .house import House


def test_home_shows_jobs_as_they_run_and_end(house: House, page: Page) -> None:
    page.goto("/console/")
    expect(page.get_by_role("heading", name="Home", level=1)).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    _, release = house.holding("home")
    running = page.get_by_role("region", name="Figures").get_by_role("link", name="Running")
    expect(running).to_contain_text("1")
    release.touch()
    expect(running).to_contain_text("0")
    expect(page.get_by_role("figure", name="Jobs ended, by outcome")).to_contain_text("Succeeded")
    expect(page.get_by_role("figure", name="Start delay")).to_contain_text("p99")


def test_a_failure_is_there_by_its_cause_and_leads_to_the_dead_letters(house: House, page: Page) -> None:
    page.goto("/console/")
    house.run("refuse", {"reason": "no such customer"})
    causes = page.get_by_role("table", name="Failures by cause")
    expect(causes).to_contain_text("no such customer")
    causes.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("/console/dead-letters"))


def test_the_range_stands_in_the_address_and_survives_a_reload(page: Page) -> None:
    page.goto("/console/")
    page.get_by_role("button", name="7 d", exact=True).click()
    expect(page).to_have_url(re.compile("range=7d"))
    page.reload()
    expect(page.get_by_role("button", name="7 d", exact=True)).to_have_attribute("aria-pressed", "true")


def test_a_gate_in_force_is_named(house: House, page: Page) -> None:
    gate = house.client.create_gate(GateCreate(task="add", reason="payroll first"))
    try:
        page.goto("/console/")
        policy = page.get_by_role("region", name="Gates and limits in force")
        expect(policy).to_contain_text("payroll first")
        expect(policy).to_contain_text("holds")
    finally:
        house.client.release_gate(gate.id)


def test_nobody_is_told_to_submit_jobs_that_a_gate_refuses(house: House, page: Page) -> None:
    house.key(Role.VIEWER, "quiet")
    page.goto("/console/?tenant=quiet")
    start = page.get_by_text("Nothing has happened in this time")
    expect(start).to_be_visible()
    expect(page.get_by_role("region", name="Running per worker").get_by_role("link", name="w1")).to_be_visible()
    policy = page.get_by_role("region", name="Gates and limits in force")
    expect(policy).to_be_visible()
    gate = house.client.create_gate(GateCreate(tenant="quiet", action=Action.REJECT, reason="moving house"))
    try:
        expect(policy).to_contain_text("moving house")
        expect(policy).to_contain_text("refuses")
        expect(start).to_have_count(0)
    finally:
        house.client.release_gate(gate.id)


def test_a_limit_that_is_used_up_is_named(house: House, page: Page) -> None:
    house.client.put_limit("one-hold", LimitPut(task="hold", max_running=1))
    _, release = house.holding("limited")
    try:
        page.goto("/console/")
        policy = page.get_by_role("region", name="Gates and limits in force")
        expect(policy).to_contain_text("1 used up")
        policy.get_by_role("link", name="one-hold").click()
        expect(page.get_by_role("dialog", name="Limit one-hold")).to_contain_text("1 of 1")
    finally:
        release.touch()
        house.client.remove_limit("one-hold")


def test_home_shows_workers_with_what_they_run(page: Page) -> None:
    page.goto("/console/")
    fleet = page.get_by_role("region", name="Running per worker")
    expect(fleet.get_by_role("link", name="w1")).to_be_visible()
    expect(fleet.get_by_role("meter")).to_be_visible()


def test_a_key_of_no_tenant_looks_at_all_or_at_one(house: House, page: Page) -> None:
    house.key(Role.VIEWER, "acme")
    page.goto("/console/")
    chooser = page.get_by_label("Tenant", exact=True)
    expect(chooser).to_have_value("")
    chooser.select_option("acme")
    expect(page).to_have_url(re.compile("tenant=acme"))
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Jobs").click()
    expect(page).to_have_url(re.compile("/console/jobs.*tenant=acme"))


def test_a_key_of_a_tenant_has_nothing_to_choose(open_page: OpenPage) -> None:
    page = open_page(Role.VIEWER, "acme")
    page.goto("/console/")
    expect(page.get_by_text("viewer of acme")).to_be_visible()
    expect(page.get_by_label("Tenant", exact=True)).to_have_count(0)


def test_home_fits_a_phone(open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE)
    page.goto("/console/")
    expect(page.get_by_role("figure", name="Start delay")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Navigation").click()
    page.get_by_role("dialog", name="Navigation").get_by_role("link", name="Jobs").click()
    expect(page).to_have_url(re.compile("/console/jobs"))
