"""Each way to make an input gives the model what its data look like."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent, QImage
from PySide6.QtTest import QTest

from app.look.playground.inputs import ExampleInput, FileInput, NumbersInput, PadInput, TextInput, pixels
from app.look.playground.rows import Rows
from engine.catalogue import Column
from engine.shapes.heads import Feature

IMAGE = Column("image", (1, 28, 28))


def image_rows(side: int = 28) -> Rows:
    """Images whose black is -1 and whose white is 3."""
    images = torch.zeros(4, 1, side, side)
    images[0], images[1], images[2] = -1.0, 3.0, 0.5
    split = {"image": images, "digit": torch.arange(4)}
    return Rows({"train": split, "validation": split})


def test_examples_go_on_and_back_and_begin_again(qapp: object) -> None:
    made = ExampleInput(IMAGE)
    made.take_rows(image_rows())
    heard: list[None] = []
    made.changed.connect(lambda: heard.append(None))
    made.go(-1)
    assert made.index == 3 and heard
    row = made.make({})
    assert row["digit"] == 3 and made.said() == "validation example 4 of 4"
    made.go(4)
    assert made.make({})["image"].max() == -1


def test_a_drawing_has_the_range_and_the_place_of_the_data(qapp: object) -> None:
    made = PadInput(IMAGE)
    made.take_rows(image_rows())
    made.resize(224, 260)
    made.pad.resize(224, 224)
    made.pad.stroke(QPointF(30, 20), QPointF(30, 190))
    image = made.make({"digit": np.array(1)})["image"]
    assert image.shape == (1, 28, 28) and image.dtype == np.float32
    assert image.min() == -1 and image.max() == pytest.approx(3)
    rows = np.nonzero((image[0] > 1).any(axis=1))[0]
    assert rows.max() - rows.min() == 19
    assert "MNIST" in made.said()


def test_smaller_images_are_filled(qapp: object) -> None:
    made = PadInput(Column("image", (1, 8, 8)))
    made.take_rows(image_rows(8))
    made.pad.resize(224, 224)
    made.pad.stroke(QPointF(100, 20), QPointF(100, 190))
    image = made.make({})["image"][0]
    assert (image > -0.5).any(axis=1).all()
    assert made.said() == "the drawing is scaled to fill 8 × 8"


def test_nothing_drawn_is_an_empty_image(qapp: object) -> None:
    made = PadInput(IMAGE)
    made.take_rows(image_rows())
    assert (made.make({})["image"] == -1).all()


def quarters(path: Path) -> str:
    """A view of 40 × 20: left red, right white above and black below."""
    image = QImage(40, 20, QImage.Format.Format_RGB32)
    for x in range(40):
        for y in range(20):
            image.setPixelColor(x, y, QColor("red") if x < 20 else QColor("white" if y < 10 else "black"))
    assert image.save(str(path))
    return str(path)


def test_a_view_in_colour_and_in_grey(qapp: object, tmp_path: Path) -> None:
    image = QImage(quarters(tmp_path / "a.png"))
    colour = pixels(image, 3, 4, 4)
    assert colour.shape == (3, 4, 4)
    np.testing.assert_allclose(colour[:, 2, 0], [1, 0, 0], atol=0.02)
    np.testing.assert_allclose(colour[:, 0, 3], 1, atol=0.02)
    grey = pixels(image, 1, 4, 4)
    assert grey[0, 0, 3] > 0.98 and grey[0, 3, 3] < 0.02 and 0.1 < grey[0, 0, 0] < 0.5


def test_a_dropped_file_is_resized_into_the_range_of_the_data(qapp: object, tmp_path: Path) -> None:
    made = FileInput(IMAGE)
    made.take_rows(image_rows())
    assert made.make({}) is None
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(quarters(tmp_path / "b.png"))])
    made.dropEvent(
        QDropEvent(
            QPointF(5, 5),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )
    image = made.make({})["image"]
    assert image.shape == (1, 28, 28) and image[0, 2, 25] > 2.9 and image[0, 25, 25] < -0.9
    made.invert.setChecked(True)
    assert made.make({})["image"][0, 25, 25] > 2.9
    assert made.said() == "b.png, resized to 28 × 28"


def test_what_is_no_image_says_so(qapp: object, tmp_path: Path) -> None:
    path = tmp_path / "c.png"
    path.write_text("no image")
    made = FileInput(IMAGE)
    assert not made.open(str(path)) and "not an image" in made.view.message


def test_numbers_are_typed_and_stepped(qapp: object) -> None:
    features = [Feature("x", 0, "length"), Feature("x", 1, "width"), Feature("y", None, "y")]
    made = NumbersInput(features)
    split = {"x": torch.tensor([[0.0, 10.0], [4.0, 30.0]]), "y": torch.tensor([1.0, 2.0])}
    made.take_rows(Rows({"train": split}))
    base = {"x": np.array([1.0, 20.0], np.float32), "y": np.float32(1.5)}
    made.begin({name: np.asarray(values) for name, values in base.items()})
    heard: list[None] = []
    made.changed.connect(lambda: heard.append(None))
    field = made.fields[1]
    field.selectAll()
    QTest.keyClicks(field, "25,5")
    QTest.keyClick(made.fields[0], Qt.Key.Key_Up)
    row = made.make({name: np.asarray(values) for name, values in base.items()})
    np.testing.assert_allclose(row["x"], [1.1, 25.5])
    assert row["y"] == 1.5 and base["x"][1] == 20 and heard
    assert field.toolTip() == "in the data 10 to 30"
    QTest.keyClicks(field, "x")
    assert field.property("bad") == "true" and field.value == 25.5
    made.show_slopes(np.array([0.5, -2.0, 0.0]))
    assert [slope.text() for slope in made.slopes] == ["+0.5", "-2", "+0"]


@pytest.mark.parametrize(
    ("classes", "text", "tokens", "unknown"),
    [
        (("a", "b", "c"), "cab", [7, 2, 0, 1], ()),
        (("the", "cat", "sat"), "the  cat flew", [7, 7, 0, 1], ("flew",)),
    ],
)
def test_text_becomes_tokens(
    qapp: object, classes: tuple[str, ...], text: str, tokens: list[int], unknown: tuple[str, ...]
) -> None:
    made = TextInput(Column("tokens", (4,), "int64", classes))
    base = {"tokens": np.full(4, 7)}
    assert made.make(base) is None
    QTest.keyClicks(made.field, text)
    assert made.make(base)["tokens"].tolist() == tokens and made.unknown == unknown


def test_text_is_split_as_the_data_are(qapp: object) -> None:
    """A row that is filled up is the text's alone; where windows run on, the example stands before it."""
    column, base = Column("tokens", (4,), "int64", ("x",) * 9), {"tokens": np.full(4, 7), "mask": np.ones(4)}
    whole = {"tokens": np.array([5, 1, 0, 0]), "mask": np.array([1.0, 1, 0, 0]), "length": np.array(2)}
    made = TextInput(column, typed=lambda name, text: whole)
    assert made.make(base) is None
    QTest.keyClicks(made.field, "ab")
    found = made.make(base)
    assert found is not None and found.keys() == base.keys()
    assert found["tokens"].tolist() == [5, 1, 0, 0] and found["mask"].tolist() == [1, 1, 0, 0]
    assert made.said() == "1 unknown · the first 4 tokens count"
    made = TextInput(column, typed=lambda name, text: {"tokens": np.array([5, 6])})
    QTest.keyClicks(made.field, "ab")
    assert made.make(base)["tokens"].tolist() == [7, 7, 5, 6]  # type: ignore[index]
    assert made.said().endswith("before them stands the example")
