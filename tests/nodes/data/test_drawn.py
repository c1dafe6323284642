"""Drawn points: the columns they become, to the number, and which split a point is in."""

import pytest
import torch

from engine.data.sets.drawn import split_as_drawn
from engine.errors import ParamError
from nodes.data.drawn import DrawnPoints, class_names
from tests.nodes.data.test_sets import Recorder

THREE = ((0.5, -0.25, 0), (1.0, 2.0, 1), (-3, 4, 1))
MANY = tuple((at / 40, -at / 40, at % 2) for at in range(40))


def loaded(node):
    recorder = Recorder()
    node.emit(recorder)
    return recorder.loader(None, "cpu", **recorder.values)


def test_few_points_are_all_in_each_split_exactly_as_drawn():
    splits = loaded(DrawnPoints({"points": THREE}))
    assert list(splits) == ["train", "validation", "test"]
    for part in splits.values():
        assert part["point"].tolist() == [[0.5, -0.25], [1.0, 2.0], [-3.0, 4.0]]
        assert part["label"].tolist() == [0, 1, 1] and part["label"].dtype == torch.int64
        assert part["side"].tolist() == [[-1.0], [1.0], [1.0]]
        assert part["point"].dtype == part["side"].dtype == torch.float32


def test_values_over_x():
    node = DrawnPoints({"points": THREE, "task": "values"})
    part = loaded(node)["train"]
    assert [column.name for column in node.columns()] == list(part) == ["x", "y"]
    assert part["x"].tolist() == [[0.5], [1.0], [-3.0]]
    assert part["y"].tolist() == [[-0.25], [2.0], [4.0]]


def test_from_a_number_on_every_class_is_alike_in_each_split():
    splits = loaded(DrawnPoints({"points": MANY}))
    sizes = {split: len(part["label"]) for split, part in splits.items()}
    assert sum(sizes.values()) == 40 and 22 <= sizes["train"] <= 26
    for part in splits.values():
        ones = part["label"].sum().item()
        assert abs(2 * ones - len(part["label"])) <= 2
    seen = torch.cat([part["point"][:, 0] for part in splits.values()])
    assert sorted(seen.tolist()) == pytest.approx([at / 40 for at in range(40)])


@pytest.mark.parametrize("seed", [0, 7])
def test_a_point_stays_in_its_split_while_others_are_added(seed):
    keys = torch.tensor([at % 3 for at in range(90)])
    few, many = (split_as_drawn(n, keys[:n], validation=0.2, test=0.2, seed=seed) for n in (40, 90))
    for split, rows in few.items():
        assert rows.tolist() == [row for row in many[split].tolist() if row < 40]


@pytest.mark.parametrize("way", ["by class", "random", "folds", "bootstrap"])
@pytest.mark.parametrize("task", ["classes", "values"])
def test_every_way_of_dealing_works(way, task):
    splits = loaded(DrawnPoints({"points": MANY, "split": way, "task": task}))
    assert all(len(next(iter(part.values()))) for part in splits.values())


def test_names_of_classes():
    assert class_names(3, ("red", "", "red")) == ("red", "class 2", "class 3")
    assert DrawnPoints({"classes": 3, "names": ("cat",)}).columns()[1].classes == (
        "cat",
        "class 2",
        "class 3",
    )


def test_no_points_are_a_sentence():
    with pytest.raises(ValueError, match=r"There are no points yet: draw some, or paste them\."):
        loaded(DrawnPoints())


@pytest.mark.parametrize(
    ("point", "sentence"),
    [
        ((1.0, 2.0), "Point 1 is not x, y and the number of a class: erase it, or draw it again."),
        ((1.0, "2", 0), "Point 1 is not x, y and the number of a class: erase it, or draw it again."),
        ((1.0, 2.0, 0.5), "Point 1 is not x, y and the number of a class: erase it, or draw it again."),
        ((1.0, 2.0, True), "Point 1 is not x, y and the number of a class: erase it, or draw it again."),
        ((1.0, 2.0, -1), "Point 1 is not x, y and the number of a class: erase it, or draw it again."),
        (
            (1.0, 2.0, 4),
            "1 point is of classes beyond the 2 there are: raise the number of classes, or erase them.",
        ),
    ],
)
def test_what_is_no_point_in_a_file_that_was_edited(point, sentence):
    with pytest.raises(ParamError) as caught:
        loaded(DrawnPoints({"points": (point,)}))
    assert caught.value.message == sentence


def test_the_second_line_on_the_canvas():
    assert DrawnPoints().summary() == "no points yet · double-click to draw"
    assert DrawnPoints({"points": THREE}).summary() == "3 points · 2 classes · all in each split"
    assert DrawnPoints({"points": MANY}).summary() == "40 points · 2 classes"
    assert DrawnPoints({"points": THREE[:1], "task": "values"}).summary() == "1 point · all in each split"
