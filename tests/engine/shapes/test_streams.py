"""Which data nodes are paired, and which are drawn by themselves."""

from __future__ import annotations

from engine.document.plan import AS_CONNECTED, PAIRED, UNPAIRED
from engine.shapes.streams import Streams, streams_of
from tests.engine.sketches import Sketch


def two_sets() -> tuple[Sketch, dict[str, str]]:
    """Two data nodes, each before a layer of its own."""
    sketch = Sketch()
    ids = {"iris": sketch.add("Iris", "iris"), "wine": sketch.add("Wine", "wine")}
    ids["left"] = sketch.add("Linear", "left", {"units": 3}, x=f"{ids['iris']}.features")
    ids["right"] = sketch.add("Linear", "right", {"units": 3}, x=f"{ids['wine']}.features")
    return sketch, ids


def found(sketch: Sketch, pairing: str = AS_CONNECTED) -> Streams:
    book = sketch.check()
    return streams_of(sketch.project.graph, book.types, pairing)


def test_data_that_meet_nowhere_are_streams_of_their_own() -> None:
    sketch, ids = two_sets()
    streams = found(sketch)
    assert streams.nodes == ((ids["iris"],), (ids["wine"],))
    assert [streams.of(ids[one]) for one in ("left", "right")] == [0, 1]


def test_data_that_meet_in_a_loss_or_a_layer_are_paired() -> None:
    for kind, ports in (("MSE", ("prediction", "target")), ("Concatenate", ("x1", "x2"))):
        sketch, ids = two_sets()
        meeting = sketch.add(kind, "meeting", **dict(zip(ports, (ids["left"], ids["right"]), strict=True)))
        streams = found(sketch)
        assert streams.nodes == ((ids["iris"], ids["wine"]),)
        assert streams.meetings == {meeting: (ids["iris"], ids["wine"])}


def test_the_plan_may_say_otherwise() -> None:
    sketch, ids = two_sets()
    assert found(sketch, PAIRED).nodes == ((ids["iris"], ids["wine"]),)
    sketch.add("MSE", "meeting", prediction=ids["left"], target=ids["right"])
    assert len(found(sketch, UNPAIRED)) == 2


def test_what_a_source_draws_counts_by_the_rows_it_meets() -> None:
    sketch, ids = two_sets()
    noise = sketch.add("GaussianNoise", "noise", {"size": (3,)})
    alone = sketch.add("Linear", "alone", {"units": 2}, x=noise)
    assert found(sketch).of(alone) == 0
    sketch.add("Add", "sum", x1=ids["right"], x2=noise)
    assert found(sketch).of(noise) == 1
