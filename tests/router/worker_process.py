"""An echo worker in a process of its own, for tests that kill or stop it: prints its address, then serves."""

import asyncio
import sys

from router_stage import EchoWorker, sleeping


async def main(port: int, seconds: float) -> None:
    worker = await EchoWorker(act=sleeping(seconds)).start(port)
    print(worker.address, flush=True)
    await asyncio.Event().wait()


asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
