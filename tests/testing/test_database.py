import subprocess
import sys
from pathlib import Path

import asyncpg

from horae.testing.database import remove_abandoned, temporary_database, temporary_folder
from horae.testing.processes import alive
from horae.testing.waiting import wait_for

KILLED_SESSION = """
import asyncio
from horae.testing.database import temporary_cluster

async def main():
    async with temporary_cluster() as cluster:
        print(cluster.data.parent, cluster.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_temporary_database_is_migrated_and_leaves_nothing(tmp_path: Path):
    async with temporary_database() as dsn:
        connection = await asyncpg.connect(dsn)
        folder = Path(await connection.fetchval("show data_directory"))
        assert await connection.fetchval("select count(*) from horae.migration") > 0
        await connection.close()
    assert not folder.parent.parent.exists()


async def test_what_one_test_does_no_other_sees(database: str, conn):
    assert await conn.fetchval("select count(*) from pg_tables where tablename = 'mine'") == 0
    await conn.execute("create table mine ()")
    assert await conn.fetchval("select current_database()") in database


async def test_a_session_that_was_killed_leaves_no_process_and_the_next_removes_its_folder():
    session = subprocess.Popen([sys.executable, "-c", KILLED_SESSION], stdout=subprocess.PIPE, text=True)
    folder, pid = next(line for line in session.stdout if line.startswith("/")).split()
    session.kill()
    session.communicate()
    await wait_for(lambda: not alive(int(pid)), what="PostgreSQL to end")
    remove_abandoned(Path(folder).parent)
    assert not Path(folder).exists()


def test_a_folder_in_use_is_not_taken_for_abandoned():
    with temporary_folder() as folder:
        remove_abandoned(folder.parent)
        assert folder.exists()
    assert not folder.exists()
