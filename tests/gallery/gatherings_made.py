"""Makes the files `gatherings.*` of the example `graph-classes`: python -m tests.gallery.gatherings_made

A gathering has 8 to 20 guests, half of them in red, and twice as many talks. Who starts one picks at random
somebody of the same colour with the chance that the kind of gathering has, else somebody of the other.
"""

from __future__ import annotations

import random

from engine.document.shipped import datasets_folder

CHANCE = {"alike": 0.8, "anyone": 0.5, "unlike": 0.2}
FOLDER = datasets_folder() / "files"


def made() -> dict[str, str]:
    """The files by name."""
    choose = random.Random(7)
    edges, nodes, graphs = ["graph,source,target"], ["node,graph,red"], ["graph,label"]
    for number in range(300):
        kind = list(CHANCE)[number % 3]
        count = choose.randint(8, 20)
        red = [guest % 2 for guest in range(count)]
        choose.shuffle(red)
        talks: set[tuple[int, int]] = set()
        while len(talks) < 2 * count:
            one = choose.randrange(count)
            same = choose.random() < CHANCE[kind]
            others = [guest for guest in range(count) if guest != one and (red[guest] == red[one]) == same]
            other = choose.choice(others)
            talks.add((min(one, other), max(one, other)))
        edges += [f"{number},{one},{other}" for one, other in sorted(talks)]
        nodes += [f"{guest},{number},{red[guest]}" for guest in range(count)]
        graphs.append(f"{number},{kind}")
    parts = {"edges": edges, "nodes.csv": nodes, "graphs.csv": graphs}
    return {f"gatherings.{end}": "\n".join(rows) + "\n" for end, rows in parts.items()}


if __name__ == "__main__":
    for name, text in made().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
