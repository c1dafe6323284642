"""Layers that are fitted to all training rows at once. Portable: exports carry this source."""

from __future__ import annotations

from typing import Any

from torch import nn


class Fitted(nn.Module):
    """Keeps what it was fitted to in buffers, whose sizes come with the data and with a file of weights."""

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name, value in self.named_buffers(recurse=False):
            stored = state_dict.get(prefix + name)
            if stored is not None and stored.shape != value.shape:
                setattr(self, name, value.new_empty(stored.shape))
        super()._load_from_state_dict(state_dict, prefix, *rest)
