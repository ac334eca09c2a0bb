"""The layout holds: who imports whom, and what a headless command loads."""

from __future__ import annotations

import ast
import json
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

from aui_tui.index.folder import places, prepare
from aui_tui.index.store import Store
from tests.cards import RICH_OPEN
from tests.cli.runner import ROOT, python

PACKAGE = ROOT / "aui_tui"

FLOORS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("aui_tui.text", ()),
    ("aui_tui.addresses", ()),
    ("aui_tui.errors", ()),
    ("aui_tui.__init__", ()),
    ("aui_tui.process", ("__init__",)),
    ("aui_tui.files", ("process", "text", "errors")),
    ("aui_tui.packaged", ()),
    ("aui_tui.threads", ()),
    ("aui_tui.model", ("packaged", "text", "errors", "__init__")),
    ("aui_tui.settings", ("files", "text", "errors", "model")),
    ("aui_tui.validate", ("packaged", "text", "errors", "model")),
    ("aui_tui.scan.robots", ("text", "errors", "model")),
    ("aui_tui.checks", ("packaged", "text", "errors", "model", "scan.robots")),
    ("aui_tui.reads", ("text", "errors", "model", "scan.charset", "scan.markup", "scan.page")),
    (
        "aui_tui.scan",
        ("reads", "packaged", "files", "process", "threads", "text", "errors", "__init__", "model", "checks"),
    ),
    ("aui_tui.index", ("files", "process", "text", "errors", "__init__", "model")),
    ("aui_tui.docs", ("packaged", "text", "errors", "model", "checks")),
    ("aui_tui.report", ("packaged", "files", "text", "errors", "__init__", "model", "checks", "docs")),
    ("aui_tui.tasks", ("packaged", "process", "text", "errors", "__init__", "model", "checks", "scan")),
    (
        "aui_tui.visits",
        ("packaged", "files", "process", "addresses", "text", "errors", "__init__", "model", "scan", "report"),
    ),
    ("aui_tui.service.protocol", ("text", "errors", "model")),
    (
        "aui_tui.service",
        (
            *("files", "process", "threads", "text", "errors", "__init__", "model", "checks", "scan", "index"),
            *("report", "tasks", "visits"),
        ),
    ),
    (
        "aui_tui.web",
        (
            *("process", "threads", "addresses", "text", "errors", "__init__", "model", "checks", "docs", "report"),
            *("service.protocol", "validate"),
        ),
    ),
    (
        "aui_tui.demo",
        ("packaged", "process", "text", "errors", "__init__", "model", "checks", "scan", "index", "service"),
    ),
    ("aui_tui.tui", ("text", "errors", "__init__", "model", "checks", "docs", "report", "service.protocol")),
    (
        "aui_tui.cli",
        (
            *("text", "errors", "__init__", "model", "settings", "validate", "checks", "scan", "index", "docs"),
            *("files", "process", "packaged", "report", "tasks", "visits", "service", "web", "demo"),
        ),
    ),
    ("aui_tui.engine", ("scan", "checks")),
    ("aui_tui.records", ("model",)),
    ("aui_tui.__main__", ("process", "cli")),
)
"""Each part of the package, from the ground up, and the parts it may import besides itself; the longest name counts."""

MAY_IMPORT = {part: (part, *(f"aui_tui.{name}" for name in below)) for part, below in FLOORS}

EXCEPTIONS = {"aui_tui.cli.open_dashboard": ("aui_tui.tui",)}
"""The one door to the dashboard, opened only when it is asked for."""

FOREIGN = {
    "textual": ("aui_tui.tui",),
    "httpx": ("aui_tui.scan.network", "aui_tui.service.remote"),
    "starlette": ("aui_tui.web", "aui_tui.cli.serve"),
    "uvicorn": ("aui_tui.web", "aui_tui.cli.serve"),
    "jinja2": ("aui_tui.web",),
    "mcp": ("aui_tui.web",),
    "typer": ("aui_tui.cli",),
    "diskcache": ("aui_tui.index",),
    "sqlite3": ("aui_tui.index",),
    "playwright": ("aui_tui.tasks",),
    "trafilatura": ("aui_tui.reads",),
    "markdownify": ("aui_tui.reads",),
    "psutil": ("aui_tui.tasks.browser",),
    "http_message_signatures": ("aui_tui.scan.signing",),
    "distributed": ("aui_tui.service.crawl.cluster",),
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


def test_a_package_that_loads_its_own_modules_is_imported_whole() -> None:
    """Else two threads that import at once get each other's half-loaded modules, and a scan fails."""
    packages = [name_of(path.parent) for path in modules() if path.name == "__init__.py"]
    assert "aui_tui.scan.network.routes" in loaded_by("aui_tui.scan.network")
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
        ["help", "method"],
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
        late = {name for name in loaded if name.startswith(("aui_tui.scan", "aui_tui.checks", "aui_tui.report."))}
        assert late <= {f"aui_tui.report.{name}" for name in ("data", "export", "formats", "fields", "gates")}


FIRST_FRAME = """
import asyncio, json, sys
from pathlib import Path
from aui_tui.cli.open_dashboard import known_sites
from aui_tui.cli.run import Run
from aui_tui.service.local import LocalService
from aui_tui.tui.app import AuiApp
from aui_tui.tui.context import Context

async def show():
    service = LocalService(Path(sys.argv[1]))
    app = AuiApp(Context(service, starter=known_sites(Run.of({"data_dir": sys.argv[1]}))))
    loaded = []
    app._after_first_frame = lambda: loaded.extend(sys.modules)
    async with app.run_test() as pilot:
        while not loaded:
            await pilot.pause(0.01)
    await service.aclose()
    return loaded

print(json.dumps(sorted(asyncio.run(show()))))
"""


def test_the_first_frame_of_the_dashboard_loads_only_what_a_list_needs(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with closing(Store(places(prepare(data)).index)) as store:
        store.put_many([(RICH_OPEN, None)])
    done = python(tmp_path, FIRST_FRAME, str(data))
    assert done.code == 0, done.err
    loaded = json.loads(done.out)
    assert "aui_tui.tui.screens.index" in loaded
    late = (
        "aui_tui.scan",
        "aui_tui.report",
        "aui_tui.index.cache",
        "aui_tui.index.compression",
        "aui_tui.index.packed",
        "aui_tui.model.card",
        "aui_tui.model.observations",
        "aui_tui.model.query_line",
        "aui_tui.model.registry",
        "aui_tui.model.visits",
        "aui_tui.service.scans",
        "aui_tui.tui.export",
        "aui_tui.tui.scan_panel",
        "diskcache",
        "idna",
        "typer",
    )
    assert not [name for name in loaded if name.startswith(late)]
