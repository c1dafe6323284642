"""The names of a script: one book knows what it imports, carries and defines itself, and gives all others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from engine.catalogue import Source
from engine.catalogue.emitter import drawn
from engine.catalogue.identifiers import NameBook
from engine.catalogue.symbols import name
from engine.data.filling import without_filling
from engine.data.pairs import check_pairs
from engine.data.portable import IMPORTS, portable_names
from engine.data.reading_ahead import read_ahead
from engine.document.graph import Project
from engine.emit.alternating import Features
from engine.emit.model import Assembly
from engine.layers.noisy import UniformDropout
from engine.layers.ragged import places_there, read_to_end, real_places
from engine.optim.together import Passing, in_one_step
from engine.procedures.rows import as_long
from engine.shapes.shapes import ShapeBook

LIBRARY = {
    **IMPORTS,
    "argparse": "import argparse",
    "plt": "import matplotlib.pyplot as plt",
    "dataclass": "from dataclasses import dataclass",
    "field": "from dataclasses import field",
    "operator": "import operator",
    "time": "import time",
    "os": "import os",
    "sys": "import sys",
    "DistributedDataParallel": "from torch.nn.parallel import DistributedDataParallel",
    "Counter": "from collections import Counter",
    "Image": "from PIL import Image",
    "fastexcel": "import fastexcel",
    "ImageOps": "from PIL import ImageOps",
    "Regex": "from tokenizers import Regex",
    "Tokenizer": "from tokenizers import Tokenizer",
    "networkx": "import networkx",
    "models": "from tokenizers import models",
    "pre_tokenizers": "from tokenizers import pre_tokenizers",
    "trainers": "from tokenizers import trainers",
    "pl": "import polars as pl",
    "ThreadPoolExecutor": "from concurrent.futures import ThreadPoolExecutor",
    "zlib": "import zlib",
}
CONSTANTS = "CONFIG PHASES RANK WORLD TOKENISERS STREAMS FILLED"
CLASSES = "Config Model Player Phase"
FUNCTIONS = (
    "load batches objective measure evaluate optimiser_for schedule_for report train main command_line run "
    "take_turn update set_modes over batches_of part_of over_all of_first together add_up parts_of steps_of "
    "checkpoint_in generators write_checkpoint draw_on state_of remember"
)
# in functions that read names given here, and in loops that are read beside them
VARIABLES = (
    "model batch steps_per_epoch epochs n players player phase turn values sums shuffle done average "
    "averages draws options"
)
ASKED_FOR: tuple[Callable[..., Any], ...] = (
    UniformDropout,
    as_long,
    check_pairs,
    read_ahead,
    without_filling,
    places_there,
    read_to_end,
    real_places,
    Passing,
    in_one_step,
)
OWN = f"{CONSTANTS} {CLASSES} {FUNCTIONS} {VARIABLES}".split()


def script_names(
    project: Project, book: ShapeBook, loads: Iterable[Callable[..., Any]], others: Iterable[str] = ()
) -> NameBook:
    """The book of a script's own scope, in which all that it imports, carries and defines is taken.

    `others` are taken, too.
    `project` and `book` are of the graph as it is trained, `loads` what loads its data. Errors: `EmitError`.
    """
    sources = [made for made in book.types.values() if isinstance(made, Source)]
    drawing = [thing for made in sources for thing in drawn(made, name("sample")).carries]
    carried = [*loads, *Features(project.plan, statistics=True).carries, *book.carries, *drawing, *ASKED_FOR]
    return NameBook((*LIBRARY, *OWN, *others, *portable_names(carried)))


def module_paths(made: Assembly, before: str = "") -> dict[str, str]:
    """Where the layer of each node is in the model, such as `encoder.conv1`; the first of several places."""
    found: dict[str, str] = {}
    for one, code in made.codes.items():
        attribute = next(iter(code.modules), made.attributes[one] if made.graph.node(one).shares else None)
        if attribute is None:
            continue
        found[one] = before + attribute
        if one in made.blocks:
            block = made.book.types[one]
            many = getattr(block, "times", 1) > 1 and getattr(block, "own_weights", True)
            inner = module_paths(made.blocks[one].made, f"{before}{attribute}.{'0.' if many else ''}")
            found = {**inner, **found}
    return {**found, **{one: before + made.attributes[one] for one in made.replays}}
