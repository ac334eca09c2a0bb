"""The layout holds: who imports whom, and what a headless command loads."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

from aui_tui.engine.checks import NAMES
from aui_tui.store.folder import places, prepare
from aui_tui.store.reports import Reports
from tests.cards import RICH_OPEN
from tests.cli.runner import ROOT, python

PACKAGE = ROOT / "aui_tui"

WORDS = ("aui_tui.text", "aui_tui.errors", "aui_tui.__init__")
CONTRACT = (*WORDS, "aui_tui.records")
CHECKS = (
    "aui_tui.engine.checks",
    "aui_tui.engine.ledger",
    "aui_tui.engine.scoring",
    "aui_tui.engine.judge",
    "aui_tui.engine.robots",
    "aui_tui.engine.robots_edit",
    "aui_tui.engine.wording",
)
"""What the score is made of: pure functions over records, for everybody who reads a card."""
PURE = (
    *CONTRACT,
    *CHECKS,
    "aui_tui.changes",
    "aui_tui.docs",
    "aui_tui.export",
    "aui_tui.gates",
    "aui_tui.plan",
    "aui_tui.validate",
)
LOCAL = (*PURE, "aui_tui.engine", "aui_tui.store", "aui_tui.service.protocol")
SERVICES = (
    *LOCAL,
    "aui_tui.service",
    "aui_tui.tasks",
    "aui_tui.visits",
    "aui_tui.settings",
    "aui_tui.crawl",
    "aui_tui.demo",
)

MAY_IMPORT = {
    "aui_tui.text": (),
    "aui_tui.errors": (),
    "aui_tui.records": CONTRACT,
    "aui_tui.engine": (*CONTRACT, "aui_tui.engine"),
    **dict.fromkeys(CHECKS, (*CONTRACT, *CHECKS)),
    "aui_tui.store": (*CONTRACT, "aui_tui.store"),
    "aui_tui.settings": CONTRACT,
    "aui_tui.changes": (*CONTRACT, *CHECKS),
    "aui_tui.docs": (*CONTRACT, *CHECKS),
    "aui_tui.export": PURE,
    "aui_tui.gates": PURE,
    "aui_tui.plan": PURE,
    "aui_tui.validate": CONTRACT,
    "aui_tui.visits": (*CONTRACT, "aui_tui.engine", "aui_tui.gates", "aui_tui.visits"),
    "aui_tui.service.protocol": CONTRACT,
    "aui_tui.service.importer": LOCAL,
    "aui_tui.service.grading": LOCAL,
    "aui_tui.service.scans": (*LOCAL, "aui_tui.service.grading"),
    "aui_tui.service.local": (
        *LOCAL,
        "aui_tui.service.grading",
        "aui_tui.service.scans",
        "aui_tui.service.tasks",
        "aui_tui.visits",
    ),
    "aui_tui.service.tasks": (*LOCAL, "aui_tui.tasks"),
    "aui_tui.tasks": (*CONTRACT, "aui_tui.engine", "aui_tui.tasks"),
    "aui_tui.service.publication": (*LOCAL, "aui_tui.service.scans", "aui_tui.service.local"),
    "aui_tui.service.remote": (
        *PURE,
        "aui_tui.service.protocol",
        "aui_tui.service.remote",
        "aui_tui.store.blobs",
        "aui_tui.store.lists",
    ),
    "aui_tui.crawl": (*LOCAL, "aui_tui.service", "aui_tui.crawl"),
    "aui_tui.demo": (*LOCAL, "aui_tui.service", "aui_tui.crawl", "aui_tui.demo"),
    "aui_tui.service.api": (*PURE, "aui_tui.service.protocol", "aui_tui.service.api"),
    "aui_tui.tui": (*CONTRACT, *CHECKS, "aui_tui.changes", "aui_tui.docs", "aui_tui.service.protocol", "aui_tui.tui"),
    "aui_tui.cli": (*SERVICES, "aui_tui.cli"),
    "aui_tui.__main__": ("aui_tui.cli",),
}
"""Which modules of the package each part may import; the longest matching name counts."""

EXCEPTIONS = {"aui_tui.cli.dashboard": ("aui_tui.tui",)}
"""The one door to the dashboard, opened only when it is asked for."""

FOREIGN = {
    "textual": ("aui_tui.tui",),
    "httpx": ("aui_tui.engine.network", "aui_tui.service.remote"),
    "starlette": ("aui_tui.service.api", "aui_tui.cli.serve"),
    "uvicorn": ("aui_tui.service.api", "aui_tui.cli.serve"),
    "jinja2": ("aui_tui.service.api",),
    "mcp": ("aui_tui.service.api",),
    "typer": ("aui_tui.cli",),
    "diskcache": ("aui_tui.store",),
    "sqlite3": ("aui_tui.store",),
    "playwright": ("aui_tui.tasks",),
    "psutil": ("aui_tui.tasks.browser",),
    "pyreqwest": ("aui_tui.engine.network.fast",),
    "http_message_signatures": ("aui_tui.engine.signing",),
    "apachelogs": ("aui_tui.visits.lines",),
    "distributed": ("aui_tui.crawl.cluster",),
    "dask": (),
}
"""Libraries that only the named parts may import."""


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def imports(path: Path) -> set[str]:
    """Every module a file imports, in whichever function, under ``TYPE_CHECKING`` or not."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                inside = ROOT.joinpath(*full.split("."))
                found.add(full if inside.is_dir() or inside.with_suffix(".py").exists() else str(node.module))
    return found


def within(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def part_of(name: str) -> str:
    fitting = [part for part in MAY_IMPORT if within(name, (part,))]
    return max(fitting, key=len) if fitting else ""


def forbidden(path: Path) -> set[str]:
    """The modules of the package that the file imports and its part of the layout may not."""
    name = name_of(path)
    own = {"aui_tui.__init__" if module == "aui_tui" else module for module in imports(path)}
    own = {module for module in own if within(module, ("aui_tui",))}
    if path.name == "__init__.py" and not own:
        return set()
    part = part_of(name)
    assert part, f"{name} belongs to no part of the layout"
    allowed = (*MAY_IMPORT[part], *EXCEPTIONS.get(name, ()))
    return {module for module in own if not within(module, allowed)}


def test_a_module_imports_only_what_its_part_may() -> None:
    assert not {name_of(path): found for path in modules() if (found := forbidden(path))}


def loaded_by(package: str) -> set[str]:
    """The modules of ``package`` that its ``__init__`` loads, and those that they load in turn."""
    found: set[str] = set()
    waiting = [PACKAGE.parent.joinpath(*package.split("."), "__init__.py")]
    while waiting:
        tree = ast.parse(waiting.pop().read_text(encoding="utf-8"))
        named = {node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)}
        for module in named - found:
            file = ROOT.joinpath(*module.split(".")).with_suffix(".py")
            if module.startswith(package + ".") and file.exists():
                found.add(module)
                waiting.append(file)
    return found


@pytest.mark.ci
def test_a_package_that_loads_its_own_modules_is_imported_whole() -> None:
    """Else two threads that import at once get each other's half-loaded modules, and a scan fails."""
    packages = [name_of(path.parent) for path in modules() if path.name == "__init__.py"]
    assert "aui_tui.engine.network.routes" in loaded_by("aui_tui.engine.network")
    for package in packages:
        parts = loaded_by(package)
        for path in modules():
            name = name_of(path)
            if not within(name, (package,)):
                assert not imports(path) & parts, f"{name}: import it from {package}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports in functions included."""
    names = {name_of(path).removesuffix(".__init__"): path for path in modules()}
    wanted = {name: {module for module in imports(path) if module in names} for name, path in names.items()}
    left = dict(wanted)
    while free := [name for name, needs in left.items() if not needs & left.keys() - {name}]:
        for name in free:
            del left[name]
    assert not left, "these import each other, or one that does"


def test_a_library_is_imported_only_where_it_belongs() -> None:
    for library, homes in FOREIGN.items():
        users = {name_of(path) for path in modules() if any(within(name, (library,)) for name in imports(path))}
        assert not {name for name in users if not within(name, homes)}, library


ONCE = {
    "rounding half up": (r"def round_half_up|round\(100 \*", "aui_tui.records.methods"),
    "the stance of a site": (r'return "Open" if|return "Walled"', "aui_tui.records.points"),
    "the share of robots.txt": (r"QUARTERS \*", "aui_tui.engine.checks.robots"),
    "points per component in detail": (r"def detail\(", "aui_tui.engine.ledger"),
    "the label of a surface": (r"def surface\(key", "aui_tui.records.labels"),
    "the names of the probes": (r'"ucp": "UCP', "aui_tui.records.labels"),
    "an age in one unit": (r'86_?400, "d"', "aui_tui.records.labels"),
    "a number with its noun": (r"or one \+ 's'", "aui_tui.text"),
    "wrapping": (r"def wrap\(|import textwrap|from textwrap", "aui_tui.text"),
    "a fence that its text cannot close": (r'"`\+"', "aui_tui.export.markdown"),
    "the frames of worker processes": (r'to_bytes\(HEADER, "big"\)', "aui_tui.engine.parser_pool"),
    "what a caller may ask of a scan": (r"class ScanTerms", "aui_tui.service.protocol"),
}
"""Rules, by an expression that whoever writes one again would use, and the one module that has it."""


@pytest.mark.parametrize("rule", ONCE)
def test_a_rule_has_one_definition(rule: str) -> None:
    pattern, home = ONCE[rule]
    assert {name_of(path) for path in modules() if re.search(pattern, path.read_text(encoding="utf-8"))} == {home}


def test_no_two_services_repeat_the_options_of_a_scan() -> None:
    repeated = re.compile(r"force: bool = False,\s+method: str")
    assert not [name_of(path) for path in modules() if repeated.search(path.read_text(encoding="utf-8"))]


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_the_package_has_182_modules_at_most_and_one_per_check_and_none_is_over_600_lines() -> None:
    """Ruff holds the complexity of a function to 15 (``max-complexity`` in pyproject.toml)."""
    assert len(modules()) <= 182 + len(NAMES)
    assert not [name_of(path) for path in modules() if lines_of(path) > 600]


def test_no_function_is_over_60_lines() -> None:
    functions = ((path, node) for path in modules() for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    assert not [
        f"{name_of(path)}.{node.name}"
        for path, node in functions
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= 60
    ]


def test_a_module_under_60_lines_has_two_importers() -> None:
    """Else it belongs into the one that imports it. A package gathers what others import; a check stands alone."""
    importers = Counter(name for path in modules() for name in imports(path))
    short = {name_of(path) for path in modules() if lines_of(path) < 60 and path.name[0] != "_"}
    short -= {f"aui_tui.engine.checks.{name}" for name in NAMES}
    assert not {name for name in short if importers[name] < 2}


LOADED = """
import contextlib, io, json, sys
from aui_tui.cli.app import run
with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
    code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]))
"""


@pytest.mark.ci
@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["paths"],
        ["schema", "card"],
        ["index", "--json"],
        ["export"],
        ["doctor"],
        ["cache"],
        ["method"],
        ["config"],
    ],
    ids=" ".join,
)
def test_headless_commands_load_neither_textual_nor_the_server(tmp_path: Path, arguments: list[str]) -> None:
    done = python(tmp_path, LOADED, *arguments)
    assert done.code == 0, done.err
    code, loaded = json.loads(done.out)
    assert code == 0
    assert not {name.split(".")[0] for name in loaded} & {
        "textual",
        "starlette",
        "uvicorn",
        "jinja2",
        "mcp",
        "httpx",
        "playwright",
    }
    assert not [name for name in loaded if name.startswith("aui_tui.tasks")]
    if arguments[0] == "index":
        assert not [name for name in loaded if name.startswith(("aui_tui.engine", "aui_tui.export"))]


FIRST_FRAME = """
import asyncio, json, sys
from pathlib import Path
from aui_tui.cli.home import known_sites
from aui_tui.cli.run import Run
from aui_tui.service.local import LocalService
from aui_tui.tui.app import AuiApp
from aui_tui.tui.context import Context, Feed

async def show():
    service = LocalService(Path(sys.argv[1]))
    app = AuiApp(Context(service, starter=Feed(*known_sites(Run.of({"data_dir": sys.argv[1]}), service))))
    loaded = []
    app._after_first_frame = lambda: loaded.extend(sys.modules)
    async with app.run_test() as pilot:
        while not loaded:
            await pilot.pause(0.01)
    await service.aclose()
    return loaded

print(json.dumps(sorted(asyncio.run(show()))))
"""


def test_the_first_frame_of_the_dashboard_loads_neither_engine_nor_cache_nor_the_known_sites(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with closing(Reports(places(prepare(data)).index)) as reports:
        reports.put_many([(RICH_OPEN, None)])
    done = python(tmp_path, FIRST_FRAME, str(data))
    assert done.code == 0, done.err
    loaded = json.loads(done.out)
    assert "aui_tui.tui.screens.index" in loaded
    late = (
        "aui_tui.engine",
        "aui_tui.export",
        "aui_tui.store.cache",
        "aui_tui.service.scans",
        "diskcache",
        "idna",
        "csv",
    )
    assert not {name for name in loaded if name.startswith(late)}
