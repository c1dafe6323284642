"""How a vocabulary of pieces grew: one pair of pieces was joined after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.data.text.token_names import Vocabulary
from engine.data.text.tokenisers import Pieces, special_tokens

GOES_ON = "##"  # what pieces begin with that go on with a word, in WordPiece


@dataclass(frozen=True)
class PieceSteps:
    """The joins by which a tokeniser of pieces was learned, and how a text is cut after the first of them.

    `way` is "BPE" or "WordPiece". At the beginning there are characters only; each join adds a token that two
    pieces make together. Source: Sennrich, Haddow and Birch, 2016; Schuster and Nakajima, 2012.
    """

    way: str
    tokens: tuple[str, ...]
    merges: tuple[tuple[str, str], ...]
    lower: bool
    sample: str = ""
    _made: dict[int, Pieces] = field(default_factory=dict, compare=False)

    @property
    def joined(self) -> tuple[str, ...]:
        """The tokens that joins added, in their order."""
        if self.way == "BPE":
            return tuple(left + right for left, right in self.merges)
        special = special_tokens()
        return tuple(one for one in self.tokens if one not in special and len(one.removeprefix(GOES_ON)) > 1)

    def pair(self, step: int) -> tuple[str, str] | None:
        """The two pieces of join number `step`, from 1; None where only their sum is known."""
        if self.way == "BPE":
            return self.merges[step - 1]
        new, known = self.joined[step - 1], set(self._known(step - 1))
        begin = len(GOES_ON) if new.startswith(GOES_ON) else 0
        ways = [(new[:cut], GOES_ON + new[cut:]) for cut in range(begin + 1, len(new))]
        fitting = [one for one in ways if set(one) <= known]
        return fitting[0] if len(fitting) == 1 else None

    def cut(self, text: str, step: int) -> list[str]:
        """The tokens of a text after the first `step` joins; of what no piece spells, the unknown token."""
        if step not in self._made:
            self._made.clear()
            known = list(self.tokens) if self.way == "BPE" else self._known(step)
            self._made[step] = Pieces(self.way, known, self.lower, list(self.merges[:step]))
        made = self._made[step]
        return [made.tokens[number] for number in made.ids(text).tolist()]

    def _known(self, step: int) -> list[str]:
        later = set(self.joined[step:])
        return [one for one in self.tokens if one not in later]


def piece_steps(vocabulary: Vocabulary, sample: str = "") -> PieceSteps | None:
    """The joins of a vocabulary; None where it was not learned by joining pieces."""
    way = getattr(vocabulary.made, "way", "")
    if not way or vocabulary.made is None:
        return None
    return PieceSteps(way, vocabulary.tokens, vocabulary.merges, vocabulary.made.lower, sample)
