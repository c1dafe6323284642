"""Which network has which procedures, and that each runs; the same bits in the application and outside it."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.document.edits import Rename
from engine.emit.script import export_script
from engine.errors import NeuroloomError, ParamError
from engine.procedures.registry import chosen, offers, procedures
from engine.procedures.rows import state_in_words, weights_of
from engine.runs.checkpoints import write_tensors
from engine.shapes.shapes import check
from tests.engine.procedures.running import in_three_ways, loaded, names_of, offered, states_of
from tests.engine.sketches import apply, catalogue, classifier, gallery

MAIN = {
    "rbm-mnist": ["gibbs"],
    "hopfield-2d": ["recall_hebb", "recall_saturating"],
    "romeo-letters": ["generate"],
    "char-decoder": ["generate"],
    "santa-fe-lstm": ["forecast"],
    "co2-series": ["forecast"],
    "gan-digits": ["sample"],
    "stacked-autoencoder": ["interpolate"],
    "dqn-grid": ["play"],
}
SLOW = pytest.mark.exhaustive  # each way is taken by another procedure, too
FEW: dict[str, Any] = {"length": 4, "rounds": 2, "steps": 3, "count": 3}


@pytest.mark.parametrize(
    "project_id", [*MAIN, "iris", "masked-letters", "numbers-in-words", "two-heads", "mnist-cnn"]
)
def test_networks_have_the_procedures_that_they_are_for(project_id: str) -> None:
    project = gallery(project_id)
    known = offers(project, check(project, catalogue()))
    assert [one.name for one in chosen(known, "main")] == MAIN.get(project_id, [])
    assert all(one.procedure.doc() and one.procedure.title for one in known)
    assert all(spec.doc for one in known for spec in one.params)
    text = export_script(project, catalogue(), procedures="all").text
    ast.parse(text)
    plain = export_script(project, catalogue(), procedures=()).text
    assert "def run(" not in plain and ("def run(" in text) == bool(known)


@pytest.mark.parametrize("project_id", ["hopfield-2d", "iris", "two-heads", "graph-classes", "co2-series"])
def test_every_procedure_of_a_network_runs_and_its_states_are_json(project_id: str) -> None:
    program, model, data = loaded(gallery(project_id))
    batch = {name: column[torch.tensor([0, 1])] for name, column in data["train"].items()}
    for one in offers(program.project, program.book):
        values = {name: value for name, value in FEW.items() if any(spec.name == name for spec in one.params)}
        states = states_of(program, model, batch, one.name, **values)
        assert states
        for state in states:
            assert json.dumps(state, default=torch.Tensor.tolist) and "\n" not in state_in_words(state)


@pytest.mark.parametrize(
    ("project_id", "name", "values"),
    [
        ("hopfield-2d", "recall_saturating", {"steps": 5, "rows": (1, 2), "turned": 0.5}),
        ("romeo-letters", "generate", {"length": 12, "top_k": 9, "temperature": 0.8, "prompt": "ROMEO"}),
        ("santa-fe-lstm", "forecast", {"steps": 7, "rows": (3,), "split": "test"}),
        ("word-vectors", "nearest_words", {"question": "thou - you + me", "count": 4}),
        ("char-decoder", "generate", {"length": 8, "method": "beam", "width": 3, "prompt": "ROMEO"}),
        ("seq2seq-numbers", "bleu", {"rows": (0, 1, 5)}),
        ("gan-digits", "sample", {"count": 3, "way": "line"}),
        ("dqn-grid", "play", {"moves": 12, "explore": 0.3}),
        pytest.param("stacked-autoencoder", "interpolate", {"count": 3}, marks=SLOW),
        ("bert-stories", "answer", {"text": "who took the ball ? | Tom took the ball to the hall ."}),
        pytest.param("bert-stories", "fill_in", {"text": "she was [mask] ."}, marks=SLOW),
        pytest.param("two-heads", "predict_odd", {"rows": (2, 3)}, marks=SLOW),
        ("iris", "attribute", {"rows": (0, 5), "method": "integrated gradients", "target": 1}),
        pytest.param("iris", "excite", {"layer": "hidden1", "steps": 5}, marks=SLOW),
        ("iris", "predict", {"rows": (0, 1, 2), "split": "test"}),
    ],
)
def test_application_command_line_and_script_give_the_same_bits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], project_id: str, name: str, values: dict[str, Any]
) -> None:
    here, told, alone = in_three_ways(gallery(project_id), tmp_path, capsys, name, **values)
    assert here == told == alone and here


def test_a_name_that_reads_as_code_stays_a_name() -> None:
    project = classifier().project
    apply(project, [Rename("n3", "x'); import os #"), Rename("n2", "draws")])
    (predict,) = [one for one in names_of(project) if one.startswith("predict")]
    text = export_script(project, catalogue(), procedures="all").text
    assert "import os" not in text and predict == "predict"
    program, model, data = loaded(project)
    batch = {name: column[:1] for name, column in data["train"].items()}
    assert states_of(program, model, batch, "excite", layer="draws", steps=2)


def test_what_is_not_offered_or_not_taken_is_said() -> None:
    program, model, data = loaded(classifier().project)
    with pytest.raises(
        NeuroloomError, match="no procedure 'gibbs'; it has attack, attribute, excite, predict"
    ):
        offered(program, "gibbs")
    batch = {name: column[:1] for name, column in data["train"].items()}
    with pytest.raises(ParamError, match="predict takes no 'steps'; it takes split, rows"):
        states_of(program, model, batch, "predict", steps=3)
    with pytest.raises(NeuroloomError, match="no procedure 'dance'"):
        export_script(classifier().project, catalogue(), procedures=["dance"])


def test_names_are_distinct_and_params_have_types_that_scripts_can_ask_for() -> None:
    assert all(one.name.isidentifier() for one in procedures())
    for example in ("diffusion-points", "gan-digits", "stacked-autoencoder", "hopfield-2d"):
        project = gallery(example)
        names = [one.name for one in offers(project, check(project, catalogue()))]
        assert len(set(names)) == len(names)
    kinds = {spec.kind for one in procedures() for spec in one.params}
    assert kinds <= {"int", "float", "bool", "choice", "text", "ints", "floats"}


def test_weights_are_read_from_both_kinds_of_files(tmp_path: Path) -> None:
    weights = {"a": torch.randn(3), "b": torch.arange(4)}
    torch.save(weights, tmp_path / "w.pt")
    write_tensors(tmp_path / "w.safetensors", weights)
    for name in ("w.pt", "w.safetensors"):
        found = weights_of(tmp_path / name)
        assert all(torch.equal(found[key], value) for key, value in weights.items())


def test_there_are_none_while_a_node_is_unknown() -> None:
    sketch = classifier()
    book = sketch.check()
    sketch.add("Linear", "later", {"units": 2}, x="n2")
    assert offers(sketch.project, book) == ()
