"""Callers that speak HTTP/2 byte by byte, as no library would."""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress

import grpc
from router_stage import PATIENCE, Stage, request

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS = 1, 4
# A query's headers in HPACK literals, without indexing.
NAMES = {
    ":method": "POST",
    ":scheme": "http",
    ":path": "/inference.GRPCInferenceService/ModelInfer",
    ":authority": "x",
    "content-type": "application/grpc",
    "te": "trailers",
}


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def block(headers: dict[str, str]) -> bytes:
    out = b""
    for name, value in headers.items():
        out += b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
    return out


class Peer:
    """A raw connection to the router."""

    @classmethod
    async def connect(cls, on: Stage) -> Peer:
        self = cls()
        host, _, port = on.address.rpartition(":")
        self.reader, self.writer = await asyncio.open_connection(host, int(port))
        return self

    async def send(self, data: bytes) -> None:
        with suppress(ConnectionError):
            self.writer.write(data)
            await self.writer.drain()

    async def begin(self) -> None:
        await self.send(PREFACE + frame(SETTINGS, 0, 0))

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


async def served(on: Stage) -> None:
    await on.client.ask(request())


async def until_served(on: Stage) -> None:
    """Queries are answered again, after a while at the latest."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(grpc.aio.AioRpcError):
                return await served(on)
            await asyncio.sleep(0.02)


def asked(stream: int) -> bytes:
    """A whole query on this stream."""
    body = request()
    data = b"\0" + struct.pack(">I", len(body)) + body
    return frame(HEADERS, END_HEADERS, stream, block(NAMES)) + frame(DATA, END_STREAM, stream, data)
