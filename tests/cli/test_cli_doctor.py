"""The doctor with broken installations: each must be told, by the right check and with something to do.

The healthy one is examined in test_cli_up, where everything runs.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest

import horae as package
from horae.cli.databasechecks import check_transactions
from horae.cli.finding import Mark
from horae.store.safety import SAFE_MINORS, safe_minor

from .conftest import Horae, Ran, Script
from .records import worker


def findings(ran: Ran) -> dict[str, dict[str, Any]]:
    return {found["check"]: found for found in map(msgspec.json.decode, ran.out.splitlines())}


def alter(dsn: str, sql: str) -> None:
    ask(dsn, sql)


def ask(dsn: str, sql: str) -> Any:
    async def work() -> Any:
        connection = await asyncpg.connect(dsn)
        answer = await connection.fetchval(sql)
        await connection.close()
        return answer

    return asyncio.run(work())


@pytest.fixture
def healthy(script: Script) -> Script:
    """A server with nothing wrong."""
    health = {"status": "ok", "version": package.__version__, "now": datetime.now(UTC).isoformat()}
    script.on("GET", "/healthz", health)
    script.on("GET", "/readyz", {"ready": True, "wrong": {}})
    script.on("GET", "/v1/whoami", {"name": "ci", "role": "operator"})
    script.on("GET", "/v1/workers", {"items": [worker()]})
    return script


def test_a_healthy_server_passes(client: Horae, healthy: Script) -> None:
    ran = client("doctor", "--json")
    assert ran.code == 0
    assert {name: found["mark"] for name, found in findings(ran).items()} == dict.fromkeys(
        ("python", "server", "ready", "version", "clock", "key", "workers"), "ok"
    )


def test_the_table_shows_what_to_do(horae: Horae) -> None:
    ran = horae("doctor", "--url", "http://127.0.0.1:1")
    assert ran.code == 1
    assert "→ start one with `horae up`" in ran.out


def test_a_server_that_is_down_is_told(horae: Horae) -> None:
    ran = horae("doctor", "--url", "http://127.0.0.1:1", "--json")
    found = findings(ran)
    assert ran.code == 1
    assert found.keys() == {"python", "server"}
    assert found["server"]["mark"] == "fail"


def test_something_else_at_the_address_is_told(client: Horae, script: Script) -> None:
    assert findings(client("doctor", "--json"))["server"]["mark"] == "fail"


def test_a_wrong_key_is_told(client: Horae, healthy: Script) -> None:
    healthy.answers.pop(("GET", "/v1/whoami"))
    healthy.problem("GET", "/v1/whoami", 401, "unauthenticated", "the key is not known")
    ran = client("doctor", "--json")
    assert ran.code == 1
    assert findings(ran)["key"]["seen"] == "the key is not known"
    assert "horae key create" in findings(ran)["key"]["fix"]


def test_a_server_that_is_not_ready_is_told(client: Horae, healthy: Script) -> None:
    healthy.answers.pop(("GET", "/readyz"))
    healthy.on("GET", "/readyz", {"ready": False, "wrong": {"database": "gone"}}, 503)
    ran = client("doctor", "--json")
    assert ran.code == 1
    assert findings(ran)["ready"]["seen"] == "database: gone"


def test_no_workers_another_version_and_a_wrong_clock_are_warnings(client: Horae, healthy: Script) -> None:
    healthy.answers.clear()
    healthy.on("GET", "/healthz", {"status": "ok", "version": "99.1", "now": "2001-01-01T00:00:00+00:00"})
    healthy.on("GET", "/readyz", {"ready": True})
    healthy.on("GET", "/v1/whoami", {"name": "ci", "role": "viewer"})
    healthy.on("GET", "/v1/workers", {"items": [worker(state="draining")]})
    ran = client("doctor", "--json")
    found = findings(ran)
    assert ran.code == 0
    assert [found[name]["mark"] for name in ("version", "clock", "workers")] == ["warn"] * 3
    assert "horae worker" in found["workers"]["fix"]


def test_a_database_that_does_not_answer_is_told(client: Horae, healthy: Script) -> None:
    ran = client("doctor", "--database", "postgresql://x@127.0.0.1:1/x", "--json")
    assert ran.code == 1
    assert findings(ran)["database"]["mark"] == "fail"


def test_missing_migrations_are_told(client: Horae, healthy: Script, cluster_dsn: str) -> None:
    found = findings(client("doctor", "--database", cluster_dsn, "--json"))
    assert found["migrations"]["mark"] == "fail"
    assert found["migrations"]["fix"] == "run `horae migrate`"


def test_a_database_newer_than_the_program_is_told(client: Horae, healthy: Script, database: str) -> None:
    alter(database, "insert into horae.migration (number, name, checksum) values (9999, '9999_x', '')")
    found = findings(client("doctor", "--database", database, "--json"))["migrations"]
    assert found["mark"] == "fail"
    assert "9999_x" in found["seen"]


def test_settings_that_lose_jobs_in_a_crash_are_told(client: Horae, healthy: Script, database: str) -> None:
    found = findings(client("doctor", "--database", database, "--json"))
    assert found["durability"]["mark"] == "fail"
    assert "alter system set fsync = on" in found["durability"]["fix"]
    assert found["migrations"]["mark"] == found["partitions"]["mark"] == "ok"


def test_a_release_of_postgresql_that_can_lose_slots_is_told(
    client: Horae, healthy: Script, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look() -> tuple[str, str]:
        found = findings(client("doctor", "--database", database, "--json"))["database"]
        assert found["seen"] == f"PostgreSQL {version}"
        return found["mark"], found.get("fix") or ""

    version = ask(database, "show server_version")
    monkeypatch.setitem(SAFE_MINORS, 18, int(version.split(".")[1]))
    assert look() == ("ok", "")
    monkeypatch.setitem(SAFE_MINORS, 18, 99)
    mark, fix = look()
    assert (mark, "upgrade it to 18.99" in fix) == ("warn", True)


def test_missing_partitions_are_told_by_name(client: Horae, healthy: Script, database: str) -> None:
    tomorrow = "to_char((now() at time zone 'utc')::date + 1, 'YYYYMMDD')"
    alter(database, f"do $$ begin execute 'drop table horae.outcome_' || {tomorrow}; end $$")
    found = findings(client("doctor", "--database", database, "--json"))["partitions"]
    assert found["mark"] == "fail"
    assert found["seen"].startswith("missing: outcome_")


SEEN = "insert into horae.server (id, host, pid, version, seen_at, load) values (gen_random_uuid(), "


def test_servers_that_live_are_counted_and_silent_ones_are_not(client: Horae, healthy: Script, database: str) -> None:
    alter(database, SEEN + "'near', 1, '1.0', now(), 0)")
    alter(database, SEEN + "'gone', 2, '0.9', now() - interval '1 minute', 1)")
    found = findings(client("doctor", "--database", database, "--json"))["servers"]
    assert (found["mark"], found["seen"]) == ("ok", "1 alive, on near")


def test_overloaded_servers_and_mixed_versions_are_warnings(client: Horae, healthy: Script, database: str) -> None:
    alter(database, SEEN + "'near', 1, '1.0', now(), 0.87)")
    found = findings(client("doctor", "--database", database, "--json"))["servers"]
    assert (found["mark"], "near (load 0.87)" in found["seen"]) == ("warn", True)
    alter(database, SEEN + "'far', 2, '2.0', now(), 0)")
    assert "versions" in findings(client("doctor", "--database", database, "--json"))["servers"]["seen"]


async def test_a_transaction_held_open_is_told_with_its_pid(database: str, conn: Any) -> None:
    holder = await asyncpg.connect(database, server_settings={"application_name": "forgetful"})
    async with holder.transaction():
        await holder.fetchval("select 42")
        found = await check_transactions(conn, limit=0.0)
        assert found.mark is Mark.WARN
        assert f"pid {holder.get_server_pid()} (forgetful)" in found.seen
        assert "select 42" in found.seen
        assert (await check_transactions(conn, limit=3600.0)).mark is Mark.OK
    await holder.close()


@pytest.mark.parametrize(("name", "mark"), [("HARDLY_ANY_SPACE", "fail"), ("LITTLE_SPACE", "warn")])
def test_a_disk_that_is_nearly_full_is_told(
    client: Horae, healthy: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mark: str
) -> None:
    monkeypatch.setattr(f"horae.cli.doctor.{name}", 2**62)
    ran = client("doctor", "--data", str(tmp_path), "--json")
    assert findings(ran)["disk"]["mark"] == mark
    assert ran.code == (mark == "fail")


@pytest.mark.parametrize(("major", "minor", "safe"), [(16, 10, False), (16, 11, True), (17, 6, False), (18, 0, True)])
def test_releases_of_postgresql_that_can_lose_slots_are_known(major: int, minor: int, safe: bool) -> None:
    assert safe_minor(major, minor) is safe
