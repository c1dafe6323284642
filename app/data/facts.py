"""What the data panel knows of a data set, gathered in a thread because a large one takes a while."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app.workspace.own_units import undone
from engine.catalogue.traits import Preparation
from engine.data.telling import listening, sentence
from engine.errors import NeuroloomError, reason_of

if TYPE_CHECKING:
    from engine.catalogue import Catalogue
    from engine.data.checks.findings import Asked, Finding
    from engine.data.graphs.positions import GraphLook
    from engine.data.preview import Summary
    from engine.data.tables.looks import TableLook
    from engine.data.text.token_names import TokenTable
    from engine.document.graph import Node
    from engine.values import Value

log = logging.getLogger(__name__)

MOST_IMAGES = 240
MOST_ROWS = 2000
MOST_NUMBERS = 12_000_000  # of a column's sample
GRAPH_FILE = "GraphFile"
ADJACENCY = "adjacency"  # the column of a graph's edges
PICKING = (Preparation.WHOLE, Preparation.DISTINCT, Preparation.BALANCED)  # which rows there are
Splits = Mapping[str, Mapping[str, Any]]
Samples = Mapping[str, Mapping[str, NDArray[Any]]]


@dataclass(frozen=True)
class DataFacts:
    """The summary of all splits, the first rows of each column of each split, and what was found.

    `look` is of a table's file. `error` says why there are no splits, where the file itself could be read,
    `kept` where the numbers of a large table lie; `notes` count rows that were left out or come again.
    `tokens` are the vocabularies that reading a text learned. Samples of the columns in `own` have their own
    units, whatever the network sees.
    """

    summary: Summary
    samples: Mapping[str, Mapping[str, NDArray[Any]]]
    look: TableLook | None = None
    graphs: Mapping[str, tuple[GraphLook, ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = field(default=())
    error: str = ""
    kept: str = ""
    notes: tuple[str, ...] = ()
    tokens: tuple[TokenTable, ...] = ()
    own: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Source:
    """What to gather facts of: splits that are read already, or a node that is read for the purpose."""

    node: Node
    catalogue: Catalogue
    splits: Splits | None
    asked: Asked
    table: Mapping[str, Value] | None = (
        None  # of a node that reads a table: its parameters, defaults included
    )


class _NotWanted(Exception):
    """Nobody wants the facts that are gathered any more."""


class FactsReader:
    """Gathers facts of one data set after another; `facts` and `error` belong to the last one asked for.

    `progress` says how far reading has come. What is under way ends when something else is asked for.
    """

    def __init__(self) -> None:
        self.facts: DataFacts | None = None
        self.error = ""
        self.progress = ""
        self._leave = False  # what is under way
        self._key: object = None
        self._thread: threading.Thread | None = None

    def ask(self, key: object, source: Callable[[], Source]) -> None:
        """Gather facts, unless those of this key are there or under way. One at a time: ask again later."""
        if self._key == key or self.busy:
            self._leave = self._key != key
            return
        self._leave = False
        self._key = key
        self.facts = None
        self.error = ""
        self._thread = threading.Thread(target=self._gather, args=(source(),), name="data-facts")
        self._thread.start()

    def about(self, key: object) -> bool:
        """Whether facts and error are of this key."""
        return self._key == key

    @property
    def busy(self) -> bool:
        """Whether facts are being gathered."""
        return self._thread is not None and self._thread.is_alive()

    def join(self) -> None:
        """Let what is under way end, and wait for that."""
        self._leave = True
        if self._thread is not None:
            self._thread.join()

    def _heard(self, done: int, count: int, what: str) -> None:
        self.progress = sentence(done, count, what)
        if self._leave:
            raise _NotWanted

    def _gather(self, source: Source) -> None:
        self.progress = ""
        try:
            with listening(self._heard):
                self.facts = facts_of(source)
        except _NotWanted:
            self._key = None  # it may be asked for again
        except NeuroloomError as error:
            self.error = str(error)
        except Exception as error:
            log.exception("The data could not be summarised")
            self.error = f"The data could not be summarised: {reason_of(error)}"


def facts_of(source: Source) -> DataFacts:
    """The facts of a data node. Errors: `DataError` where nothing of it can be read."""
    from engine.data.checks.checks import findings
    from engine.data.loading.kept_tables import kept_of, said_of
    from engine.data.loading.node import read_node, too_large
    from engine.data.tables.looks import look_at_table

    look = look_at_table(source.table) if source.table is not None else None
    splits, error = source.splits, ""
    place = kept_of(source.node, source.catalogue) if source.table is not None else None
    if splits is None:
        size = 0 if place else too_large(source.node)
        try:
            if size:
                error = f"The file has {size / 2**30:.1f} GB: the splits are counted when training starts."
                splits = {}
            else:
                splits = read_node(source.node, source.catalogue)
        except NeuroloomError as found:
            if look is None:
                raise
            splits, error = {}, str(found)
    made = gather(splits)
    samples, own = _in_own_units(source, splits, made.samples)
    made = replace(made, samples=samples)
    graphs = graphs_of(made.samples) or graphs_side_by_side(splits)
    graphs = graphs or graph_of_file(source.node, source.catalogue)
    told = findings(splits, source.asked, look)
    if source.table is not None:
        place = kept_of(source.node, source.catalogue)
    kept = said_of(place) if place else ""
    notes = _notes(source, splits) if splits else ()
    tokens = _tokens(source, splits)
    return DataFacts(made.summary, made.samples, look, graphs, told, error, kept, notes, tokens, own)


def _in_own_units(source: Source, splits: Splits, samples: Samples) -> tuple[Samples, frozenset[str]]:
    """Rows as they stand in the data, where these are scaled as they are read; with the columns of which."""
    from engine.catalogue import Data
    from engine.look.own_units import own_units, scales

    made = source.catalogue.make(source.node)
    if not splits or not isinstance(made, Data) or not scales(source.node, made, source.catalogue):
        return samples, frozenset()
    try:
        known = own_units(source.node, made, source.catalogue, splits)
    except NeuroloomError:  # the file has gone meanwhile
        return samples, frozenset()
    undone_samples = {
        split: {name: undone(known[name], rows) if name in known else rows for name, rows in part.items()}
        for split, part in samples.items()
    }
    return undone_samples, frozenset(known)


def _tokens(source: Source, splits: Splits) -> tuple[TokenTable, ...]:
    """The vocabularies that reading a text learned; nothing of other data."""
    from engine.catalogue import Data
    from engine.data.text.token_names import token_tables

    made = source.catalogue.make(source.node)
    return token_tables(made, splits) if isinstance(made, Data) and made.token_columns else ()


def _notes(source: Source, splits: Splits) -> tuple[str, ...]:
    """How many rows were left out or come again; nothing where a file is too large to be read for it."""
    from engine.data.loading.node import too_large
    from engine.data.loading.row_counts import asks_for_notes, row_notes

    behind = {done for found in source.asked.behind.values() for done in found}
    picked = source.splits is not None and not behind.isdisjoint(PICKING)
    if not (picked or asks_for_notes(source.node)) or too_large(source.node):
        return ()
    return row_notes(source.node, source.catalogue, splits, picked)


def graph_of_file(node: Node, catalogue: Catalogue) -> dict[str, tuple[GraphLook, ...]]:
    """The whole graph of a file whose nodes are the examples; nothing where the data are none."""
    if node.type != GRAPH_FILE:
        return {}
    import torch

    from engine.data.graphs.files import adjacency, numbered
    from engine.data.graphs.positions import MOST_READ, look_at_graph
    from engine.data.loading.node import loader_of

    _, folder, options = loader_of(node, catalogue)
    try:
        form = options.get("delimiter", ""), options.get("header", False)
        edges, nodes = options["read"](folder / options["file"], *form)
    except (OSError, ValueError):
        return {}
    numbers = numbered(edges, nodes)
    if len(numbers) > MOST_READ:
        return {}
    ends = [
        [numbers[graph, one] for one, _, _, graph in edges],
        [numbers[graph, one] for _, one, _, graph in edges],
    ]
    joined = adjacency(len(numbers), torch.tensor(ends).reshape(2, -1), torch.ones(len(edges)), True)
    look = look_at_graph(joined.numpy())
    return dict.fromkeys(("train", "validation", "test"), (look,))


def graphs_of(samples: Mapping[str, Mapping[str, NDArray[Any]]]) -> dict[str, tuple[GraphLook, ...]]:
    """The first graphs of each split, laid out; nothing where the data are none."""
    from engine.data.graphs.positions import MOST_GRAPHS, look_at_graph

    found = {}
    for split, columns in samples.items():
        joined = columns.get(ADJACENCY)
        if joined is None or joined.ndim != 3:
            continue
        masks, labels = columns.get("mask"), columns.get("label")
        by_node = labels is not None and labels.ndim == 2
        found[split] = tuple(
            look_at_graph(
                joined[at],
                masks[at] if masks is not None and not by_node else None,
                labels[at] if labels is not None and by_node else None,
            )
            for at in range(min(len(joined), MOST_GRAPHS))
        )
    return found


def graphs_side_by_side(splits: Splits) -> dict[str, tuple[GraphLook, ...]]:
    """The first graphs of each split, of data that lay a batch's graphs side by side."""
    import torch

    from engine.data.graphs.files import adjacency
    from engine.data.graphs.positions import MOST_GRAPHS, MOST_READ, look_at_graph
    from engine.data.lazy import is_ragged

    found = {}
    for split, columns in splits.items():
        edges, sizes = columns.get("edges"), columns.get("sizes")
        if sizes is None or edges is None or not is_ragged(edges):
            continue
        looks = []
        for at in range(min(len(sizes), MOST_GRAPHS)):
            ends, count = edges[at].cpu().T, int(sizes[at])
            if count <= MOST_READ:
                joined = adjacency(count, ends, torch.ones(ends.shape[1]), directed=True)
                looks.append(look_at_graph(joined.numpy()))
        found[split] = tuple(looks)
    return found


def gather(data: Splits) -> DataFacts:
    """The facts of `{split: {column: tensor}}`: images are sampled 240, rows 2,000 a split."""
    from torch import Tensor

    from engine.data.preview import sample, summary

    samples: dict[str, dict[str, NDArray[Any]]] = {}
    for split, columns in data.items():
        samples[split] = {}
        for name, values in columns.items():
            few = values.dim() >= 4 or not isinstance(values, Tensor)  # it stays in its files
            most = MOST_IMAGES if few else MOST_ROWS
            most = max(1, min(most, MOST_NUMBERS * max(1, len(values)) // max(1, values.numel())))
            samples[split][name] = np.asarray(sample(data, name, most, split))
    return DataFacts(summary(data), samples)
