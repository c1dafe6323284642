"""Makes `stories.tsv` of the example `bert-stories`: python -m tests.gallery.stories_made

Each row is a pair of texts: a sentence or a question, and a text that goes on from it or answers it in more
than half of the rows, and belongs to another story in the others. Beside it stands what a network learns.
"""

from __future__ import annotations

import random

from engine.document.shipped import datasets_folder

FOLDER = datasets_folder() / "files"

NAME, COUNT, SEED = "stories.tsv", 6000, 0
PEOPLE = {"she": ("Anna", "Mia", "Clara", "Ella", "Ruth"), "he": ("Tom", "Max", "Ben", "Paul", "Hugo")}
THINGS = ("ball", "lamp", "cup", "book", "hat", "key", "bell", "coat", "watch", "light", "drum", "rope")
KINDS = ("red", "blue", "green", "white", "small", "big", "old", "new", "light", "heavy")
PLACES = ("garden", "kitchen", "cellar", "hall", "attic", "school", "market", "bridge", "barn", "tower")
MOVES = {
    "took": ("take", "to"),
    "carried": ("carry", "to"),
    "brought": ("bring", "to"),
    "left": ("leave", "in"),
}
MOVES |= {"hid": ("hide", "in"), "found": ("find", "in"), "saw": ("see", "in"), "lost": ("lose", "in")}
GOOD = ("happy", "glad", "proud", "cheerful", "pleased", "calm")
BAD = ("sad", "cross", "tired", "upset", "worried", "afraid")
SHOWN = {True: ("smiled", "laughed", "sang", "danced"), False: ("cried", "sighed", "frowned", "sobbed")}
MOST = ("very", "so", "quite", "really")
BESIDE = ("they watch the {place} .", "they cross the {place} .", "they light the {thing} .", "they play .")
TAGS = {"PROPN": (*PEOPLE["she"], *PEOPLE["he"]), "PRON": ("she", "he", "they", "it", "who", "what")}
TAGS |= {"NOUN": (*THINGS, *PLACES), "ADJ": (*KINDS, *GOOD, *BAD), "ADP": ("to", "in"), "DET": ("the",)}
TAGS |= {"ADV": (*MOST, "not", "where", "how", "now"), "AUX": ("was", "is", "did"), "PUNCT": (".", "?")}
TAGS |= {"VERB": (*MOVES, *(one for one, _ in MOVES.values()), "watch", "cross", "light", "play")}
TAGS["VERB"] += (*SHOWN[True], *SHOWN[False])


def tagged(text: str) -> list[str]:
    """The kind of each word; a word of several kinds is told by its neighbours."""
    words = text.split()
    found = []
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        kinds = [kind for kind, known in TAGS.items() if word in known]
        if before == "they":
            kind = "VERB"
        elif {"NOUN", "ADJ"} <= set(kinds):
            kind = "ADJ" if after in THINGS else "NOUN"
        else:
            kind = kinds[0] if kinds[0] != "VERB" or len(kinds) == 1 else "ADJ"
        found.append(kind)
    return found


class Story:
    """Somebody does something with a thing at a place, somebody else with another, and somebody feels so."""

    def __init__(self, draws: random.Random) -> None:
        pronouns = draws.sample(sorted(PEOPLE), 2)
        self.pronoun = pronouns[0]
        self.names = [draws.choice(PEOPLE[one]) for one in pronouns]
        self.things = draws.sample(THINGS, 2)
        self.verbs = [draws.choice(sorted(MOVES)) for _ in range(2)]
        self.places = draws.sample(PLACES, 2)
        self.called = []
        for thing in self.things:
            kind = draws.choice([one for one in KINDS if one != thing])
            self.called.append(f"the {kind} {thing}" if draws.random() < 0.7 else f"the {thing}")
        self.done = [
            f"{name} {verb} {thing} {MOVES[verb][1]} the {place} ."
            for name, verb, thing, place in zip(self.names, self.verbs, self.called, self.places, strict=True)
        ]
        self.alone = draws.random() < 0.5
        self.good = draws.random() < 0.5
        turned = draws.random() < 0.35
        feeling = draws.choice(GOOD if self.good != turned else BAD)
        self.feeling = " ".join(
            one for one in ("not" * turned, draws.choice(MOST) * (draws.random() < 0.5), feeling) if one
        )
        shown = f" {self.pronoun} {draws.choice(SHOWN[self.good])} ." * (draws.random() < 0.5)
        self.felt = f"{self.pronoun} was {self.feeling} .{shown}"
        beside = draws.choice(BESIDE).format(place=draws.choice(PLACES), thing=draws.choice(THINGS))
        self.beside = f"now {beside}" if draws.random() < 0.3 else ""


def pair(story: Story, draws: random.Random) -> tuple[str, str, str, str]:
    """A first text, the text that belongs to it, the words that answer it, and a word both must have."""
    of = 0 if story.alone else draws.randrange(2)
    name, thing = story.names, story.things
    verb, place, base = story.verbs[of], story.places[of], MOVES[story.verbs[of]][0]
    lines = story.done[:1] if story.alone else story.done[:]
    draws.shuffle(lines)
    text = " ".join(one for one in (*lines, story.felt, story.beside) if one)
    asked = draws.randrange(6)
    if asked == 0:
        return f"who {verb} the {thing[of]} ?", text, name[of], thing[of]
    if asked == 1:
        return f"what did {name[of]} {base} ?", text, story.called[of], name[of]
    if asked == 2:
        return f"where is the {thing[of]} ?", text, place, thing[of]
    if asked == 3:
        return (
            f"how was {story.pronoun} ?",
            f"{story.felt} {story.beside}".strip(),
            story.feeling,
            story.pronoun,
        )
    verb = draws.choice([one for one in sorted(MOVES) if MOVES[one][1] == "in"])
    goes_on = f"{story.pronoun} {verb} the {thing[0]} in the {draws.choice(PLACES)} ."
    text = " ".join(one for one in (goes_on, story.felt, story.beside) if one)
    return story.done[0], text, "", thing[0]


def rows() -> list[tuple[str, ...]]:
    """(first, second, belongs, feeling, tags, answer) of each pair."""
    draws = random.Random(SEED)
    found = []
    while len(found) < COUNT:
        story = Story(draws)
        first, second, answer, key = pair(story, draws)
        belongs = draws.random() < 0.5
        if not belongs:
            story = Story(draws)
            _, second, answer, _ = *pair(story, draws)[:2], "", ""
            if key in second.split():
                continue
        tags = " ".join(tagged(f"{first} {second}"))
        found.append(
            (first, second, "yes" if belongs else "no", "good" if story.good else "bad", tags, answer)
        )
    return found


def made() -> str:
    """The file's text."""
    names = ("first", "second", "belongs", "feeling", "tags", "answer")
    return "".join("\t".join(one) + "\n" for one in (names, *rows()))


if __name__ == "__main__":
    (FOLDER / NAME).write_text(made(), encoding="utf-8")
