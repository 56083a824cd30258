"""The record of which secrets were used: kept in memory, written once a minute, so that no use of one costs a write."""

from collections.abc import Mapping

from horae.engine.secrets import Secrets


class SecretUse:
    name = "secret_use"
    interval = 60.0

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    async def run_once(self) -> Mapping[str, int]:
        return {"secrets": await self._secrets.note_use()}
