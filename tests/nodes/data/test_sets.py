import subprocess
import sys
from pathlib import Path

import pytest
import torch

from engine.catalogue import Catalogue
from engine.document.shipped import datasets_folder
from engine.errors import ParamError
from nodes.data import sets as data
from nodes.data import synthetic as data_synthetic

CATALOGUE = Catalogue()
CATALOGUE.add_all(data)
CATALOGUE.add_all(data_synthetic)
TYPES = CATALOGUE.types()
SHUFFLED = [found for found in TYPES if issubclass(found, data.Shuffled)]


class Recorder:
    """An emitter that only notes what is loaded."""

    def load(self, loader, **values):
        self.loader, self.values = loader, values
        return {}


def loaded(node):
    recorder = Recorder()
    node.emit(recorder)
    return recorder.loader(datasets_folder(), "cpu", **recorder.values)


def test_the_sets_that_are_there():
    assert {found.type_id for found in TYPES} == {
        "Mnist",
        "Digits",
        "Iris",
        "Wine",
        "BreastCancer",
        "Diabetes",
        "SantaFe",
        "LogicGates",
        "WorkedExample",
        "Points",
        "Line",
        "Curve",
        "Patterns",
    }


@pytest.mark.parametrize("node_type", TYPES, ids=lambda found: found.type_id)
def test_the_loader_gives_the_columns_that_the_node_declares(node_type):
    node = node_type()
    splits = loaded(node)
    assert list(splits) == ["train", "validation", "test"]
    for part in splits.values():
        assert list(part) == [column.name for column in node.columns()]
        rows = {len(values) for values in part.values()}
        assert len(rows) == 1 and rows.pop() > 0
        for column in node.columns():
            values = part[column.name]
            assert tuple(values.shape[1:]) == column.shape
            assert str(values.dtype) == f"torch.{column.dtype}"
            if column.classes:
                assert set(values.tolist()) == set(range(len(column.classes)))


@pytest.mark.parametrize("node_type", TYPES, ids=lambda found: found.type_id)
def test_every_parameter_reaches_the_loader(node_type):
    recorder = Recorder()
    node_type().emit(recorder)
    assert recorder.values == {spec.name: spec.default for spec in node_type.params}
    for spec in node_type.params:
        last = spec.choices[-1] if spec.choices else spec.maximum
        changed = not spec.default if spec.kind == "bool" else last
        node_type({spec.name: changed}).emit(recorder)
        assert recorder.values[spec.name] == changed


@pytest.mark.parametrize("node_type", SHUFFLED, ids=lambda found: found.type_id)
@pytest.mark.parametrize("validation", [0.05, 0.4])
@pytest.mark.parametrize("test", [0.05, 0.4])
def test_the_extremes_leave_every_class_in_every_split(node_type, validation, test):
    node = node_type({"validation": validation, "test": test})
    for part in loaded(node).values():
        for column in node.columns():
            if column.classes:
                assert set(part[column.name].tolist()) == set(range(len(column.classes)))


def test_the_window_is_as_long_as_the_lag():
    node = data.SantaFe({"lag": 400, "validation": 0.5})
    assert node.columns()[0].shape == (400, 1)
    assert loaded(node)["train"]["window"].shape == (100, 400, 1)
    assert "lag 400" in node.summary()


def test_standardising_can_be_switched_off():
    assert loaded(data.Iris({"standardise": False}))["train"]["features"].min() > 0
    assert torch.equal(
        loaded(data.Diabetes({"standardise_target": False}))["test"]["progression"] % 1,
        torch.zeros(88, 1),
    )


@pytest.mark.parametrize("node_type", TYPES, ids=lambda found: found.type_id)
def test_help_texts_and_files(node_type):
    assert len(node_type.doc()) > 40
    assert node_type().summary()
    assert all(spec.doc for spec in node_type.params)
    assert all(column.doc for column in node_type().columns())
    for name in node_type.files:
        assert not Path(name).is_absolute()
        assert (datasets_folder() / name).is_file()


@pytest.mark.parametrize(
    ("node_type", "values"),
    [
        (data.SantaFe, {"lag": 0}),
        (data.SantaFe, {"lag": 401}),
        (data.Mnist, {"validation": -0.1}),
        (data.Iris, {"test": 0.9}),
        (data.Iris, {"seed": -1}),
        (data.Wine, {"standardise": "yes"}),
    ],
)
def test_values_that_leave_no_rows_are_refused(node_type, values):
    with pytest.raises(ParamError):
        node_type(values)


def test_declaring_the_sets_does_not_load_torch():
    loaded = "'torch' in sys.modules or 'sklearn' in sys.modules"
    check = f"import sys, nodes.data.sets, nodes.data.synthetic; sys.exit({loaded})"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
