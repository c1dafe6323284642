"""How much is drawn at which zoom."""

from __future__ import annotations

TEXT_ZOOM = 0.6  # below it small print is unreadable and left out
PORT_ZOOM = 0.75  # below it names of ports, which wires cross, wait for the pointer
READABLE, FAR_NAME = 10.5, 21  # screen pixels of a name from afar, and its largest size on the node
LEAST_NAME = 13  # its smallest size there: as from nearby, where nodes are as wide as their names need
FEW = 150  # nodes; so many can be drawn in full at any zoom without being felt
PLATES_BELOW, PLATES_BELOW_FEW = 0.4, 0.22


class Detail:
    """Below `plates_below` nodes are plain plates and wires plain lines: three times cheaper to repaint.

    One object serves all items of a scene, so that a paint costs no question to the scene.
    """

    def __init__(self) -> None:
        self.plates_below = PLATES_BELOW_FEW
        self.labels_always = True  # on wires, rather than on hover or selection
        self.zoom = 1.0  # at which the view is about to paint

    def suit(self, nodes: int) -> bool:
        """Adapts to the number of nodes; whether that changed anything."""
        before = self.plates_below
        self.plates_below = PLATES_BELOW_FEW if nodes <= FEW else PLATES_BELOW
        return before != self.plates_below
