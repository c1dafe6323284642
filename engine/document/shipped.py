"""The data sets that are installed with the application, and reading them safely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from engine.errors import DataError, out_of_memory, reason_of


def datasets_folder() -> Path:
    """The folder that holds `mnist/`, `santafe/`, ... as installed."""
    return Path(str(resources.files("resources") / "datasets"))


def installed_files(folder: Path | None, holds: Iterable[str]) -> tuple[str, ...]:
    """What a data node of an example reads, relative to the installed data sets; empty for other folders.

    Of a folder of many files it is those that `holds` names and those beside them of the same stem, such as
    the nodes of a graph; of a folder that is a data set itself, every file below it.
    """
    installed = datasets_folder()
    if folder is None or not folder.is_relative_to(installed):
        return ()
    stems = {name.split(".")[0] for name in holds if (folder / name).is_file()}
    if stems:
        found = [one for one in folder.iterdir() if one.is_file() and one.name.split(".")[0] in stems]
    else:
        found = [one for one in folder.rglob("*") if one.is_file()]
    return tuple(sorted(one.relative_to(installed).as_posix() for one in found))


@contextmanager
def reading(node_id: str | None = None) -> Iterator[None]:
    """Turn what a loader raises over its files into a `DataError` at the node.

    Loaders are portable, so they raise plain exceptions; theirs already carry a sentence for the user.
    """
    try:
        yield
    except OSError as error:
        sentence = reason_of(error)
        if error.strerror:
            what = error.filename or "A file of these data"
            sentence = f"{what} cannot be used: {error.strerror}."
        raise DataError(sentence, node_id=node_id) from error
    except (ValueError, ImportError) as error:
        raise DataError(reason_of(error), node_id=node_id) from error
    except BaseException as error:
        if out_of_memory(error):
            fix = 'Lower "In memory up to" where there is such a limit, or use fewer rows.'
            raise DataError("These data do not fit into memory.", node_id=node_id, fix=fix) from error
        if type(error).__name__ != "PanicException":  # Rust's, of a native reader, which is no `Exception`
            raise
        raise DataError("The reader of these data gave up: they are damaged.", node_id=node_id) from error
