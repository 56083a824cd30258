"""The kinds of task: what runs when a job of it starts.

A *function* lives in the code of a worker's app. A *script*, a *container* and an *http* call are data: their whole
definition is stored with the task, and any worker that offers the kind can run them.

Text in `env`, `args`, `command`, `url`, `headers` and `body` may hold placeholders, `${{ params.x }}` and
`${{ secrets.Y }}` (see `template`). Secrets are refused in arguments, which every process of a host can read.
"""

from enum import StrEnum
from typing import Any

import msgspec


class Kind(StrEnum):
    FUNCTION = "function"
    SCRIPT = "script"
    CONTAINER = "container"
    HTTP = "http"


class ResultFrom(StrEnum):
    FILE = "file"
    """From the file that HORAE_RESULT names, if the job has written it; otherwise there is none."""
    LAST_LINE = "last_line"
    """From the last line of standard output: JSON if it is that, else the text itself."""
    AUTO = "auto"
    """From the file if there is one, else from the last line if that is JSON."""


class Script(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    source: str
    interpreter: str | None = None
    """A name (python, sh, bash, node …) looked up on the worker, or an absolute path; None: by the #! line."""
    args: list[str] = []
    requirements: list[str] = []
    """Python packages, as pip names them; installed once on each worker and kept."""
    result: ResultFrom = ResultFrom.AUTO


class Container(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    image: str
    """A reference, or `rootfs:/folder` for a root file system that the operator has put on the workers."""
    command: list[str] = []
    """Over the image's own; empty: the image's."""
    entrypoint: list[str] | None = None
    workdir: str | None = None
    pull: str = "missing"
    """`missing`, `always` or `never`."""
    result: ResultFrom = ResultFrom.AUTO


class HttpCall(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    url: str
    method: str = "POST"
    headers: dict[str, str] = {}
    body: Any = msgspec.UNSET
    """JSON with placeholders; text goes as it is. Not given: the params, for methods that have a body."""
    expect: list[str] = msgspec.field(default_factory=lambda: ["200-299"])
    """Statuses that mean success: "204", "200-299"."""
    retry_on: list[str] = msgspec.field(default_factory=lambda: ["408", "425", "429", "500-599"])
    """Statuses worth another attempt; any other unexpected one ends the job."""
    redirects: int = 0
    """How many to follow."""
    sign_with: str | None = None
    """A secret (whsec_…); the call is then signed as Standard Webhooks."""
    callback: bool = False
    """The end comes later, by a call to the address in the header Horae-Callback. Until then the job runs."""
    callback_timeout: str | float = "1d"


class SecretUse(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A secret given to the job: in an environment variable, or in a file whose path that variable holds."""

    name: str
    env: str | None = None
    """The variable; None: the secret's own name."""
    file: bool = False


class Limits(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a script or container may use. Reaching one ends it, except for CPU, which slows it."""

    cpu: float | None = None
    memory: str | int | None = None
    processes: int | None = None
    open_files: int | None = None
    disk: str | int | None = None
    """Of the output folder and temporary files together."""


class Sink(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a tabular result (a list of objects) goes too, once for each job whatever fails."""

    parquet: str | None = None
    """A prefix in object storage: the job's rows become PREFIX/JOB.parquet."""
    table: str | None = None
    """schema.table of a PostgreSQL database; rows are appended."""
    dsn_secret: str | None = None
    """The secret that holds the database's address; needed with `table`."""
