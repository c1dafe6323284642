"""The built-in node types, one module a family. Importing this package registers them and their rules."""

from engine.catalogue import CATALOGUE
from nodes import (
    activation,
    advice,
    augment,
    blocks,
    class_scores,
    dense,
    detection,
    diffusion,
    encode,
    estimators,
    graph_layers,
    images,
    likelihood,
    loss,
    merge,
    metric,
    mixtures,
    norm,
    ports,
    rules,
    shape,
    sources,
    transforms,
)
from nodes.agents import environments, values
from nodes.convolution import pooling, sliding, windows
from nodes.data import (
    annotated_text,
    array_file,
    cloud_file,
    graph_file,
    image_files,
    public_sets,
    rows,
    series_file,
    table_file,
    text_file,
)
from nodes.data import bundled as data_bundled
from nodes.data import drawn as data_drawn
from nodes.data import sets as data
from nodes.data import synthetic as data_synthetic
from nodes.data import synthetic_sets as data_synthetic_sets
from nodes.sequences import attention, ctc, recurrent, text_layers

__all__ = ["advice"]  # its rules register themselves

for _module in (  # in this order in the palette
    table_file,
    image_files,
    array_file,
    cloud_file,
    graph_file,
    series_file,
    text_file,
    annotated_text,
    data_drawn,
    data,
    data_bundled,
    public_sets,
    data_synthetic,
    data_synthetic_sets,
    environments,
    sources,
    diffusion,
    transforms,
    rows,
    images,
    augment,
    encode,
    text_layers,
    sliding,
    windows,
    graph_layers,
    pooling,
    dense,
    recurrent,
    attention,
    rules,
    mixtures,
    estimators,
    values,
    blocks,
    activation,
    norm,
    shape,
    merge,
    likelihood,
    loss,
    ctc,
    metric,
    class_scores,
    detection,
    ports,
):
    CATALOGUE.add_all(_module)
