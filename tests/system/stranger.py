"""A stranger's loop of an unmodified tritonclient, run as a program of its own until it is told SIGTERM.

    python stranger.py HOST:PORT APPLICATION FOLDER

FOLDER is the application's: every answer is compared with a bare onnxruntime session of the variant that gave it.
Prints one JSON object: {"asked", "failed": {sentence: count}, "wrong", "variants": {name: count}}.
"""

import json
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime
import tritonclient.grpc as triton

SAMPLES = 32
PAUSE = 0.005


def bare_answers(folder: Path, images: np.ndarray) -> dict[str, np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    models = {path.parent.name: str(path) for path in folder.glob("*/model.onnx")}
    sessions = {name: onnxruntime.InferenceSession(model, options) for name, model in models.items()}
    return {name: one.run(["logits"], {"image": images})[0] for name, one in sessions.items()}


def main() -> None:
    target, application, folder = sys.argv[1:4]
    images = np.load(Path(folder, "test.npz"))["image"][:SAMPLES]
    expected = bare_answers(Path(folder), images)
    client = triton.InferenceServerClient(target)
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
    asked, wrong = 0, 0
    failed: Counter[str] = Counter()
    variants: Counter[str] = Counter()
    print("asking", flush=True)
    while not told:
        place = asked % SAMPLES
        asked += 1
        tensor = triton.InferInput("image", [1, *images.shape[1:]], "UINT8")
        tensor.set_data_from_numpy(images[place : place + 1])
        try:
            result = client.infer(application, [tensor])
        except triton.InferenceServerException as error:
            failed[str(error)] += 1
            continue
        variant = result.get_response().parameters["variant"].string_param
        variants[variant] += 1
        wrong += not np.allclose(result.as_numpy("logits")[0], expected[variant][place], rtol=1e-2, atol=1e-2)
        time.sleep(PAUSE)
    print(json.dumps({"asked": asked, "failed": failed, "wrong": wrong, "variants": variants}))


if __name__ == "__main__":
    main()
