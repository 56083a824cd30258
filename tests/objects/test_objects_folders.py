"""A folder as object storage: what is removed leaves nothing behind, or its file system would run out of inodes."""

from pathlib import Path

from horae.store.objects import Objects, ObjectsConfig


async def test_a_removed_day_leaves_no_folders(tmp_path: Path) -> None:
    objects = Objects(ObjectsConfig(str(tmp_path)))
    for job in ("a", "b"):
        await objects.put(f"results/20261101/1/{job}/1", b"large")
    await objects.put("results/20261102/1/c/1", b"large")

    assert await objects.remove("results/20261101") == 2
    assert [each.name for each in (tmp_path / "results").iterdir()] == ["20261102"]
    assert await objects.get("results/20261102/1/c/1") == b"large"


async def test_a_deleted_object_takes_its_empty_folders_with_it(tmp_path: Path) -> None:
    objects = Objects(ObjectsConfig(str(tmp_path)))
    await objects.put("results/20261101/1/a/1", b"large")
    await objects.put("results/20261101/1/b/1", b"large")

    await objects.delete(["results/20261101/1/a/1"])
    assert [each.name for each in (tmp_path / "results/20261101/1").iterdir()] == ["b"]
