from __future__ import annotations

import asyncio
import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from router_stage import route, snapshot, stage, story

SCRIPT = Path(__file__).parent / "triton_client.py"


@pytest.mark.skipif(find_spec("tritonclient") is None, reason="tritonclient is a development dependency")
def test_an_unmodified_tritonclient_finds_all_it_asks_for() -> None:
    @story
    async def run() -> None:
        async with stage(workers=1) as (on, (worker,)):
            await on.tell(snapshot([route("big-0", worker.address)]))
            process = await asyncio.create_subprocess_exec(
                sys.executable, str(SCRIPT), on.address, stdout=asyncio.subprocess.PIPE
            )
            out, _ = await process.communicate()
            assert process.returncode == 0
            said = json.loads(out)
            errors = said.pop("stream_errors")
            assert len(errors) == 1 and "'shoes'" in errors[0]
            assert said.pop("error").startswith("StatusCode.NOT_FOUND: there is no application 'shoes'")
            assert said == {
                "live": True,
                "ready": True,
                "model_ready": True,
                "server": "tidewise",
                "versions": ["1", "2"],
                "input": ["x", 11, [4]],
                "id": "r1",
                "worker": "big-0",
                "streamed": ["s1"],
                "queue_count": 2,
                "index": [["garments", "1", "UNAVAILABLE"], ["garments", "2", "READY"]],
            }

    run()
