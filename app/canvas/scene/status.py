"""The words of the status line."""

from __future__ import annotations

from app.workspace.open_document import CheckedDocument
from engine.values import counted

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def status_parts(workspace: CheckedDocument, zoom: float) -> list[str]:
    """Zoom, parameters, multiply-adds of one example and number of problems, as far as they are known."""
    return [zoom_part(zoom), *fact_parts(workspace)]


def zoom_part(zoom: float) -> str:
    """The one part that changes while the viewport moves."""
    return f"{zoom * 100:.0f} %"


def fact_parts(workspace: CheckedDocument) -> list[str]:
    """What is known of the graph: it takes a sum over all nodes."""
    shapes = workspace.shapes
    if shapes is None:
        return []
    parts = [f"{counted(shapes.total_parameters, 'parameter')}"]
    operations = shapes.total_multiply_adds
    if operations:
        parts.append(f"{shortened(operations)} multiply-adds")
    problems = len(shapes.problems)
    parts.append(counted(problems, "problem") if problems else "no problems")
    return parts


def shortened(number: float) -> str:
    """A large number in two figures: 5,123,456 is "5.1 M"."""
    for size, unit in _UNITS:
        if number >= size:
            value = number / size
            return f"{value:.1f} {unit}" if value < 100 else f"{value:.0f} {unit}"
    return f"{number:.0f}"
