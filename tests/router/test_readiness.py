"""What a router says of itself over gRPC and HTTP."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from grpc_health.v1 import health_pb2
from router_stage import PATIENCE, Client, Stage, get, request, route, snapshot, stage, story, until

from tidewise.proto import inference_pb2 as pb

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
BOTH = ("garments", "digits")


async def server_ready(client: Client) -> bool:
    return bool((await client.call("ServerReady", pb.ServerReadyRequest(), pb.ServerReadyResponse)).ready)


async def model_ready(client: Client, name: str, version: str = "") -> bool:
    asked = pb.ModelReadyRequest(name=name, version=version)
    return bool((await client.call("ModelReady", asked, pb.ModelReadyResponse)).ready)


async def health(client: Client, service: str) -> int:
    asked = health_pb2.HealthCheckRequest(service=service)
    reply = await client.call("/grpc.health.v1.Health/Check", asked, health_pb2.HealthCheckResponse)
    return int(reply.status)


async def soon(on: Stage, path: str, status: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await get(on.http_port, path))[0] != status:
            await asyncio.sleep(0.02)


@story
async def test_before_its_first_snapshot_a_router_is_live_and_not_ready():
    async with stage() as (on, _):
        live = await on.client.call("ServerLive", pb.ServerLiveRequest(), pb.ServerLiveResponse)
        assert live.live and not await server_ready(on.client)
        assert await health(on.client, "") == NOT_SERVING
        assert await get(on.http_port, "/v2/health/live") == (200, {"live": True})
        assert await get(on.http_port, "/v2/health/ready") == (503, {"ready": False})


@story
async def test_losing_an_applications_only_worker_makes_that_application_unready_and_no_other():
    async with stage(workers=2) as (on, (one, two)):
        await on.tell(snapshot([route("a", one.address), route("b", two.address, application="digits")], BOTH))
        assert await model_ready(on.client, "garments") and await model_ready(on.client, "digits")
        await one.kill()  # no query is needed to notice
        await soon(on, "/v2/models/garments/ready", 503)
        assert not await model_ready(on.client, "garments") and await model_ready(on.client, "digits")
        assert (await health(on.client, "garments"), await health(on.client, "digits")) == (NOT_SERVING, SERVING)
        assert await get(on.http_port, "/v2/models/digits/ready") == (200, {"name": "digits", "ready": True})
        assert await server_ready(on.client) and await health(on.client, "") == SERVING


@story
async def test_losing_every_worker_makes_the_router_unready_but_live():
    async with stage(workers=2) as (on, (one, two)):
        await on.tell(snapshot([route("a", one.address), route("b", two.address, application="digits")], BOTH))
        assert await get(on.http_port, "/v2/health/ready") == (200, {"ready": True})
        await one.kill()
        await two.kill()
        await soon(on, "/v2/health/ready", 503)
        assert not await server_ready(on.client)
        assert (await get(on.http_port, "/v2/health/live"))[0] == 200


@story
async def test_readiness_of_a_variant_is_its_own():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address, variants=("fine",))]))
        ready = [await model_ready(on.client, "garments", version) for version in ("", "2", "fine", "1", "9")]
        assert ready == [True, True, True, False, False]
        assert (await get(on.http_port, "/v2/models/garments/versions/2/ready"))[0] == 200
        assert (await get(on.http_port, "/v2/models/garments/versions/1/ready"))[0] == 503


@story
async def test_what_does_not_exist_is_said_not_to():
    async with stage() as (on, _):
        await on.tell(snapshot([]))
        assert not await model_ready(on.client, "shoes")
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await health(on.client, "shoes")
        assert error.value.code() is grpc.StatusCode.NOT_FOUND
        assert (await get(on.http_port, "/v2/models/shoes/ready"))[0] == 404
        assert (await get(on.http_port, "/v2/nothing"))[0] == 404
        assert (await get(on.http_port, "/v2/health/live", "POST"))[0] == 405
        assert await get(on.http_port, "/v2/health/live", "HEAD") == (200, {})


@story
async def test_a_watcher_is_told_every_change():
    async with stage(workers=1) as (on, (worker,)):
        watch = on.client.channel.unary_stream(
            "/grpc.health.v1.Health/Watch",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        told = []
        call = watch(health_pb2.HealthCheckRequest(service="garments"))

        async def listen() -> None:
            async for reply in call:
                told.append(reply.status)

        listening = asyncio.ensure_future(listen())
        await until(lambda: told == [health_pb2.HealthCheckResponse.SERVICE_UNKNOWN])
        await on.tell(snapshot([route("a", worker.address)]))
        await until(lambda: told[1:] == [SERVING])
        await worker.kill()
        await until(lambda: told[2:] == [NOT_SERVING])
        listening.cancel()


@story
async def test_junk_on_the_http_port_harms_nobody():
    async with stage() as (on, _):
        for junk in (b"\r\n\r\n", b"x" * 100_000 + b"\r\n\r\n", b"\x16\x03\x01" * 50, b"GET /\r\n\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", on.http_port)
            writer.write(junk)
            writer.write_eof()
            await asyncio.wait_for(reader.read(), PATIENCE)
            writer.close()
        assert (await get(on.http_port, "/v2/health/live"))[0] == 200


@story
async def test_metadata_config_statistics_and_index_read_like_tritons():
    async with stage(workers=1) as (on, (worker,)):
        await on.tell(snapshot([route("a", worker.address, variants=("fine",))]))
        call = on.client.call
        server = await call("ServerMetadata", pb.ServerMetadataRequest(), pb.ServerMetadataResponse)
        assert server.name == "tidewise" and list(server.extensions) == ["model_configuration", "statistics"]
        asked = pb.ModelMetadataRequest(name="garments")
        model = await call("ModelMetadata", asked, pb.ModelMetadataResponse)
        assert list(model.versions) == ["1", "2"] and model.platform == "onnxruntime_onnx"
        assert [(one.name, one.datatype, list(one.shape)) for one in model.inputs] == [("x", "FP32", [-1, 4])]
        config = (await call("ModelConfig", pb.ModelConfigRequest(name="garments"), pb.ModelConfigResponse)).config
        assert config.max_batch_size >= 8 and list(config.input[0].dims) == [4]
        for _ in range(4):
            await on.client.ask(request())
        asked = pb.ModelStatisticsRequest(name="garments", version="2")
        (seen,) = (await call("ModelStatistics", asked, pb.ModelStatisticsResponse)).model_stats
        assert (seen.version, seen.inference_count, seen.execution_count) == ("2", 4, 2)
        assert (seen.inference_stats.queue.count, seen.inference_stats.queue.ns) == (4, 6_000_000)
        assert seen.inference_stats.compute_infer.ns == 10_000_000
        index = await call("RepositoryIndex", pb.RepositoryIndexRequest(), pb.RepositoryIndexResponse)
        assert [(one.version, one.state) for one in index.models] == [("1", "UNAVAILABLE"), ("2", "READY")]
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await call("ModelMetadata", pb.ModelMetadataRequest(name="shoes"), pb.ModelMetadataResponse)
        assert error.value.code() is grpc.StatusCode.NOT_FOUND
