"""Gates that are closed and released while servers die, and a storm of orders after which everything must run."""

import asyncio
import random
from contextlib import suppress

from horae.model.errors import HoraeError, WrongState
from horae.testing.waiting import wait_for
from horae.wire.gates import GateCreate
from horae.wire.limits import LimitPut

from .conftest import FIRM_LEASE
from .load import connected, nothing_left
from .test_limits_under_fire import SEED, all_ended, short, start, submit


async def test_what_a_gate_held_is_let_out_though_servers_die(stack, effects):
    servers = await start(stack)
    with stack.client(stack.address("a")) as client:
        gates = [
            client.create_gate(GateCreate(reason="whole", task="quick")),
            client.create_gate(GateCreate(reason="half", task="short", percent=50)),
        ]
        ids = submit(client, [short(0.01, f"k{n}" if n % 2 else None) for n in range(120)])
        async with connected(stack) as connection:
            query = "select count(*) from blocked"
            await wait_for(lambda: connection.fetchval(query), what="jobs behind the gate")
            await servers["b"].kill()
            client.release_gate(gates[1].id)
            await servers["a"].kill()
            await asyncio.gather(*(stack.server(name, **FIRM_LEASE) for name in servers))
            client.release_gate(gates[0].id)
            await wait_for(lambda: ended(connection, len(ids)), 100, interval=0.1, what="the end of all jobs")
            await all_ended(connection)
    assert set(effects.by_job()) == set(ids)


async def ended(connection, count: int) -> bool:  # type: ignore[no-untyped-def]
    done = await connection.fetchval("select count(*) from outcome where state = 'succeeded'")
    return bool(done == count and await nothing_left(connection))


async def test_after_a_storm_of_orders_everything_runs_within_seconds(stack):
    await start(stack)
    chance = random.Random(SEED)
    with stack.client(stack.address("a")) as one, stack.client(stack.address("b")) as two:
        ids: list[str] = []

        def order() -> None:
            client = chance.choice((one, two))
            name = f"l{chance.randrange(3)}"
            match chance.randrange(8):
                case 0 | 1:
                    ids.extend(submit(client, [short(0.01, f"k{chance.randrange(20)}") for _ in range(10)]))
                case 2:
                    client.put_limit(name, LimitPut(task="short", max_running=chance.randint(0, 3)))
                case 3:
                    client.put_limit(name, LimitPut(task="short", rate=chance.choice(["1/h", "20/s"]), burst=1))
                case 4:
                    client.remove_limit(name)
                case 5:
                    percent = chance.choice([None, 50])
                    client.create_gate(GateCreate(reason="storm", task="short", percent=percent))
                case 6:
                    for gate in client.gates().items:
                        client.release_gate(gate.id)
                case _:
                    chance.choice([client.cancel, client.move])(chance.choice(ids))

        ids.extend(submit(one, [short(0.01) for _ in range(20)]))
        for _ in range(80):
            with suppress(HoraeError):
                await asyncio.to_thread(order)
        for gate in two.gates().items:
            with suppress(WrongState):  # It drained a moment ago.
                two.release_gate(gate.id)
        for limit in one.limits().items:
            one.remove_limit(limit.name)
        async with connected(stack) as connection:
            await wait_for(lambda: nothing_waits(connection), 100, interval=0.1, what="the end of all jobs")
            await all_ended(connection)
            assert await connection.fetchval("select count(*) from outcome") == len(ids)


async def nothing_waits(connection) -> bool:  # type: ignore[no-untyped-def]
    blocked = await connection.fetchval("select count(*) from blocked")
    return blocked == 0 and await nothing_left(connection)
