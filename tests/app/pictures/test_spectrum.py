"""One bar a singular value, the numbers for a file, the rank beside the title."""

import numpy as np

from app.pictures.base import Subject
from app.pictures.registry import proposed
from app.pictures.spectrum import Spectrum
from app.workspace import Workspace
from engine.run.feed import Probe
from tests.app.conftest import add_iris
from tests.app.pictures.showing import painted, shown, snapshot


def test_bars_fall_with_the_values(shaped: Workspace) -> None:
    add_iris(shaped)
    subject = Subject(shaped, "n2")
    picture = Spectrum(subject)
    empty = painted(picture)
    shown(picture, {Probe("n2", "singular_values"): snapshot([4.0, 2.0, 1.0], rank=2.6, largest=4.0)})
    assert picture.note == "largest 4 · effective rank 2.6"
    assert picture.table() == (("direction", "singular value"), [(1, 4.0), (2, 2.0), (3, 1.0)])
    drawn = (painted(picture) != empty).any(axis=2)
    thirds = [part.any(axis=1).sum() for part in np.array_split(drawn, 3, axis=1)]
    assert thirds[0] > thirds[1] > thirds[2] > 0


def test_it_is_proposed_for_layers_with_weights_alone(shaped: Workspace) -> None:
    add_iris(shaped)
    names = {node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("n1", "n2", "n3")}
    assert "spectrum" in names["n2"]
    assert "spectrum" not in names["n1"] | names["n3"]
