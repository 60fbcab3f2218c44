"""Generates the committed stubs from the .proto files beside this one (needs the dev dependencies)."""

import sys
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent


def generate(out: Path) -> int:
    """Write the stubs of every message file below ``out``; 0 if all went well."""
    files = [f"tidewise/proto/{path.name}" for path in sorted((ROOT / "proto").glob("*.proto"))]
    options = [f"-I{ROOT}", f"--python_out={out}", f"--grpc_python_out={out}", f"--pyi_out={out}"]
    code: int = protoc.main(["protoc", *options, *files])
    return code


if __name__ == "__main__":
    sys.exit(generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT))
