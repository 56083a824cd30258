"""Python packages for scripts: installed once, kept, read-only, thrown away when there are too many."""

import asyncio
from pathlib import Path

import pytest

from horae.model.states import End
from horae.worker.errands.errand import StopOrder
from horae.worker.scripts.environments import Environments, key_of

from .house import House, Recorder
from .wheels import make_wheel


@pytest.fixture
async def shop(tmp_path: Path):
    """A house whose packages come from a folder."""
    wheels = tmp_path / "wheels"
    make_wheel(wheels, "greeting")
    make_wheel(wheels, "parting", body="WORD = 'bye'")
    house = House(tmp_path / "state", environ={"UV_FIND_LINKS": str(wheels), "UV_OFFLINE": "1"})
    assert (await house.runner.prepare()).ready
    yield house
    await house.runner.close()
    await house.quarters.close()


def made(house: House) -> list[str]:
    return sorted(path.name for path in (house.quarters.cache / "environments").iterdir() if path.is_dir())


async def test_a_script_imports_what_it_requires(shop):
    done = await shop.run("import greeting; print(repr(greeting.WORD))", "python", requirements=["greeting==1.0"])
    assert (done.error, done.errand.text) == (None, "'hello'\n")


async def test_a_set_is_installed_once_whatever_its_order(shop):
    first = await shop.run("", "python", requirements=["greeting", "parting"])
    folder = shop.quarters.cache / "environments" / made(shop)[0]
    inode = folder.stat().st_ino
    second = await shop.run("import greeting, parting", "python", requirements=["parting", "greeting"])
    assert (first.error, second.error, len(made(shop))) == (None, None, 1)
    assert folder.stat().st_ino == inode


async def test_two_jobs_at_once_install_once(shop):
    builds = 0
    build = shop.runner._builder.build

    async def counting(*arguments):
        nonlocal builds
        builds += 1
        return await build(*arguments)

    shop.runner._builder.build = counting
    ran = await asyncio.gather(*(shop.run("import greeting", "python", requirements=["greeting"]) for _ in range(3)))
    assert ([done.error for done in ran], builds) == ([None] * 3, 1)


async def test_an_environment_is_read_only_and_its_compiled_code_is_good(shop):
    source = "import greeting, os; print(greeting.__cached__, os.path.exists(greeting.__cached__)); open('/env/x', 'w')"
    done = await shop.run(source, "python", requirements=["greeting"])
    assert done.errand.text.endswith(".pyc True\n")
    assert "Read-only file system" in done.error.message


async def test_what_cannot_be_installed_is_told_in_uvs_words(shop):
    done = await shop.run("", "python", requirements=["no-such-thing"])
    assert (done.end, done.error.kind) == (End.ERROR, "requirements")
    assert "no-such-thing" in done.error.message
    assert made(shop) == []


async def test_requirements_are_for_python(shop):
    done = await shop.run("echo 1", "sh", requirements=["greeting"])
    assert "for Python scripts" in done.error.message


async def test_a_requirement_is_never_an_option(shop):
    done = await shop.run("", "python", requirements=["--python-preference=system", "greeting"])
    assert done.error.kind == "requirements"


async def test_without_a_sandbox_they_are_installed_too(tmp_path):
    make_wheel(tmp_path / "wheels", "greeting")
    environ = {"UV_FIND_LINKS": str(tmp_path / "wheels"), "UV_OFFLINE": "1", "PATH": "/usr/bin:/bin"}
    house = House(tmp_path / "state", sandboxed=False, environ=environ)
    await house.runner.prepare()
    done = await house.run("import greeting; print(repr(greeting.WORD))", "python", requirements=["greeting"])
    assert (done.error, done.errand.text) == (None, "'hello'\n")
    await house.runner.close()
    await house.quarters.close()


# The cache itself.


@pytest.fixture
def cache(tmp_path: Path) -> Environments:
    return Environments(tmp_path / "environments", most_bytes=100_000)


@pytest.fixture
async def errand(shop) -> Recorder:
    return shop.errand("", "python")


async def fill(folder: Path) -> None:
    (folder / "data").write_bytes(b"x" * 60_000)


async def test_the_least_recently_used_goes_when_there_is_too_much(cache, errand, tmp_path):
    for key in ("a", "b", "c"):
        async with cache.use(errand, key, fill):
            pass
    assert [path.name for path in (tmp_path / "environments").iterdir() if path.is_dir()] == ["c"]


async def test_what_is_in_use_stays(cache, errand, tmp_path):
    async with cache.use(errand, "a", fill) as used:
        async with cache.use(errand, "b", fill):
            pass
        assert used.is_dir()


async def test_what_a_dead_agent_left_unfinished_is_removed(cache, tmp_path):
    (tmp_path / "environments/a.unfinished").mkdir()
    cache.evict()
    assert not (tmp_path / "environments/a.unfinished").exists()


async def test_one_who_waits_for_an_environment_can_be_stopped(cache, errand, shop):
    building, go_on = asyncio.Event(), asyncio.Event()

    async def slow(folder: Path) -> None:
        building.set()
        await go_on.wait()

    async def use(who: Recorder):
        async with cache.use(who, "a", slow) as got:
            return got

    first = asyncio.ensure_future(use(errand))
    await building.wait()
    second = shop.errand("", "python")
    waiting = asyncio.ensure_future(use(second))
    second.stop.set_result(StopOrder(End.CANCELLED, "enough", 1))
    assert (await waiting).end is End.CANCELLED
    go_on.set()
    assert (await first).is_dir()


def test_the_key_is_the_set_and_the_python():
    assert key_of(["a", "b"], "/usr/bin/python3") == key_of(["b", "a", "a"], "/usr/bin/python3")
    assert key_of(["a"], "/usr/bin/python3") != key_of(["a"], "/usr/bin/perl")
    assert key_of(["a"], "/usr/bin/python3") != key_of(["a", "b"], "/usr/bin/python3")
