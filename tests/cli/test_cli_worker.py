"""What `horae worker` makes of its settings."""

from pathlib import Path

import pytest

from horae.cli.worker import agent_values
from horae.config import WorkerSettings, load
from horae.model.errors import InvalidInput, SetupError
from horae.worker.config import AgentConfig

NOWHERE = Path("nowhere")


@pytest.mark.parametrize(
    ("app", "kinds", "beside"),
    [
        (None, None, ["all"]),
        (None, ["script", "http"], ["script", "http"]),
        ("tasks:app", None, []),
        ("tasks:app", ["all"], ["all"]),
        ("tasks:app", ["function", "script"], ["script"]),
    ],
)
def test_functions_come_with_an_app_and_the_rest_by_name(
    app: str | None, kinds: list[str] | None, beside: list[str]
) -> None:
    assert agent_values(WorkerSettings(app=app, kinds=kinds))["kinds"] == beside


def test_functions_without_an_app_are_refused() -> None:
    with pytest.raises(SetupError, match="functions need an app"):
        agent_values(WorkerSettings(kinds=["function"]))


@pytest.mark.parametrize("setting", [{"kinds": ["scirpt"]}, {"unsandboxed": ["http"]}])
def test_a_kind_that_there_is_not_is_refused_by_name(setting: dict[str, list[str]]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(setting.values()))[0]):
        AgentConfig(**setting)  # type: ignore[arg-type]


def test_a_worker_has_a_file_of_its_own_under_flags_and_environment(tmp_path: Path) -> None:
    usual = tmp_path / "horae" / "config.toml"
    usual.parent.mkdir()
    usual.write_text('[worker]\nregion = "usual"\n')
    own = tmp_path / "worker.toml"
    own.write_text('[worker]\nname = "file"\nslots = 1\nkinds = ["script"]\nzone = "file"\n')
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "HORAE_SLOTS": "2", "HORAE_ZONE": "environment"}
    settings = load(WorkerSettings, {"zone": "flag"}, environ, NOWHERE, own)
    assert (settings.name, settings.slots, settings.zone, settings.kinds) == ("file", 2, "flag", ["script"])
    assert settings.region is None


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"missing\.toml: there is no such file"):
        load(WorkerSettings, {}, {}, NOWHERE, tmp_path / "missing.toml")
