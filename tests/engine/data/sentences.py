"""What a sentence to a person about a file must be like."""

from __future__ import annotations

import re
from pathlib import Path

JARGON = re.compile(
    r"codec|NoneType|invalid literal|\[Errno|Traceback|0x[0-9a-f]{6}|\w(Error|Exception|Warning)\b|\bpolars\b"
    r"|dtype|ndarray|<class|<_io|buffer|argument|keyword|bytes-like|unpack requires|\bstruct\b|zlib|pickle"
    r"|ordinal|surrogate_|\bNone\b(?! of)|\bnan\b|index out of|subscript|iterable|attribute|tuple|Tensor"
    r"|CRC|parser|alid token|unclosed token|\bos error|utf8 |Invalid |Expecting |char \d|schema|::"
    r"|tensor\b|\bthrift\b|overflow"
    r"|\bself\b|\bobject\b.*\bhas no\b|could not convert|cannot reshape|out of bounds|calamine|panic|unwrap",
)


OF_NO_FILE = re.compile(
    r"Of [0-9,]+ rows none is left for |The part for |Nothing of the text is left for "
    r"|.* is not there: it should be in /"
)


def assert_sentence(message: str, path: Path, *others: Path) -> None:
    """One or two sentences without words of the program's insides, that name the file or one beside it."""
    assert message.endswith((".", "?")) and not message.endswith(("..", "...")), message
    assert message[0].isupper() or message[0] in "\"'/" or path.name in message.split()[0], message
    assert len(message) < 600 and "\n" not in message, message
    found = JARGON.search(message)
    assert found is None, f"{found and found[0]!r}: {message}"
    if OF_NO_FILE.match(message):  # of the rows that there are, or of a file that is not there
        return
    assert any(names(message, one) for one in (path, *others)), f"names no file: {message}"


def names(message: str, path: Path) -> bool:
    """Whether the file is named: as it is, or with odd letters escaped."""
    return path.name in message or ascii(path.name)[1:-1] in message
