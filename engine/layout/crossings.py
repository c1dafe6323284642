"""Who stands above whom in a column, so that few wires cross; ties stay as they are."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable

from engine.layout.layers import Layered, LayoutCancelled

ROUNDS = 12
PATIENCE = 3  # rounds without fewer crossings
_PORT = 1e-4  # a port's fraction of the distance between two neighbours: 10,000 units
_MOST_SWAPS = 400  # products of degrees beyond which two neighbours are not compared


class Crossings:
    """Orders the layers of a plan in place."""

    def __init__(self, plan: Layered, cancelled: Callable[[], bool]) -> None:
        self._plan = plan
        self._cancelled = cancelled
        self._place = [0] * len(plan.layer_of)
        for layer in plan.layers:
            self._number(layer)

    def reduce(self) -> int:
        """Order the layers; return how many crossings are left. An order is changed only for fewer."""
        if all(len(layer) == 1 for layer in self._plan.layers):
            return 0
        best = self._improve(self._count())
        if best:
            kept = self._kept()
            self._walk_again()
            fresh = self._improve(self._count())
            if fresh >= best:
                self._restore(kept)
            best = min(best, fresh)
        return best

    def _improve(self, best: int) -> int:
        kept, since = self._kept(), 0
        for turn in range(ROUNDS):
            if not best or since >= PATIENCE:
                break
            self._sweep(forward=turn % 2 == 0)
            self._swap()
            found = self._count()
            if found < best:
                best, kept, since = found, self._kept(), 0
            else:
                since += 1
        self._restore(kept)
        return best

    def _kept(self) -> list[list[int]]:
        return [list(layer) for layer in self._plan.layers]

    def _restore(self, layers: list[list[int]]) -> None:
        self._plan.layers = [list(layer) for layer in layers]
        for layer in self._plan.layers:
            self._number(layer)

    def _number(self, layer: list[int]) -> None:
        for index, vertex in enumerate(layer):
            self._place[vertex] = index

    def _walk_again(self) -> None:
        """The order in which a walk from the first column meets the vertices, whatever it was before."""
        plan = self._plan
        seen: set[int] = set()
        layers: list[list[int]] = [[] for _ in plan.layers]
        for start in (vertex for layer in plan.layers for vertex in layer):
            waiting = [start]
            while waiting:
                vertex = waiting.pop()
                if vertex in seen:
                    continue
                seen.add(vertex)
                layers[plan.layer_of[vertex]].append(vertex)
                onward = sorted(plan.after[vertex], key=lambda piece: (piece.leaves, piece.end))
                waiting += [piece.end for piece in reversed(onward)]
        self._restore(layers)

    def _sweep(self, *, forward: bool) -> None:
        plan, place = self._plan, self._place
        layers = plan.layers[1:] if forward else plan.layers[-2::-1]
        for layer in layers:
            if self._cancelled():
                raise LayoutCancelled()
            if len(layer) == 1:
                continue
            wanted: dict[int, float] = {}
            for vertex in layer:
                if forward:
                    keys = [place[piece.start] + piece.leaves * _PORT for piece in plan.before[vertex]]
                else:
                    keys = [place[piece.end] + piece.enters * _PORT for piece in plan.after[vertex]]
                wanted[vertex] = sum(keys) / len(keys) if keys else -1.0
            # What nothing pulls keeps its place; the others are sorted around it.
            pulled = iter(sorted((vertex for vertex in layer if wanted[vertex] >= 0), key=wanted.__getitem__))
            layer[:] = [next(pulled) if wanted[vertex] >= 0 else vertex for vertex in layer]
            self._number(layer)

    def _swap(self) -> None:
        """Changes neighbours wherever their own wires then cross less."""
        plan, place = self._plan, self._place
        for layer in plan.layers:
            if self._cancelled():
                raise LayoutCancelled()
            for index in range(len(layer) - 1):
                upper, lower = layer[index], layer[index + 1]
                if self._between(upper, lower) > self._between(lower, upper):
                    layer[index], layer[index + 1] = lower, upper
                    place[lower], place[upper] = index, index + 1

    def _between(self, upper: int, lower: int) -> int:
        """How often the wires of two neighbours cross when they stand in this order."""
        plan, place = self._plan, self._place
        found = 0
        for one, other in (
            (
                [place[piece.start] + piece.leaves * _PORT for piece in plan.before[upper]],
                [place[piece.start] + piece.leaves * _PORT for piece in plan.before[lower]],
            ),
            (
                [place[piece.end] + piece.enters * _PORT for piece in plan.after[upper]],
                [place[piece.end] + piece.enters * _PORT for piece in plan.after[lower]],
            ),
        ):
            if len(one) * len(other) <= _MOST_SWAPS:
                found += sum(mine > theirs for mine in one for theirs in other)
        return found

    def _count(self) -> int:
        if self._cancelled():
            raise LayoutCancelled()
        return sum(self._after(layer) for layer in self._plan.layers[:-1])

    def _after(self, layer: list[int]) -> int:
        """Crossings between a layer and the next."""
        plan, place = self._plan, self._place
        pieces = [
            (place[vertex] + piece.leaves * _PORT, place[piece.end] + piece.enters * _PORT)
            for vertex in layer
            for piece in plan.after[vertex]
        ]
        found = 0
        ends: list[float] = []
        for _, end in sorted(pieces):
            found += len(ends) - bisect_right(ends, end)
            insort(ends, end)
        return found
