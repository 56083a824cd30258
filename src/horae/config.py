"""Settings: flags over the environment (HORAE_*) over a TOML file over defaults, read once at start.

The file is config.toml in the user's configuration folder, else /etc/horae/config.toml; it has a section for each
program (`[up]`, `[server]`, `[worker]`), and the client's profiles. A misspelt name must not pass for a default, so
unknown ones are errors. A secret can be given by the name of a file that holds it: HORAE_DATABASE_FILE.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta

from horae.client.discovery import config_file
from horae.model.errors import SetupError

S = TypeVar("S", bound=msgspec.Struct)

SYSTEM_FILE: Final = Path("/etc/horae/config.toml")
SECRETS: Final = frozenset({"database", "objects_key", "objects_secret", "key"})
OF_THE_CLIENT: Final = frozenset({"default_profile", "profiles"})

Port = Annotated[int, Meta(ge=0, le=65535)]
Count = Annotated[int, Meta(ge=1)]
Days = Annotated[int, Meta(ge=2)]


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    database: str | None = None
    host: str = "127.0.0.1"
    port: Port = 8420
    objects: str | None = None
    """Where large results and files go: a folder, or s3://bucket/prefix."""
    objects_endpoint: str | None = None
    """http://host:port of a store that speaks S3 and is not AWS's own."""
    objects_region: str | None = None
    objects_key: str | None = None
    """The access key; what is not given is looked for as AWS's own tools do."""
    objects_secret: str | None = None
    objects_path_style: bool = True
    """endpoint/bucket/key rather than bucket.endpoint/key."""
    retention_days: Days = 30
    allow_unsafe: bool = False
    """Serve a database that may lose jobs in a crash. For tests."""
    lease_seconds: Annotated[float, Meta(ge=4)] = 15.0
    """How long a worker's jobs are left alone after its last heartbeat. All servers must agree on it."""
    secrets_key: str | None = None
    """What secrets are sealed with: 32 bytes in base64. Several, with commas: the first seals, all open."""
    secrets_key_file: str | None = None
    """A file that holds them instead, one to a line."""
    max_pending: Count | None = None
    """How many jobs may wait in all. From 80 % of it on, the lowest priorities are refused."""
    shed: bool = False
    """Drop waiting jobs of the lowest priorities when there are more than `max_pending`."""
    public_url: str | None = None
    """Where services reach this installation to call back; None: as its workers do."""
    allow_networks: list[str] | None = None
    """What sinks may reach beside the public internet."""


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    app: str | None = None
    kinds: list[str] | None = None
    """What it runs beside the functions of the app: script, container, http, or all that the host can run."""
    unsandboxed: list[str] | None = None
    state: str | None = None
    name: str | None = None
    slots: Count | None = None
    queues: list[str] | None = None
    labels: dict[str, str] | None = None
    region: str | None = None
    zone: str | None = None
    kind: str | None = None
    cpus: Annotated[float, Meta(ge=0)] | None = None
    memory: str | int | None = None
    gpus: Annotated[float, Meta(ge=0)] | None = None
    disk: str | int | None = None
    max_jobs_per_child: Count | None = None
    files_limit: str | int | None = None
    """How much a job may leave in its output folder for collection."""
    drain_timeout: str | float | None = None
    allow_networks: list[str] | None = None
    """What HTTP calls may reach beside the public internet."""
    container_engine: str | None = None
    """podman or docker, or the path of one; None: the first of them that works."""
    container_runtime: str | None = None
    container_network: str | None = None
    """The engine's network for containers that may use one."""
    container_roots: list[str] | None = None
    """Folders with root file systems that tasks may run instead of images."""
    container_images: list[str] | None = None
    """Pulled when the worker starts."""


class UpSettings(ServerSettings, frozen=True, kw_only=True):
    data: str | None = None
    app: str | None = None
    slots: Count | None = None


SECTIONS: Final[dict[str, type[msgspec.Struct]]] = {
    "server": ServerSettings,
    "worker": WorkerSettings,
    "up": UpSettings,
}


class Given(NamedTuple):
    value: Any
    source: str


def load(
    kind: type[S],
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    system_file: Path = SYSTEM_FILE,
    file: Path | None = None,
) -> S:
    """The settings of one program. Flags that are None were not given. A `file` stands for the usual ones."""
    section = next(name for name, settings in SECTIONS.items() if settings is kind)
    files = (config_file(environ), system_file) if file is None else (file,)
    if file is not None and not file.is_file():
        raise SetupError(f"{file}: there is no such file of settings")
    given = _from_file(section, files) | _from_environment(kind, environ)
    given |= {name: Given(value, f"--{name.replace('_', '-')}") for name, value in flags.items() if value is not None}
    values = {f.name: _convert(given[f.name], f.type) for f in msgspec.structs.fields(kind) if f.name in given}
    return kind(**values)


def _convert(given: Given, hint: Any) -> Any:
    value = _split(given.value, hint) if isinstance(given.value, str) else given.value
    try:
        return msgspec.convert(value, hint, strict=False)
    except msgspec.ValidationError as error:
        raise SetupError(f"{given.source}: {given.value!r} will not do: {error}") from error


def _split(text: str, hint: Any) -> Any:
    """`a,b` for a list and `name=value,…` for a mapping, as flags and the environment write them."""
    kinds = {get_origin(part) or part for part in (hint, *get_args(hint))}
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if dict in kinds:
        return dict(part.partition("=")[::2] for part in parts)
    return parts if list in kinds else text


def _from_environment(kind: type[msgspec.Struct], environ: Mapping[str, str]) -> dict[str, Given]:
    found = {}
    for field in kind.__struct_fields__:
        variable = f"HORAE_{field.upper()}"
        if text := environ.get(variable):
            found[field] = Given(text, variable)
        elif field in SECRETS and (path := environ.get(f"{variable}_FILE")):
            found[field] = Given(read_secret(path, f"{variable}_FILE"), f"{variable}_FILE")
    return found


def read_secret(path: str, named_by: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SetupError(f"{named_by}: {path} cannot be read: {error.strerror}") from error


def _from_file(section: str, files: Iterable[Path]) -> dict[str, Given]:
    for path in files:
        if (document := _read(path)) is not None:
            _check(document, path)
            values = document.get(section, {})
            return {name: Given(value, f"{path}, [{section}] {name}") for name, value in values.items()}
    return {}


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read: {error}") from error


def _check(document: dict[str, Any], path: Path) -> None:
    _refuse_unknown(document, OF_THE_CLIENT | SECTIONS.keys(), str(path))
    for name, kind in SECTIONS.items():
        _refuse_unknown(document.get(name, {}), frozenset(kind.__struct_fields__), f"{path}, [{name}]")


def _refuse_unknown(names: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    if not isinstance(names, Mapping):
        raise SetupError(f"{where} is not a section of settings")
    if unknown := sorted(names.keys() - known):
        raise SetupError(f"{where}: there is no setting {unknown[0]!r}; there are {', '.join(sorted(known))}")
