"""The attach streams: workers and routers report, the controller answers with complete snapshots."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress

import grpc

from tidewise.controller.credible import credible
from tidewise.controller.events import RouterLost, RouterReported, WorkerLost, WorkerReported
from tidewise.controller.outbox import Outbox
from tidewise.controller.shell import Shell, WorkerLine
from tidewise.core.errors import ProfileError
from tidewise.core.report import RouterReport, WorkerReport
from tidewise.proto import control_pb2 as pb
from tidewise.proto.convert_reports import router_report_noun, worker_report_noun

log = logging.getLogger(__name__)


async def attach_worker(shell: Shell, requests: AsyncIterator[pb.WorkerReport]) -> AsyncIterator[pb.WorkerOrder]:
    """Orders for one worker process until its stream ends; then its devices are gone."""
    number = next(shell.numbers)
    outbox: Outbox[pb.WorkerOrder] = Outbox()
    reader = asyncio.create_task(_read_worker(shell, number, requests, outbox))
    try:
        async for order in outbox:
            yield order
    finally:
        reader.cancel()
        line = shell.workers.pop(number, None)
        shell.step(WorkerLost(number))
        if line is not None:
            log.info("worker left", extra={"worker_process": line.process})


async def _read_worker(
    shell: Shell, number: int, requests: AsyncIterator[pb.WorkerReport], outbox: Outbox[pb.WorkerOrder]
) -> None:
    with suppress(grpc.RpcError, asyncio.CancelledError):
        async for message in requests:
            report = _worker_report(message)
            if number not in shell.workers:
                shell.workers[number] = WorkerLine(report.process, outbox)
                log.info("worker attached", extra={"worker_process": report.process, "devices": len(report.devices)})
            shell.step(WorkerReported(number, report))
    outbox.close()


def _worker_report(message: pb.WorkerReport) -> WorkerReport:
    """The report; without its profiles if they cannot be read, since the devices matter more."""
    try:
        return worker_report_noun(message)
    except ProfileError as error:
        log.warning("profiles refused", extra={"worker_process": message.process, "reason": str(error)})
        del message.profiles[:]
        return worker_report_noun(message)


def _router_report(message: pb.RouterReport) -> RouterReport:
    """The report, as far as it can be true."""
    said = router_report_noun(message)
    report = credible(said)
    if report != said:
        log.warning("router's report not believed", extra={"router": said.router, "router_address": said.address})
    return report


async def attach_router(shell: Shell, requests: AsyncIterator[pb.RouterReport]) -> AsyncIterator[pb.RoutingSnapshot]:
    """Snapshots for one router until its stream ends."""
    number = next(shell.numbers)
    outbox: Outbox[pb.RoutingSnapshot] = Outbox()
    reader = asyncio.create_task(_read_router(shell, number, requests, outbox))
    try:
        async for snapshot in outbox:
            yield snapshot
    finally:
        reader.cancel()
        shell.routers.pop(number, None)
        shell.step(RouterLost(number))


async def _read_router(
    shell: Shell, number: int, requests: AsyncIterator[pb.RouterReport], outbox: Outbox[pb.RoutingSnapshot]
) -> None:
    with suppress(grpc.RpcError, asyncio.CancelledError):
        async for message in requests:
            shell.step(RouterReported(number, _router_report(message)))
            if number not in shell.routers:
                shell.routers[number] = outbox
                shell.welcome_router(number)
    outbox.close()
