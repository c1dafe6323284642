"""What a node type is: everything that a module of node types imports, and the registry of all types."""

from engine.catalogue.environment import Environment
from engine.catalogue.node_types import (
    Composite,
    Data,
    Emitted,
    Emitter,
    Input,
    Layer,
    Loss,
    Measure,
    Metric,
    NodeType,
    Output,
    Source,
    Transform,
)
from engine.catalogue.params import ParamSpec, param
from engine.catalogue.registry import CATALOGUE, Catalogue, load_catalogue
from engine.catalogue.wires import Column, Port, Wire

__all__ = [
    "CATALOGUE",
    "Catalogue",
    "Column",
    "Composite",
    "Data",
    "Emitted",
    "Emitter",
    "Environment",
    "Input",
    "Layer",
    "Loss",
    "Measure",
    "Metric",
    "NodeType",
    "Output",
    "ParamSpec",
    "Port",
    "Source",
    "Transform",
    "Wire",
    "load_catalogue",
    "param",
]
