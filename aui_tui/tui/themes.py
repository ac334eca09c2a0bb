"""Themes: TOML files, checked whole before the screen changes."""

from __future__ import annotations

import dataclasses
import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec
from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from aui_tui.errors import ConfigError
from aui_tui.model.decoding import sentence
from aui_tui.model.vocabulary import nearest
from aui_tui.text import clean

DEFAULT: Final = "dusk"
TERMINAL: Final = "terminal"
"""The theme of the terminal's own sixteen colours; with NO_COLOR it draws with attributes alone."""
COLORS: Final = (
    "primary",
    "secondary",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "success",
    "warning",
    "error",
)
ROLES: Final = (
    "muted",
    "open",
    "selective",
    "walled",
    "good",
    "warn",
    "critical",
    "bar",
    "rest",
    "code",
    "cursor",
    "cursor-background",
)
"""Colours of our own; each becomes the style sheet variable ``role-NAME``."""
UNUSABLE: Final = "Themes that could not be used:"
"""What stands before the sentences on them."""
MAX_BYTES: Final = 64 * 1024
DEFAULT_256: Final = "dusk-256"
READABLE: Final = 4.5
"""Contrast of text that can be read (WCAG 2.2, 1.4.3)."""
GROUNDS: Final = ("background", "surface", "panel")
TEXTS: Final = ("muted", "open", "selective", "walled", "good", "warn", "critical", "bar", "code")
"""Roles that are drawn as text on any of GROUNDS."""
_ANSI: Final = "ansi_"
_BASES: Final = {True: BUILTIN_THEMES["ansi-dark"], False: BUILTIN_THEMES["ansi-light"]}
"""Themes of the terminal's own colours: a theme made from nothing lacks what Textual's style sheets need."""


class LoadedThemes(msgspec.Struct, frozen=True):
    """Themes by name, and one sentence per file or key that could not be used."""

    themes: dict[str, Theme]
    problems: tuple[str, ...]


def packaged() -> Path:
    """Return the folder of the themes that come with the package, or with the source checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "themes"
    return inside if inside.is_dir() else package.parent / "themes"


def load(folders: Iterable[Path], only: str = "") -> LoadedThemes:
    """Return every theme of the folders, later ones replacing earlier ones of the same name; or that in ``only``.toml.

    Nothing is raised: what is wrong with a file is reported with file, key and reason.
    """
    themes: dict[str, Theme] = {}
    problems: list[str] = []
    for folder in folders:
        sources: dict[str, str] = {}
        paths = [folder / f"{only}.toml"] if only else sorted(folder.glob("*.toml")) if folder.is_dir() else []
        for path in paths:
            if only and not path.exists():
                continue
            theme, wrong = _read(path)
            if theme is not None and sources.setdefault(theme.name, path.name) != path.name:
                wrong = [f"name: {sources[theme.name]} has the name {theme.name} already."]
            elif theme is not None:
                themes[theme.name] = theme
            problems += [clean(f"{path.name}: {words}", 300) for words in wrong]
    return LoadedThemes(themes, tuple(problems))


def default(environ: Mapping[str, str], *, no_color: bool) -> str:
    """Return the theme for the colours that the terminal has: 24 bits, 256 or its own sixteen.

    With NO_COLOR it is that of the sixteen, which then draws with attributes alone.
    """
    term = environ.get("TERM", "")
    if no_color:
        return TERMINAL
    if sys.platform == "win32" or environ.get("COLORTERM", "") in ("truecolor", "24bit") or term.endswith("-direct"):
        return DEFAULT
    return DEFAULT_256 if "256color" in term else TERMINAL


def contrast(first: Color, second: Color) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    low, high = sorted(_luminance(color) for color in (first, second))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: Color) -> float:
    channels = (value / 255 for value in (color.r, color.g, color.b))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def hard_to_read(theme: Theme) -> str:
    """Return a sentence on the text of ``theme`` with too little contrast, empty when all can be read.

    The terminal's own colours are not known, so a theme of those is never complained about.
    """
    if theme.name == TERMINAL or str(theme.background or "").startswith(_ANSI):
        return ""
    grounds = {name: str(getattr(theme, name)) for name in GROUNDS}
    texts = {name: theme.variables["role-" + name] for name in TEXTS}
    texts |= {name: str(getattr(theme, name)) for name in ("foreground", "primary", "accent")}
    grounds["cursor-background"] = theme.variables["role-cursor-background"]  # a row keeps its tones under the cursor
    pairs = {(name, place): (text, ground) for name, text in texts.items() for place, ground in grounds.items()}
    cursor = ("cursor", "cursor-background")
    pairs[cursor] = (theme.variables["role-cursor"], theme.variables["role-cursor-background"])
    contrasts = [(contrast(Color.parse(text), Color.parse(ground)), *names) for names, (text, ground) in pairs.items()]
    poor = sorted(each for each in contrasts if each[0] < READABLE)
    if not poor:
        return ""
    ratio, name, place = poor[0]
    rest = f" (and {len(poor) - 1} more pairs)" if len(poor) > 1 else ""
    words = f"{theme.name}: {name} on {place} has a contrast of {ratio:.1f}{rest};"
    return f"{words} text is easy to read from {READABLE}."


def first(folders: Iterable[Path], name: str, *, no_color: bool) -> tuple[LoadedThemes, str]:
    """Return the themes of ``folders``, the one to start with and its name; an empty ``name``: see :func:`default`.

    Of the packaged themes, whose files have their names, only that one is read: the first frame waits for no other.
    Raises ConfigError naming the nearest theme when there is none of that name, and what is wrong with the files that
    could not be used.
    """
    chosen = name or default(os.environ, no_color=no_color)
    loaded = load(folders)
    themes = {**load((packaged(),), only=chosen).themes, **loaded.themes}
    if chosen in themes:
        return LoadedThemes(themes, loaded.problems), chosen
    names = sorted({*load((packaged(),)).themes, *themes})
    hint = nearest(chosen, names) or f"there are: {', '.join(names)}."
    faults = [UNUSABLE, *loaded.problems] if loaded.problems else []
    raise ConfigError(" ".join((f"Unknown theme {clean(chosen, 60)!r};", hint, *faults)))


def _read(path: Path) -> tuple[Theme | None, list[str]]:
    try:
        if not path.is_file():
            return None, ["cannot be read: it is not a regular file."]
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            return None, ["larger than 64 KiB."]
        data = tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        return None, [f"cannot be read: {clean(error.strerror or str(error), 200)}."]
    except (ValueError, RecursionError) as error:
        return None, [f"{clean(str(error), 200)}."]
    return _made(data)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """What a theme file holds."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]+$")]
    colors: dict[str, object]
    roles: dict[str, object]
    description: str = ""
    author: str = ""
    dark: bool = True
    ansi: bool = False


def _made(data: dict[str, object]) -> tuple[Theme | None, list[str]]:
    try:
        file = msgspec.convert(data, _File)
    except msgspec.ValidationError as error:
        return None, [f"{sentence(error)}."]
    wrong: list[str] = []
    colors = _colors(file.colors, "colors", COLORS, file.ansi, wrong)
    roles = _colors(file.roles, "roles", ROLES, file.ansi, wrong)
    if wrong:
        return None, wrong
    base = _BASES[file.dark] if file.ansi else Theme(name="", primary="#808080", dark=file.dark)
    variables = {**base.variables, **{"role-" + key: value for key, value in roles.items()}}
    return dataclasses.replace(base, name=file.name, variables=variables, **colors), []  # type: ignore[arg-type]  # COLORS


def _colors(
    values: dict[str, object], table: str, allowed: tuple[str, ...], ansi: bool, wrong: list[str]
) -> dict[str, str]:
    """Return the colours of a table; what is wrong with them joins ``wrong``."""
    out: dict[str, str] = {}
    for key, value in values.items():
        if key not in allowed:
            near = nearest(str(key), allowed)
            wrong.append(f"{table}.{key}: unknown{f'; {near}' if near else '.'}")
            continue
        color = _color(value, ansi)
        if color is None:
            kind = "a terminal colour such as ansi_green." if ansi else "a colour such as #7aa2f7."
            wrong.append(f"{table}.{key}: {value!r} is not {kind}")
        else:
            out[key] = color
    missing = [key for key in allowed if key not in values]
    if missing:
        wrong.append(f"{table}: missing {', '.join(missing)}.")
    return out


def _color(value: object, ansi: bool) -> str | None:
    """Return a colour in the one spelling that a style sheet may be given, None for anything else."""
    if not isinstance(value, str) or value.startswith(_ANSI) is not ansi:
        return None
    try:
        color = Color.parse(value)
    except ColorParseError:
        return None
    return value if ansi else color.hex6
