"""The exported script: plain Python that says what the plan says, whatever the project's texts are."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.catalogue import Catalogue, Column, Data, Emitted, Emitter
from engine.catalogue.params import param
from engine.data.sets.scikit_learn import load_iris
from engine.document.edits import Move, Rename, SetNotes, SetTitle
from engine.document.graph import Project
from engine.document.plan import Choice
from engine.emit.forms.head import file_name
from engine.emit.script import export_script, write_script
from engine.errors import EmitError, ParamError
from tests.engine.sketches import GALLERY_IDS, Sketch, apply, catalogue, classifier, gallery, image

HOSTILE = [
    "x'); __import__('os').system('id'); #",
    '"""\nimport os\n"""',
    "'''",
    '"',
    "\\",
    'ends with a backslash\\"""',
    "two\nlines\r\nand\u2028more\x0b\x0c\x85",
    "\x00\x1b[31m",
    "\u202eright to left\u202c\u200b\ufeff",
    "\ud800 half a letter",
    "{braces} %s %(prog)s % %%",
    "# coding: rot13",
    "层" * 200,
    "a" * 5000,
    "class",
    "None",
]
RULES = ["--isolated", "--select", "E,F,I", "--line-length", "110"]


def text_of(project: Project) -> str:
    return export_script(project, catalogue()).text


def bones(text: str) -> list[str]:
    """The calls and imports of a script."""
    tree = ast.parse(text)
    found = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return found + [callee(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def callee(function: ast.expr) -> str:
    """What is called, without the names that come from nodes."""
    if isinstance(function, ast.Attribute):
        layer = isinstance(function.value, ast.Name) and function.value.id == "self"
        return "self.LAYER" if layer else f".{function.attr}"
    return ast.unparse(function)


def ruff(folder: Path) -> str:
    command = [sys.executable, "-m", "ruff", "check", *RULES, "--no-cache", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return "" if done.returncode == 0 else done.stdout


# -- look


def test_every_kind_of_script_passes_the_linter(tmp_path: Path) -> None:
    scripts = {project_id: gallery(project_id) for project_id in GALLERY_IDS}
    scripts["long"] = long_names().project
    sketch, start = image(3, 8, 8)
    sketch.add("Conv2d", "conv", x=start)
    scripts["model only"] = sketch.project
    for name in ("Step", "Cosine", "WarmUp"):
        scripts[name] = classifier().plan(schedule=Choice(name)).project
    every = {"lr": 0.0625, "weight_decay": 0.0625, "beta1": 0.8125, "beta2": 0.990625, "epsilon": 1.25e-10}
    scripts["adam"] = classifier().plan(optimiser=Choice("AdamW", every), patience=3).project
    for name, project in scripts.items():
        for weights in (None, "weights.safetensors"):
            text = export_script(project, catalogue(), weights=weights).text
            path = tmp_path / f"{name.replace(' ', '_').replace('-', '_')}_{bool(weights)}.py"
            path.write_text(text, encoding="utf-8")
            for line in text.splitlines():
                assert line == line.rstrip() and "\t" not in line
            assert text.endswith("main()\n")
    assert ruff(tmp_path) == ""


def long_names() -> Sketch:
    """Names of 40 letters everywhere, many inputs to one join, three losses and metrics."""
    sketch = Sketch("A title that goes on and on, " * 20)
    data = sketch.add("Digits", "digits")
    wires = {}
    for number in range(5):
        name = f"{number} is the number of a very long name of a branch"
        wires[f"x{number + 1}"] = sketch.add("Linear", name, {"units": 10}, x=f"{data}.profile")
    join = sketch.add("Concatenate", "join", **wires)
    total = sketch.add("Add", "sum", **wires)
    for number, source in enumerate((wires["x1"], wires["x2"], total)):
        name = f"a very long name of the loss number {number}"
        sketch.add("CrossEntropy", name, {"weight": 0.25}, prediction=source, target=f"{data}.digit")
        sketch.add("Accuracy", f"{name} accuracy", prediction=source, target=f"{data}.digit")
    sketch.add("Linear", "end", {"units": 10}, x=join)
    return sketch


@pytest.mark.parametrize("project_id", GALLERY_IDS)
def test_the_top_level_holds_only_imports_constants_and_definitions(project_id: str) -> None:
    body = ast.parse(text_of(gallery(project_id))).body
    assert isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    guard = body[-1]
    assert isinstance(guard, ast.If) and ast.unparse(guard.test) == "__name__ == '__main__'"
    for statement in body[1:-1]:
        assert isinstance(
            statement,
            (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign),
        ), ast.unparse(statement)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            if ast.unparse(statement) == "CONFIG = Config()":
                continue
            # Literals, the phases of a plan, which name the functions of their players, and kinds of options.
            for found in ast.walk(statement.value or statement):
                if isinstance(found, ast.Call):
                    assert ast.unparse(found.func) == "Phase"
                if not isinstance(found, ast.Attribute) or found.attr != "BooleanOptionalAction":
                    looks = (ast.Attribute, ast.Subscript, ast.Lambda)
                    assert not isinstance(found, looks), ast.unparse(found)


@pytest.mark.parametrize("project_id", GALLERY_IDS)
def test_nothing_prints_inside_the_model_and_nothing_names_this_application(project_id: str) -> None:
    text = text_of(gallery(project_id))
    model = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    called = [ast.unparse(node.func) for node in ast.walk(model) if isinstance(node, ast.Call)]
    assert "print" not in called
    assert text.lower().count("neuroloom") == 1  # where it came from
    for word in ("engine", "nodes.", "app.", str(Path.home()), str(Path(__file__).parents[3])):
        assert f"import {word}" not in text and f"from {word}" not in text
        assert not (word.startswith("/") and word != "/root" and word in text)


def test_arguments_keep_their_types() -> None:
    sketch, start = image(4, 12, 12)
    sketch.add("Conv2d", "a", {"padding": "same", "kernel": (3, 5)}, x=start)
    sketch.add("Conv2d", "b", {"padding": "valid", "bias": False}, x=start)
    sketch.add("MaxPool2d", "c", {"stride": None}, x=start)
    sketch.add("BatchNorm", "d", {"epsilon": 20e-12}, x=start)
    sketch.add("AdaptiveAvgPool2d", "e", {"size": (10, 12)}, x=start)
    sketch.add("LSTM", "f", {"both_ways": True}, x=sketch.add("Reshape", "g", {"shape": (-1, 4)}, x=start))
    text = text_of(sketch.project)
    assert 'nn.Conv2d(4, 32, kernel_size=(3, 5), padding="same")' in text
    assert "nn.Conv2d(4, 32, kernel_size=3, bias=False)" in text
    assert "F.max_pool2d(image, 2)" in text
    assert "nn.BatchNorm2d(4, eps=2e-11)" in text
    assert "F.adaptive_avg_pool2d(image, (10, 12))" in text
    assert "nn.LSTM(4, 64, bidirectional=True, batch_first=True)" in text
    assert "image.reshape(-1, 144, 4)" in text


# -- the same graph, the same text


@pytest.mark.parametrize("project_id", GALLERY_IDS)
def test_exporting_twice_gives_the_same_bytes_and_places_do_not_matter(project_id: str) -> None:
    project = gallery(project_id)
    first = text_of(project)
    assert text_of(gallery(project_id)) == first
    apply(project, [Move({node_id: (1234.5, -17.0) for node_id in project.graph.nodes})])
    assert text_of(project) == first
    apply(project, [SetNotes("Other notes.")])
    assert text_of(project) == first


def test_another_process_gives_the_same_bytes() -> None:
    code = (
        "import sys; from tests.engine.sketches import *; from engine.emit.script import export_script\n"
        "for one in GALLERY_IDS[::3]: sys.stdout.write(export_script(gallery(one), catalogue()).text)"
    )
    command = [sys.executable, "-c", code]
    environment = {"PYTHONHASHSEED": "7", "PYTHONUTF8": "1"}
    root = Path(__file__).parents[3]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment, timeout=120)
    assert done.stdout == "".join(text_of(gallery(one)) for one in GALLERY_IDS[::3]), done.stderr


def test_exporting_between_edits_gives_what_is_there_now() -> None:
    sketch = classifier()
    first = text_of(sketch.project)
    extra = sketch.add("Linear", "extra", {"units": 5}, x="n2")
    second = text_of(sketch.project)
    apply(sketch.project, [Rename(extra, "other")])
    third = text_of(sketch.project)
    assert "extra" not in first and "self.extra" in second and "self.other" in third


# -- texts of a project are never code


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_of_a_project_becomes_code(text: str) -> None:
    plain = bones(text_of(hostile("plain").project))
    found = text_of(hostile(text).project)
    compile(found, "script", "exec", dont_inherit=True)
    found.encode("utf-8")
    assert bones(found) == plain
    assert all(ord(letter) >= 32 or letter == "\n" for letter in found)
    for line in found.splitlines():
        assert len(line) <= 110


def hostile(text: str) -> Sketch:
    """That text wherever a project has one."""
    sketch = Sketch(text)
    data = sketch.add("Iris", text)
    hidden = sketch.add("Linear", text, {"units": 8, "activation": "tanh"}, x=f"{data}.features")
    scores = sketch.add("Linear", text, {"units": 3}, x=hidden)
    sketch.add("CrossEntropy", text, {"weight": 0.5}, prediction=scores, target=f"{data}.species")
    sketch.add("MSE", text, {"weight": 0.5}, prediction=hidden, target=hidden)
    sketch.add("Accuracy", text, prediction=scores, target=f"{data}.species")
    sketch.add("Output", text, x=scores)
    apply(sketch.project, [SetTitle(text), SetNotes(text)])
    return sketch


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize(
    ("type_id", "parameter"),
    [("Linear", "units"), ("Linear", "activation"), ("Conv2d", "padding"), ("Reshape", "shape")],
)
def test_no_parameter_becomes_code(text: str, type_id: str, parameter: str) -> None:
    sketch, start = image(1, 8, 8)
    bad = sketch.add(type_id, "bad", {parameter: text}, x=start)
    with pytest.raises(EmitError) as error:
        text_of(sketch.project)
    assert error.value.node_id == bad
    assert len(error.value.message) < 400


class Csv(Data):
    """A table from a file of the user's."""

    path: str = param("")

    def columns(self) -> tuple[Column, ...]:
        return (Column(self.path, (4,)), Column("goal", (), "int64", (self.path, "b"), doc=self.path))

    def emit(self, e: Emitter) -> Emitted:
        return e.load(load_iris, path=self.path, shape=(1, 2), missing=None, header=True)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_path_column_or_class_of_a_data_set_becomes_code(text: str) -> None:
    def emitted(word: str) -> str:
        sketch = Sketch()
        own = Catalogue([*catalogue().types(), Csv])
        sketch.add("Csv", "csv", {"path": word})
        sketch.add("Linear", "head", {"units": 2}, x=f"n1.{word}")
        sketch.add("CrossEntropy", "loss", prediction="n2", target="n1.goal")
        return export_script(sketch.project, own).text

    found = emitted(text)
    assert bones(found) == bones(emitted("plain"))
    assert "shape=(1, 2), missing=None, header=True" in " ".join(found.split())
    found.encode("utf-8")
    [path] = [
        word.value
        for node in ast.walk(ast.parse(found))
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg == "path" and isinstance(word.value, ast.Constant)
    ]
    assert path.value == text


def test_a_parameter_that_a_type_does_not_have_is_refused() -> None:
    sketch = classifier(**{"__import__('os')": 1})
    with pytest.raises(EmitError, match="has no parameter") as error:
        text_of(sketch.project)
    assert error.value.node_id == "n3"


@pytest.mark.parametrize(
    ("optimiser", "schedule"),
    [
        (Choice("__import__('os')"), Choice("Constant")),
        (Choice("Adam", {"lr": "__import__('os')"}), Choice("Constant")),
        (Choice("Adam", {"x=__import__('os')": 1}), Choice("Constant")),
        (Choice("Adam"), Choice("StepLR(")),
        (Choice("Adam"), Choice("Step", {"every": "1)"})),
    ],
)
def test_no_plan_becomes_code(optimiser: Choice, schedule: Choice) -> None:
    sketch = classifier().plan(optimiser=optimiser, schedule=schedule)
    with pytest.raises((EmitError, ParamError)):
        text_of(sketch.project)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("MNIST CNN", "mnist_cnn.py"),
        ("", "network.py"),
        ("层", "network.py"),
        ("torch", "torch_network.py"),
        ("JSON", "json_network.py"),
        ("random", "random_network.py"),
        ("CON", "con_network.py"),
        ("lpt1", "lpt1_network.py"),
        ("../../etc/passwd", "etc_passwd.py"),
        ("a/b\\c:d*?", "a_b_c_d.py"),
        ("2 layers", "layer_2_layers.py"),
    ],
)
def test_the_file_name_works_on_every_system_and_hides_no_module(title: str, name: str) -> None:
    assert file_name(Project(title=title)) == name


# -- every control of the plan is in the text


CONTROLS: list[tuple[dict[str, Any], str]] = [
    ({"batch": 17}, "batch: int = 17"),
    ({"epochs": 7}, "epochs: int = 7"),
    ({"seed": 5}, "seed: int = 5"),
    ({"patience": 4}, "patience: int = 4  # epochs without"),
    ({"optimiser": Choice("SGD", {"lr": 0.5})}, "learning_rate: float = 0.5"),
    ({"optimiser": Choice("SGD", {"momentum": 0.9})}, "momentum=0.9)"),
    ({"optimiser": Choice("SGD", {"momentum": 0.9, "nesterov": True})}, "momentum=0.9, nesterov=True)"),
    ({"optimiser": Choice("SGD", {"weight_decay": 0.1})}, "weight_decay=0.1)"),
    ({"optimiser": Choice("Adam")}, "torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate)"),
    ({"optimiser": Choice("Adam", {"beta1": 0.8})}, "betas=(0.8, 0.999))"),
    ({"optimiser": Choice("Adam", {"beta2": 0.99})}, "betas=(0.9, 0.99))"),
    ({"optimiser": Choice("Adam", {"epsilon": 1e-6})}, "eps=1e-06)"),
    ({"optimiser": Choice("AdamW")}, "torch.optim.AdamW(model.parameters(), lr=CONFIG.learning_rate)"),
    ({"optimiser": Choice("AdamW", {"weight_decay": 0.0})}, "weight_decay=0.0)"),
    ({"optimiser": Choice("RMSprop", {"alpha": 0.5, "momentum": 0.25})}, "alpha=0.5, momentum=0.25)"),
    (
        {"optimiser": Choice("Adagrad", {"lr_decay": 0.1})},
        "torch.optim.Adagrad(model.parameters(), lr=CONFIG.learning_rate, ",
    ),
    ({"optimiser": Choice("Adadelta", {"rho": 0.8})}, "rho=0.8)"),
    ({"schedule": Choice("Step", {"every": 3, "factor": 0.25})}, "step_size=3 * steps_per_epoch, gamma=0.25"),
    ({"schedule": Choice("Cosine")}, "return (1 + math.cos(math.pi * done)) / 2"),
    ({"schedule": Choice("Cosine", {"final": 0.25})}, "0.25 + 0.75 * (1 + math.cos(math.pi * done)) / 2"),
    ({"schedule": Choice("WarmUp", {"epochs": 2.5})}, "warm = math.ceil(2.5 * steps_per_epoch)"),
]


@pytest.mark.parametrize(("changes", "words"), CONTROLS, ids=lambda value: str(value)[:60])
def test_every_control_of_the_plan_is_in_the_text(changes: dict[str, Any], words: str) -> None:
    before = text_of(classifier().project)
    after = text_of(classifier().plan(**changes).project)
    assert words in after
    assert after != before or changes == {"optimiser": Choice("Adam")}


def test_keeping_the_best_weights_is_in_the_text() -> None:
    assert "load_state_dict(kept)" in text_of(classifier().plan(restore_best=True).project)
    assert "kept =" not in text_of(classifier().plan(restore_best=False).project)
    assert "PATIENCE" not in text_of(classifier().plan(restore_best=False).project)
    text = text_of(classifier().plan(restore_best=False, patience=2).project)
    assert "kept =" not in text and "waited == CONFIG.patience" in text


# -- what stands in the way


def test_a_graph_with_an_error_is_not_exported() -> None:
    sketch = classifier()
    unknown = sketch.add("Wobbler", "wobble", x="n2")
    with pytest.raises(EmitError, match="wobble") as error:
        text_of(sketch.project)
    assert error.value.node_id == unknown


@pytest.mark.parametrize("types", [(), ("Input",), ("Iris",), ("Input", "Output")])
def test_without_a_layer_there_is_nothing_to_export(types: tuple[str, ...]) -> None:
    sketch = Sketch()
    for type_id in types:
        sketch.add(type_id, type_id, **({"x": "n1"} if type_id == "Output" else {}))
    with pytest.raises(EmitError):
        text_of(sketch.project)


def test_lines_know_their_nodes_and_nodes_their_lines() -> None:
    script = write_script(gallery("two-heads"), catalogue())
    source = script.plain
    lines = source.text.splitlines()
    assert len(source.nodes) == len(lines)
    for node_id in gallery("two-heads").graph.nodes:
        assert source.lines_of(node_id), node_id
        for number in source.lines_of(node_id):
            assert source.node_at(number) == node_id
    by_name = {node.name: node.id for node in gallery("two-heads").graph.nodes.values()}
    conv1 = [lines[number - 1].strip() for number in source.lines_of(by_name["conv1"])]
    assert [line.split(" = ")[0] for line in conv1] == ["self.conv1", "conv1"]
    odd = [lines[number - 1].strip() for number in source.lines_of(by_name["odd accuracy"])]
    assert odd[0].startswith('"odd_accuracy":')
    assert source.node_at(0) is None and source.node_at(len(lines) + 1) is None
    assert source.node_at(1) is None
