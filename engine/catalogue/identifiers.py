"""From names as people type them to identifiers: short, ASCII, unique, never a name that is taken."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Callable, Iterable

LONGEST = 40
# What an emitted module uses itself.
MODULE_NAMES = frozenset(
    [
        "self",
        "x",
        "tap",
        "torch",
        "nn",
        "np",
        "math",
        "json",
        "gzip",
        "argparse",
        "Path",
        "Tensor",
        "Any",
        "Iterator",
        "Model",
        "model",
        "batch",
        "batches",
        "data",
        "load",
        "objective",
        "measure",
        "evaluate",
        "optimiser_for",
        "schedule_for",
        "train",
        "main",
        "report",
        "loss",
        "step",
        "epoch",
        "load_file",
    ]
)
# hasattr(nn.Module, name), written down so that naming needs no torch; a test compares the two.
LAYER_NAMES = frozenset(
    [
        "T_destination",
        "add_module",
        "apply",
        "bfloat16",
        "buffers",
        "call_super_init",
        "children",
        "compile",
        "cpu",
        "cuda",
        "double",
        "dump_patches",
        "eval",
        "extra_repr",
        "float",
        "forward",
        "get_buffer",
        "get_extra_state",
        "get_parameter",
        "get_submodule",
        "half",
        "ipu",
        "load_state_dict",
        "modules",
        "mtia",
        "named_buffers",
        "named_children",
        "named_modules",
        "named_parameters",
        "parameters",
        "register_backward_hook",
        "register_buffer",
        "register_forward_hook",
        "register_forward_pre_hook",
        "register_full_backward_hook",
        "register_full_backward_pre_hook",
        "register_load_state_dict_post_hook",
        "register_load_state_dict_pre_hook",
        "register_module",
        "register_parameter",
        "register_state_dict_post_hook",
        "register_state_dict_pre_hook",
        "requires_grad_",
        "set_extra_state",
        "set_submodule",
        "share_memory",
        "state_dict",
        "to",
        "to_empty",
        "train",
        "training",
        "type",
        "xpu",
        "zero_grad",
    ]
)


def slug(text: str, otherwise: str = "node") -> str:
    """The nearest identifier: `Conv 1 (a)` gives `conv_1_a`; `otherwise` where nothing of it is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    snake = re.sub(r"[^0-9a-z]+", "_", plain.lower()).strip("_")
    snake = (f"layer_{snake}" if snake[:1].isdigit() else snake)[:LONGEST].strip("_")
    if not snake:
        return "node" if otherwise == "node" else slug(otherwise)
    return snake


def class_name(text: str, otherwise: str = "block") -> str:
    """The nearest name of a class: `my 2` gives `My2`."""
    return "".join(part.capitalize() for part in slug(text, otherwise).split("_"))


def taken(identifier: str) -> bool:
    """Whether an identifier already means something in an emitted module."""
    return (
        keyword.iskeyword(identifier)
        or keyword.issoftkeyword(identifier)
        or hasattr(builtins, identifier)
        or identifier in MODULE_NAMES
        or identifier in LAYER_NAMES
    )


class NameBook:
    """Gives each thing an identifier of its own: `conv1`, then `conv1_2`; a taken one gets a `_` behind.

    `outer` is the book of the scope around this one, none of whose names is given again.
    """

    def __init__(self, reserved: Iterable[str] = (), outer: NameBook | None = None) -> None:
        self._used = set(reserved)
        self._outer = outer
        self._next: dict[str, int] = {}  # per identifier, so that a thousand of one name stay quick

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._used or (self._outer is not None and identifier in self._outer)

    def give(self, text: str, otherwise: str = "node", nearest: Callable[[str, str], str] = slug) -> str:
        """A name that is new here: `nearest` of a text, or of another where nothing of it is left."""
        wanted = nearest(text, otherwise)
        if taken(wanted):
            wanted += "_"
        found, number = wanted, self._next.get(wanted, 2)
        while found in self:
            found = f"{wanted.rstrip('_')}_{number}"
            number += 1
        self._next[wanted] = number
        self._used.add(found)
        return found
