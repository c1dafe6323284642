"""Red for, blue against, over the example; what is asked for follows the controls."""

import numpy as np

from app.charts.arrays.overlay import Overlay, edges_of
from app.look.base import Subject
from app.look.controls import choose
from app.look.images.attribution import GradCam, ModelSaliency, Occlusion, Saliency
from app.look.images.receptive import ReceptiveField
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.image_nets import add_branches, add_copying
from tests.app.look.showing import painted, shown, snapshot

GREY = np.full((4, 4), 0.5)
GREY[0, 0], GREY[0, 1] = 0.0, 1.0
SIGNED_MAP = np.zeros((4, 4))
SIGNED_MAP[1, 1], SIGNED_MAP[2, 3] = 2.0, -2.0
FACTS = {
    "image": GREY,
    "kind": "classes",
    "classes": tuple("0123456789"),
    "index": 3,
    "predicted": 3,
    "right": 5,
    "score": 4.0,
    "example": 7,
    "size": 10,
    "split": "validation",
}


def test_strong_places_take_the_colour_of_their_sign(qapp: object) -> None:
    view = Overlay()
    view.set_opacity(1.0)
    view.show_map(GREY, SIGNED_MAP)
    image = painted(view, 400, 200)
    assert view.scale == (-2.0, 2.0) and len(view.boxes) == 2
    plain, over = view.boxes
    side = over.width() / 4

    def at(box, row, column):  # type: ignore[no-untyped-def]
        return image[
            round(box.top() + (row + 0.5) * side), round(box.left() + (column + 0.5) * side)
        ].tolist()

    assert at(over, 1, 1) == [0x67, 0x00, 0x1F] and at(over, 2, 3) == [0x05, 0x30, 0x61]
    assert at(plain, 0, 0) == [0, 0, 0] and at(plain, 0, 1) == [255, 255, 255]
    under = at(over, 3, 0)
    assert under[0] == under[1] == under[2] and 60 < under[0] < 128
    view.set_opacity(0.0)
    assert at(view.boxes[1], 1, 1) is not None
    image = painted(view, 400, 200)
    assert len(set(at(over, 1, 1))) == 1


def test_the_outline_runs_around_what_is_seen() -> None:
    seen = np.zeros((3, 4), bool)
    seen[1, 1:3] = True
    assert sorted(edges_of(seen)) == sorted(
        [(1, 1, 0, 1), (1, 2, 0, 1), (2, 1, 0, 1), (2, 2, 0, 1), (1, 1, 1, 0), (1, 3, 1, 0)]
    )


def test_saliency_asks_for_the_chosen_class_and_method(shaped: Workspace) -> None:
    add_branches(shaped)
    picture = ModelSaliency(Subject(shaped, ""))
    first = Probe("", "attribution", ("gradient", -1))
    assert picture.probes() == {first}
    shown(picture, {first: snapshot(SIGNED_MAP, **FACTS, method="gradient")})
    assert picture.note == "for 3 (predicted), score 4 · example 8"
    asked = []
    picture.needs_changed.connect(lambda: asked.append(picture.probes()))
    choose(picture.target, 5)
    picture.target.activated.emit(0)
    choose(picture.method, "integrated gradients")
    picture.method.activated.emit(0)
    integrated = Probe("", "attribution", ("integrated gradients", 5))
    assert asked[-1] == {integrated}
    facts = {**FACTS, "index": 5, "gap": 0.01}
    shown(picture, {integrated: snapshot(SIGNED_MAP, **facts, method="integrated gradients")})
    assert picture.note == "for 5 (right), score 4 · sum lacks 0.01 · example 8"
    again = Saliency(Subject(shaped, "n8"))
    again.restore(picture.state())
    assert again.probes() == {Probe("n8", "attribution", ("integrated gradients", 5))}
    assert picture.table()[1][5] == (2, 2, 2.0)


def test_saliency_of_a_cloud_colours_its_points(shaped: Workspace) -> None:
    add_branches(shaped)
    picture = ModelSaliency(Subject(shaped, ""))
    points = np.array([[1.0, 0, 2], [0, 0, 0], [0, 3, 0]])  # the second fills up
    slopes = np.array([[0.5, 0, 0.25], [9, 9, 9], [-1, 0, 0]])
    facts = {**FACTS, "image": points, "cloud": True}
    shown(picture, {Probe("", "attribution", ("gradient", -1)): snapshot(slopes, **facts, method="gradient")})
    assert picture.overlay.isHidden() and not picture.cloud.isHidden()
    (there,), (values,) = picture.cloud.shown, picture.cloud.values
    assert there.tolist() == [[1, 0, 2], [0, 3, 0]] and values.tolist() == [0.75, -1]


def test_grad_cam_and_occlusion_say_what_they_are(shaped: Workspace) -> None:
    add_branches(shaped)
    cam = GradCam(Subject(shaped, "n2"))
    shown(cam, {Probe("n2", "grad_cam", (-1,)): snapshot(np.abs(SIGNED_MAP), **{**FACTS, "size": (3, 8, 8)})})
    assert "from 3 maps of 8 × 8" in cam.note and cam.overlay.scale == (0.0, 2.0)
    covered = Occlusion(Subject(shaped, "n8"))
    probe = Probe("n8", "occlusion", (-1, 4, 2))
    assert covered.probes() == {probe}
    shown(covered, {probe: snapshot(SIGNED_MAP, **FACTS, fill=0.25, patch=4, stride=2)})
    assert "4 × 4 at 0.25" in covered.note
    covered.restore({"patch": 8, "step": 1, "target": 2})
    assert covered.probes() == {Probe("n8", "occlusion", (2, 8, 1))}


def test_a_click_chooses_the_unit_whose_field_is_shown(shaped: Workspace) -> None:
    add_branches(shaped)
    picture = ReceptiveField(Subject(shaped, "n5"))
    seen = np.zeros((8, 8), bool)
    seen[1:8, 1:8] = True
    facts = {"image": np.ones((8, 8)), "seen": seen, "size": (7, 7), "stride": (2, 2), "unit": (-1, 2, 2)}
    facts |= {"map": (4, 4), "example": 0}
    probe = Probe("n5", "receptive_field", (-1, -1, -1))
    shown(picture, {probe: snapshot(np.eye(8), **facts)})
    assert picture.note == "sees 7 × 7 pixels · stride 2 · unit at row 3 of 4, column 3 of 4"
    image = painted(picture, 420, 230)
    box = picture.overlay.boxes[-1]
    y, x = round(box.top() + box.height() / 8), round(box.left() + box.width() / 2)
    line = image[y - 2 : y + 2, x - 10 : x + 10].astype(int)
    assert (np.abs(line - [0xFF, 0xB0, 0x00]).sum(axis=2) < 30).any()
    picture.overlay.clicked.emit(7, 0)
    assert picture.probes() == {Probe("n5", "receptive_field", (-1, 3, 0))}
    assert picture.state() == {"row": 3, "column": 0}


def test_they_are_proposed_for_images_alone(shaped: Workspace) -> None:
    add_iris(shaped)
    names = {kind.id for node in ("", "n2", "n3") for kind in proposed(Subject(shaped, node))}
    assert not names & {"saliency", "model-saliency", "grad-cam", "model-occlusion", "receptive-field"}


def test_they_are_proposed_for_maps_and_answers(shaped: Workspace) -> None:
    add_branches(shaped)
    names = {node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("", "n2", "n8")}
    assert {"model-saliency", "model-occlusion"} <= names[""]
    assert {"grad-cam", "receptive-field", "excitation", "strongest", "unit"} <= names["n2"]
    assert not {"saliency", "occlusion"} & names["n2"]
    assert {"saliency", "occlusion", "receptive-field"} <= names["n8"] and "grad-cam" not in names["n8"]


def test_values_are_chosen_by_their_number(shaped: Workspace) -> None:
    add_copying(shaped)
    picture = Saliency(Subject(shaped, "n4"))
    facts = {**FACTS, "kind": "values", "classes": (), "index": 0, "size": 64, "method": "gradient"}
    shown(picture, {Probe("n4", "attribution", ("gradient", -1)): snapshot(SIGNED_MAP, **facts)})
    assert picture.target.itemText(63) == "Value 64" and picture.note.startswith("for value 1, score 4")
