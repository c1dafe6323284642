"""Your own graphs as a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.catalogue import Column, Emitted, Emitter, param
from engine.catalogue.axes import OF_NODES
from engine.catalogue.params import FilePath, Names
from engine.catalogue.traits import FileForm
from engine.errors import DataError
from nodes.data.own_file import OwnFile
from nodes.data.splitting import BY_CLASS, BY_GROUP, FOLDS, GIVEN, SplitData

NODES, WHOLE, GRAPHS = "nodes", "whole graph", "graphs"
PADDED, BLOCKS = "padded", "block-diagonal"
EDGE_LISTS, GRAPHML = "lists of edges", "GraphML"
MOST_SQUARE = 20_000  # nodes of an adjacency matrix
MARKS = {"spaces": "", "tab": "\t"}


def known_of(features: tuple[str, ...]) -> str:
    """What a row of a node holds, in words."""
    return f"{', '.join((*features, 'degree'))} of each node"


def packed_columns(features: int, known: str, classes: tuple[str, ...]) -> tuple[Column, ...]:
    """What graphs give that lie side by side in a batch; those with a row a graph come first."""
    label = (Column("label", (), "int64", classes, doc="the class of each graph"),) if classes else ()
    return (
        Column("sizes", (), "int64", doc="how many nodes each graph has"),
        *label,
        Column("nodes", (features,), doc=known, rows="nodes"),
        Column("edges", (2,), "int64", doc="a node, and the one it leads to", rows="edges"),
        Column("weights", (), doc="of the edges", rows="edges"),
    )


def padded_columns(
    features: int, known: str, size: int, classes: tuple[str, ...], whole: bool = False
) -> tuple[Column, ...]:
    """What graphs give that are filled up to `size` nodes, or a `whole` graph, whose nodes are labelled."""
    told = "1 for the nodes of the split" if whole else "1 where there is a node"
    found = (
        Column("nodes", (size, features), axes=OF_NODES, doc=known),
        Column("adjacency", (size, size), doc="weights of the edges that lead to each node"),
        Column("mask", (size,), doc=told),
    )
    label = Column("label", (size,) if whole else (), "int64", classes, doc="the class")
    return (*found, label) if classes else found


class GraphFile(SplitData, OwnFile):
    """A graph from a list of edges or a GraphML file; what is known of its nodes may lie in a table beside.

    Its nodes are the examples, or it comes whole, or the file holds many graphs, padded to one size.
    """

    reads = FileForm.GRAPH
    title = "Graph file"
    aliases = ("network", "edges", "edge list", "graphml", "adjacency", "social")
    source = "a file of your own"
    path: FilePath = param(
        "", label="File", doc="a list of edges, or GraphML; NAME.nodes.csv beside it tells of the nodes"
    )
    examples: str = param(
        NODES,
        choices=(NODES, WHOLE, GRAPHS),
        doc="nodes: each node of one graph; whole graph: that graph in one piece, with a mask for the "
        "nodes of each split; graphs: many of them, numbered by the column graph",
    )
    batches: str = param(
        PADDED,
        choices=(PADDED, BLOCKS),
        when=("examples", (GRAPHS,)),
        doc="padded: each graph is filled up to the largest, as matrices; block-diagonal: the graphs of a "
        "batch lie side by side as one list of nodes and one of edges, which wastes nothing",
    )
    features: Names = param((), doc="columns of the table of nodes that are inputs; the degree comes last")
    directed: bool = param(False, doc="edges lead one way; otherwise both")
    delimiter: str = param(
        ",", choices=(",", ";", "tab", "spaces"), doc="what stands between the cells of a list of edges"
    )
    header: bool = param(False, doc="the first line of a list of edges names its columns")
    target: str = param("", doc="the column of the table of nodes that is to be predicted")
    classes: Names = param((), hidden=True, doc="the classes that were found")
    size: int = param(1, minimum=1, maximum=100_000_000, hidden=True, doc="nodes of the largest graph")
    count: int = param(0, minimum=0, hidden=True, doc="how many examples were found")
    edges: int = param(0, minimum=0, hidden=True, doc="how many edges were found")
    stamp: str = param("", hidden=True, doc="marks what the file held when it was opened")

    def holds(self) -> tuple[str, ...]:
        path = Path(self.path)
        tables = [f"{path.name.split('.')[0]}.{what}.csv" for what in ("nodes", "graphs")]
        beside = [one for one in tables if self.path and (path.parent / one).is_file()]
        return (*super().holds(), *beside)

    def columns(self) -> tuple[Column, ...]:
        if not self.path:
            return ()
        inputs, known = len(self.features) + 1, known_of(self.features)
        classes = self.classes if self.target or self.examples == GRAPHS else ()
        if self.examples == GRAPHS and self.batches == BLOCKS:
            return packed_columns(inputs, known, classes)
        if self.examples != NODES:
            return padded_columns(inputs, known, self.size, classes, self.examples == WHOLE)
        label = (Column("label", (), "int64", classes, doc="the class"),) if classes else ()
        return (Column("features", (inputs,), doc=known), *label)

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.graphs.batches import load_graph_batches
        from engine.data.graphs.files import load_graph, read_edge_list, read_graphml

        if not self.path:
            raise DataError("No graph is chosen.", fix="Choose a list of edges or a GraphML file.")
        if self.split == BY_GROUP:
            raise DataError("Graphs have no groups.", fix="Split the rows in another way.")
        if self.size > MOST_SQUARE and self.examples != NODES and self.batches != BLOCKS:
            raise DataError(
                f"A matrix of {self.size:,} × {self.size:,} edges is more than memory holds.",
                fix="Set Examples to nodes, or Batches to block-diagonal.",
            )
        labelled = any(column.classes for column in self.columns())
        how = self.splitting(classes=labelled)
        options: dict[str, Any] = {"read": read_graphml}
        if not self.path.casefold().endswith((".graphml", ".xml")):
            form = {"delimiter": MARKS.get(self.delimiter, self.delimiter), "header": self.header}
            options = {"read": read_edge_list, **form}
        if self.split == GIVEN:
            options["by"] = "split"
        elif self.split in (BY_CLASS, FOLDS) and labelled:
            options["by"] = "class"
        if self.examples == GRAPHS and self.batches == BLOCKS:
            return e.load(
                load_graph_batches,
                file=Path(self.path).name,
                features=self.features,
                classes=self.classes,
                directed=self.directed,
                **options,
                **how,
            )
        return e.load(
            load_graph,
            file=Path(self.path).name,
            features=self.features,
            target=self.target if labelled else "",
            classes=self.classes,
            directed=self.directed,
            examples=self.examples,
            size=self.size,
            **options,
            **how,
        )

    def summary(self) -> str:
        if not self.path:
            return "no file"
        what = "graphs" if self.examples == GRAPHS else "nodes"
        classes = f" · {len(self.classes):,} classes" if self.classes else ""
        return f"{self.count:,} {what} · {self.edges:,} edges{classes}"


class GraphFolder(SplitData):
    """A folder of graphs, lists of edges or GraphML with a file for each; the folders in it are the classes.

    Each graph is an example. NAME.nodes.csv beside a list of edges tells of its nodes.
    """

    reads = FileForm.GRAPHS
    title = "Folder of graphs"
    aliases = ("graphs", "networks", "molecules", "edges", "graphml")
    source = "files of your own"
    path: FilePath = param(
        "", label="Folder", folder=True, doc="graphs, or folders of them, one for each class"
    )
    batches: str = param(
        PADDED,
        choices=(PADDED, BLOCKS),
        doc="padded: each graph is filled up to the largest, as matrices; block-diagonal: the graphs of a "
        "batch lie side by side as one list of nodes and one of edges, which wastes nothing",
    )
    features: Names = param((), doc="what is known of the nodes that is an input; the degree comes last")
    directed: bool = param(False, doc="edges lead one way; otherwise both")
    form: str = param(
        EDGE_LISTS, choices=(EDGE_LISTS, GRAPHML), label="Files", doc="of what form the files are"
    )
    delimiter: str = param(
        ",",
        choices=(",", ";", "tab", "spaces"),
        when=("form", (EDGE_LISTS,)),
        doc="what stands between the cells of a list of edges",
    )
    header: bool = param(
        False, when=("form", (EDGE_LISTS,)), doc="the first line of a list of edges names its columns"
    )
    classes: Names = param((), hidden=True, doc="the folders that are classes")
    size: int = param(1, minimum=1, maximum=1_000_000, hidden=True, doc="nodes of the largest graph")
    count: int = param(0, minimum=0, hidden=True, doc="how many graphs were found")
    edges: int = param(0, minimum=0, hidden=True, doc="how many edges were found")
    stamp: str = param("", hidden=True, doc="marks what was found when it was opened")

    def columns(self) -> tuple[Column, ...]:
        inputs, known = len(self.features) + 1, known_of(self.features)
        if self.batches == BLOCKS:
            return packed_columns(inputs, known, self.classes)
        return padded_columns(inputs, known, self.size, self.classes)

    def folder(self) -> Path | None:
        return Path(self.path) if self.path else None

    def holds(self) -> tuple[str, ...]:
        return ("the graphs",) if self.path else ()

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.graphs.files import read_edge_list, read_graphml
        from engine.data.graphs.folder import load_graph_folder

        if not self.path:
            raise DataError("No graphs are chosen.", fix="Choose a folder of them.")
        if self.split == BY_GROUP:
            raise DataError("Graphs have no groups.", fix="Split the rows in another way.")
        options: dict[str, Any] = {"read": read_graphml}
        if self.form == EDGE_LISTS:
            form = {"delimiter": MARKS.get(self.delimiter, self.delimiter), "header": self.header}
            options = {"read": read_edge_list, **form}
        if self.split == GIVEN:
            options["by"] = "split"
        elif self.split in (BY_CLASS, FOLDS) and self.classes:
            options["by"] = "class"
        return e.load(
            load_graph_folder,
            features=self.features,
            classes=self.classes,
            directed=self.directed,
            size=self.size,
            packed=self.batches == BLOCKS,
            **options,
            **self.splitting(classes=bool(self.classes)),
        )

    def summary(self) -> str:
        if not self.path:
            return "no folder"
        classes = f" · {len(self.classes):,} classes" if self.classes else ""
        return f"{self.count:,} graphs · {self.edges:,} edges{classes}"
