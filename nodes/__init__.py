"""The built-in node types, one module a family. Importing this package registers them all."""

from engine.catalogue import CATALOGUE
from nodes import (
    activation,
    blocks,
    convolution,
    data,
    data_drawn,
    data_made,
    dense,
    image_files,
    loss,
    merge,
    metric,
    norm,
    pooling,
    ports,
    recurrent,
    rules,
    shape,
    sources,
    table_file,
    transforms,
)

for _module in (
    data,
    data_drawn,
    data_made,
    image_files,
    sources,
    transforms,
    convolution,
    pooling,
    dense,
    recurrent,
    rules,
    blocks,
    activation,
    norm,
    shape,
    merge,
    loss,
    metric,
    ports,
):
    CATALOGUE.add_all(_module)
