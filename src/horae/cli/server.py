"""`horae server`: one of any number of servers, all alike, on a PostgreSQL that they share."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from horae import failpoints, heap
from horae.cli.failure import ERROR
from horae.cli.journal import open_journal
from horae.cli.masterkeys import master_keys
from horae.cli.running import Orders, listening, run, unless
from horae.cli.screen import note
from horae.config import ServerSettings, load
from horae.model.errors import SetupError

if TYPE_CHECKING:
    from horae.server.serving import Server, ServerConfig
    from horae.store.s3 import S3Access


def server(
    *,
    database: str | None = None,
    host: str | None = None,
    port: int | None = None,
    objects: str | None = None,
    retention_days: int | None = None,
    migrate: bool = False,
) -> int:
    """Serve the API on a PostgreSQL of yours. Start as many as you like, behind any load balancer.

    Parameters
    ----------
    database
        postgresql://… Better in HORAE_DATABASE or HORAE_DATABASE_FILE, where `ps` does not show its password.
    host
        The address to listen on (127.0.0.1).
    port
        The port to listen on (8420).
    objects
        Where large results and files go: a folder, or s3://bucket/prefix. Several servers must share it.
    retention_days
        How long ended jobs are kept (30).
    migrate
        Bring the database to this version's schema first.
    """
    flags = {field: value for field, value in locals().items() if field in ServerSettings.__struct_fields__}
    settings = load(ServerSettings, flags, os.environ)
    if settings.database is None:
        raise SetupError(
            "which database? Give --database postgresql://…, or HORAE_DATABASE; `horae up` brings a database of its own"
        )
    open_journal(os.environ.get("HORAE_LOG"), "server")
    failpoints.arm(os.environ)
    heap.share_one_heap()
    heap.keep_large_blocks_apart()
    return run(_serve(settings, settings.database, with_migration=migrate))


async def _serve(settings: ServerSettings, dsn: str, *, with_migration: bool) -> int:
    from horae.server.serving import Server
    from horae.store.embedded import default_data_dir
    from horae.store.migrate import migrate

    if with_migration:
        await migrate(dsn)
    else:
        await _refuse_old_schema(dsn)
    serving = Server(server_config(settings, dsn, default_data_dir(os.environ, os.geteuid())))
    with listening() as orders:
        await serving.start()
        print(f"Horae listens on {serving.url}", flush=True)
        try:
            return await until_told(serving, orders)
        finally:
            await unless(serving.stop(), orders.hurry)


async def _refuse_old_schema(dsn: str) -> None:
    from horae.store.checkup import connected, missing_migrations

    async with connected(dsn) as connection:
        if missing := await missing_migrations(connection):
            raise SetupError(
                f"the database lacks {', '.join(missing)}: run `horae migrate` first, or start with --migrate"
            )


async def until_told(serving: "Server", orders: Orders) -> int:
    """The exit code. Shielded, because to stop waiting for a server is not to stop it."""
    if await unless(asyncio.shield(serving.wait()), orders.stop):
        note("the server has ended by itself; its log says why")
        return ERROR
    return 0


def s3_access(settings: ServerSettings) -> "S3Access":
    from horae.store.s3 import S3Access

    return S3Access(
        endpoint=settings.objects_endpoint,
        region=settings.objects_region,
        key=settings.objects_key,
        secret=settings.objects_secret,
        path_style=settings.objects_path_style,
    )


def server_config(settings: ServerSettings, dsn: str, data: Path) -> "ServerConfig":
    from horae.server.serving import ServerConfig

    return ServerConfig(
        dsn=dsn,
        host=settings.host,
        port=settings.port,
        objects=settings.objects or str(data / "objects"),
        s3=s3_access(settings),
        retention_days=settings.retention_days,
        allow_unsafe=settings.allow_unsafe,
        lease_seconds=settings.lease_seconds,
        max_pending=settings.max_pending,
        shed=settings.shed,
        public_url=settings.public_url,
        allow_networks=settings.allow_networks or (),
        secrets=master_keys(settings),
    )
