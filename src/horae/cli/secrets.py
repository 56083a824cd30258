"""`horae secret`: what jobs need and nobody should see."""

import sys
from datetime import UTC, datetime
from getpass import getpass
from pathlib import Path

from cyclopts import App

from horae.cli.access import HERE, Access
from horae.cli.screen import console, facts, note, print_json, print_lines, table
from horae.cli.text import relative, size, when
from horae.model.errors import InvalidInput
from horae.wire.secrets import Rotated, Secret

app = App(name="secret", help="Set, list and delete secrets, and give them new keys.")


@app.command(name="set")
def set_secret(name: str, /, *, file: Path | None = None, tenant: str | None = None, access: Access = HERE) -> None:
    """Set a secret. The value is asked for without showing it, or read from standard input; never an argument.

    Parameters
    ----------
    name
        Letters, digits and _, as of an environment variable.
    file
        Take the value from this file, exactly as it is. From standard input a single line loses its end.
    tenant
        Whose it is. Default: the caller's.
    """
    value = _value(name, file)
    with access.client() as client:
        secret = client.set_secret(name, value, tenant)
    if access.json:
        print_json(secret)
    else:
        print(f"{secret.name} is set, version {secret.version}")


def _value(name: str, file: Path | None) -> str:
    try:
        if file is not None:
            return file.expanduser().read_bytes().decode()
        if sys.stdin.isatty():
            return getpass(f"Value of {name}: ")
        text = sys.stdin.buffer.read().decode()
    except OSError as error:
        raise InvalidInput(f"--file: {file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise InvalidInput("the value is not text in UTF-8; encode it first, as base64 for example") from None
    return text.rstrip("\r\n") if len(text.splitlines()) == 1 else text


@app.command(name="list")
def list_secrets(*, tenant: str | None = None, access: Access = HERE) -> None:
    """List the secrets, without their values.

    Parameters
    ----------
    tenant
        Only those of this tenant.
    """
    with access.client() as client:
        found = client.secrets(tenant).items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = ("name", "tenant", "version", "size", "set", "by", "used", "tasks")
    console().print(table(columns, (_row(secret, now) for secret in found), ("size", "by")))


def _row(secret: Secret, now: datetime) -> tuple[str, ...]:
    return (
        secret.name, secret.tenant, str(secret.version or ""), size(secret.size), relative(secret.updated_at, now),
        secret.updated_by or "", relative(secret.last_used_at, now), ", ".join(secret.used_by),
    )  # fmt: skip


@app.command
def show(name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Show all about a secret but its value.

    Parameters
    ----------
    name
        The secret's name.
    tenant
        Whose it is. Default: the caller's.
    """
    with access.client() as client:
        secret = client.secret(name, tenant)
    if access.json:
        print_json(secret)
        return
    rows = [
        ("name", secret.name), ("tenant", secret.tenant), ("version", str(secret.version or "")),
        ("size", size(secret.size)), ("made", when(secret.created_at)), ("made by", secret.created_by or ""),
        ("set", when(secret.updated_at)), ("set by", secret.updated_by or ""), ("used", when(secret.last_used_at)),
        ("tasks", ", ".join(secret.used_by)),
    ]  # fmt: skip
    console().print(facts(rows))


@app.command
def delete(name: str, /, *, force: bool = False, tenant: str | None = None, access: Access = HERE) -> None:
    """Delete a secret.

    Parameters
    ----------
    name
        The secret's name.
    force
        Also when tasks use it; their jobs will fail.
    tenant
        Whose it is. Default: the caller's.
    """
    with access.client() as client:
        client.delete_secret(name, tenant, force=force)
    if access.json:
        print_json({"name": name, "deleted": True})
    else:
        print(name, "deleted")


@app.command(name="rotate-tenant")
def rotate_tenant(*, tenant: str | None = None, access: Access = HERE) -> None:
    """Seal a tenant's secrets with a new key. Safe at any time; if it is stopped, run it again.

    Parameters
    ----------
    tenant
        The tenant. Default: the caller's.
    """
    with access.client() as client:
        _print_rotated(client.rotate_tenant_key(tenant), "secrets sealed with a new key", access)


@app.command(name="rotate-master")
def rotate_master(*, access: Access = HERE) -> None:
    """Wrap all tenants' keys with the first of the servers' master keys; then the others can go.

    Safe at any time; if it is stopped, run it again.
    """
    with access.client() as client:
        _print_rotated(client.rotate_master_key(), "tenants' keys wrapped with the new master key", access)


def _print_rotated(rotated: Rotated, words: str, access: Access) -> None:
    if access.json:
        print_json(rotated)
    else:
        print(rotated.count, words)


@app.command(name="new-key")
def new_key() -> None:
    """Print a new master key, for HORAE_SECRETS_KEY or the file that HORAE_SECRETS_KEY_FILE names."""
    from horae.engine.masterkeys import encode_key
    from horae.engine.masterkeys import new_key as make

    print(encode_key(make()))
    note("keep it where the servers find it and a copy where you will: without it no secret can be opened")
