"""Asks recurrent layers about one step in place of all: torch walks through a sequence on meta tensors too.

Of a sequence of 784 steps that takes seconds, and the steps are all alike.
"""

from __future__ import annotations

from typing import Any

from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

WALKING = ("lstm", "gru", "rnn_tanh", "rnn_relu")
BATCH_FIRST = 8  # the place of this argument; the calls for packed sequences have fewer


class OneStep(TorchFunctionMode):
    """Inside, a recurrent layer runs its first step only; `skipped` counts the operations of the others.

    While it runs, `times` says for how many steps it stands.
    """

    def __init__(self, counter: FlopCounterMode | None = None) -> None:
        super().__init__()
        self.counter = counter
        self.skipped = 0
        self.times = 1

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") not in WALKING or len(args) <= BATCH_FIRST:
            return func(*args, **kwargs)
        sequence, axis = args[0], 1 if args[BATCH_FIRST] else 0
        steps = sequence.shape[axis]
        before = self._operations()
        self.times = steps
        try:
            output, *states = func(sequence.narrow(axis, 0, 1), *args[1:], **kwargs)
        finally:
            self.times = 1
        self.skipped += (steps - 1) * (self._operations() - before)
        sizes = list(output.shape)
        sizes[axis] = steps
        return output.new_empty(sizes, requires_grad=output.requires_grad), *states

    def _operations(self) -> int:
        return self.counter.get_total_flops() if self.counter is not None else 0
