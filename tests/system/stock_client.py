"""Classifies test images with an unmodified tritonclient; run as a program of its own, as a stranger would.

    python stock_client.py HOST:PORT APPLICATION TEST.npz COUNT [--stream]

Prints one JSON list of {"sample", "predicted", "variant", "version"}. (A process of its own, because the message
classes of tritonclient and ours describe the same protocol and cannot both be loaded in one.)
"""

import json
import queue
import sys

import numpy as np
import tritonclient.grpc as triton


def request(image: np.ndarray) -> list[triton.InferInput]:
    tensor = triton.InferInput("image", list(image.shape), "UINT8")
    tensor.set_data_from_numpy(image)
    return [tensor]


def row(sample: int, result: triton.InferResult) -> dict[str, object]:
    response = result.get_response()
    return {
        "sample": sample,
        "predicted": int(result.as_numpy("logits").argmax()),
        "variant": response.parameters["variant"].string_param,
        "version": response.model_version,
    }


def unary(client: triton.InferenceServerClient, application: str, images: np.ndarray) -> list[dict[str, object]]:
    return [row(i, client.infer(application, request(images[i : i + 1]))) for i in range(len(images))]


def stream(client: triton.InferenceServerClient, application: str, images: np.ndarray) -> list[dict[str, object]]:
    answers: queue.Queue[tuple[triton.InferResult | None, Exception | None]] = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)))
    rows = []
    for first in range(0, len(images), 8):
        group = range(first, min(first + 8, len(images)))
        for i in group:
            client.async_stream_infer(application, request(images[i : i + 1]), request_id=str(i))
        for _ in group:
            result, error = answers.get(timeout=60)
            if error is not None or result is None:
                raise SystemExit(f"stream error: {error}")
            rows.append(row(int(result.get_response().id), result))
    client.stop_stream()
    return rows


def main() -> None:
    target, application, file, count = sys.argv[1:5]
    images = np.load(file)["image"][: int(count)]
    client = triton.InferenceServerClient(target)
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(application)
    classify = stream if "--stream" in sys.argv else unary
    print(json.dumps(classify(client, application, images)))


if __name__ == "__main__":
    main()
