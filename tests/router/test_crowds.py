"""Callers that are many, or take nothing, or only reset: what they hold is bounded, and others do not feel it."""

from __future__ import annotations

import asyncio
import resource
import socket
import struct
from contextlib import suppress

import psutil
import pytest
from raw_peer import (
    END_HEADERS,
    HEADERS,
    NAMES,
    PREFACE,
    RESET,
    SETTINGS,
    WINDOW_UPDATE,
    Peer,
    asked,
    block,
    frame,
    served,
    until_served,
)
from router_stage import PATIENCE, PLANE, Seen, Stage, route, snapshot, stage, story, until

from tidewise.proto import inference_pb2 as pb


def memory(on: Stage) -> int:
    """Bytes the native data plane holds; 0 of a router in Python."""
    pid = getattr(on.router.forwarder, "pid", None) if on.router is not None else None
    return psutil.Process(pid).memory_info().rss if pid else 0


@story
async def test_ten_thousand_idle_connections_harm_nobody():
    if PLANE.get() == "python":
        pytest.skip("Python's own server is not made for so many")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < 11_000:
        pytest.skip("this system lets a process open too few sockets")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the router inherits it
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        await served(on)
        before = memory(on)
        host, _, port = on.address.rpartition(":")
        peers = []
        try:
            for number in range(10_000):
                peers.append(socket.create_connection((host, int(port))))
                if number % 2:
                    peers[-1].sendall(PREFACE + frame(SETTINGS, 0, 0))
                if number % 1000 == 0:
                    await served(on)
            await served(on)
            assert memory(on) - before < 400e6
        finally:
            for peer in peers:
                peer.close()
        await served(on)


async def reads_nothing(window: int) -> None:
    """A caller that asks for 100 MB with this much of a window and takes none of it."""
    async with stage(workers=1) as (on, (worker,)):

        async def swell(seen: Seen, context: object) -> bytes:
            return pb.ModelInferResponse(raw_output_contents=[b"\0" * 1_000_000]).SerializeToString()

        await on.tell(snapshot([route("a", worker.address)], slo_ms=20_000))
        await served(on)
        before = memory(on)
        worker.act = swell
        peer = await Peer.connect(on)
        peer.reader._transport.pause_reading()  # type: ignore[attr-defined]
        await peer.send(PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, window)))
        if window:
            await peer.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", window - 65_535)))
        await peer.send(b"".join(asked(stream) for stream in range(1, 200, 2)))
        await until(lambda: len(worker.seen) > 100)
        worker.act = None
        for _ in range(5):
            await served(on)
        assert memory(on) - before < 150e6
        await peer.close()
        await until_served(on)


@story
async def test_a_caller_that_gives_no_window_holds_little_and_harms_nobody():
    await reads_nothing(0)


@story
async def test_a_caller_that_leaves_its_socket_unread_holds_little_and_harms_nobody():
    await reads_nothing(2**31 - 1)


@story
async def test_a_caller_that_does_nothing_but_reset_is_cut_off():
    if PLANE.get() == "python":
        pytest.skip("gRPC's own server decides when that is too much")
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        peer = await Peer.connect(on)
        await peer.begin()
        resets = (
            frame(HEADERS, END_HEADERS, one, block(NAMES)) + frame(RESET, 0, one, b"\0\0\0\x08")
            for one in range(1, 80_001, 2)
        )
        await peer.send(b"".join(resets))
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError):
                while await peer.reader.read(1 << 16):
                    pass
        await served(on)
        await peer.close()
