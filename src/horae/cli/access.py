"""The options every command has that talks to a server: where it is, with which key, and how to print."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from horae.client.client import Client

GROUP: Final = Group("Server", sort_key=100)
PATIENCE: Final = 2.0
"""Seconds to try again when nobody answers: a person is waiting."""


@Parameter(name="*", group=GROUP)
@dataclass(frozen=True, kw_only=True)
class Access:
    url: str | None = None
    """Address of the server. Default: HORAE_URL, a profile, or the local `horae up`."""
    key: str | None = None
    """API key. Better in HORAE_KEY or HORAE_KEY_FILE, where `ps` does not show it."""
    profile: str | None = None
    """A profile of config.toml."""
    json: bool = False
    """Print the API's JSON, one document to a line."""

    def client(self) -> "Client":
        from horae.client.client import Client
        from horae.client.discovery import find_connection

        return Client(connection=find_connection(self.url, self.key, self.profile), patience=PATIENCE)


HERE: Final = Access()
"""Whatever discovery finds."""
