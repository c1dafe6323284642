"""The end of a script: what it asks on the command line, and the order of things when it is run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from unicodedata import east_asian_width

from engine.document.graph import Project
from engine.emit.model import Assembly
from engine.emit.players import Players
from engine.emit.statements import Statement, quoted, tree

LONGEST = 78  # columns of a title
DEVICE = '"cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"'


def main_lines(
    project: Project,
    holds: Sequence[str],
    home: str,
    weights: str | None,
    threads: int | None,
    players: Players | None = None,
) -> list[Statement]:
    """The function `main`: what the command line says, training and what comes after it."""
    return tree(
        MAIN,
        title=quoted(plain_text(project.title) or "A network"),
        holds=bool(holds),
        home=home,
        what=quoted("folder that holds " + listed(holds).replace("%", "%%")) if holds else "",
        plain=players is None or players.short is not None,
        device=DEVICE,
        weights=quoted(weights) if weights else "",
        few=threads is not None,
        threads=threads,
        folder="args.data" if holds else "Path()",
        tested=players is None or players.facts.measures,
    )


MAIN = """
def main() -> None:
    parser = argparse.ArgumentParser(description=$title)
    parser.add_argument("--data", type=Path, default=$home, help=$what)  #? holds
    parser.add_argument("--epochs", type=int, default=EPOCHS)  #? plain
    parser.add_argument("--epochs", type=int, help="of each phase, in place of the plan's own")  #? not plain
    parser.add_argument("--seed", type=int, default=SEED)
    device = $device
    parser.add_argument("--device", default=device)
    beside = Path(__file__).parent / $weights  #? weights
    parser.add_argument("--weights", type=Path, default=beside, help="start from these weights")  #? weights
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()  #: ARGUMENTS

    torch.set_num_threads($threads)  # faster than several for so small a network  #: THREADS  #? few
    torch.manual_seed(args.seed)  #: SEEDED
    model = Model().to(args.device)  #: MODEL
    model.load_state_dict(read_weights(args.weights))  #? weights
    data = load($folder, args.device)
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


def model_only_lines(project: Project, made: Assembly, weights: str | None) -> list[Statement]:
    """The function `main` of a script that has nothing to train."""
    examples = []
    for place in made.arguments:
        found = made.book.signature(*place)
        assert found is not None
        sizes = ", ".join(str(size) for size in (2, *found.shape))
        extra = "" if found.dtype == "float32" else f", dtype=torch.{found.dtype}"
        examples.append(f"torch.zeros({sizes}{extra})")
    return tree(MODEL_ONLY, weights=quoted(weights) if weights else "", examples=", ".join(examples))


MODEL_ONLY = '''
def main() -> None:
    """Build the model and run it on two blank examples."""
    model = Model()
    model.load_state_dict(read_weights(Path(__file__).parent / $weights))  #? weights
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
