"""Which public sets the nodes of a project look for among the downloads."""

from __future__ import annotations

from collections.abc import Iterator

from engine.catalogue import Catalogue, Data
from engine.data.sets.public_files import PublicSet, folder_of, megabytes, public_set
from engine.document.graph import Node, Project
from engine.errors import DataError


def set_of(catalogue: Catalogue, node: Node) -> PublicSet | None:
    """The set of a node; None for other nodes, and for those that read a folder of the user's."""
    kind = catalogue.get(node.type)
    if kind is None or not issubclass(kind, Data) or not kind.public or node.params.get("path"):
        return None
    return public_set(kind.public)


def not_here(catalogue: Catalogue, project: Project) -> Iterator[tuple[Node, PublicSet]]:
    """The nodes whose set has not been downloaded, or not all of it."""
    for node in project.graph.nodes.values():
        wanted = set_of(catalogue, node)
        if wanted is not None and wanted.missing(folder_of(wanted.id)):
            yield node, wanted


def as_error(node: Node, wanted: PublicSet) -> DataError:
    """What the command line says of it."""
    return DataError(
        f"{wanted.title} has not been downloaded yet.",
        node_id=node.id,
        fix=f"`neuroloom data get {wanted.id}` does it ({megabytes(wanted.size)}).",
    )
