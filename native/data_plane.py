"""Where the C++ data plane's program lies: beside this file in a development tree, with the scripts when installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

from tidewise.core.errors import ConfigError

PROGRAM = "tidewise-router"
GET_IT = "install libnghttp2-dev (Debian) and a C++ compiler, then again: pip install -e ."
MEND_IT = "install libnghttp2-14 (Debian), or build again: pip install -e ."
_ASK_SECONDS = 10.0


def find_data_plane() -> Path | None:
    """The program, or None if it has not been built."""
    for folder in (Path(__file__).parent, Path(sysconfig.get_path("scripts"))):
        if os.access(folder / PROGRAM, os.X_OK):
            return folder / PROGRAM
    found = shutil.which(PROGRAM)
    return None if found is None else Path(found)


def data_plane() -> Path:
    """The program, which starts. Raises ConfigError saying how to get it."""
    found = find_data_plane()
    if found is None:
        raise ConfigError(f"the native data plane is not built; {GET_IT} (or use --data-plane python)")
    if version_of(found) is None:
        raise ConfigError(f"the native data plane, {found}, does not start; {MEND_IT} (or use --data-plane python)")
    return found


def chosen_plane(wanted: str | None) -> str:
    """ "native" or "python": what is wanted, or else native where it is built and starts.

    Raises ConfigError if native is wanted and not there.
    """
    if wanted == "native":
        data_plane()
    if wanted is not None:
        return wanted
    found = find_data_plane()
    return "native" if found is not None and version_of(found) is not None else "python"


def version_of(program: Path) -> str | None:
    """What the program says it is; None if it does not start, as when a library it needs is gone."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_ASK_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip()
