import pytest
import torch

from engine.data import portable
from engine.data.portable import IMPORTS, portable_imports, portable_source
from engine.data.sets import laser as series
from engine.data.sets import mnist
from engine.data.sets import scikit_learn as tables
from engine.document.shipped import datasets_folder
from engine.errors import EmitError
from engine.look.sequences.forecast import forecast_errors

LOADERS = [
    mnist.load_mnist,
    series.load_santa_fe,
    series.santa_fe_scale,
    tables.load_iris,
    tables.load_wine,
    tables.load_breast_cancer,
    tables.load_diabetes,
    tables.load_digits,
]


def run_alone(*functions):
    """What the collected source defines when it is executed with the standard imports and nothing else."""
    parts = ["from __future__ import annotations", *portable_imports(functions), *portable_source(functions)]
    namespace: dict[str, object] = {"__name__": "exported"}
    exec(compile("\n\n".join(parts), "exported.py", "exec"), namespace)
    return namespace


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("loader", [each for each in LOADERS if each.__name__ != "santa_fe_scale"])
def test_the_collected_source_loads_the_same_tensors(loader):
    alone = run_alone(loader)[loader.__name__]
    assert alone.__globals__["__name__"] == "exported"
    here, there = loader(datasets_folder(), "cpu"), alone(datasets_folder(), "cpu")
    assert list(here) == list(there) == ["train", "validation", "test"]
    for split, part in here.items():
        assert list(part) == list(there[split])
        for name, values in part.items():
            assert values.dtype == there[split][name].dtype
            assert torch.equal(values, there[split][name])


def test_several_functions_share_their_parts():
    sources = portable_source([tables.load_iris, tables.load_wine])
    names = [source.split("(")[0].removeprefix("def ") for source in sources]
    assert len(names) == len(set(names))
    assert (
        names.index("stratified_holdout")
        < names.index("stratified_split")
        < names.index("load_iris")
        < names.index("load_wine")
    )


def test_forecasts_are_portable():
    namespace = run_alone(forecast_errors, series.santa_fe_scale)
    assert {"forecast", "one_step", "read_laser"} < set(namespace)


@pytest.mark.parametrize("loader", LOADERS)
def test_no_source_mentions_the_application(loader):
    text = "\n".join(portable_source([loader]))
    assert "engine" not in text
    assert "\t" not in text
    assert max(map(len, text.splitlines())) <= 110


def test_only_the_imports_that_are_used():
    assert portable_imports([series.santa_fe_scale]) == [
        IMPORTS["Path"],
        IMPORTS["Tensor"],
        IMPORTS["np"],
        IMPORTS["torch"],
    ]


def counted(function):
    function.uses = 1
    return function


class Base:
    pass


@counted
@torch.no_grad()
def decorated(x: int) -> int:
    return x + len(Base.__name__)


class Derived(Base):
    def compute(self, x: int) -> int:
        return decorated(x) + later(x)


def later(x: int) -> int:
    return again(x) if x else 0


def again(x: int) -> int:
    return later(x - 1) + x


def test_bases_decorators_and_mutual_calls_are_followed(monkeypatch):
    monkeypatch.setattr(portable, "OURS", (__name__,))
    namespace = run_alone(Derived)
    assert namespace["Derived"]().compute(4) == Derived().compute(4) == 4 + 4 + 10
    assert namespace["decorated"].uses == 1


def stray() -> None:
    pytest.fail("never called")


def test_a_name_that_a_script_lacks_is_refused():
    with pytest.raises(EmitError, match="stray cannot be exported: it uses pytest"):
        portable_source([stray])
