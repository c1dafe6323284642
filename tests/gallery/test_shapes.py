"""The images of shapes are what their maker draws, and nothing but masks says what they are."""

from __future__ import annotations

import numpy as np
from PIL import Image

from engine.catalogue import load_catalogue
from engine.data.open.opening import open_data
from engine.document.files import load_project
from engine.document.shipped import datasets_folder
from engine.train.headless import run_headless
from tests.gallery import shapes_made

FOLDER = datasets_folder() / "files" / "shapes"
PROJECT = datasets_folder().parent / "gallery" / "shapes-masks.nloom"


def test_they_are_as_their_maker_draws_them() -> None:
    drawn = shapes_made.every()
    assert len(list((FOLDER / "images").iterdir())) == len(drawn) == shapes_made.COUNT
    for number in range(0, shapes_made.COUNT, 25):
        image, mask = drawn[number]
        # a sine may be rounded another way on another machine
        levels = np.asarray(Image.open(FOLDER / "images" / f"{number:03}.png")).astype(int)
        assert np.abs(levels - image).max() <= 1
        assert (np.asarray(Image.open(FOLDER / "masks" / f"{number:03}.png")) == mask).mean() > 0.99


def test_it_learns_what_the_masks_say() -> None:
    """Background everywhere is right for 85 % of the pixels that have a class."""
    masks = np.stack([mask for _, mask in shapes_made.every()])
    assert 0.84 < (masks[masks != shapes_made.VOID] == 0).mean() < 0.86
    lines: list[dict[str, float]] = []
    run_headless(
        load_project(PROJECT),
        load_catalogue(),
        datasets_folder(),
        epochs=12,
        device="cpu",
        on_line=lambda record: lines.append(dict(record)),
    )
    assert lines[-1]["test_accuracy"] > 0.9


def test_the_example_is_as_its_folder_opens() -> None:
    opened = open_data(FOLDER).params
    node = load_project(PROJECT).graph.node("n1")
    assert {name: opened[name] for name in node.params} == dict(node.params)
