"""The planted bugs before the judge: each in its scene, in a small installation of its own."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from horae.testing.database import cloned_database, make_template, temporary_cluster

from .checkers import judge
from .planted import PLANTED
from .report import Conviction, convicted
from .scenes import LONG, PLAYED, WORKED
from .stage import open_stage

SCENES = PLAYED | WORKED | LONG


async def convictions(bugs: Sequence[str], tell: Callable[[str], None]) -> AsyncIterator[Conviction]:
    if not bugs:
        return
    async with temporary_cluster() as cluster:
        await make_template(cluster)
        for number, name in enumerate(bugs, 1):
            tell(f"planted bug {number}/{len(bugs)}: {name}")
            yield await convict(name, cluster.dsn)


async def convict(name: str, cluster: str) -> Conviction:
    with TemporaryDirectory(prefix="horae-chaos-") as folder:
        async with cloned_database(cluster) as dsn, open_stage(dsn, Path(folder), planted=name) as stage:
            await SCENES[name](stage)
            case = await stage.case()
    return convicted(name, PLANTED[name].checker, judge(case))
