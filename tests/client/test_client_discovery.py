import json
import os
import stat
from pathlib import Path

import pytest

from horae.client.discovery import DEFAULT_URL, Connection, find_connection, local_file, remove_local, write_local
from horae.model.errors import SetupError


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


def write_config(home: dict[str, str], text: str) -> Path:
    path = Path(home["HOME"]) / ".config/horae/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


PROFILES = """
default_profile = "prod"
[profiles.prod]
url = "https://prod"
key = "prod-key"
[profiles.stage]
url = "https://stage"
key_file = "stage.key"
"""


def test_with_nothing_given_the_default_address_has_no_key(home):
    assert find_connection(environ=home) == Connection(DEFAULT_URL, None)


def test_arguments_win_over_the_environment(home):
    environ = home | {"HORAE_URL": "http://env", "HORAE_KEY": "env-key"}
    assert find_connection("http://arg", "arg-key", environ=environ) == Connection("http://arg", "arg-key")
    assert find_connection(environ=environ) == Connection("http://env", "env-key")


def test_the_environment_can_name_a_key_file(home, tmp_path):
    (tmp_path / "key").write_text("file-key\n")
    environ = home | {"HORAE_URL": "http://env", "HORAE_KEY_FILE": str(tmp_path / "key")}
    assert find_connection(environ=environ).key == "file-key"
    with pytest.raises(SetupError, match=r"HORAE_KEY_FILE.*cannot be read"):
        find_connection(environ=environ | {"HORAE_KEY_FILE": "/nowhere"})


def test_a_profile_is_used_by_default_or_by_name(home):
    path = write_config(home, PROFILES)
    (path.parent / "stage.key").write_text("stage-key\n")
    assert find_connection(environ=home) == Connection("https://prod", "prod-key")
    assert find_connection(profile="stage", environ=home) == Connection("https://stage", "stage-key")


def test_a_named_profile_wins_over_the_environment(home):
    write_config(home, PROFILES)
    environ = home | {"HORAE_URL": "http://env", "HORAE_KEY": "env-key"}
    assert find_connection(profile="prod", environ=environ) == Connection("https://prod", "prod-key")


def test_a_profile_that_does_not_exist_says_where_to_write_it(home):
    with pytest.raises(SetupError, match=r"no profile 'x'.*\[profiles.x\].*config.toml"):
        find_connection(profile="x", environ=home)


def test_a_found_key_is_never_sent_to_another_server(home):
    write_config(home, PROFILES)
    write_local(local_file(home), "http://local", "local-key", 1)
    assert find_connection("http://other", environ=home) == Connection("http://other", None)
    assert find_connection("http://local", environ=home) == Connection("http://local", "local-key")


def test_a_connection_does_not_show_its_key():
    assert "secret" not in repr(Connection("http://x", "secret"))


def test_a_local_server_is_found_by_itself(home):
    write_local(local_file(home), "http://127.0.0.1:9", "k", 1)
    assert find_connection(environ=home) == Connection("http://127.0.0.1:9", "k")


def test_the_state_directory_follows_xdg(home, tmp_path):
    assert local_file(home) == tmp_path / ".local/state/horae/local.json"
    assert local_file(home | {"XDG_STATE_HOME": "/var/state"}) == Path("/var/state/horae/local.json")


def test_the_local_file_is_for_its_owner_alone(home):
    path = local_file(home)
    write_local(path, "http://local", "k", 7)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text()) == {"url": "http://local", "key": "k", "pid": 7}
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_local_file_that_others_may_read_is_refused(home, mode):
    path = local_file(home)
    write_local(path, "http://local", "k", 7)
    path.chmod(mode)
    with pytest.raises(SetupError, match="others may read it"):
        find_connection(environ=home)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_local_file_of_another_user_is_refused(home):
    path = local_file(home)
    write_local(path, "http://local", "k", 7)
    os.chown(path, 4242, -1)
    with pytest.raises(SetupError, match="belongs to another user"):
        find_connection(environ=home)


@pytest.mark.parametrize("text", ['{"url": ', "[]", '{"url": "http://x"}'])
def test_a_damaged_local_file_says_what_to_do(home, text):
    path = local_file(home)
    write_local(path, "http://local", "k", 7)
    path.write_text(text)
    with pytest.raises(SetupError, match="remove it and start"):
        find_connection(environ=home)


def test_only_the_process_that_wrote_the_local_file_removes_it(home):
    path = local_file(home)
    write_local(path, "http://local", "k", 7)
    remove_local(path, 8)
    assert path.exists()
    remove_local(path, 7)
    assert not path.exists()
    remove_local(path, 7)
