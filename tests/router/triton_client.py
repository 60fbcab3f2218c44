"""Calls a router with an unmodified tritonclient (in a process of its own: its messages clash with ours by name)."""

import json
import queue
import sys

import numpy as np
import tritonclient.grpc as triton

client = triton.InferenceServerClient(sys.argv[1])
data = np.arange(4, dtype=np.float32).reshape(1, 4)
tensor = triton.InferInput("x", data.shape, "FP32")
tensor.set_data_from_numpy(data)
answer = client.infer("garments", [tensor], request_id="r1", parameters={"deadline_ms": 5000})
answers: queue.Queue = queue.Queue()
client.start_stream(lambda result, error: answers.put((result, error)))
client.async_stream_infer("garments", [tensor], request_id="s1")
client.async_stream_infer("shoes", [tensor], request_id="s2")
streamed = [answers.get(timeout=60) for _ in range(2)]
client.stop_stream()
try:
    client.infer("shoes", [tensor])
    error = ""
except triton.InferenceServerException as raised:
    error = f"{raised.status()}: {raised.message()}"
config = client.get_model_config("garments").config
print(
    json.dumps(
        {
            "live": client.is_server_live(),
            "ready": client.is_server_ready(),
            "model_ready": client.is_model_ready("garments"),
            "server": client.get_server_metadata().name,
            "versions": list(client.get_model_metadata("garments").versions),
            "input": [config.input[0].name, config.input[0].data_type, list(config.input[0].dims)],
            "id": answer.get_response().id,
            "worker": answer.get_response().parameters["worker"].string_param,
            "streamed": sorted(one.get_response().id for one, failed in streamed if not failed),
            "stream_errors": [failed.message() for _, failed in streamed if failed],
            "error": error,
            "queue_count": client.get_inference_statistics("garments").model_stats[1].inference_stats.queue.count,
            "index": [[one.name, one.version, one.state] for one in client.get_model_repository_index().models],
        }
    )
)
