"""Exports are run on small tensors here, as in the tests of the nodes."""

from __future__ import annotations

from tests.nodes.conftest import one_thread

__all__ = ["one_thread"]
