"""What a script is told: its constants, what it asks on the command line, and in which order it is run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from unicodedata import east_asian_width

from engine.emit.model import Assembly
from engine.emit.players import Players
from engine.emit.statements import Statement, quoted, tree, under

LONGEST = 78  # columns of a title
OWN_FOLDER = "Path(__file__).parent"  # of the file that runs
DEVICE = '"cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"'


@dataclass(frozen=True, slots=True)
class Constants:
    """Constants of a script that stand in one line, {name: value as code}."""

    values: Mapping[str, str]
    comment: str = ""

    def only(self, names: Collection[str]) -> Constants:
        """Those of them that are among `names`; the comment is about all, and stays with all."""
        kept = {name: value for name, value in self.values.items() if name in names}
        return Constants(kept, self.comment if len(kept) == len(self.values) else "")

    def line(self) -> Statement:
        """The line that sets them."""
        text = f"{', '.join(self.values)} = {', '.join(self.values.values())}"
        return Statement(f"{text}  # {self.comment}" if self.comment else text)


@dataclass(frozen=True, slots=True)
class Setting:
    """A field of a script's `Config`: its name, its type and its value as code."""

    name: str
    kind: str
    value: str
    about: str = ""

    def line(self) -> Statement:
        text = f"{self.name}: {self.kind} = {self.value}"
        return Statement(f"{text}  # {self.about}" if self.about else text)


def config_parts(settings: Sequence[Setting]) -> list[list[Statement]]:
    """The class of what one would change first in a script, and its values."""
    if not settings:
        return []
    made = [Statement("@dataclass(frozen=True)"), under("class Config:", [one.line() for one in settings])]
    return [made, tree("CONFIG = Config()")]


def home_text(home: str, own: str = OWN_FOLDER) -> str:
    """Where the data lie as an expression; `own` is the folder from which `home` is seen, "." for itself."""
    if home == ".":
        return own
    return f"Path({quoted(home)})" if Path(home).is_absolute() else f"{own} / {quoted(home)}"


def of_one_phase(players: Players | None) -> bool:
    """Whether a script's `train` is told how many epochs its only phase has."""
    return players is None or (players.short is not None and not players.short.stretches)


def is_tested(made: Assembly, players: Players | None) -> bool:
    """Whether a script ends with an evaluation on the test split."""
    return "test" in made.splits and (players is None or players.facts.measures)


def main_lines(
    made: Assembly,
    holds: Sequence[str],
    home: str,
    weights: str | None,
    threads: int | None,
    players: Players | None = None,
    shared: Sequence[str] | None = None,
) -> list[Statement]:
    """The function `main`: what the command line says, training and what comes after it.

    `shared` is what the folder holds of which procedures are told too; None where there are none.
    """
    return tree(
        MAIN,
        title=quoted(plain_text(made.project.title) or "A network"),
        alone=shared is None,
        holds=bool(holds) and not shared,
        **_where(holds, home),
        plain=players is None or players.short is not None,
        whole=of_one_phase(players),
        device=DEVICE,
        weights=quoted(weights) if weights else "",
        few=threads is not None,
        threads=threads,
        given="args.data, args.device" if holds else "args.device",
        tested=is_tested(made, players),
    )


MAIN = """
def main() -> None:
    parser = argparse.ArgumentParser(description=$title)  #? alone
    parser = command_line($title)  #? not alone
    parser.add_argument("--data", type=Path, default=$home, help=$what)  #? holds
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)  #? whole
    parser.add_argument("--epochs", type=int, help="of each phase, in place of the plan's own")  #? not whole
    parser.add_argument("--seed", type=int, default=CONFIG.seed)  #? alone
    device = $device  #? alone
    parser.add_argument("--device", default=device)  #? alone
    beside = Path(__file__).parent / $weights  #? weights
    parser.add_argument("--weights", type=Path, default=beside, help="start from these weights")  #? weights
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")  #? alone
    args = parser.parse_args()  #: ARGUMENTS

    torch.set_num_threads($threads)  # faster than several for so small a network  #: THREADS  #? few
    torch.manual_seed(args.seed)  #: SEEDED
    model = Model().to(args.device)  #: MODEL
    model.load_state_dict(load_file(args.weights))  #? weights
    data = load($given)
    train(model, data, args.seed, args.epochs, args.json)  #: TRAINED  #? plain
    try:  #? not plain
        train(model, data, args.seed, args.epochs, args.json)  #: TRAINED
    except FloatingPointError as error:  #? not plain
        raise SystemExit(f"{error} A lower learning rate may help.") from None
    found = evaluate(model, data["test"])  #? tested
    report({f"test_{name}": value for name, value in found.items()}, args.json)  #? tested
    if args.save:  #: SAVED
        torch.save(model.state_dict(), args.save)
"""


def command_lines(holds: Sequence[str], home: str) -> list[Statement]:
    """The function that declares what training and procedures are both told on the command line."""
    return tree(COMMAND, holds=bool(holds), **_where(holds, home), device=DEVICE)


COMMAND = '''
def command_line(description: str | None) -> argparse.ArgumentParser:
    """What training and procedures are both told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=$home, help=$what)  #? holds
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = $device
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser
'''


def _where(holds: Sequence[str], home: str) -> dict[str, str]:
    """The folder of the data by default, and what it holds in words, as code."""
    what = quoted("folder that holds " + listed(holds).replace("%", "%%")) if holds else ""
    return {"home": home, "what": what}


def model_only_lines(made: Assembly, weights: str | None) -> list[Statement]:
    """The function `main` of a script that has nothing to train."""
    return tree(MODEL_ONLY, weights=quoted(weights) if weights else "", examples=examples_of(made))


def examples_of(made: Assembly) -> str:
    """Two blank examples, as arguments of a model."""
    examples = []
    for place in made.arguments:
        found = made.book.signature(*place)
        assert found is not None
        sizes = ", ".join(str(size) for size in (2, *found.shape))
        extra = "" if found.dtype == "float32" else f", dtype=torch.{found.dtype}"
        examples.append(f"torch.zeros({sizes}{extra})")
    return ", ".join(examples)


MODEL_ONLY = '''
def main() -> None:
    """Build the model and run it on two blank examples."""
    model = Model()
    model.load_state_dict(load_file(Path(__file__).parent / $weights))  #? weights
    model.eval()
    print(f"{sum(weight.numel() for weight in model.parameters()):,} parameters")
    found = model($examples)
    for result in found if isinstance(found, tuple) else (found,):
        print(tuple(result.shape))
'''


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, as text that means nothing else: `a.csv, b.csv and c.csv`."""
    *first, last = (plain_text(one) for one in names)
    return f"{', '.join(first)} and {last}" if first else last


def plain_text(text: str) -> str:
    """One line of printable text that cannot end a docstring, nor mean anything to argparse."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    plain = " ".join(printable.split()).replace("\\", "/").replace('"', "'").replace("%(", "% (").strip(" '")
    widths = accumulate(2 if east_asian_width(letter) in "FW" else 1 for letter in plain)
    return plain[: sum(width <= LONGEST for width in widths)]
