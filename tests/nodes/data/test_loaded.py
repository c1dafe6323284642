"""A node of a loader has its keywords as parameters, in name, type and default, or those of what it makes."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pkgutil import resolve_name

import pytest

from engine.catalogue import CATALOGUE, load_catalogue
from engine.catalogue.emitter import build
from nodes.data.loaded import Loaded

load_catalogue()
TYPES = [found for found in CATALOGUE.types() if issubclass(found, Loaded)]
KINDS = {"bool": "bool", "float": "float", "int": "int", "str": "choice", "tuple[float, ...]": "floats"}


@pytest.mark.parametrize("node_type", TYPES, ids=lambda found: found.type_id)
def test_parameters_are_the_keywords_of_the_loader(node_type: type[Loaded]) -> None:
    signature = inspect.signature(resolve_name(node_type.loader)).parameters.values()
    taken = {found.name: found for found in signature if found.kind == found.KEYWORD_ONLY}
    if node_type.makes:  # what the loader hands on to an environment: all behind itself and the agents
        made = inspect.signature(resolve_name(node_type.makes).__init__).parameters.values()
        taken |= {found.name: found for found in list(made)[2:]}
    assert {spec.name for spec in node_type.params} == set(taken)
    for spec in node_type.params:
        assert spec.default == taken[spec.name].default
        assert spec.kind == KINDS[taken[spec.name].annotation] or (spec.kind, spec.choices) == ("text", ())


@pytest.mark.parametrize("node_type", TYPES, ids=lambda found: found.type_id)
def test_the_call_gives_every_keyword(node_type: type[Loaded]) -> None:
    loader = build(node_type(), "data", {}).loader
    assert loader is not None
    assert loader[0] is resolve_name(node_type.loader)
    assert loader[1] == {spec.name: spec.default for spec in node_type.params}


def test_declaring_a_set_imports_no_loader() -> None:
    loaded = "{'torch', 'engine.data.sets.synthetic_clouds'} & set(sys.modules)"
    code = f"import sys, nodes.data.synthetic_sets; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
