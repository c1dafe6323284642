"""Places on the canvas for nodes that come from a file without any."""

from __future__ import annotations

from engine.document.edits import Move
from engine.document.graph import Graph, Project
from engine.layout import Wire, fold_width, layout

SIZE = (160.0, 80.0)  # of a node, about, in scene units


def arrange(project: Project) -> None:
    """Give every node of a project its place, from the left to the right as values flow."""
    for _, graph in project.graphs():
        Move(_places(graph)).apply(project)


def _places(graph: Graph) -> dict[str, tuple[float, float]]:
    wires = [Wire(link.source, link.target) for link in graph.links]
    places = layout(dict.fromkeys(graph.nodes, SIZE), wires, width=fold_width(len(graph.nodes)))
    return {one: (float(round(x)), float(round(y))) for one, (x, y) in places.items()}
