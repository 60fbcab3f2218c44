import asyncio
import gc
import random
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest
from worker_stations import POISON, Bench, rows

from tidewise.core.outcome import Reason
from tidewise.worker.answer import Answer, Refused
from tidewise.worker.query import LaneKey

LONG = 0.1  # seconds of a batch during which others arrive, on a busy machine too

pytestmark = pytest.mark.usefixtures("batcher")


def story(steps: Callable[[Bench], Awaitable[None]], **bench: Any) -> None:
    """Run one story on a station that hosts the large variant."""

    async def run() -> None:
        one = await Bench(**bench).host()
        try:
            await steps(one)
        finally:
            one.station.close()

    asyncio.run(run())


async def until(condition: Callable[[], object]) -> None:
    """Wait until the condition holds."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


def correct(answer: Answer | Refused, x: np.ndarray) -> bool:
    return (
        isinstance(answer, Answer)
        and np.array_equal(answer.outputs["double"], 2 * x)
        and np.array_equal(answer.outputs["sum"], x.sum(axis=1, keepdims=True))
    )


@pytest.mark.parametrize("seed", range(3))
def test_each_caller_gets_exactly_its_rows(seed: int) -> None:
    async def steps(bench: Bench) -> None:
        chance = random.Random(seed)
        same = [rows(7.0)] * 10
        different = [rows(*(chance.random() for _ in range(chance.randint(1, 5)))) for _ in range(30)]
        queries = chance.sample(same + different, 40)
        answers = await asyncio.gather(*(bench.ask(x) for x in queries))
        assert all(correct(answer, x) for answer, x in zip(answers, queries, strict=True))
        assert max(bench.batches) == 8

    story(steps, seconds=0.002)


def test_each_caller_gets_the_outputs_it_asked_for() -> None:
    async def steps(bench: Bench) -> None:
        first = bench.send(rows(0.0))
        pair = [bench.send(rows(1.0), outputs=(name,))[1] for name in ("double", "sum")]
        await first[1]
        answers = await asyncio.gather(*pair)
        assert [list(one.outputs) for one in answers if isinstance(one, Answer)] == [["double"], ["sum"]]
        assert bench.batches == [1, 2]

    story(steps, seconds=LONG)


def test_a_queued_query_fails_at_its_deadline_while_the_device_is_busy() -> None:
    async def steps(bench: Bench) -> None:
        loop = asyncio.get_running_loop()
        bench.sessions["large"].seconds = 1.0
        first = bench.send(rows(1.0))
        began = loop.time()
        second = await bench.ask(rows(2.0), within=0.1)
        waited = loop.time() - began
        assert not first[1].done()
        assert isinstance(second, Refused)
        assert second.reason is Reason.DEADLINE
        assert waited >= 0.1
        assert isinstance(await first[1], Answer)
        assert bench.batches == [1]

    story(steps)


def test_the_queue_bound_is_exact_under_concurrency() -> None:
    async def steps(bench: Bench) -> None:
        answers = await asyncio.gather(*(bench.ask(rows(1.0)) for _ in range(50)))
        refused = [one.reason for one in answers if isinstance(one, Refused)]
        assert refused == [Reason.QUEUE_FULL] * 46
        assert sum(bench.batches) == 4 or bench.batches == [1, 4]

    story(steps, max_queue=3, seconds=0.3)


def test_arrivals_while_the_model_runs_make_one_batch() -> None:
    async def steps(bench: Bench) -> None:
        first = bench.send(rows(0.0))
        await asyncio.gather(first[1], *(bench.ask(rows(float(n))) for n in range(8)))
        assert bench.batches == [1, 8]

    story(steps, seconds=LONG)


def test_a_lone_query_does_not_wait() -> None:
    async def steps(bench: Bench) -> None:
        answers = [await bench.ask(rows(1.0)) for _ in range(20)]
        assert min(one.queued for one in answers if isinstance(one, Answer)) < 0.002

    story(steps)


def test_a_fixed_batch_size_is_padded_and_the_padding_is_left_behind() -> None:
    async def steps(bench: Bench) -> None:
        answer = await bench.ask(rows(1.0))
        assert correct(answer, rows(1.0))
        assert bench.batches == [4]

    story(steps, sizes=(4,))


def test_a_hundred_rows_take_as_long_as_their_batches() -> None:
    async def steps(bench: Bench) -> None:
        x = rows(*range(100))
        answer = await bench.ask(x)
        assert correct(answer, x)
        assert bench.batches == [8] * 12 + [4]

    story(steps, seconds=0.002)


def test_a_bad_query_never_harms_its_batch_mates() -> None:
    async def steps(bench: Bench) -> None:
        first = bench.send(rows(0.0))
        good = [rows(float(n)) for n in range(7)]
        bad = bench.send(rows(1.0, POISON))
        answers = await asyncio.gather(*(bench.ask(x) for x in good[:6]))
        failed = await bad[1]
        assert isinstance(failed, Refused)
        assert (failed.reason, failed.text) == (Reason.ENGINE, "the model choked on a row")
        assert all(correct(answer, x) for answer, x in zip(answers, good, strict=False))
        await first[1]

    story(steps)


def test_one_members_cancel_cannot_harm_its_batch_mates() -> None:
    async def steps(bench: Bench) -> None:
        bench.send(rows(0.0))
        members = [(rows(float(n)), *bench.send(rows(float(n)))) for n in range(8)]
        bench.station.cancel(members[2][1])
        for place, (x, _, future) in enumerate(members):
            answer = await future
            assert correct(answer, x) is (place != 2)
        assert bench.station.device.counters.variants["echo", "large"].sizes == {1: 1, 7: 1}

    story(steps, seconds=LONG)


def test_no_cancel_is_lost() -> None:
    async def steps(bench: Bench) -> None:
        for _ in range(500):
            query_id, _ = bench.send(rows(1.0))
            bench.station.cancel(query_id)
        await until(lambda: bench.station.device.queued == 0)
        assert sum(bench.batches) < 100  # one, or as many as an idle device took before they were cancelled

    story(steps, seconds=LONG)


def test_any_order_of_cancels_leaves_a_working_device_and_no_trace() -> None:
    async def steps(bench: Bench) -> None:
        chance, sent = random.Random(1), []
        for _ in range(800):
            sent.append(bench.send(rows(*range(chance.randint(1, 12))), within=chance.uniform(0.01, 0.5)))
            if chance.random() < 0.5:
                bench.station.cancel(chance.choice(sent)[0])
            if chance.random() < 0.2:
                await asyncio.sleep(0.001)
        await asyncio.gather(*(future for _, future in sent))
        answers = await asyncio.gather(*(bench.ask(rows(float(n))) for n in range(100)))
        assert all(isinstance(one, Answer) for one in answers)
        assert (bench.station.device.queued, bench.station._callers) == (0, {})
        counters = bench.station.device.counters
        assert sum(counters.outcomes.values()) == bench.sent == sum(counters.arrivals.values())

    story(steps, seconds=0.001)


def test_different_shapes_never_share_a_batch() -> None:
    async def steps(bench: Bench) -> None:
        bench.send(rows(0.0))
        wide = np.ones((1, 5), np.float32)
        answers = await asyncio.gather(bench.ask(rows(1.0)), bench.ask(wide), bench.ask(rows(2.0)))
        assert [correct(one, x) for one, x in zip(answers, (rows(1.0), wide, rows(2.0)), strict=True)] == [True] * 3
        assert bench.batches == [1, 2, 1]

    story(steps, seconds=LONG)


def test_a_switch_of_variants_under_load_loses_no_query_and_closes_the_old_session() -> None:
    async def steps(bench: Bench) -> None:
        bench.linger(0.05)
        futures = []
        for number in range(60):
            futures.append(bench.send(rows(float(number)))[1])
            if number == 20:
                await bench.host("small", version=2)
            await asyncio.sleep(0.002)
        answers = [one for one in await asyncio.gather(*futures) if isinstance(one, Answer)]
        assert {one.variant for one in answers} == {"large", "small"}
        assert len(answers) == 60
        assert [one.plan_version for one in answers] == sorted(one.plan_version for one in answers)
        await until(lambda: bench.sessions["large"].closed)
        assert not bench.sessions["small"].closed

    story(steps)


def test_a_pinned_query_runs_on_its_variant() -> None:
    async def steps(bench: Bench) -> None:
        await bench.host("large", "small", version=2)
        answer = await bench.send(rows(1.0), lane=LaneKey("echo", "small", ((2,),)))[1]
        assert isinstance(answer, Answer)
        assert (answer.variant, answer.version) == ("small", 1)

    story(steps)


def test_ten_times_the_capacity_leaves_memory_flat_and_serves_on() -> None:
    async def steps(bench: Bench) -> None:
        futures = []
        for _ in range(100):
            futures += [bench.send(rows(*range(8)), within=0.2)[1] for _ in range(10)]
            await asyncio.sleep(0.002)
            assert bench.station.device.queued <= 20
        ends = await asyncio.gather(*futures)
        answered = sum(isinstance(one, Answer) for one in ends)
        assert answered >= 0.5 * len(bench.batches)
        assert bench.station.device.counters.outcomes.get("late", 0) <= answered // 2
        gc.collect()
        assert bench.station._callers == {}

    story(steps, max_queue=20, seconds=0.005)
