"""Numbers that must come out exactly."""

from __future__ import annotations

from engine.catalogue import load_catalogue
from tests.bench.rows import row
from tests.bench.setting import gallery_project


@row("cnn-parameters", "weights of the example mnist-cnn (seed 000 §1.3.5)", "parameters", "== 34826")
def parameters() -> tuple[float, str]:
    from engine.shapes.shapes import check

    return check(gallery_project("mnist-cnn"), load_catalogue()).total_parameters, "320 + 18,496 + 16,010"
