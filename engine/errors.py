"""The one error tree: each error is a sentence for the user, and the node it belongs to."""

from __future__ import annotations

import traceback
from pathlib import Path
from unicodedata import category

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # kinds of letters that names of files may hold and nobody sees


def in_one_line(text: str) -> str:
    """Text with line ends, and marks that turn around what follows, written out."""
    if text.isprintable():
        return text
    odd = {one for one in text if category(one) in HIDDEN and one not in "\u200d\t"}
    return "".join(ascii(one)[1:-1] if one in odd else one for one in text)


def reason_of(error: BaseException) -> str:
    """What an error says; one that says nothing, or fails to, is told by its type and where it was raised."""
    try:
        text = str(error).strip()
    except Exception:  # anybody's error may fail in any way when it is to be written
        text = ""
    if text and not isinstance(error, KeyError):
        return text
    *_, (frame, line) = (None, 0), *traceback.walk_tb(error.__traceback__)
    where = f" ({Path(frame.f_code.co_filename).name}, line {line})" if frame is not None else ""
    return f"{type(error).__name__}{f': {text}' if text else ' without a message'}{where}"


def kind_and_reason(error: BaseException) -> str:
    """The reason with the type of the error before it, for errors that nobody foresaw."""
    kind, reason = type(error).__name__, reason_of(error)
    return reason if reason.startswith(kind) or isinstance(error, NeuroloomError) else f"{kind}: {reason}"


def out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, on whatever device."""
    if isinstance(error, MemoryError):
        return True
    torchs = type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in reason_of(error)
    return isinstance(error, RuntimeError) and torchs


class NeuroloomError(Exception):
    """Something the user can understand and fix.

    `message` is a sentence for the user, `node_id` the node it belongs to (None: the project),
    `fix` what to do about it, where that is known.
    """

    def __init__(self, message: str, *, node_id: str | None = None, fix: str | None = None) -> None:
        message = in_one_line(message)
        super().__init__(message)
        self.message = message
        self.node_id = node_id
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message} {self.fix}" if self.fix else self.message


class GraphError(NeuroloomError):
    """An edit that the document cannot take."""


class ProjectFileError(NeuroloomError):
    """A project file, or pasted text, that cannot be read."""


class ParamError(NeuroloomError):
    """A parameter value outside what its node type allows."""


class EmitError(NeuroloomError):
    """A graph that cannot be turned into Python."""


class DataError(NeuroloomError):
    """Data that is missing or unreadable."""


class TrainingError(NeuroloomError):
    """A run that had to stop."""
