"""Names of files end as their kind does, so that a slip is noticed before anything is read or written."""

from __future__ import annotations

from pathlib import Path

from tidewise.core.errors import InputError

TRACE = (".csv", ".parquet")
PAGE = (".html", ".htm")
PICTURE = (".png",)
JSON = (".json",)


def require_suffix(path: Path, allowed: tuple[str, ...], what: str, error: type[InputError] = InputError) -> None:
    """Raise the error unless the name ends in one of these, in whatever case; ``what`` says what the file is."""
    if path.suffix.lower() not in allowed:
        raise error(f"{what} {path} must end in {' or '.join(allowed)}")
