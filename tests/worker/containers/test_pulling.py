"""Images come from a registry before they are needed, once for all who want them."""

import asyncio

import pytest

from horae.worker.containers.images import Images

from .registry import registry

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def remote(image, tmp_path, monkeypatch):
    with registry(image, tmp_path / "image") as server:
        settings = tmp_path / "registries.conf"
        settings.write_text(f'[[registry]]\nlocation = "127.0.0.1:{server.server_port}"\ninsecure = true\n')
        monkeypatch.setenv("CONTAINERS_REGISTRIES_CONF", str(settings))
        yield server


async def test_jobs_that_want_the_same_image_wait_for_one_pull(house, remote):
    runs = await asyncio.gather(*(house.run("echo", "1", image=remote.image) for _ in range(3)))
    assert [run.result for run in runs] == [1, 1, 1], runs[0].error
    assert remote.asked == 1
    told = [run.errand.streams["system"].decode() for run in runs]
    assert sum(f"pulling {remote.image}" in text for text in told) == 1


async def test_an_image_that_was_pulled_ahead_is_not_pulled_again(house, remote):
    images = Images(house.engine)
    await images.fetch_ahead([remote.image])
    errand = house.errand("true")
    assert await images.fetch(remote.image, "missing", errand) is None
    assert (remote.asked, errand.streams["system"]) == (1, b"")
    assert await images.fetch(remote.image, "always", errand) is None
    assert remote.asked == 2
