"""What both clients share: where the server is, with which key, and how long to bear with it."""

from abc import ABC, abstractmethod
from typing import Any, Final, Generic, TypeVar

from horae.client.calls import Call
from horae.client.discovery import Connection, find_connection
from horae.client.retries import Retries
from horae.model.errors import Unauthenticated

W = TypeVar("W")

ANSWER_TIMEOUT: Final = 30.0
PATIENCE: Final = 10.0
"""Seconds for which a call is tried again when nobody answers."""
QUIET_TIMEOUT: Final = 60.0
"""A stream that says nothing for so long is opened anew: the connection may have died unnoticed."""


class Face(ABC, Generic[W]):
    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        profile: str | None = None,
        connection: Connection | None = None,
        transport: W | None = None,
        timeout: float = ANSWER_TIMEOUT,
        patience: float = PATIENCE,
    ) -> None:
        self.connection = connection or find_connection(url, key, profile)
        self._transport = transport if transport is not None else self._make_transport()
        self._timeout = timeout
        self._patience = patience

    @abstractmethod
    def _make_transport(self) -> W: ...

    def _retries(self, call: Call[Any]) -> Retries:
        if self.connection.key is None and not call.public:
            raise Unauthenticated(
                f"no API key for {self.connection.url}. Give one with key=…, or in HORAE_KEY (HORAE_KEY_FILE names a "
                "file), or in a profile of config.toml; a local `horae up` is found by itself"
            )
        return Retries(call, self.connection.url, 0.0 if call.public else self._patience)
