from pathlib import Path

import asyncpg
from hypothesis import given
from hypothesis import strategies as st

from horae.store.embedded import Cluster, default_data_dir
from horae.store.embedded.tuning import MB, Machine, settings

SIZES = st.integers(min_value=0, max_value=1 << 50)


def megabytes(value: str) -> int:
    return int(value.removesuffix("MB"))


@given(memory=SIZES, disk=SIZES)
def test_the_settings_stay_within_their_bounds(memory: int, disk: int):
    found = settings(Machine(memory, disk))
    assert 128 <= megabytes(found["shared_buffers"]) <= 2048
    assert 256 <= megabytes(found["max_wal_size"]) <= 4096
    assert megabytes(found["max_wal_size"]) <= max(256, disk // 8 // MB)
    assert 32 <= megabytes(found["min_wal_size"]) < megabytes(found["max_wal_size"])


def test_memory_is_shared_with_others():
    assert settings(Machine(8192 * MB, 1 << 40))["shared_buffers"] == "1024MB"


def test_only_a_test_gives_up_durability():
    for name in ("fsync", "full_page_writes", "synchronous_commit"):
        assert settings(Machine(1 << 33, 1 << 40))[name] == "on"
        assert settings(Machine(1 << 33, 1 << 40), durable=False)[name] == "off"


async def test_the_server_runs_with_the_settings_that_were_computed(durable_cluster: Cluster):
    connection = await asyncpg.connect(durable_cluster.dsn)
    rows = await connection.fetch("select name, setting from pg_settings where sourcefile is not null")
    given = {row["name"]: row["setting"] for row in rows}
    assert set(settings(Machine(1 << 33, 1 << 40))) <= set(given)
    assert (given["fsync"], given["wal_level"], given["checkpoint_timeout"]) == ("on", "minimal", "900")
    await connection.close()


def test_the_data_of_root_is_where_services_keep_theirs():
    assert default_data_dir({"HOME": "/root"}, 0) == Path("/var/lib/horae")


def test_the_data_of_a_user_is_in_their_home():
    assert default_data_dir({"HOME": "/home/ada"}, 1000) == Path("/home/ada/.local/share/horae")
    assert default_data_dir({"HOME": "/home/ada", "XDG_DATA_HOME": "/big"}, 1000) == Path("/big/horae")
    assert default_data_dir({"HOME": "/home/ada", "XDG_DATA_HOME": "here"}, 1000) == Path(
        "/home/ada/.local/share/horae"
    )
