"""What the doctor sees of a server from outside, as any client would."""

import http.client
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from horae.cli.access import Access
from horae.cli.finding import Finding, fail, ok, warn
from horae.cli.text import short
from horae.model.errors import Forbidden, HoraeError, Unauthenticated
from horae.model.roles import Permission, may
from horae.release import own_version

if TYPE_CHECKING:
    from horae.client.client import Client

ANSWER_SECONDS: Final = 5.0
LARGE_CLOCK_DIFFERENCE: Final = 5.0
START: Final = "start one with `horae up` or `horae server`, or correct --url, HORAE_URL or the profile"


class Answer(NamedTuple):
    status: int
    body: bytes


def check_server(access: Access) -> list[Finding]:
    try:
        client = access.client()
    except HoraeError as error:
        return [fail("server", error.detail, "correct the address or the key")]
    with client:
        url = client.connection.url
        try:
            health = _ask(url, "/healthz")
            ready = _ask(url, "/readyz")
        except (OSError, http.client.HTTPException) as error:
            return [fail("server", f"{url} does not answer: {error or type(error).__name__}", START)]
        if health.status != 200:
            seen = f"{url}/healthz answered {health.status}"
            return [fail("server", seen, "is this the address of a Horae server? See HORAE_URL")]
        return [
            ok("server", url),
            _check_ready(ready),
            _check_version(health),
            *_check_clock(health),
            *_check_key(client),
        ]


def _ask(url: str, path: str) -> Answer:
    """One try and no patience: an answer of any status is worth seeing."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", parts.path.rstrip("/") + path)
        response = connection.getresponse()
        return Answer(response.status, response.read())
    finally:
        connection.close()


def _check_ready(answer: Answer) -> Finding:
    if answer.status == 200:
        return ok("ready", "jobs can be submitted and run")
    wrong = _document(answer).get("wrong")
    seen = ", ".join(f"{part}: {why}" for part, why in wrong.items()) if isinstance(wrong, dict) else ""
    return fail(
        "ready", seen or f"/readyz answered {answer.status}", "see the database checks below and the server's log"
    )


def _check_version(answer: Answer) -> Finding:
    here, there = own_version(), str(_document(answer).get("version", "unknown"))
    if here == there:
        return ok("version", here)
    seen = f"this is {here}, the server is {there}"
    return warn("version", seen, f"install the same: pip install horae=={there}")


def _check_clock(answer: Answer) -> list[Finding]:
    """The server tells PostgreSQL's time."""
    try:
        theirs = datetime.fromisoformat(_document(answer)["now"])
        away = abs((theirs - datetime.now(UTC)).total_seconds())
    except (KeyError, TypeError, ValueError):
        return []
    if away > LARGE_CLOCK_DIFFERENCE:
        return [warn("clock", f"{short(away)} away from the server's", "synchronise the clocks (NTP) of both machines")]
    return [ok("clock", "agrees with the server's")]


def _check_key(client: "Client") -> list[Finding]:
    try:
        me = client.whoami()
    except (Unauthenticated, Forbidden) as error:
        fix = "give a valid one with --key or HORAE_KEY; an admin makes one with `horae key create`"
        return [fail("key", error.detail, fix)]
    except HoraeError as error:
        return [fail("key", error.detail, "see the server's log")]
    findings = [ok("key", f"{me.name}: {me.role.value} of {'tenant ' + me.tenant if me.tenant else 'all tenants'}")]
    return findings + ([_check_workers(client)] if may(me.role, Permission.WORKERS_READ) else [])


def _check_workers(client: "Client") -> Finding:
    try:
        found = client.all_workers()
    except HoraeError as error:
        return fail("workers", error.detail, "see the server's log")
    alive = [worker for worker in found if worker.health != "gone" and worker.state == "active"]
    if not alive:
        return warn("workers", "none takes jobs", "start one: horae worker --app module:app")
    if sick := [f"{worker.name} is {worker.health}" for worker in alive if worker.health != "healthy"]:
        return warn("workers", ", ".join(sick), "look at those hosts, or start more workers elsewhere")
    return ok("workers", f"{len(alive)} with {sum(worker.slots for worker in alive)} slots")


def _document(answer: Answer) -> dict[str, Any]:
    try:
        return msgspec.json.decode(answer.body, type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}
