"""`horae console`, and the address that `horae up` prints."""

import re
from urllib.request import Request, urlopen

import msgspec
import pytest

from horae.server import console
from horae.testing.database import temporary_folder

from .conftest import Horae, Script
from .installation import installation

TICKET = {"ticket": "ht_x", "expires_at": "2026-11-16T12:00:00Z", "path": "/console/sign-in#ticket=ht_x"}


def test_the_address_is_all_that_goes_to_stdout(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/session/tickets", TICKET, 201)
    done = client("console")
    assert (done.code, done.out) == (0, f"{script.url}/console/sign-in#ticket=ht_x\n")
    assert "once" in done.err


def test_as_json_it_tells_when_it_ends(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/session/tickets", TICKET, 201)
    told = msgspec.json.decode(client("console", "--json").out)
    assert told == {"address": f"{script.url}/console/sign-in#ticket=ht_x", "expires_at": "2026-11-16T12:00:00Z"}


@pytest.mark.parametrize(("opened", "code"), [(True, 0), (False, 1)])
def test_it_opens_the_browser_if_there_is_one(
    client: Horae, script: Script, monkeypatch: pytest.MonkeyPatch, opened: bool, code: int
) -> None:
    script.on("POST", "/v1/session/tickets", TICKET, 201)
    asked: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: asked.append(address) or opened)
    done = client("console", "--open")
    assert (done.code, asked) == (code, [f"{script.url}/console/sign-in#ticket=ht_x"])


def sign_in(url: str, ticket: str) -> str:
    """The name of whoever is signed in then."""
    body = msgspec.json.encode({"ticket": ticket})
    request = Request(f"{url}/v1/session", body, {"Horae-Console": "1"}, method="POST")
    with urlopen(request, timeout=30) as answer:
        return str(msgspec.json.decode(answer.read())["name"])


def test_the_address_that_up_prints_signs_in(home: object) -> None:
    with temporary_folder(quick=True) as folder, installation(folder, "--no-worker") as up:
        said = up.expect("  console ")
        if console.built():
            found = re.search(rf"{up.url}/console/sign-in#ticket=(ht_\S+)", said)
            assert found is not None
            assert sign_in(up.url, found[1]) == "local"
        else:
            assert "not built" in said
        another = up.run("console").stdout.strip().partition("#ticket=")[2]
        assert sign_in(up.url, another) == "local"
