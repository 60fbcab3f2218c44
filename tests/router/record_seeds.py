"""Write seeds for the fuzz targets: what real callers and workers say, recorded between them and a router.

python tests/router/record_seeds.py native/router/fuzz/corpus
"""

from __future__ import annotations

import asyncio
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
from router_stage import Client, Seen, failing, request, route, snapshot, stage

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


class Recorder:
    """Passes bytes on between a listening port and an address, and keeps those of each direction."""

    def __init__(self, address: str) -> None:
        self.host, _, self.port = address.rpartition(":")
        self.up, self.down = bytearray(), bytearray()

    async def start(self) -> str:
        self.server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        return f"127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward, forth = await asyncio.open_connection(self.host, int(self.port))
        await asyncio.gather(self._copy(reader, forth, self.up), self._copy(onward, writer, self.down))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray) -> None:
        while data := await reader.read(65536):
            kept += data
            writer.write(data)
        writer.close()


async def record(act: Any, body: bytes, path: str = "ModelInfer") -> bytes:
    """One seed: a caller that sends this, a worker that acts so."""
    async with stage(workers=1) as (on, (worker,)):
        worker.act = act
        to_worker = Recorder(worker.address)
        await on.tell(snapshot([route("a", await to_worker.start())]))
        to_router = Recorder(on.address)
        client = Client(await to_router.start())
        with suppress(grpc.aio.AioRpcError):
            await client.channel.unary_unary(f"/inference.GRPCInferenceService/{path}")(body, timeout=3)
        await asyncio.sleep(0.2)
        await client.channel.close()
        said = bytes(to_router.up).removeprefix(PREFACE)
        return struct.pack(">H", len(said)) + said + bytes(to_worker.down)


async def swell(seen: Seen, context: Any) -> bytes:
    return b"\x12\x012" + b"\x32\x80\x08" + b"\0" * 1024


async def main(folder: Path) -> None:
    http2, head = folder / "http2", folder / "head"
    for one in (http2, head):
        one.mkdir(parents=True, exist_ok=True)
    bodies = {
        "plain": request(),
        "pinned": request(version="2", id="q", deadline_ms=250),
        "real": request(deadline_ms=99.5),
        "unknown": request("shoes"),
    }
    for name, body in bodies.items():
        (head / name).write_bytes(body)
        (http2 / name).write_bytes(await record(None, body))
    refusing = failing(grpc.StatusCode.INVALID_ARGUMENT, "no", "bad_input")
    (http2 / "refused").write_bytes(await record(refusing, bodies["plain"]))
    (http2 / "lost").write_bytes(await record(failing(grpc.StatusCode.UNAVAILABLE, "going"), bodies["plain"]))
    (http2 / "answer").write_bytes(await record(swell, bodies["plain"]))
    (http2 / "junk").write_bytes(await record(None, b"\xff\xff\xff"))
    (http2 / "other-method").write_bytes(await record(None, b"", "ServerLive"))
    (head / "junk").write_bytes(b"\xff\xff\xff")


asyncio.run(main(Path(sys.argv[1])))
