"""What leaves a node: its maps for the pinned example, and how its values spread over a sample."""

from __future__ import annotations

from engine.feed.feed import Probe
from engine.look import reduce
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look

_SAMPLE_ROWS = 64


@probe_kind("activations", every=0.25, group="example", quiet=True)
def activations(look: Look, probe: Probe) -> Taken | None:
    """What leaves each port of a node for the pinned example; the array is that of the first port."""
    found = look.shared(look.example, 1).get(probe.node_id, {}) if look.rows() else {}
    ports = {
        port: look.of_one(probe.node_id, port, value)
        for port, value in found.items()
        if value.dim() and len(value)
    }
    if not ports:
        return None
    rows = {port: look.rows_of(probe.node_id, port) for port in ports}
    arrays = {
        port: reduce.listed(value) if rows[port] == "edges" else reduce.maps(value)
        for port, value in ports.items()
    }
    first = next(iter(arrays))
    facts = {"port": first, "ports": arrays, "shape": tuple(ports[first].shape)}
    about = {"example": look.example, "split": look.split}
    return arrays[first], {**facts, **about, **({"rows": rows[first]} if rows[first] else {})}


@probe_kind("output_histogram", quiet=True)
def output_histogram(look: Look, probe: Probe) -> Taken | None:
    """A histogram of what leaves a node for 64 examples."""
    ports = look.shared(0, _SAMPLE_ROWS).get(probe.node_id) if look.rows() else None
    return reduce.histogram([next(iter(ports.values()))]) if ports else None
