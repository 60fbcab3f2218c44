"""An echo worker in a process of its own, to be killed or stopped: prints its address, a line a query, and serves."""

import asyncio
import sys
from typing import Any

from router_stage import EchoWorker, Seen


async def main(port: int, seconds: float) -> None:
    async def act(seen: Seen, context: Any) -> None:
        print("asked", flush=True)
        await asyncio.sleep(seconds)

    worker = await EchoWorker(act).start(port)
    print(worker.address, flush=True)
    await asyncio.Event().wait()


asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
