"""Run as a process of its own: an unmodified tritonclient classifies images. Prints one JSON object.

Its protobuf messages share their names with ours, so the two cannot live in one process.
"""

import json
import os
import queue
import sys
import threading
from collections import Counter

import numpy as np
import tritonclient.grpc as triton

address, file, application, image, logits = sys.argv[1:]
with np.load(file) as data:
    images, labels = data[image], data["labels"]


def asked(row: np.ndarray) -> list[triton.InferInput]:
    value = triton.InferInput(image, row.shape, triton.np_to_triton_dtype(row.dtype))
    value.set_data_from_numpy(row)
    return [value]


client = triton.InferenceServerClient(address)
assert client.is_server_live()
assert client.is_server_ready()
assert client.is_model_ready(application)
unary = []
for start in range(0, len(images), 5):
    answer = client.infer(application, asked(images[start : start + 5]))
    unary += answer.as_numpy(logits).argmax(axis=1).tolist()

answers: queue.Queue = queue.Queue()
places = threading.Semaphore(32)  # more in flight than that could miss the deadline on a busy machine
client.start_stream(lambda result, error: (answers.put((result, error)), places.release()))
for index in range(len(images)):
    places.acquire(timeout=60)
    client.async_stream_infer(application, asked(images[index : index + 1]), request_id=str(index))
streamed, variants = [], Counter()
for index in range(len(images)):
    result, error = answers.get(timeout=60)
    if error is not None:
        print(error, file=sys.stderr, flush=True)
        os._exit(1)  # the stream's thread would keep the process alive
    response = result.get_response()
    assert response.id == str(index)
    variants[response.parameters["variant"].string_param] += 1
    streamed.append(int(result.as_numpy(logits).argmax()))
client.stop_stream()

outcome = {
    "unary": unary,
    "streamed": streamed,
    "variants": variants,
    "labels": labels.tolist(),
    "metadata": client.get_model_metadata(application, as_json=True),
    "config": client.get_model_config(application, as_json=True)["config"],
    "statistics": client.get_inference_statistics(application, as_json=True)["model_stats"],
}
json.dump(outcome, sys.stdout)
