"""Spoiled files of every kind: opened, read by a node that knew them sound, and by an exported script.

Each ends in a data node or in a sentence that names the file; script and program agree to the bit.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.catalogue import load_catalogue
from engine.data.loading.node import loader_of, read_node
from engine.data.open.opening import Opened
from engine.data.portable import portable_imports, portable_source
from engine.document.graph import Node
from engine.errors import NeuroloomError, in_one_line
from tests.engine.data.any_files import KINDS, SPOILED
from tests.engine.data.sentences import assert_sentence
from tests.sampling import sampled

CATALOGUE = load_catalogue()
SOME = 4  # rows of a column that are looked at
Splits = Mapping[str, Mapping[str, Any]]


def node_of(found: Opened) -> Node:
    return Node("n1", found.type, found.name, dict(found.params))


def first_rows(splits: Splits) -> Splits:
    """The first rows of every column, so that what is read late is read now."""
    return {
        split: {name: column[: min(SOME, len(column))].clone() for name, column in columns.items()}
        for split, columns in splits.items()
    }


def as_script(node: Node) -> Callable[[], Splits]:
    """The node's loader as the source that an exported script carries, in a namespace of its own."""
    loader, folder, options = loader_of(node, CATALOGUE)
    handed = [value for value in options.values() if callable(value)]
    lines = ["from __future__ import annotations", *portable_imports([loader, *handed])]
    names: dict[str, Any] = {"__name__": "alone"}
    exec("\n".join([*lines, *portable_source([loader, *handed])]), names)
    given = {key: names[value.__name__] if callable(value) else value for key, value in options.items()}
    return lambda: first_rows(names[loader.__name__](folder, "cpu", **given))


def outcome(read: Callable[[], Splits]) -> Splits | str:
    """What was read, or the sentence that says why it was not."""
    try:
        return read()
    except (NeuroloomError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.strerror:  # as `reading` says it
            return in_one_line(f"{error.filename} cannot be used: {error.strerror}.")
        return error.message if isinstance(error, NeuroloomError) else in_one_line(str(error))


def in_program(node: Node) -> Splits:
    return first_rows(read_node(node, CATALOGUE))


def same(one: Splits, other: Splits) -> bool:
    return one.keys() == other.keys() and all(
        columns.keys() == other[split].keys()
        and all(torch.equal(column, other[split][name]) for name, column in columns.items())
        for split, columns in one.items()
    )


@pytest.mark.parametrize("name, way", sampled(5, KINDS, SPOILED))
def test_a_spoiled_file_is_read_or_ends_in_a_sentence(name: str, way: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    path, file = kind.write(tmp_path)
    node = node_of(kind.opened(path))
    script = as_script(node)
    content = SPOILED[way](file.read_bytes(), random.Random(zlib.crc32(f"{name} {way}".encode())))
    file.write_bytes(content)
    before = file.stat().st_mtime_ns

    read, alone = outcome(lambda: in_program(node)), outcome(script)
    if isinstance(read, str):
        assert_sentence(read, file, path)
        assert alone == read
    else:
        assert not isinstance(alone, str) and same(read, alone), alone
    try:
        found = kind.opened(path)
    except NeuroloomError as error:
        assert_sentence(error.message, file, path)
    else:
        for remark in found.remarks:
            assert remark.endswith((".", "?")), remark
        read = outcome(lambda: in_program(node_of(found)))
        if isinstance(read, str):
            assert_sentence(read, file, path)
    assert file.read_bytes() == content and file.stat().st_mtime_ns == before
