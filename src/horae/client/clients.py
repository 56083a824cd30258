"""The clients an App submits through: made on first use, so that importing a module of tasks contacts nobody."""

from horae.client.client import AsyncClient, Client
from horae.client.discovery import find_connection


class Clients:
    def __init__(self, url: str | None = None, key: str | None = None, client: Client | None = None) -> None:
        self._url = url
        self._key = key
        self._sync = client
        self._async: AsyncClient | None = None

    @property
    def sync(self) -> Client:
        if self._sync is None:
            self._sync = Client(connection=find_connection(self._url, self._key))
        return self._sync

    @property
    def asynchronous(self) -> AsyncClient:
        if self._async is None:
            self._async = AsyncClient(connection=self.sync.connection)
        return self._async

    def swap(self, sync: Client | None, asynchronous: AsyncClient | None) -> tuple[Client | None, AsyncClient | None]:
        """Puts others in place and returns the former ones, for the inline mode."""
        former = (self._sync, self._async)
        self._sync, self._async = sync, asynchronous
        return former
