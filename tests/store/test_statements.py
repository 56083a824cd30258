"""The named statements as a whole: all used, all valid, all tenant-bound, and no SQL anywhere but in the store."""

import ast
import re
from pathlib import Path

import asyncpg
import pytest

import horae
from horae.store.statements import statements

SOURCE = Path(horae.__file__).parent

SYSTEM = {
    # Of keys that were looked up before.
    "key_touch": "by the numbers of keys that were found good",
    # Sessions and tickets: by a hash that nobody can guess, or by a key that was found good.
    "session_open": "by a key that was found good",
    "session_close": "by the hash of its token",
    "ticket_make": "by a key that was found good",
    "ticket_use": "by the hash of the ticket",
    # Duties, which serve all tenants alike.
    "timer_promote": "promotes whatever is due",
    "timer_next": "one instant for all",
    "ready_lanes": "the lanes that have work, of all tenants",
    "worker_expired": "workers of all tenants expire alike",
    "worker_lose": "by the worker's number, under its own lock",
    "worker_clean": "forgets workers that are long gone",
    "worker_set_right": "workers of all tenants, when the clock was set back",
    "cancel_clean": "forgets requests whose lease is gone",
    "idempotency_clean": "forgets old keys",
    "alive_before": "what outlives a day, of all tenants",
    "schedule_claim": "schedules of all tenants are planned alike",
    "schedule_advance": "by the schedules that were just locked",
    "schedule_count_run": "by the schedules that were just locked",
    "tick_claim": "ticks of all tenants are judged alike",
    "tick_judged": "by the schedules that were just locked",
    "tick_next": "one instant for all",
    "tick_clean": "forgets old ticks",
    "clock": "the time",
    "file_expire": "files of all tenants expire alike",
    "signing_key": "one key for all",
    "partition_days": "catalogue",
    "partition_make": "data definition",
    "partition_detached": "catalogue",
    "carried_over": "jobs of all tenants outlive a day alike",
    "notice_send": "wake-ups between servers",
    "job_claim_limited": "as job_claim; the tenants of its lanes are given to the function",
    "policy_version": "one number for all",
    "policy_touch": "one number for all",
    "slot_adopt": "by lanes that a limit concerns",
    "slot_counts": "by groups, each of one rule",
    "slot_groups": "the watch over limits, of all tenants",
    "slot_orphans": "the watch over limits, of all tenants",
    "bucket_clean": "forgets full buckets",
    "gate_expired": "gates of all tenants expire alike",
    "gate_expire": "gates of all tenants expire alike",
    "gate_note": "by the gate's number, from a duty",
    "gate_drain": "by the gate's number, from a duty",
    "gate_forget": "forgets what is old",
    "gate_block": "by lanes that were found through the gate, from a duty",
    "gate_unblock": "by the gate's number, from a duty",
    "gate_unblock_slowly": "by the gate's number, from a duty",
    "gate_cancel_running": "by lanes that were found through the gate, from a duty",
    "gate_move_running": "by lanes that were found through the gate, from a duty",
    "breaker_pause": "a limit's group, which is of one gate",
    "clean_rollup": "forgets old sums",
    "clean_rollup_minute": "forgets old sums",
    "clean_rollup_hour": "forgets old sums",
    "lanes_ready": "the numbers of lanes; the jobs in them are found by their tenants",
    "lanes_blocked": "the numbers of lanes; the jobs in them are found by their tenants",
    "lanes_lease": "the numbers of lanes; the jobs in them are found by their tenants",
    "flow_clean": "forgets old sums",
    "attainment_clean": "forgets old sums",
    "promise_note": "by rows that the duty has just locked",
    "promise_forget": "by rows that the duty has just locked",
    "ready_count": "the recount, of all tenants",
    "timer_count": "the recount, of all tenants",
    "blocked_count": "the recount, of all tenants",
    "lease_count": "the recount, of all tenants",
    "duty_lock": "one actor for all",
    "duty_due": "one actor for all",
    "duty_done": "one actor for all",
    "server_beat": "the servers serve all tenants",
    "server_leave": "the servers serve all tenants",
    "hold_count": "by the keys of users that have a quota",
    # By lane or lease: both belong to one tenant, and were found through it.
    "job_cancel_running": "by the lane of a job that was found in the caller's tenant",
    "move_request_put": "by the lanes of jobs that were found in the caller's tenant",
    "pending_take": "by the lane of a job that was found in the caller's tenant",
    "pending_put": "by the lane of a job that was found in the caller's tenant",
    "cancel_orders": "by the worker, which the caller's tenant owns",
    "secret_lock": "a lock by the tenant's number",
    "unique_lock": "a lock by hash, which the tenant's submit asks for",
    # Bulk actions: by the action, which belongs to one tenant and was found through it, or of all alike.
    "action_take": "the duty takes whichever waits longest",
    "action_items": "by the action that the batch has locked",
    "action_save": "by the action that the batch has locked",
    "action_finish": "by the action that the batch has locked",
    "action_put_off": "by the action that the batch had locked",
    "action_clean": "forgets old actions",
    # Callbacks: by tokens and attempts that were found, or of all alike.
    "callback_take_cancels": "by the attempts that were parked a moment ago",
    "callback_cancels": "the duty carries out the cancels of all tenants",
    "callback_settle": "by tokens that were found",
    "callback_defer": "by tokens that were found",
    "callback_clean": "forgets what is settled",
    # What `explain` asks, of a job that was found in the caller's tenant.
    "explain_place": "by the job's lane",
    "explain_ahead": "by lanes; what others may see of it is decided by whoever asks",
    "lane_wait_list": "by the job's lane",
    "lane_wait_add": "by lanes, of all tenants",
    "lane_wait_clean": "forgets old waits",
    "worker_note_probing": "by the workers that talk to this server",
    # What `horae doctor` asks.
    "checkup_settings": "settings",
    "checkup_missing_partitions": "catalogue",
    "checkup_connections": "statistics",
    "checkup_oldest_transaction": "statistics",
    "checkup_servers": "the servers serve all tenants",
}


def literals(folder: Path) -> set[str]:
    """Every string literal in the Python files of a folder."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in folder.rglob("*.py")]
    return {node.value for tree in trees for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)}  # fmt: skip


def test_every_statement_is_used_and_every_used_one_is_there():
    named = literals(SOURCE / "store")
    assert statements().keys() - named == set(), "nobody calls these"
    calls = re.compile(r"""(?:fetch|fetchrow|once)\(\s*"(\w+)"|statements\(\)\["(\w+)"\]""")
    used = {a or b for path in (SOURCE / "store").rglob("*.py") for a, b in calls.findall(path.read_text())}
    assert used - statements().keys() == set(), "these are not in queries/*.sql"
    assert len(used) > 50


async def test_every_statement_prepares_on_the_migrated_schema(conn):
    wrong = {}
    for name, sql in statements().items():
        try:
            await conn.prepare(sql)
        except asyncpg.PostgresError as error:
            wrong[name] = str(error)
    assert wrong == {}


def test_every_statement_that_ends_a_lease_gives_its_slots_back():
    ending = {name for name, sql in statements().items() if "delete from lease" in _without_comments(sql)}
    freeing = {name for name, sql in statements().items() if "delete from slot" in _without_comments(sql)}
    assert ending
    assert ending == freeing


def test_every_statement_is_bound_to_a_tenant_or_says_why_not():
    free = {name for name, sql in statements().items() if "tenant" not in _without_comments(sql)}
    assert free - SYSTEM.keys() == set()


def test_the_list_of_system_statements_names_only_those_that_need_it():
    assert SYSTEM.keys() - statements().keys() == set()
    bound = {name for name in SYSTEM if "tenant" in _without_comments(statements()[name])}
    assert bound == set(), "these are bound to a tenant after all"


SQL = re.compile(
    r"\b(select\s+[\w*.,\s()]+\s+from|insert\s+into|delete\s+from|update\s+\w+\s+set|create\s+table|alter\s+table)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("layer", ["model", "wire", "engine", "server", "client", "worker", "cli"])
def test_there_is_no_sql_outside_the_store(layer):
    found = [text for text in literals(SOURCE / layer) if SQL.search(text)]
    assert found == []


def test_the_search_for_sql_finds_some_where_there_is_some():
    assert SQL.search("select a, b from job")
    assert any(SQL.search(text) for text in literals(SOURCE / "store"))


def _without_comments(sql: str) -> str:
    return re.sub(r"--[^\n]*", "", sql)
