"""Rules of the dashboard's source: how text reaches a widget, that every key has a name."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path

from aui_tui.tui.bindings import ON_ANSWER, TABLES

ROOT = Path(__file__).resolve().parents[2] / "aui_tui" / "tui"
FILES = sorted(ROOT.rglob("*.py"))
SINKS = frozenset(
    {
        "Static",
        "Label",
        "Button",
        "Option",
        "notify",
        "update",
        "from_markup",
        "Content",
        "Tooltip",
        "Hit",
        "DiscoveryHit",
    }
)
TITLES = frozenset({"border_title", "border_subtitle", "tooltip"})


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield name, node


def test_no_f_string_reaches_a_widget() -> None:
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for name, call in calls(tree):
            if name in SINKS:
                values = [*call.args, *(keyword.value for keyword in call.keywords)]
                assert not any(isinstance(value, ast.JoinedStr) for value in values), ast.unparse(call)
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Attribute)
                and node.targets[0].attr in TITLES
            ):
                assert isinstance(node.value, ast.Call), ast.unparse(node)
                assert getattr(node.value.func, "id", "") == "Content", ast.unparse(node)


def test_parsing_widgets_are_configured_not_to() -> None:
    for path in FILES:
        for name, call in calls(ast.parse(path.read_text(encoding="utf-8"))):
            if name in ("Static", "Label", "OptionList", "notify"):
                given = {keyword.arg: keyword.value for keyword in call.keywords}
                assert isinstance(given.get("markup"), ast.Constant), ast.unparse(call)
                assert given["markup"].value is False  # type: ignore[attr-defined]
            assert name not in ("DataTable", "Markdown", "RichLog"), name


def test_every_binding_has_a_name_and_one_action_per_key_and_place() -> None:
    for place, table in TABLES.items():
        keys = [key for binding in table for key in binding.key.split(",")]
        digits = [key for key in keys if key.isdigit()]
        others = [key for key in keys if not key.isdigit()]
        assert all(binding.id for binding in table), place
        assert len(set(others)) == len(others), place
        assert place == "index" or len(set(digits)) == len(digits), place
    assert {binding.id for table in TABLES.values() for binding in table} >= ON_ANSWER
    allowed = {"ctrl+d", "ctrl+p", "ctrl+q", "ctrl+z"}
    used = {key for table in TABLES.values() for binding in table for key in binding.key.split(",")}
    assert {key for key in used if key.startswith("ctrl+")} <= allowed


def textual_names(kind: type) -> set[str]:
    """Every private name that the Textual bases of ``kind`` define or set on themselves."""
    found: set[str] = set()
    for base in kind.__mro__[1:]:
        if base.__module__.startswith("textual"):
            found |= {name for name in vars(base) if name.startswith("_")}
            source = ast.parse(textwrap.dedent(inspect.getsource(base)))
            for node in ast.walk(source):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    found.add(node.attr)
    return found


def test_no_private_name_hides_one_of_textual() -> None:
    for path in [p for p in FILES if p.name != "__init__.py"]:
        name = ".".join(("aui_tui", "tui", *path.relative_to(ROOT).with_suffix("").parts))
        module = importlib.import_module(name)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            kind = getattr(module, node.name)
            if not any(base.__module__.startswith("textual") for base in kind.__mro__):
                continue
            own = {item.name for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)}
            own |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
            private = {name for name in own if name.startswith("_") and not name.startswith("__")}
            assert not private & textual_names(kind), node.name
