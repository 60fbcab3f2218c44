"""Callers that are odd, broken or hostile: each costs itself its connection and nobody else anything."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from raw_peer import (
    CONTINUATION,
    END_HEADERS,
    HEADERS,
    NAMES,
    PING,
    PREFACE,
    RESET,
    SETTINGS,
    Peer,
    block,
    frame,
    served,
    until_served,
)
from router_stage import PATIENCE, PLANE, request, route, sleeping, snapshot, stage, story, until


@story
async def test_junk_on_the_grpc_port_harms_nobody():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        for junk in (
            b"\0" * 100,
            b"GET / HTTP/1.1\r\n\r\n",
            PREFACE + b"\xff" * 5000,
            PREFACE + frame(77, 255, 0) * 50,
        ):
            peer = await Peer.connect(on)
            await peer.send(junk)
            await served(on)
            await peer.close()
        await served(on)


@story
async def test_floods_harm_nobody_else():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        floods = {
            "headers": frame(HEADERS, 0, 1, block(NAMES))
            + frame(CONTINUATION, 0, 1, block({"a": "b" * 100}) * 20) * 500,
            "pings": frame(PING, 0, 0, b"12345678") * 20_000,
            "settings": frame(SETTINGS, 0, 0) * 20_000,
            "resets": b"".join(
                frame(HEADERS, END_HEADERS, i, block(NAMES)) + frame(RESET, 0, i, b"\0\0\0\x08")
                for i in range(1, 6001, 2)
            ),
        }
        for flood in floods.values():
            peer = await Peer.connect(on)
            await peer.begin()
            await peer.send(flood)
            if PLANE.get() == "native":  # Python's own server may give up a query that comes amid a flood of resets
                await served(on)
            await peer.close()
            await until_served(on)
        assert len(worker.seen) >= len(floods)


@story
async def test_a_huge_declared_length_is_refused_before_it_is_sent():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        peer = await Peer.connect(on)
        await peer.begin()
        await peer.send(frame(HEADERS, END_HEADERS, 1, block(NAMES)))
        await peer.send(frame(0, 0, 1, b"\0\xff\xff\xff\xff" + b"x" * 100))
        async with asyncio.timeout(PATIENCE):
            said = b""
            while (
                b"limit" not in said and b"larger than max" not in said
            ):  # ours or gRPC's words, in a literal or Huffman-coded header
                data = await peer.reader.read(4096)
                said += data
                if not data or frame(HEADERS, 5, 1)[3:9] in said:
                    break
        await served(on)
        assert not any(b"\xff" in one.body for one in worker.seen)
        await peer.close()


@story
async def test_idle_connections_and_half_sent_queries_harm_nobody():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        peers = [await Peer.connect(on) for _ in range(300)]
        for number, peer in enumerate(peers):
            if number % 3:
                await peer.begin()
            if number % 3 == 2:
                await peer.send(frame(HEADERS, END_HEADERS, 1, block(NAMES)) + frame(0, 0, 1, b"\0\0\0\0\x20abc"))
        for _ in range(10):
            await served(on)
        for peer in peers:
            await peer.close()
        await served(on)
        assert len(worker.seen) == 11


@story
async def test_a_compressed_query_is_answered():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        await on.client.infer(request(id="z" * 500), timeout=PATIENCE, compression=grpc.Compression.Gzip)
        assert worker.seen[0].body == request(id="z" * 500)
        await until(lambda: on.controller.counted("garments") == (1, {"on_time": 1}))


@story
async def test_a_call_without_a_query_is_an_error_and_counts_as_none():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address)]))
        call = on.client.channel.stream_unary("/inference.GRPCInferenceService/ModelInfer")
        with pytest.raises(grpc.aio.AioRpcError):
            await call(iter(()), timeout=1)
        await served(on)
        assert len(worker.seen) == 1


@story
async def test_a_method_that_does_not_exist_is_unimplemented():
    async with stage() as (on, _):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await on.client.channel.unary_unary("/inference.GRPCInferenceService/Nothing")(b"", timeout=PATIENCE)
        assert error.value.code() is grpc.StatusCode.UNIMPLEMENTED


@story
async def test_a_caller_that_leaves_in_the_middle_of_a_large_query_leaves_no_trace():
    async with stage(workers=1) as (on, (worker,)):
        worker.act = sleeping(0.05)
        await on.tell(snapshot([route("a", worker.address)], slo_ms=60_000))
        body = request(id="x") + b"\x3a\x80\x80\x80\x01" + b"\0" * (1 << 21)
        for delay in (0.0, 0.001, 0.003, 0.01, 0.03):
            call = on.client.infer(body, timeout=PATIENCE)
            await asyncio.sleep(delay)
            call.cancel()
        await served(on)

        def settled() -> bool:
            arrivals, outcomes = on.controller.counted("garments")
            return outcomes.get("on_time", 0) >= 1 and arrivals == sum(outcomes.values())

        await until(settled)
