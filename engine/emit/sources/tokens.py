"""Tokenisers that a script learns from its training text, each written for its own kind of token."""

from __future__ import annotations

from engine.catalogue.identifiers import class_name
from engine.data.text.tokenisers import (
    learned_characters,
    learned_word_pieces,
    learned_words,
    portions,
)
from engine.emit.sources.parts import Beside
from engine.emit.sources.straight import Function
from engine.emit.statements import tree

TOKENS = '''
class $name:
    """Text as token numbers: 0 fills up, 1 is unknown, 2 begins, 3 ends, 4 hides, others are $what."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]", *tokens]
        self.numbers = {token: number for number, token in enumerate(self.tokens)}

    def ids(self, text: str) -> np.ndarray[Any, Any]:
        return np.array([self.numbers.get(one, 1) for one in $parts], np.int32)

    def text(self, ids: list[int]) -> str:
        return "$between".join(self.tokens[one if one < len(self.tokens) else 1] for one in ids)
'''
LEARNED = '''
def $name(texts: list[str], size: int) -> $tokens:
    """The commonest $what of texts, at most `size` tokens."""
    counts = Counter($all)
    kept = sorted(counts, key=lambda one: (-counts[one], one))[: size - 5]
    return $tokens($kept)
'''
PIECES = '''
class $name:
    """Text as token numbers: 0 fills up, 1 is unknown, 2 begins, 3 ends, 4 hides, others are pieces."""

    def __init__(self, numbers: dict[str, int], merges: list[tuple[str, str]]) -> None:
        self.tokens = sorted(numbers, key=numbers.__getitem__)
        self.pieces = Tokenizer(models.$model($given, unk_token="[unknown]"))
        self.pieces.pre_tokenizer = $words

    def ids(self, text: str) -> np.ndarray[Any, Any]:
        found = self.pieces.encode_batch_fast(portions(text$small))
        return np.concatenate([np.array(one.ids, np.int32) for one in found])

    def text(self, ids: list[int]) -> str:
        tokens = [self.tokens[one if one < len(self.tokens) else 1] for one in ids]
        return "$between".join(tokens)$unmarked
'''
LEARNED_PIECES = '''
def $name(texts: list[str], size: int) -> $tokens:
    """Pieces of words that pairs of pieces were joined to, the commonest first, at most `size` tokens."""
    special = ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]"]
    counts = Counter(one for text in texts for one in text$small$printed)
    letters = sorted(sorted(counts, key=lambda one: (-counts[one], one))[: (size - 5) // $part])
    special += [f"##{letter}" for letter in letters]  #? marked
    found = $tokens({"[unknown]": 0}, []).pieces
    trainer = trainers.$trainer(
        vocab_size=size,
        special_tokens=special,
        initial_alphabet=letters,
        limit_alphabet=max(1, len(letters)),
        show_progress=False,
    )
    found.train_from_iterator((part for text in texts for part in portions(text$small)), trainer)
    merges = json.loads(found.to_str())["model"].get("merges", [])
    return $tokens(found.get_vocab(), [(left, right) for left, right in merges])
'''
WORDS = r're.findall(r"\w+|[^\w\s]|\n", text{small})'
SPLIT_WORDS = (
    r'pre_tokenizers.Split(Regex(r" ?\p{L}[\p{L}\p{M}]*| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s"), "isolated")'
)


def add_tokeniser(beside: Beside, learn: Function, lower: bool) -> tuple[Function, ...]:
    """The function that learns tokens, by its own name, and its class; what they carry comes back.

    It is called with the training texts and the size of the vocabulary.
    """
    small = ".lower()" if lower else ""
    if learn not in (learned_characters, learned_words):
        return _add_pieces(beside, learn, small)
    letters = learn is learned_characters
    given = {
        "what": "characters" if letters else "words",
        "parts": f"text{small}" if letters else WORDS.format(small=small),
    }
    every = (
        '"".join(texts)' if letters and not lower else f"one for text in texts for one in {given['parts']}"
    )
    title = "letter tokens" if letters else "word tokens"
    tokens = beside.add(TOKENS, title, class_name, between="" if letters else " ", **given)
    kept = 'sorted(kept) or ["\\n"]' if letters else "kept"
    beside.parts.append(tree(LEARNED, name=learn.__name__, tokens=tokens, kept=kept, all=every, **given))
    return ()


def _add_pieces(beside: Beside, learn: Function, small: str) -> tuple[Function, ...]:
    marked = learn is learned_word_pieces
    tokens = beside.add(
        PIECES,
        "piece tokens",
        class_name,
        model="WordPiece" if marked else "BPE",
        given="numbers" if marked else "numbers, merges",
        words="pre_tokenizers.BertPreTokenizer()" if marked else SPLIT_WORDS,
        small=small,
        between=" " if marked else "",
        unmarked='.replace(" ##", "")' if marked else "",
    )
    given = {
        "trainer": "WordPieceTrainer" if marked else "BpeTrainer",
        "printed": " if not one.isspace()" if marked else "",
        "part": 4 if marked else 2,
    }
    beside.parts.append(
        tree(LEARNED_PIECES, name=learn.__name__, tokens=tokens, small=small, marked=marked, **given)
    )
    return (portions,)
