"""An optimiser's state as tensors with names and plain data, and back: what a checkpoint can hold.

Most optimisers keep one number or tensor under each name; L-BFGS keeps lists of tensors.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

_TENSOR = "tensor"


def taken_apart(state: dict[int, Any]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The "state" of a state_dict as ({"0/speed": tensor}, data that JSON can hold)."""
    tensors: dict[str, Tensor] = {}

    def plain(value: Any, path: str) -> Any:
        if isinstance(value, Tensor):
            tensors[path] = value
            return {_TENSOR: path}
        if isinstance(value, dict):
            return {str(key): plain(part, f"{path}/{key}") for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(part, f"{path}/{index}") for index, part in enumerate(value)]
        return value

    return tensors, {str(key): plain(value, str(key)) for key, value in state.items()}


def put_together(tensors: dict[str, Tensor], data: dict[str, Any]) -> dict[int, Any]:
    """What `taken_apart` was given. Raises KeyError where a tensor is missing."""

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {_TENSOR} and isinstance(value[_TENSOR], str):
                return tensors[value[_TENSOR]]
            return {key: whole(part) for key, part in value.items()}
        return [whole(part) for part in value] if isinstance(value, list) else value

    return {int(key): whole(value) for key, value in data.items()}
