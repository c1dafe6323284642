"""Places that have no class, as hidden tokens leave them: nothing counts them, names go past them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.data.open.opening import open_data
from engine.document.files import load_project
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.errors import TrainingError
from engine.feed.feed import Probe
from engine.look.labels import check_labels
from engine.train.distributed import differences
from tests.engine.look.taking import take
from tests.engine.sketches import Sketch
from tests.engine.train.networks import run_of
from tests.gallery.recipes import FILES

STORY = open_data(FILES / "story.txt").params
SIZE = int(str(STORY["size"]))


def masked(size: int = SIZE, **masking: Any) -> Project:
    """A network of no context: n1 data, n2 masking, n3 table, n4 scores, n5 loss, n6 accuracy."""
    sketch = Sketch()
    text = sketch.add("TextCorpus", "story", {**STORY, "length": 16})
    hiding = sketch.add("MaskTokens", "hiding", {"size": size, **masking}, x=f"{text}.tokens")
    table = sketch.add("Embedding", "table", {"entries": SIZE, "size": 8}, x=f"{hiding}.tokens")
    scores = sketch.add("Linear", "scores", {"units": SIZE}, x=table)
    for kind in ("CrossEntropy", "Accuracy"):
        sketch.add(kind, kind.lower(), prediction=scores, target=f"{hiding}.targets")
    return sketch.plan(batch=16, epochs=2, seed=0).project


def test_the_confusion_matrix_counts_what_is_hidden_and_names_it() -> None:
    run = run_of(masked())
    while run.epoch == 0:
        run.advance()
    found = run.feed.latest(Probe("n5", "confusion"))
    assert found is not None and found.extra["classes"] == STORY["tokens"]
    run.model.eval()
    hidden = run.model.hiding(run.data["validation"]["tokens"])[1]  # type: ignore[operator]
    right = hidden[hidden != -100]
    assert found.array.sum() == len(right) and 0 < len(right) < hidden.numel() / 4
    assert found.array.sum(1).tolist() == torch.bincount(right, minlength=SIZE).tolist()


def test_the_validation_loss_is_the_same_whenever_it_is_measured() -> None:
    run = run_of(masked())
    found = [run.program.evaluate(run.model, run.data["validation"]) for _ in range(2)]
    assert found[0] == found[1]


def test_pictures_of_hidden_tokens() -> None:
    run = run_of(masked())
    activations, token, guessed = take(
        run, Probe("n2", "activations"), Probe("n4", "next_token"), Probe("n5", "predictions")
    )
    assert set(activations.extra["ports"]) == {"tokens", "targets"}
    assert token.extra["names"] == guessed.extra["classes"] == STORY["tokens"]


def test_labels_may_lack_at_places_but_not_be_wrong() -> None:
    project = masked()
    graph = project.graph
    head = run_of(project)
    check_labels(head.heads, head.data)
    sketch = Sketch()
    text = sketch.add("TextCorpus", "story", {**STORY, "length": 16})
    table = sketch.add("Embedding", "table", {"entries": SIZE, "size": 8}, x=f"{text}.tokens")
    scores = sketch.add("Linear", "scores", {"units": SIZE}, x=table)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{text}.next")
    run = run_of(sketch.project)
    assert [one.column for one in run.heads] == ["next"] and graph.node("n5").type == "CrossEntropy"
    check_labels(run.heads, {"train": {"next": torch.tensor([[0, -100], [3, SIZE - 1]])}})
    check_labels(run.heads, {"train": {"next": torch.full((2, 3), -100)}})
    for wrong in (-1, -99, SIZE):
        with pytest.raises(TrainingError, match="can only answer"):
            check_labels(run.heads, {"train": {"next": torch.tensor([[0, -100], [3, wrong]])}})


def test_a_vocabulary_of_another_size_is_an_error_that_mends_itself() -> None:
    for size in (SIZE - 1, SIZE + 1):
        sketch = Sketch()
        sketch.project = masked(size)
        (found,) = sketch.check().errors
        assert found.node_id == "n2" and f"has {SIZE} classes, but Mask tokens has {size}" in found.message
        assert found.fix is not None and found.fix.label == f"Use {SIZE} tokens"
    sketch.project = masked()
    assert sketch.check().errors == []
    sketch.project.graph.node("n3").params["entries"] = SIZE - 1  # type: ignore[index]
    assert [one.node_id for one in sketch.check().errors] == ["n3"]


def test_several_processes_say_where_losses_count_different_places() -> None:
    sketch = Sketch()
    sketch.project = masked()
    assert [sentence.split()[0] for sentence in differences(run_of(sketch.project))] == ["Dropout"]
    sketch.add("CrossEntropy", "other", {"ignored": 5}, prediction="n4", target="n2.targets")
    assert [sentence.split()[0] for sentence in differences(run_of(sketch.project))] == ["Dropout", "Losses"]


def test_an_accuracy_over_places_alone_is_no_difference() -> None:
    project = load_project(datasets_folder().parent / "gallery" / "romeo-letters.nloom")
    assert differences(run_of(project)) == []
