"""`horae secret`, against a scripted server; the keys of `horae up`, and what the doctor says of them."""

import asyncio
import io
import stat
from pathlib import Path

import msgspec
import pytest

from horae.cli.masterkeys import master_keys, with_own_key, without_keys
from horae.cli.secretchecks import check_secrets
from horae.config import ServerSettings, UpSettings
from horae.engine.access import Caller
from horae.engine.masterkeys import MasterKeys, encode_key, new_key
from horae.engine.secrets import Secrets
from horae.engine.vault import Vault
from horae.model.errors import SetupError
from horae.model.roles import GRANTS, Role
from horae.store.database import Database, DatabaseConfig
from horae.store.secrets import SecretRows

from .conftest import Horae, Script

ROOT = Caller(0, "root", Role.ADMIN, None, None, GRANTS[Role.ADMIN])
SECRET = {"tenant": "red", "name": "TOKEN", "version": 2, "size": 12, "created_at": "2026-01-01T00:00:00Z",
          "created_by": "ann", "updated_at": "2026-01-02T00:00:00Z", "updated_by": "bob",
          "used_by": ["mail"]}  # fmt: skip


def _pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("piped", "value"),
    [(b"s3cr3t\n", "s3cr3t"), (b"s3cr3t", "s3cr3t"), (b"one\ntwo\n", "one\ntwo\n"), ("ölig\r\n".encode(), "ölig")],
)
def test_a_value_is_read_from_standard_input(client: Horae, script: Script, monkeypatch, piped, value):
    script.on("PUT", "/v1/secrets/TOKEN", SECRET)
    _pipe(monkeypatch, piped)
    ran = client("secret", "set", "TOKEN", "--tenant", "red")
    assert ran.out == "TOKEN is set, version 2\n"
    assert script.seen[0].target == "/v1/secrets/TOKEN?tenant=red"
    assert msgspec.json.decode(script.seen[0].body) == {"value": value}


def test_a_value_from_a_file_is_taken_as_it_is(client: Horae, script: Script, tmp_path: Path):
    script.on("PUT", "/v1/secrets/TOKEN", SECRET)
    (tmp_path / "file").write_text("s3cr3t\n")
    client("secret", "set", "TOKEN", "--file", str(tmp_path / "file"))
    assert msgspec.json.decode(script.seen[0].body) == {"value": "s3cr3t\n"}


def test_a_value_that_is_no_text_or_a_file_that_is_not_there_is_said(client: Horae, monkeypatch, tmp_path: Path):
    assert "cannot be read" in client("secret", "set", "TOKEN", "--file", str(tmp_path / "none")).err
    _pipe(monkeypatch, b"\xff\xfe")
    assert "base64" in client("secret", "set", "TOKEN").err


def test_a_value_is_never_an_argument(client: Horae, script: Script):
    assert client("secret", "set", "TOKEN", "s3cr3t").code == 2
    assert script.seen == []


def test_secrets_are_listed_and_shown(client: Horae, script: Script):
    script.on("GET", "/v1/secrets", {"items": [SECRET]})
    script.on("GET", "/v1/secrets/TOKEN", SECRET)
    for out in (client("secret", "list").out, client("secret", "show", "TOKEN").out):
        for expected in ("TOKEN", "red", "2", "12B", "bob", "mail"):
            assert expected in out
    assert msgspec.json.decode(client("secret", "list", "--json").out) == SECRET
    assert msgspec.json.decode(client("secret", "show", "TOKEN", "--json").out) == SECRET


def test_a_secret_in_use_is_deleted_by_force(client: Horae, script: Script):
    script.problem("DELETE", "/v1/secrets/TOKEN", 409, "secret_in_use", "TOKEN is used by mail")
    script.on("DELETE", "/v1/secrets/TOKEN", None, 204)
    assert "used by mail" in client("secret", "delete", "TOKEN").err
    assert client("secret", "delete", "TOKEN", "--force").out == "TOKEN deleted\n"
    assert script.seen[1].target == "/v1/secrets/TOKEN?force=true"


def test_keys_are_rotated(client: Horae, script: Script):
    script.on("POST", "/v1/secrets/rotate-tenant", {"count": 3})
    script.on("POST", "/v1/secrets/rotate-master", {"count": 4})
    assert client("secret", "rotate-tenant", "--tenant", "red").out.startswith("3 secrets")
    assert client("secret", "rotate-master").out.startswith("4 tenants' keys")
    assert client("secret", "rotate-master", "--json").out == '{"count":4}\n'


def test_a_new_key_is_one_that_a_server_takes(horae: Horae):
    ran = horae("secret", "new-key")
    assert master_keys(ServerSettings(secrets_key=ran.out.strip())).current
    assert ran.out != horae("secret", "new-key").out


# The keys of a server.


def test_a_local_installation_makes_a_key_of_its_own_and_keeps_it(tmp_path: Path):
    settings = with_own_key(UpSettings(), tmp_path)
    first = master_keys(settings).current
    assert stat.S_IMODE((tmp_path / "secrets.key").stat().st_mode) == 0o600
    assert master_keys(with_own_key(UpSettings(), tmp_path)).current == first
    own = with_own_key(UpSettings(secrets_key=encode_key(new_key())), tmp_path)
    assert master_keys(own).current != first


def test_several_keys_come_from_a_file_and_a_missing_file_is_named(tmp_path: Path):
    keys = [new_key(), new_key()]
    path = tmp_path / "keys"
    path.write_text("\n".join(encode_key(key) for key in keys))
    assert master_keys(ServerSettings(secrets_key_file=str(path))).names == MasterKeys(keys).names
    with pytest.raises(SetupError, match=r"HORAE_SECRETS_KEY_FILE: .* cannot be read"):
        master_keys(ServerSettings(secrets_key_file=str(tmp_path / "none")))
    assert not master_keys(ServerSettings())


def test_processes_that_run_users_code_do_not_get_the_servers_keys():
    environ = {"PATH": "/bin", "HORAE_SECRETS_KEY": "x", "HORAE_DATABASE": "postgresql://horae:pw@db/horae"}
    assert without_keys(environ) == {"PATH": "/bin"}


# The doctor.


async def _keep_one(dsn: str, *keys: bytes) -> None:
    database = Database(DatabaseConfig.small(dsn))
    await database.open()
    try:
        secrets = Secrets(SecretRows(database), Vault(MasterKeys(keys)))
        await secrets.set(ROOT, 1, "TOKEN", "s3cr3t")
    finally:
        await database.close()


async def test_the_doctor_compares_the_keys_with_what_secrets_need(database: str, tmp_path: Path):
    old, new = new_key(), new_key()

    async def mark(*keys: bytes) -> str:
        settings = UpSettings(secrets_key=",".join(encode_key(key) for key in keys) or None)
        (finding,) = await check_secrets(database, settings, tmp_path)
        return finding.mark.value

    assert await mark() == "ok"
    await _keep_one(database, old)
    assert await mark() == "ok"
    assert await mark(old) == "ok"
    assert await mark(new) == "fail"
    assert await mark(new, old) == "warn"


async def test_the_doctor_finds_the_local_key_and_who_else_could_read_it(database: str, tmp_path: Path):
    settings = with_own_key(UpSettings(), tmp_path)
    key = tmp_path / "secrets.key"
    await asyncio.to_thread(key.chmod, 0o644)
    findings = await check_secrets(database, UpSettings(), tmp_path)
    assert [finding.mark.value for finding in findings] == ["ok", "warn"]
    assert settings.secrets_key_file is not None
    key.write_text("nonsense")
    (finding,) = await check_secrets(database, UpSettings(), tmp_path)
    assert finding.mark.value == "fail"
    assert "nonsense" not in finding.seen
