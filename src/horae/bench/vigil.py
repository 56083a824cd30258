"""A tab that is left open for a day, told in minutes: its clock and its pulses go PACE times as fast.

A server tells a page once a second what happened. Here each pulse comes PACE times, the copies with ids of other jobs,
and the page's dates and timers are as quick: so it asks, draws and forgets as often as in PACE seconds. It asks the
real server, and not again while it is being answered; so only pulses count that an answer lies between. What the page
holds after a collection of garbage is read again and again, as the least of LOOKS looks, because an answer that is
being drawn is a tenth of the heap; the line through the readings (that of the soak) tells what a day adds.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from horae.bench.browser import collected, opened
from horae.bench.soak.flatness import theil_sen
from horae.bench.usage import MB

if TYPE_CHECKING:
    from playwright.async_api import Page

PACE: Final = 25
READINGS: Final = (8, 30)
"""At least and at most; between them, one in EVERY seconds."""
EVERY: Final = 5.0
LOOKS: Final = 6
WARM_SHARE: Final = 0.2
"""Of the time: what only fills at first, has filled by then."""
DAY_PULSES: Final = 86_400
HASTEN: Final = """
(() => {
    const pace = PACE;
    const { Date: Calendar, setTimeout: later, setInterval: repeat, EventSource: Source, fetch: ask } = window;
    const born = Calendar.now();
    const now = () => born + (Calendar.now() - born) * pace;
    let answered = false;
    window.pulses = 0;
    window.fetch = (...given) => ask(...given).finally(() => { answered = true; });
    window.Date = class extends Calendar {
        constructor(...given) {
            super(...(given.length ? given : [now()]));
        }
        static now() {
            return now();
        }
    };
    window.setTimeout = (act, wait = 0, ...given) => later(act, wait / pace, ...given);
    window.setInterval = (act, wait = 0, ...given) => repeat(act, wait / pace, ...given);
    const another = (event) => {
        const pulse = JSON.parse(event.data);
        pulse.jobs = pulse.jobs.map(() => crypto.randomUUID());
        return new MessageEvent("pulse", { data: JSON.stringify(pulse) });
    };
    window.EventSource = class extends Source {
        addEventListener(name, listener, ...rest) {
            const beat = (event) => {
                if (answered) window.pulses += 1;
                answered = false;
                listener(event);
            };
            const quick = (event) => {
                beat(event);
                for (let n = 1; n < pace; n += 1) later(() => beat(another(event)), (1000 * n) / pace);
            };
            super.addEventListener(name, name === "pulse" ? quick : listener, ...rest);
        }
    };
})();
""".replace("PACE", str(PACE))


class Growth(NamedTuple):
    """What a day adds: by the line through the readings, and by the ends of its interval."""

    a_day: float
    at_least: float
    at_most: float

    @property
    def sure(self) -> float:
        """Nothing, unless the whole interval lies above that."""
        return self.a_day if self.at_least > 0 else 0.0


class Vigil(NamedTuple):
    pulses: int
    """That the page lived through."""
    heap: Growth
    """Megabytes of the scripts."""
    nodes: Growth
    listeners: Growth


class Reading(NamedTuple):
    pulses: int
    heap: float
    nodes: float
    listeners: float


async def keep_vigil(url: str, key: str, tabs: Mapping[str, str], seconds: float) -> dict[str, Vigil]:
    """Each page for so long, one after another."""
    vigils = {}
    for name, path in tabs.items():
        async with opened(url, key) as (_, context):
            await context.add_init_script(HASTEN)
            page = await context.new_page()
            await page.goto(path)
            vigils[name] = judged(await _watch(page, seconds))
    return vigils


async def _watch(page: "Page", seconds: float) -> list[Reading]:
    least, most = READINGS
    count = min(max(int(seconds / EVERY), least), most)
    await asyncio.sleep(seconds * WARM_SHARE)
    readings = [await _read(page)]
    for _ in range(count - 1):
        await asyncio.sleep(seconds * (1 - WARM_SHARE) / (count - 1))
        await page.wait_for_function("before => window.pulses > before", arg=readings[-1].pulses)
        readings.append(await _read(page))
    return readings


async def _read(page: "Page") -> Reading:
    looks = [await collected(page) for _ in range(LOOKS)]
    pulses = await page.evaluate("window.pulses")
    kinds = ("JSHeapUsedSize", "Nodes", "JSEventListeners")
    heap, nodes, listeners = (min(look[kind] for look in looks) for kind in kinds)
    return Reading(pulses, heap / MB, nodes, listeners)


def judged(readings: Sequence[Reading]) -> Vigil:
    def growth(name: str) -> Growth:
        line = theil_sen([(each.pulses, getattr(each, name)) for each in readings])
        return Growth(*(slope * DAY_PULSES for slope in line))

    return Vigil(readings[-1].pulses, growth("heap"), growth("nodes"), growth("listeners"))
