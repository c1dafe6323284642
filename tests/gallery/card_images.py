"""Paints the images on the cards of the gallery: `python -m tests.gallery.card_images [EXAMPLE ...]`.

Each example is trained as its plan says, for `--seconds` of the processor's time at most, and one view of it
is painted in both themes.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_SCALE_FACTOR"] = "2"  # drawn as on a dense screen

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.look.base import Subject
from app.look.dock.states import is_drawable
from app.look.registry import proposed, view_kinds
from app.theme import current_theme, set_theme
from app.window.example_card import IMAGE
from app.window.gallery import example_path, examples
from app.workspace.engine_parts import EngineParts
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document.files import load_project
from engine.emit.script import export_script
from engine.feed.feed import Feed
from engine.runs.settings import Settings, Stage
from engine.shapes.heads import loss_heads
from engine.shapes.shapes import ShapeBook
from engine.train.begin import begin_run
from engine.train.loop import Run
from engine.train.sources import Sources
from tests.app.fake_run import RestingTrainer
from tests.engine.look.taking import take
from tests.engine.train.networks import DATASETS, catalogue

SCALE = 2  # pixels of the file for one of the card
MARGIN = 6


@dataclass(frozen=True)
class Painted:
    """The view that shows best what was learnt, at the node of this name; "" is the whole model."""

    kind: str
    node: str = ""
    wide: float = 1.6  # how much larger than on the card it is laid out
    square: bool = False
    state: Mapping[str, object] = field(default_factory=dict)


IMAGES = {
    "two-spirals": Painted("decision-regions", "cross-entropy"),
    "dqn-grid": Painted("grid-world", "maze"),
    "iris": Painted("projection", "hidden2"),
    "linear-regression": Painted("fit", "gradient error"),
    "perceptron-gates": Painted("decision-regions", "AND unit"),
    "delta-rule": Painted("decision-regions", "gradient"),
    "drawn-points": Painted("decision-regions", "cross-entropy"),
    "mnist-cnn": Painted("activations", "conv1"),
    "mnist-mlp": Painted("worst-and-best", "cross-entropy"),
    "vit-mnist": Painted("attention-rollout", "attention"),
    "gpt2-small": Painted("parameter-budget"),
    "digits-augmented": Painted("augmented", "affine"),
    "shapes-masks": Painted("masks", "cross-entropy"),
    "digit-boxes": Painted("boxes", "grid", 1.76),
    "typed-kernels": Painted("window-steps", "upright edges", 2.2, state={"step": 430}),
    "image-blocks": Painted("activations", "residual"),
    "residual-blocks": Painted("confusion-matrix", "cross-entropy", square=True),
    "santa-fe-lstm": Painted("forecast", "forecast"),
    "romeo-letters": Painted("next-token", "scores"),
    "word-vectors": Painted("nearest-words", "words", 1.8, state={"question": "romeo"}),
    "copying-lags": Painted("gates", "LSTM", 1.8),
    "lstm-gates": Painted("gates", "memory", 1.8),
    "end-marks": Painted("confusion-matrix", "surprise", square=True),
    "numbers-in-words": Painted("gates", "read"),
    "seq2seq-numbers": Painted("attention-map", "attention"),
    "masked-letters": Painted("hidden-tokens", "scores"),
    "bert-stories": Painted("hidden-tokens", "hidden words"),
    "shifted-digits": Painted("confusion-matrix", "conv loss", square=True),
    "gan-digits": Painted("samples", "generator"),
    "rbm-mnist": Painted("reconstructions", "RBM"),
    "hopfield-2d": Painted("energy-landscape", "saturating", 2.2),
    "gaussian-mixture": Painted("decision-regions", "cross-entropy"),
    "karate-club": Painted("decision-regions", "club"),
    "graph-classes": Painted("projection", "whole graph"),
    "point-clouds": Painted("projection", "hidden"),
    "optimiser-race": Painted("fit", "error"),
    "uneven-noise": Painted("fit", "likelihood"),
    "two-heads": Painted("activations", "conv1"),
    "stacked-autoencoder": Painted("reconstructions", "reconstruction 1"),
    "committee": Painted("confusion-matrix", "committee accuracy", square=True),
    "teacher-student": Painted("calibration", "distillation"),
    "penguins": Painted("neurons"),
    "faces-folder": Painted("worst-and-best", "cross-entropy"),
    "array-digits": Painted("confusion-matrix", "cross-entropy", square=True),
    "co2-series": Painted("forecast", "forecast"),
    "gaussian-process": Painted("fit", "likelihood"),
    "curve-bases": Painted("fit", "splines error"),
    "plane-regions": Painted("linear-regions", "loss of fours", 2.2),
    "shallow-relu": Painted("linear-regions", "error of sixteen", 1.8),
    "three-rates": Painted("fit", "converging"),
    "four-classifiers": Painted("decision-regions", "QDA AUC"),
    "support-vectors": Painted("decision-regions", "machine"),
    "sampled-weights": Painted("fit", "error"),
    "pruned-digits": Painted("weight_matrix", "hidden"),
    "robust-digits": Painted("confusion-matrix", "loss", square=True),
    "char-decoder": Painted("attention-map", "attention"),
    "mixture-em": Painted("projection", "mixture"),
    "domain-pair": Painted("confusion-matrix", "on MNIST", square=True),
    "diffusion-points": Painted("procedure", "", 2.6),
}


def main() -> None:
    """Paints those named, or all."""
    reading = argparse.ArgumentParser(description=main.__doc__)
    reading.add_argument("names", nargs="*", metavar="EXAMPLE")
    reading.add_argument("--seconds", type=float, default=240.0, help="of the processor's time to train each")
    given = reading.parse_args()
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    set_theme("dark")
    for example in examples():
        if given.names and example.path.stem not in given.names:
            continue
        with TemporaryDirectory() as folder:
            workspace = Workspace(Places.under(Path(folder)))
            workspace.adopt_engine(EngineParts(ShapeBook, lambda *_: RestingTrainer(), export_script))
            _paint(workspace, example.path.stem, given.seconds)
            workspace.close()


def trained(name: str, seconds: float) -> Run:
    """The example after its plan, or after so many seconds of the processor's time."""
    sources = Sources(catalogue(), DATASETS)
    project = load_project(example_path(name))
    program = sources.program(project, 1)
    settings = Settings.of(project.plan, device="cpu")
    run = begin_run(program, catalogue(), sources.loader(program, "cpu"), settings, Feed(), 1)
    run.heads = loss_heads(run.program.project, run.program.book)
    ends = time.process_time() + seconds
    while run.stage is not Stage.DONE and time.process_time() < ends:
        run.advance()
    return run


def _paint(workspace: Workspace, name: str, seconds: float) -> None:
    workspace.document.replace(load_project(example_path(name)), None)
    nodes = workspace.document.project.graph.nodes
    asked = IMAGES.get(name)
    if asked is None:
        for node_id in ("", *nodes):
            kinds = ", ".join(kind.id for kind in proposed(Subject(workspace, node_id)))
            print(f"{name}: {nodes[node_id].name if node_id else 'whole'}: {kinds}")
        return
    graphs = workspace.document.project.graphs()
    everywhere = [node for _, graph in graphs for node in graph.nodes.values()]
    node_id = next((node.id for node in everywhere if node.name == asked.node), "")
    view = view_kinds()[asked.kind].make(Subject(workspace, node_id))
    if asked.state:
        view.restore(asked.state)
    wanted = sorted(view.probes())
    found = dict(zip(wanted, take(trained(name, seconds), *wanted), strict=True)) if wanted else {}
    view.draw({probe: snapshot for probe, snapshot in found.items() if is_drawable(snapshot)})
    card = QSize(IMAGE.height(), IMAGE.height()) if asked.square else IMAGE
    size = card * asked.wide
    for theme in ("dark", "light"):
        set_theme(theme)
        view.resize(size - QSize(2 * MARGIN, 2 * MARGIN))
        view.show()
        for _ in range(5):
            QApplication.processEvents()
            time.sleep(0.05)
        grabbed = view.grab().toImage()
        grabbed.setDevicePixelRatio(1)
        inner = card * SCALE - QSize(2 * MARGIN, 2 * MARGIN)
        image = QImage(IMAGE * SCALE, QImage.Format.Format_RGB32)
        image.fill(current_theme().panel)
        painter = QPainter(image)
        small = grabbed.scaled(inner, mode=Qt.TransformationMode.SmoothTransformation)
        painter.drawImage((image.width() - inner.width()) // 2, MARGIN, small)
        painter.end()
        path = example_path(name).parent / "images" / f"{name}-{theme}.png"
        path.parent.mkdir(exist_ok=True)
        image.convertToFormat(QImage.Format.Format_RGB888).save(str(path))
        print(path, flush=True)
    view.hide()


if __name__ == "__main__":
    main()
