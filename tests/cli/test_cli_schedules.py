"""The commands about schedules, calendars and files of them, and what an app declares, against a real server."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from horae.model.roles import Role
from horae.model.task import TaskDefinition
from horae.server.serving import Server, ServerConfig

from .conftest import Horae

APP = """
from datetime import timedelta
from horae import App

app = App()

@app.task
def send(to: str, subject: str = "") -> None: ...

send.every("0 10 * * FRI", tz="Europe/Berlin")("john@example.com", "weekly")
app.schedule("often", send, timedelta(minutes=5), params={"to": "jane@example.com"}, overlap="skip")
"""

YAML = """
calendars:
  - name: de
    country: DE
    days: {2026-12-31: stocktaking}
schedules:
  - name: nightly
    task: work
    cron: 0 3 * * *
    tz: Europe/Berlin
    calendars: [de]
    starts_at: 2026-01-01T00:00:00Z
  - name: often
    task: work
    every: 5m
"""


class Serving:
    """A server in a thread of its own: the commands block this one."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self._server = Server(ServerConfig(dsn=dsn, objects=str(folder / "objects"), port=0, allow_unsafe=True))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self.key = ""

    def run(self, work: object) -> object:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)  # type: ignore[arg-type]

    def start(self) -> str:
        self._thread.start()
        self.run(self._server.start())
        return str(self.run(self._furnish()))

    async def _furnish(self) -> str:
        await self._server.engine.tasks.register(0, TaskDefinition(name="work"))
        _, self.key = await self._server.engine.access.create_key(None, "tester", Role.ADMIN, None, None)
        return self._server.url

    def stop(self) -> None:
        self.run(self._server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture
def server(horae: Horae, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Horae]:
    serving = Serving(database, tmp_path)
    with capture_logs():  # the server's, which would stand among what the commands print
        monkeypatch.setenv("HORAE_URL", serving.start())
        monkeypatch.setenv("HORAE_KEY", serving.key)
        yield horae
        serving.stop()


def good(horae: Horae, *arguments: str) -> str:
    ran = horae(*arguments)
    assert ran.code == 0, ran
    return ran.out


def test_a_schedule_from_the_cradle_to_the_grave(server: Horae) -> None:
    preview = good(server, "schedule", "preview", "weekly", "work", "--cron", "0 10 * * FRI", "--tz", "Europe/Berlin",
                   "--since", "2026-10-20T00:00:00Z", "--count", "2")  # fmt: skip
    assert "2026-10-23T08:00:00Z" in preview
    assert "2026-10-30T09:00:00Z" in preview
    made = good(server, "schedule", "create", "weekly", "work", "--cron", "0 10 * * FRI", "--tz", "Europe/Berlin",
                "--param", "n=1", "--label", "team=a", "--overlap", "skip", "--window", "MON-FRI 08:00-18:00",
                "--why", "as agreed")  # fmt: skip
    for word in ("weekly", "active", "10:00", "MON-FRI 08:00-18:00", '{"n":1}', "to come"):
        assert word in made
    assert "weekly" in good(server, "schedule", "list")
    assert "skip" in good(server, "schedule", "show", "weekly")
    good(server, "schedule", "edit", "weekly", "--every", "1h", "--why", "more often")
    assert good(server, "schedule", "pause", "weekly") == "weekly paused\n"
    assert good(server, "schedule", "resume", "weekly") == "weekly active\n"
    job_id = good(server, "schedule", "trigger", "weekly").strip()
    assert job_id in good(server, "schedule", "ticks", "weekly")
    history = good(server, "schedule", "history", "weekly")
    assert "more often" in history
    assert '→ [{"every":"1h"}]' in history
    assert good(server, "schedule", "delete", "weekly") == "weekly deleted\n"
    assert server("schedule", "show", "weekly").code != 0


def test_json_is_what_the_api_said(server: Horae) -> None:
    made = msgspec.json.decode(good(server, "schedule", "create", "s", "work", "--every", "1h", "--json"))
    assert made["definition"] == {"name": "s", "task": "work", "rules": [{"every": "1h"}]}
    assert msgspec.json.decode(good(server, "schedule", "list", "--json")) == made
    assert msgspec.json.decode(good(server, "schedule", "show", "s", "--json")) == made


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("schedule", "create", "s", "work"), "rule"),
        (("schedule", "create", "s", "work", "--cron", "0 0 30 2 *"), "never fires"),
        (("schedule", "create", "s", "nobody", "--every", "1h"), "nobody"),
        (("schedule", "create", "s", "work", "--every", "1h", "--overlap", "never"), "overlap"),
        (("schedule", "edit", "s"), "nothing to change"),
        (("schedule", "show", "s"), "no schedule"),
        (("schedule", "backfill", "s", "--since", "2026-01-01T00:00Z"), "both"),
        (("schedule", "import", "nowhere", "--dry-run"), "cannot be read"),
        (("apply",), "nothing to apply"),
        (("apply", "-f", "nowhere"), "cannot be read"),
    ],
)
def test_what_cannot_work_is_said(server: Horae, arguments: tuple[str, ...], word: str) -> None:
    ran = server(*arguments)
    assert ran.code != 0
    assert word in ran.err


def test_a_backfill_is_shown_started_and_cancelled(server: Horae) -> None:
    good(server, "schedule", "create", "s", "work", "--every", "1h")
    until = datetime.now(UTC) - timedelta(seconds=5)
    span = ("--since", (until - timedelta(hours=3)).isoformat(), "--until", until.isoformat())
    assert good(server, "schedule", "backfill", "s", *span, "--dry-run").count("runs") == 3
    assert good(server, "schedule", "backfill", "s", *span) == "1 running: 0 of 3 succeeded\n"
    assert good(server, "schedule", "backfill", "s", "--cancel", "1").startswith("1 cancelled")
    assert "cancelled" in good(server, "schedule", "backfill", "s")


def test_a_file_is_applied_after_a_look(server: Horae, tmp_path: Path) -> None:
    file = tmp_path / "schedules.yaml"
    file.write_text(YAML)
    assert good(server, "apply", "-f", str(file), "--dry-run").count("created") == 3
    assert good(server, "schedule", "list").count("\n") == 1
    first = good(server, "apply", "-f", str(file))
    assert first.splitlines() == ["calendar de: created", "schedule nightly: created", "schedule often: created"]
    assert good(server, "apply", "-f", str(file)).count("unchanged") == 3
    file.write_text(YAML.replace("every: 5m", "every: 10m").replace("Europe/Berlin", "UTC"))
    looked = good(server, "apply", "-f", str(file), "--dry-run")
    assert 'tz: "Europe/Berlin" → ' in looked
    assert 'rules: [{"every":"5m"}] → [{"every":"10m"}]' in looked
    assert "5m" in good(server, "schedule", "show", "often")
    good(server, "apply", "-f", str(file))
    assert "10m" in good(server, "schedule", "show", "often")
    file.write_text("schedules: [{name: often, task: work, every: 10m}]")
    assert "schedule nightly: deleted" in good(server, "apply", "-f", str(file), "--delete")


def test_what_an_app_declares_is_applied(server: Horae, tmp_path: Path) -> None:
    file = tmp_path / "declared.py"
    file.write_text(APP)
    first = good(server, "apply", "--app", f"{file}:app")
    assert first.splitlines() == ["schedule send: created", "schedule often: created"]
    assert "unchanged" in good(server, "apply", "--app", f"{file}:app")
    shown = msgspec.json.decode(good(server, "schedule", "show", "send", "--json"))
    assert shown["definition"]["params"] == {"to": "john@example.com", "subject": "weekly"}


def test_a_crontab_is_explained_and_imported(server: Horae, tmp_path: Path) -> None:
    file = tmp_path / "crontab"
    file.write_text("CRON_TZ=Europe/Berlin\n0 3 * * * /usr/bin/backup --all\n@reboot /usr/bin/once\n")
    looked = server("schedule", "import", str(file), "--dry-run")
    assert "/usr/bin/backup --all" in looked.out
    assert "line 3 is left out" in looked.err
    done = server("schedule", "import", str(file), "--task", "work")
    assert "crontab-2 created" in done.out
    shown = msgspec.json.decode(good(server, "schedule", "show", "crontab-2", "--json"))
    assert shown["definition"]["params"]["command"] == "/usr/bin/backup --all"
    assert shown["definition"]["tz"] == "Europe/Berlin"


def test_calendars_the_forecast_and_the_limit(server: Horae) -> None:
    good(server, "calendar", "put", "de", "--country", "DE", "--subdivision", "BY", "--weekend", "SAT,SUN", "--day",
         "2026-12-31=stocktaking")  # fmt: skip
    assert "DE-BY" in good(server, "calendar", "list")
    assert "stocktaking" in good(server, "calendar", "show", "de")
    for name in ("a", "b", "c"):
        good(server, "schedule", "create", name, "work", "--cron", "0 3 * * *", "--calendar", "de")
    forecast = good(server, "schedule", "forecast", "--since", "2026-11-18T00:00:00Z")
    for word in ("3 schedules", "fullest minutes", "H 3 * * *"):
        assert word in forecast
    agenda = good(server, "schedule", "agenda", "--since", "2026-12-30T00:00:00Z", "--until", "2027-01-01T00:00:00Z",
                  "--tz", "Europe/Berlin")  # fmt: skip
    for word in ("Wed 2026-12-30", "Thu 2026-12-31", "stocktaking"):
        assert word in agenda
    assert "b" in good(server, "schedule", "list", "--text", "B", "--state", "active", "--json")
    assert good(server, "schedule", "list", "--state", "paused", "--json") == ""
    assert good(server, "schedule", "limit") == "1s\n"
    assert good(server, "schedule", "limit", "1m") == "1m\n"
    for name in ("a", "b", "c"):
        good(server, "schedule", "delete", name)
    assert good(server, "calendar", "delete", "de") == "de deleted\n"


def test_every_command_has_help(horae: Horae) -> None:
    for command in ("create", "edit", "list", "show", "pause", "resume", "delete", "trigger", "preview", "ticks",
                    "history", "backfill", "import", "forecast", "agenda", "limit"):  # fmt: skip
        ran = horae("schedule", command, "--help")
        assert ran.code == 0
        assert "horae schedule" in ran.out
