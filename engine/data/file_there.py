"""Whether a file can be read at all, asked before it is. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path


def file_there(path: Path, empty: bool = False) -> Path:
    """The path of an ordinary file that may be read, and holds something unless it may be `empty`.

    Errors: `ValueError` that says what it is instead.
    """
    name = path.name if path.name.isprintable() else ascii(path.name)[1:-1]
    if path.is_dir():
        raise ValueError(f'"{name}" is a folder, where a file was expected.')
    try:
        about = path.stat()
        if not path.is_file():  # a pipe could keep its reader waiting for ever
            raise ValueError(f'"{name}" is not an ordinary file.')
        with open(path, "rb"):
            pass
    except FileNotFoundError as error:
        raise ValueError(f'There is no "{name}" in {path.parent}: choose the file again.') from error
    except OSError as error:
        raise ValueError(f'"{name}" cannot be read: {error.strerror or "it is no file"}.') from error
    if not about.st_size and not empty:
        raise ValueError(f'"{name}" is empty.')
    return path
