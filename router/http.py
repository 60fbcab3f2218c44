"""Health over HTTP, for load balancers and container platforms: three small truthful GETs."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import unquote

from tidewise.router.readiness import Readiness

MAX_HEAD = 16 * 1024  # bytes of request line and headers
HEAD_SECONDS = 5.0  # in which they have to arrive
_MODEL = re.compile(r"/v2/models/([^/]+)(?:/versions/([^/]+))?/ready")


@dataclass(frozen=True, slots=True)
class Reply:
    """A status and a small JSON object."""

    status: HTTPStatus
    values: dict[str, object]


def reply(method: str, target: str, readiness: Readiness) -> Reply:
    """What a request for this target is answered: 200 yes, 503 not now, 404 no such thing."""
    path = target.partition("?")[0]
    if method not in ("GET", "HEAD"):
        return Reply(
            HTTPStatus.METHOD_NOT_ALLOWED,
            {"error": f"{method[:16]} is not served here: HTTP tells health, queries go over gRPC"},
        )
    if path == "/v2/health/live":
        return Reply(HTTPStatus.OK, {"live": True})
    if path == "/v2/health/ready":
        return _verdict({}, readiness.ready())
    found = _MODEL.fullmatch(path)
    if found is None:
        return Reply(HTTPStatus.NOT_FOUND, {"error": f"there is nothing at {path[:200]}"})
    name, version = unquote(found[1]), unquote(found[2] or "")
    if not readiness.knows(name):
        return Reply(HTTPStatus.NOT_FOUND, {"error": f"there is no application {name[:80]!r}"})
    return _verdict({"name": name}, readiness.serves(name, version))


def _verdict(values: dict[str, object], ready: bool) -> Reply:
    return Reply(HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE, values | {"ready": ready})


def encode(answer: Reply, *, head_only: bool = False) -> bytes:
    """The reply as bytes of HTTP/1.1; one reply a connection."""
    body = json.dumps(answer.values).encode() + b"\n"
    head = (
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() if head_only else head.encode() + body


async def serve_http(host: str, port: int, readiness: Readiness) -> asyncio.Server:
    """Listen; the caller closes the server."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                writer.write(await _answer(reader, readiness))
                await writer.drain()
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError):
            pass  # the caller went away or said nothing
        finally:
            writer.close()

    return await asyncio.start_server(handle, host, port, limit=MAX_HEAD)


async def _answer(reader: asyncio.StreamReader, readiness: Readiness) -> bytes:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
    except (asyncio.LimitOverrunError, ValueError):
        return encode(Reply(HTTPStatus.BAD_REQUEST, {"error": "this is not an HTTP request"}))
    return encode(reply(method, target, readiness), head_only=method == "HEAD")
