"""Kinds of pictures that can be taken of a model while it learns: one module a family.

A kind is a function with `@probe_kind`; adding a module here is all that a new one needs.
"""

from __future__ import annotations

from engine.probes.registry import ProbeKind, Taken, probe_kind, probe_kinds

__all__ = ["ProbeKind", "Taken", "probe_kind", "probe_kinds"]
