from pathlib import Path

import pytest

from horae.config import ServerSettings, UpSettings, WorkerSettings, load
from horae.model.errors import SetupError

NOWHERE = Path("nowhere")


def write(home: Path, text: str) -> dict[str, str]:
    path = home / "horae" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return {"XDG_CONFIG_HOME": str(home)}


def test_flags_go_over_the_environment_over_the_file_over_defaults(tmp_path: Path) -> None:
    environ = write(tmp_path, '[server]\nhost = "file"\nport = 1\nretention_days = 7\n')
    environ |= {"HORAE_PORT": "2", "HORAE_HOST": "environment"}
    settings = load(ServerSettings, {"port": 3, "host": None}, environ, NOWHERE)
    assert (settings.port, settings.host, settings.retention_days) == (3, "environment", 7)
    assert settings.allow_unsafe is False


def test_the_file_of_the_system_counts_where_the_user_has_none(tmp_path: Path) -> None:
    system = tmp_path / "system.toml"
    system.write_text("[up]\nport = 9\n")
    assert load(UpSettings, {}, {"XDG_CONFIG_HOME": str(tmp_path)}, system).port == 9


def test_a_secret_can_lie_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "dsn").write_text("postgresql://secret\n")
    environ = {"HOME": str(tmp_path), "HORAE_DATABASE_FILE": str(tmp_path / "dsn")}
    assert load(ServerSettings, {}, environ, NOWHERE).database == "postgresql://secret"


def test_lists_and_mappings_are_written_with_commas(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "HORAE_QUEUES": "mail, web", "HORAE_LABELS": "gpu=a100,disk=ssd"}
    settings = load(WorkerSettings, {}, environ, NOWHERE)
    assert settings.queues == ["mail", "web"]
    assert settings.labels == {"gpu": "a100", "disk": "ssd"}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[server]\nprot = 1", "'prot'"),
        ("[sevrer]\nport = 1", "'sevrer'"),
        ("server = 1", "not a section"),
        ("[", "read"),
    ],
)
def test_a_misspelt_file_is_refused_by_name(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(SetupError, match=named):
        load(WorkerSettings, {}, write(tmp_path, text), NOWHERE)


def test_profiles_of_the_client_may_stand_in_the_same_file(tmp_path: Path) -> None:
    environ = write(tmp_path, 'default_profile = "a"\n[profiles.a]\nurl = "http://x"\n')
    assert load(ServerSettings, {}, environ, NOWHERE).port == 8420


@pytest.mark.parametrize("port", ["x", "70000", "-1"])
def test_a_value_that_will_not_do_is_refused_with_its_source(tmp_path: Path, port: str) -> None:
    with pytest.raises(SetupError, match="HORAE_PORT"):
        load(ServerSettings, {}, {"HOME": str(tmp_path), "HORAE_PORT": port}, NOWHERE)
