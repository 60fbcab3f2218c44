"""Applications sent to a controller over the wire, and files fetched from it."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from wire_stories import (
    FakeRouter,
    FakeWorker,
    calling,
    controller,
    real_profile,
    settings_of,
    tell,
    until,
    write_application,
)

from tidewise.proto import control_pb2 as pb
from tidewise.proto.control_pb2_grpc import ControllerStub


def chunks_of(folder: Path, *, name: str = "", paths: dict[str, str] | None = None) -> Iterator[pb.ApplyChunk]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            sent = (paths or {}).get(path.name, str(path.relative_to(folder)))
            yield pb.ApplyChunk(application=name or folder.name, path=sent, data=path.read_bytes())


def test_an_applied_application_is_served_fetched_and_there_after_a_restart(tmp_path: Path, repository: Path) -> None:
    cars = write_application(tmp_path / "elsewhere", "cars")
    model = (cars / "small" / "model.onnx").read_bytes()

    async def story() -> None:
        profile = real_profile("pets", "cars")
        async with (
            controller(settings_of(tmp_path / "state", repository)) as port,
            FakeRouter(port) as router,
            FakeWorker(port, "big-0", "big-1", profile=profile),
            calling(port) as channel,
        ):
            stub = ControllerStub(channel)
            reply = await stub.Apply(iter(chunks_of(cars)))
            assert not reply.replaced and list(reply.variants) == ["large", "medium", "small"]
            await until(lambda: set(router.routes.values()) == {"pets", "cars"})
            digest = hashlib.sha256(model).hexdigest()
            assert await _fetched(stub, application="cars", digest=digest) == model
            assert await _fetched(stub, application="cars", path="application.toml")
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            stub = ControllerStub(channel)
            assert len((await stub.Status(pb.StatusRequest())).applications) == 2
            await stub.Remove(pb.RemoveRequest(application="pets"))
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            status = await ControllerStub(channel).Status(pb.StatusRequest())
            assert ['name = "cars"' in one.spec.toml for one in status.applications] == [True]

    tell(story)


@pytest.mark.usefixtures("patient_rejoin")
def test_a_controller_restarted_amid_a_replacement_takes_nothing_out_of_service(
    tmp_path: Path, repository: Path
) -> None:
    new = write_application(tmp_path / "elsewhere", "pets", stamp="2")
    for file in (new / "application.toml", new / "accuracy.json"):
        file.write_text(re.sub('"(large|medium|small)"', r'"\1-new"', file.read_text()))
    for name in ("large", "medium", "small"):
        (new / name).rename(new / f"{name}-new")

    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port:
            router = FakeRouter(port)
            worker = FakeWorker(port, "big-0", "big-1", profile=real_profile("pets"))
            await worker.__aenter__()
            await router.__aenter__()
            await until(lambda: len(router.routes) == 2)
            async with calling(port) as channel:
                assert (await ControllerStub(channel).Apply(iter(chunks_of(new)))).replaced
            await asyncio.sleep(1.0)
            assert len(router.routes) == 2
        seen = len(router.snapshots)
        async with controller(settings_of(tmp_path / "state", repository, port=port)):
            await until(lambda: len(router.snapshots) > seen)
            await asyncio.sleep(1.0)
            assert all(len(one.routes) == 2 for one in router.snapshots[seen:])
            assert set(worker.hosted().values()) == {"pets/large"}
        await worker.__aexit__()
        await router.__aexit__()

    tell(story)


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ({"application.toml": "../application.toml"}, "refused"),
        ({"application.toml": "/etc/application.toml"}, "refused"),
        ({"application.toml": "a/../../application.toml"}, "refused"),
        ({"application.toml": ".hidden"}, "refused"),
        ({"application.toml": "other.toml"}, "holds no application.toml"),
        ({"model.onnx": "large/model.onnx"}, "sent twice"),
    ],
)
def test_a_wrong_upload_changes_nothing(tmp_path: Path, repository: Path, paths: dict[str, str], said: str) -> None:
    cars = write_application(tmp_path / "elsewhere", "cars")

    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            stub = ControllerStub(channel)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.Apply(iter(chunks_of(cars, paths=paths)))
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert said in str(caught.value.details())
            assert len((await stub.Status(pb.StatusRequest())).applications) == 1
        assert not list((tmp_path / "state" / "repository").iterdir())
        assert not list((tmp_path / "state" / "incoming").iterdir())

    tell(story)


def test_an_upload_without_a_model_or_without_measured_accuracy_is_refused(tmp_path: Path, repository: Path) -> None:
    cars = write_application(tmp_path / "elsewhere", "cars")
    bare = write_application(tmp_path / "bare", "bare")
    (cars / "small" / "model.onnx").unlink()
    (bare / "accuracy.json").unlink()

    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            for folder, said in ((cars, "small/model.onnx is missing"), (bare, "no measured accuracy")):
                with pytest.raises(grpc.aio.AioRpcError, match=said):
                    await ControllerStub(channel).Apply(iter(chunks_of(folder)))

    tell(story)


def test_unknown_names_are_told_what_there_is(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            stub = ControllerStub(channel)
            with pytest.raises(grpc.aio.AioRpcError, match="there are: pets"):
                await stub.Remove(pb.RemoveRequest(application="dogs"))
            with pytest.raises(grpc.aio.AioRpcError, match="no model file with digest"):
                await _fetched(stub, application="pets", digest="0" * 64)
            with pytest.raises(grpc.aio.AioRpcError, match="refused"):
                await _fetched(stub, application="pets", path="../../../etc/passwd")

    tell(story)


async def _fetched(stub: ControllerStub, **request: str) -> bytes:
    return b"".join([chunk.data async for chunk in stub.Fetch(pb.FetchRequest(**request))])
