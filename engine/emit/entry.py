"""The end of a script: what it asks on the command line, and the order of things when it is run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from unicodedata import east_asian_width

from engine.document.graph import Project
from engine.emit.lines import Line, laid_out, quoted
from engine.emit.model import Assembly
from engine.emit.players import Players

LONGEST = 78  # columns of a title
DEVICE = '"cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"'


def main_lines(
    project: Project,
    holds: Sequence[str],
    home: str,
    weights: str | None,
    threads: int | None,
    players: Players | None = None,
) -> list[Line]:
    title = quoted(plain_text(project.title) or "A network")
    text = ["def main() -> None:", f"    parser = argparse.ArgumentParser(description={title})"]
    if holds:
        what = quoted("folder that holds " + listed(holds).replace("%", "%%"))
        text.append(f'    parser.add_argument("--data", type=Path, default={home}, help={what})')
    epochs = ["type=int, default=EPOCHS", 'type=int, help="of each phase, in place of the plan\'s own"']
    text += [
        f'    parser.add_argument("--epochs", {epochs[players is not None]})',
        '    parser.add_argument("--seed", type=int, default=SEED)',
        f"    device = {DEVICE}",
        '    parser.add_argument("--device", default=device)',
    ]
    if weights:
        text.append(f"    beside = Path(__file__).parent / {quoted(weights)}")
        text.append(
            '    parser.add_argument("--weights", type=Path, default=beside, help="start from these weights")'
        )
    text += [
        '    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")',
        '    parser.add_argument("--json", action="store_true", help="one JSON object a line")',
        "    args = parser.parse_args()",
        "",
    ]
    if threads is not None:
        text.append(f"    torch.set_num_threads({threads})  # faster than several for so small a network")
    text += ["    torch.manual_seed(args.seed)", "    model = Model().to(args.device)"]
    if weights:
        text.append("    model.load_state_dict(read_weights(args.weights))")
    folder = "args.data" if holds else "Path()"
    text += [
        f"    data = load({folder}, args.device)",
        *_trained(players),
        "    if args.save:",
        "        torch.save(model.state_dict(), args.save)",
    ]
    return laid_out([Line(one) for one in text])


def _trained(players: Players | None) -> list[str]:
    call = "train(model, data, args.seed, args.epochs, args.json)"
    tested = [
        '    found = evaluate(model, data["test"])',
        '    report({f"test_{name}": value for name, value in found.items()}, args.json)',
    ]
    if players is None:
        return [f"    {call}", *tested]
    return [
        "    try:",
        f"        {call}",
        "    except FloatingPointError as error:",
        '        raise SystemExit(f"{error} A lower learning rate may help.") from None',
        *(tested if players.facts.measures else []),
    ]


def model_only_lines(project: Project, made: Assembly, weights: str | None) -> list[Line]:
    examples = []
    for place in made.arguments:
        found = made.book.signature(*place)
        assert found is not None
        sizes = ", ".join(str(size) for size in (2, *found.shape))
        extra = "" if found.dtype == "float32" else f", dtype=torch.{found.dtype}"
        examples.append(f"torch.zeros({sizes}{extra})")
    text = [
        "def main() -> None:",
        '    """Build the model and run it on two blank examples."""',
        "    model = Model()",
    ]
    if weights:
        text.append(f"    model.load_state_dict(read_weights(Path(__file__).parent / {quoted(weights)}))")
    text += [
        "    model.eval()",
        '    print(f"{sum(weight.numel() for weight in model.parameters()):,} parameters")',
        f"    found = model({', '.join(examples)})",
        "    for result in found if isinstance(found, tuple) else (found,):",
        "        print(tuple(result.shape))",
    ]
    return laid_out([Line(one) for one in text])


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
