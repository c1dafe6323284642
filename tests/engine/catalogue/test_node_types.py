"""The registry of node types: search, ports, plug-ins, and what it says of what it does not know."""

from __future__ import annotations

import types
from collections.abc import Iterator

import pytest

import engine.catalogue.registry as registry
from engine.catalogue import Catalogue, Emitted, Emitter, Layer, Port, Wire, load_catalogue, param
from engine.catalogue.symbols import F
from engine.document.graph import Node
from engine.errors import EmitError, ParamError
from tests.engine.sketches import catalogue

TYPES = catalogue().types()


class Scale(Layer):
    """Multiplies by a number.

    A second paragraph that is not help.
    """

    title = "Scale by"
    factor: float = param(2.0, doc="the number")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return x * self.factor


class Join(Layer):
    """Has every kind of port."""

    ports_in = (Port("x", many=True), Port("mask", optional=True))
    ports_out = (Port("output"), Port("rest"))


class EntryPoint:
    """Stands for `importlib.metadata.EntryPoint`."""

    def __init__(self, name: str, loads: object) -> None:
        self.name = name
        self.loads = loads

    def load(self) -> object:
        if isinstance(self.loads, BaseException):
            raise self.loads
        return self.loads


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[Catalogue]:
    """A catalogue of this test's own in the place of the one all packages register with."""
    fresh = Catalogue()
    monkeypatch.setattr(registry, "CATALOGUE", fresh)
    yield fresh


def install(monkeypatch: pytest.MonkeyPatch, *entries: EntryPoint) -> None:
    monkeypatch.setattr(registry.metadata, "entry_points", lambda group: entries)


def module(name: str, *members: type) -> types.ModuleType:
    made = types.ModuleType(name)
    for member in members:
        member.__module__ = name
        setattr(made, member.__name__, member)
    return made


def test_about_forty_types_are_there_in_families() -> None:
    assert len(TYPES) >= 40
    families = [family for family, _ in catalogue().families()]
    assert len(families) == len(set(families))
    assert families == sorted(families, key=registry.FAMILIES.index)
    assert [found for _, group in catalogue().families() for found in group] == TYPES


def test_files_of_your_own_come_first_and_no_group_of_data_is_long() -> None:
    groups = {family: [found.type_id for found in types] for family, types in catalogue().families()}
    assert list(groups)[:4] == ["files", "data sets", "synthetic data", "noise"]
    assert groups["files"][:2] == ["TableFile", "ImageFolder"]
    assert {"DrawnPoints", "SeriesFile", "TextPairs"} <= set(groups["files"])
    assert {"Mnist", "Iris", "Cifar10"} <= set(groups["data sets"])
    assert {"LogicGates", "Patterns", "Blobs", "ChaoticSeries"} <= set(groups["synthetic data"])
    assert groups["noise"] == ["GaussianNoise", "UniformNoise", "Diffusion"]
    assert all(len(groups[family]) <= 16 for family in list(groups)[:4])


@pytest.mark.parametrize("node_type", TYPES, ids=lambda found: found.type_id)
def test_every_type_describes_itself(node_type: type) -> None:
    assert catalogue().get(node_type.type_id) is node_type
    assert node_type.title
    assert node_type.doc().endswith(".")
    assert node_type.family in registry.FAMILIES
    made = node_type()
    assert isinstance(made.summary(), str)
    for port in (*made.inputs(), *made.outputs()):
        assert port.title
    assert catalogue().search(node_type.title)[0].title == node_type.title


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("conv 2", "Conv2d"),
        ("cnv2", "Conv2d"),
        ("dense", "Linear"),
        ("lstm", "LSTM"),
        ("relu", "ReLU"),
        ("max pool", "MaxPool2d"),
        ("bce", "BCEWithLogits"),
        ("mnist", "Mnist"),
        ("skip", "Add"),
        ("lin", "Linear"),
        ("batch", "BatchNorm"),
        ("drop", "Dropout"),
        ("conv", "Conv2d"),
        ("loss", "CrossEntropy"),
        ("fc", "Linear"),
        ("pool", "MaxPool2d"),
    ],
)
def test_search_finds_what_is_meant(query: str, first: str) -> None:
    assert catalogue().search(query)[0].type_id == first


def test_letters_here_and_there_count_only_where_no_name_has_them_together() -> None:
    assert catalogue().search("lstm")[0].type_id == "LSTM"
    assert {found.title for found in catalogue().search("fc")} == {"Linear"}


@pytest.mark.parametrize("query", ["qqqq", "層", "\\", "*§"])
def test_search_for_nonsense_finds_nothing(query: str) -> None:
    assert catalogue().search(query) == []


def test_an_empty_search_gives_everything() -> None:
    assert catalogue().search("") == TYPES


def test_search_among_some_keeps_to_them() -> None:
    some = [catalogue().get("ReLU"), catalogue().get("Tanh")]
    assert catalogue().search("t", some)[0].type_id == "Tanh"


@pytest.mark.parametrize("name", ["x1", "x2", "x10", "x999999"])
def test_a_family_of_ports_has_numbered_members(name: str) -> None:
    port = Join().input_port(name)
    assert port is not None and port.name == "x"


@pytest.mark.parametrize("name", ["x", "x0", "x01", "x٣", "x1.5", "x-1", "xx1", "y", "", "x 1", "x1000000"])
def test_other_spellings_are_no_port(name: str) -> None:
    assert Join().input_port(name) is None


def test_help_is_the_first_paragraph() -> None:
    assert Scale.doc() == "Multiplies by a number."


def test_values_are_read_when_a_node_is_made() -> None:
    made = Catalogue([Scale]).make(Node("n1", "Scale", "", {"factor": 3}))
    assert made.factor == 3.0  # type: ignore[attr-defined]
    assert Scale().factor == 2.0


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"factor": "3"}, "Factor"),
        ({"factor": True}, "Factor"),
        ({"other": 1}, "'other'"),
        ({"f" * 999: 1}, "fff"),
    ],
)
def test_a_bad_value_names_the_node_and_the_parameter(params: dict[str, object], words: str) -> None:
    with pytest.raises(ParamError, match=words) as error:
        Catalogue([Scale]).make(Node("n7", "Scale", "", params))
    assert error.value.node_id == "n7"
    assert len(error.value.message) < 200


def test_an_unknown_type_names_the_node() -> None:
    with pytest.raises(
        EmitError, match="wobble is a 'Wobbler', which this installation does not know"
    ) as error:
        catalogue().make(Node("n7", "Wobbler", "wobble"))
    assert error.value.node_id == "n7"


def test_a_type_that_fails_to_start_names_the_node(own: Catalogue) -> None:
    class Broken(Layer):
        """Fails."""

        def __init__(self, values: object = None) -> None:
            raise RuntimeError("no")

    own.add(Broken)
    with pytest.raises(EmitError, match="failed to start") as error:
        own.make(Node("n7", "Broken"))
    assert error.value.node_id == "n7"


def test_an_entry_point_brings_its_types(own: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, EntryPoint("scaling", module("scaling", Scale)))
    found = load_catalogue()
    assert found is own
    assert found.get("Scale") is Scale
    load_catalogue()
    assert len(found) == 1


def test_what_a_module_only_imports_is_not_registered_twice(own: Catalogue) -> None:
    made = module("scaling", Scale)
    made.Layer = Layer  # type: ignore[attr-defined]
    made.ReLU = catalogue().get("ReLU")  # type: ignore[attr-defined]
    own.add_all(made)
    assert [found.type_id for found in own] == ["Scale"]


@pytest.mark.logs("The node package .others. could not be loaded")
def test_a_second_type_of_an_id_is_refused(own: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    own.add(Scale)
    own.add(Scale)

    class Other(Layer):
        """Another."""

        def emit(self, e: Emitter, x: Wire) -> Emitted:
            return F.relu(x)

    Other.type_id = "Scale"
    with pytest.raises(EmitError, match="Two node types are called Scale"):
        own.add(Other)

    class Fine(Other):
        """A third."""

        type_id = "Fine"

    Fine.__module__ = Other.__module__ = "others"
    install(monkeypatch, EntryPoint("others", module("others", Fine, Other)))
    load_catalogue()
    assert "'others' could not be loaded. Two node types are called Scale" in own.left_out["others"]
    assert own.get("Scale") is Scale and own.get("Fine") is None  # it is left out whole


@pytest.mark.parametrize(
    "failure",
    [
        ImportError("No module named 'scaling'"),
        SyntaxError("bad"),
        TypeError("x"),
        ValueError(),
        SystemExit(3),
    ],
)
@pytest.mark.logs("The node package .scaling. could not be loaded")
def test_a_package_that_fails_to_load_is_left_out_and_named(
    own: Catalogue, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    install(monkeypatch, EntryPoint("scaling", failure), EntryPoint("fine", module("fine", Scale)))
    assert load_catalogue().get("Scale") is Scale
    assert "The node package 'scaling' could not be loaded" in own.left_out["scaling"]
    install(monkeypatch, EntryPoint("builtin", failure))
    with pytest.raises(EmitError, match="'builtin' could not be loaded"):
        load_catalogue()
