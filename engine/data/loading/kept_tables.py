"""Where the numbers of a table node's file are kept, for the user who wants to know."""

from __future__ import annotations

from pathlib import Path

from engine.catalogue import Catalogue
from engine.data.loading.node import loader_of
from engine.data.sets.public_files import megabytes
from engine.data.tables.cache import mark_of, numbers_whole, tables_folder
from engine.data.tables.large import how_read, load_large_text_table, load_large_typed_table
from engine.document.graph import Node
from engine.errors import NeuroloomError

FORM = ("delimiter", "quote", "decimal", "encoding", "header", "skip", "blanks", "aside")


def kept_of(node: Node, catalogue: Catalogue) -> Path | None:
    """The folder of the numbers that were made of a node's file; None where there are none, or not yet."""
    try:
        loader, folder, options = loader_of(node, catalogue)
        if loader not in (load_large_text_table, load_large_typed_table):
            return None
        names = FORM if loader is load_large_text_table else ("blanks",)
        form = {name: options[name] for name in names if name in options}
        place = tables_folder() / mark_of(folder / options["file"], how_read(options["columns"], form))
    except (NeuroloomError, OSError, ValueError):
        return None
    return place if numbers_whole(place) else None


def said_of(place: Path) -> str:
    """A sentence on kept numbers."""
    size = (place / "numbers").stat().st_size
    return (
        f"The table is read in pieces: its numbers, {megabytes(size)}, are kept in {place}. They are made "
        'again when the file changes, and removed when they were not used for 30 days ("In memory up to").'
    )
