"""Weights from a file, read without any package but numpy and torch."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, by name.

    Errors: `ValueError` where the file is not one.
    """
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    if len(raw) < 8 + size:
        raise ValueError(f"{path} is not a whole safetensors file.")
    kinds = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "U8": np.uint8}
    found = {}
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            numbers = np.frombuffer(raw[8 + size + first : 8 + size + last], kinds[entry["dtype"]])
            found[name] = torch.from_numpy(numbers.reshape(entry["shape"]).copy())
    return found
