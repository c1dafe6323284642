"""Rows of a data set as they reach a model: a tensor a column."""

from torch import Tensor

Batch = dict[str, Tensor]  # (N, ...) by column
Splits = dict[str, Batch]  # by "train", "val", "test"
