"""The callers of bench/soak.py: queries that are answered, cancelled, hurried or wrong, each answer checked."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import onnxruntime

from tidewise.core.outcome import REASON_KEY
from tidewise.proto import inference_pb2 as pb

SAMPLES = 32
PATIENCE = 60.0  # seconds; whoever waits longer counts as unanswered
ANSWERED, CANCELLED, UNANSWERED = "answered", "cancelled", "unanswered"
KINDS = {"plain": 0.6, "cancelled": 0.15, "hurried": 0.15, "wrong": 0.05, "unknown": 0.05}
LONGEST_WAIT = 0.02  # seconds until a caller gives up, at most
Key = tuple[str, str]  # application, ending


@dataclass
class Subject:
    """An application of the repository: its samples, and what a bare session of each variant says to them."""

    name: str
    images: np.ndarray
    expected: dict[str, np.ndarray]

    @classmethod
    def read(cls, folder: Path) -> Subject:
        images = np.load(folder / "test.npz")["image"][:SAMPLES]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        expected = {}
        for model in folder.glob("*/model.onnx"):
            session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
            expected[model.parent.name] = session.run(["logits"], {"image": images})[0]
        return cls(folder.name, images, expected)

    def query(self, place: int, kind: str, rng: random.Random) -> bytes:
        message = pb.ModelInferRequest(model_name=self.name)
        image = self.images[place : place + 1]
        message.inputs.add(name="image", datatype="UINT8", shape=image.shape)
        message.raw_input_contents.append(image.tobytes()[: 7 if kind == "wrong" else None])
        if kind == "hurried":
            message.parameters["deadline_ms"].double_param = rng.uniform(0.2, 6.0)
        if kind == "unknown":
            message.model_version = "999"
        return message.SerializeToString()

    def fault(self, answer: pb.ModelInferResponse, place: int) -> str:
        """What is wrong with an answer; nothing if nothing is."""
        variant = answer.parameters["variant"].string_param
        if variant not in self.expected:
            return f"{self.name}: answered by {variant!r}, which is none of its variants"
        found = np.frombuffer(answer.raw_output_contents[0], np.float32)
        if np.allclose(found, self.expected[variant][place].ravel(), rtol=1e-2, atol=1e-2):
            return ""
        return f"{self.name}: {variant} answered sample {place} otherwise than a bare session"


@dataclass
class Load:
    """Callers of one router. ``ended`` counts what became of their queries, ``faults`` tells wrong answers."""

    address: str
    subjects: Mapping[str, Subject]
    seed: int = 0
    ended: Counter[Key] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)

    async def run(self, seconds: float, rate: float, favourite: str) -> None:
        """Ask at this mean rate, nine times in ten the favourite application; return when every query has ended."""
        async with grpc.aio.insecure_channel(self.address) as channel:
            infer = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
            loop = asyncio.get_running_loop()
            end, asked = loop.time() + seconds, set()
            while loop.time() < end:
                task = asyncio.create_task(self._ask(infer, favourite))
                asked.add(task)
                task.add_done_callback(asked.discard)
                await asyncio.sleep(self._rng.expovariate(rate))
            await asyncio.gather(*asked)

    async def _ask(self, infer: Any, favourite: str) -> None:
        rng = self._rng
        name = favourite if rng.random() < 0.9 else rng.choice(list(self.subjects))
        subject, place = self.subjects[name], rng.randrange(SAMPLES)
        (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
        call = infer(subject.query(place, kind, rng), timeout=PATIENCE)
        if kind == "cancelled":
            asyncio.get_running_loop().call_later(rng.uniform(0, LONGEST_WAIT), call.cancel)
        self.ended[name, await self._ending(call, subject, place)] += 1

    async def _ending(self, call: Any, subject: Subject, place: int) -> str:
        try:
            answer = pb.ModelInferResponse.FromString(await call)
        except asyncio.CancelledError:
            return CANCELLED
        except grpc.aio.AioRpcError as error:
            return str(dict(error.trailing_metadata() or ()).get(REASON_KEY, UNANSWERED))
        if fault := subject.fault(answer, place):
            self.faults.append(fault)
        return ANSWERED
