"""What the user set and where things lie: flags, then ``AUI_TUI_*``, then a TOML file, then defaults.

Nothing here depends on the current directory, and nothing is created: a folder is made when something is
stored in it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from aui_tui.errors import BadValue, ConfigError
from aui_tui.model.methods import DEFAULT_METHOD, METHODS
from aui_tui.model.vocabulary import choose
from aui_tui.text import clean

APP: Final = "aui-tui"
PREFIX: Final = "AUI_TUI_"
HOME_VARIABLE: Final = "AUI_TUI_HOME"
CONFIG_VARIABLE: Final = "AUI_TUI_CONFIG"
CONFIG_NAME: Final = "config.toml"
BASE_URL: Final = "http://127.0.0.1:8600"
"""Where ``aui-tui serve`` answers by default; the start of every ``url`` in the records."""

_WORDS: Final = MappingProxyType(
    {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
)


@dataclass(frozen=True, slots=True)
class Field:
    """One setting: its name (also the key of the TOML file), default, reader, and what it means."""

    name: str
    default: Any
    read: Callable[[str, Any], Any]
    meaning: str

    @property
    def variable(self) -> str:
        """The environment variable, such as ``AUI_TUI_THEME``."""
        return PREFIX + self.name.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSettings:
    """How one site of the user's own is reached and advised, from ``[sites."HOST"]`` of the settings file.

    ``headers``: fields sent to that site alone. ``basic_auth_env``: variable that holds user:password. ``public_url``
    and ``tester``: the site's public address, and the address that is scanned from, for the files of a plan.
    """

    headers: tuple[tuple[str, str], ...] = ()
    basic_auth_env: str = ""
    public_url: str = ""
    tester: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its value; ``origins`` says per name where it came from.

    ``data_dir``: cards, cache and quota. ``source``: address of a published index, empty for the local one.
    ``method``: scoring method of new cards. ``base_url``: start of the ``url`` of local records. ``theme``: name,
    empty for the default. ``ascii``: glyphs of ASCII only. ``mouse``: dashboard listens to it. ``no_limit``:
    scans of the user's own hosts are not counted. ``keys``: binding id to keys, checked by the dashboard.
    ``columns``: keys of the columns of the list, empty for the usual ones. ``views``: saved lists by name, each with
    some of ``VIEW_FIELDS``. ``sites``: how sites of the user's own are reached, by host. ``config_file`` may not exist.
    The others as in ``FIELDS``.
    """

    data_dir: Path
    config_file: Path
    source: str
    method: str
    base_url: str
    theme: str
    ascii: bool
    mouse: bool
    no_limit: bool
    cacert: str
    insecure: bool
    pace: float
    text: bool
    json_keys: str
    declared: bool
    sign: bool
    signature_agent: str
    first_run: str
    log_kind: str
    client_field: str
    trusted_proxy: tuple[str, ...]
    read_only: bool
    publish_visits: bool
    keys: Mapping[str, str]
    columns: tuple[str, ...]
    views: Mapping[str, Mapping[str, str]]
    sites: Mapping[str, SiteSettings]
    origins: Mapping[str, str]

    @property
    def theme_dir(self) -> Path:
        """Folder of the user's own theme files, beside the settings file."""
        return self.config_file.parent / "themes"


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be text, not {clean(repr(value), 60)}.")
    return clean(value.strip(), 500)


def _switch(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = _WORDS.get(value.strip().lower()) if isinstance(value, str) else None
    if word is None:
        raise ConfigError(f"{name} must be true or false, not {clean(repr(value), 60)}.")
    return word


def _word(*allowed: str) -> Callable[[str, Any], str]:
    """Return the reader of one of some words."""

    def read(name: str, value: Any) -> str:
        try:
            return choose(f"value of {name}", _text(name, value), allowed)
        except BadValue as error:
            raise ConfigError(str(error)) from None

    return read


def _number(most: float, *, whole: bool = True) -> Callable[[str, Any], Any]:
    """Return the reader of a number from 0 to ``most``."""

    def read(name: str, value: Any) -> float:
        try:
            number = float(value) if not isinstance(value, bool) else -1.0
        except (TypeError, ValueError):
            number = -1.0
        if not 0 <= number <= most or (whole and number % 1):
            kind = "a whole number" if whole else "a number"
            raise ConfigError(f"{name} must be {kind} from 0 to {most:g}, not {clean(repr(value), 60)}.")
        return int(number) if whole else number

    return read


def _texts(name: str, value: Any) -> tuple[str, ...]:
    """Read a list of texts; in a variable they are separated by commas."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list):
        raise ConfigError(f'{name} must be a list of texts, such as ["one", "two"].')
    return tuple(text for item in items if (text := _text(name, item)))


def _method(name: str, value: Any) -> str:
    try:
        return choose("method", _text(name, value), tuple(METHODS))
    except BadValue as error:
        raise ConfigError(f"{name}: {error}") from None


def _address(name: str, value: Any) -> str:
    text = _text(name, value)
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid or parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(f"{name} must be an address such as https://index.example, not {clean(repr(value), 80)}.")
    return text.rstrip("/")


def _source(name: str, value: Any) -> str:
    text = _text(name, value)
    return _address(name, text) if "://" in text or not text else text


def _keys(name: str, value: Any) -> Mapping[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in value.values()):
        raise ConfigError(f'{name} must be a table of binding = "key", such as scan = "s".')
    return MappingProxyType({str(key): item for key, item in value.items()})


VIEW_FIELDS: Final = ("query", "stance", "category", "sort", "order", "show")
"""What a saved list may say: the filters, the column it is ordered by, ``reverse``, and ``matrix`` or ``unreachable``
where another list than the usual one is shown."""


def _columns(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f'{name} must be a list of column names, such as ["score", "host"].')
    return tuple(clean(item, 40) for item in value)


def _views(name: str, value: Any) -> Mapping[str, Mapping[str, str]]:
    out: dict[str, Mapping[str, str]] = {}
    pairs: list[tuple[Any, Any]] = list(value.items()) if isinstance(value, Mapping) else [("", None)]
    for title, view in pairs:
        known = isinstance(view, Mapping) and all(key in VIEW_FIELDS and isinstance(view[key], str) for key in view)
        if not known:
            fields = ", ".join(VIEW_FIELDS)
            raise ConfigError(f"{name} must be a table of lists by name, each a table of texts: {fields}.")
        out[clean(str(title), 60)] = MappingProxyType({key: clean(text, 500) for key, text in view.items()})
    return MappingProxyType(out)


def _headers(name: str, value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        raise ConfigError(f'{name} must be a table of fields, such as {{ "X-Preview" = "1" }}.')
    return tuple((str(key), text) for key, text in value.items())


_SITE: Final[Mapping[str, Callable[[str, Any], Any]]] = MappingProxyType(
    {
        "headers": _headers,
        "basic_auth_env": _text,
        "public_url": _text,
        "tester": _text,
    }
)
SITE_KEYS: Final = tuple(_SITE)


def _sites(name: str, value: Any) -> Mapping[str, SiteSettings]:
    tables = value if isinstance(value, Mapping) else {"": None}
    found: dict[str, SiteSettings] = {}
    for host, table in tables.items():
        if not isinstance(table, Mapping):
            raise ConfigError(f'{name} must be a table of sites, such as [sites."staging.shop.example"].')
        for key in table:
            _check_known(f"{name}.{clean(str(host), 80)}: unknown setting", str(key), tuple(_SITE))
        read = {key: _SITE[key](f"{name}.{clean(str(host), 80)}.{key}", item) for key, item in table.items()}
        found[str(host).casefold()] = SiteSettings(**read)
    return MappingProxyType(found)


def _check_known(what: str, name: str, known: Sequence[str]) -> None:
    """Raise ConfigError, with the nearest name or all of them, when ``name`` is not among ``known``."""
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"allowed are: {', '.join(known)}."
        raise ConfigError(f"{what} {clean(name, 60)!r}; {hint}")


FIELDS: Final = (
    Field("source", "", _source, "address of a published index, or a file of one; empty: the index on this machine"),
    Field("method", DEFAULT_METHOD, _method, "scoring method of new report cards"),
    Field("base_url", BASE_URL, _address, "start of the url in every record of this machine"),
    Field("theme", "", _text, "theme of the dashboard; empty: its default"),
    Field("ascii", False, _switch, "draw with ASCII characters only"),
    Field("mouse", True, _switch, "the dashboard listens to the mouse"),
    Field("no_limit", False, _switch, "scans of your own hosts cost none of the ten an hour"),
    Field("cacert", "", _text, "file of certificates (PEM) that scans trust too"),
    Field("insecure", False, _switch, "scans do not check certificates; the card says so"),
    Field("pace", 0.0, _number(60, whole=False), "seconds between two requests of a scan, one at a time; 0: no wait"),
    Field("text", False, _switch, "print plain sentences, for a screen reader"),
    Field("json_keys", "names", _word("names", "slots"), "keys in the JSON of scan, site, index and export"),
    Field("declared", False, _switch, "a scan also asks what the site declares for agents; never scored"),
    Field("sign", False, _switch, "agents that were turned away ask again, signed with your key (aui-tui key)"),
    Field("signature_agent", "", _text, "address at which your key is published"),
    Field("first_run", "inconclusive", _word("pass", "inconclusive"), "--no-regress without an earlier card"),
    Field("log_kind", "", _text, "where the logs of visits were written: edge, origin, unknown; empty: by their lines"),
    Field("client_field", "", _text, "field of a log in which a trusted proxy writes the client's address"),
    Field("trusted_proxy", (), _texts, "networks of proxies whose field is trusted in logs"),
    Field("read_only", False, _switch, "serve what is stored and scan nothing for visitors"),
    Field("publish_visits", True, _switch, "serve the figures of access logs too"),
)
"""The settings that a flag, a variable or the file can give."""

KEYS: Final = Field("keys", MappingProxyType({}), _keys, "keys of the dashboard by binding id; in the file only")
COLUMNS: Final = Field("columns", (), _columns, "columns of the list in the dashboard; in the file only")
VIEWS: Final = Field("views", MappingProxyType({}), _views, "saved lists of the dashboard by name; in the file only")
SITES: Final = Field("sites", MappingProxyType({}), _sites, "how sites of your own are reached; in the file only")
IN_FILE: Final = (KEYS, COLUMNS, VIEWS, SITES)


def load(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings in force.

    ``flags`` holds what the command line gave: names of FIELDS, ``data_dir`` and ``config_file``; None counts as
    not given. Raises ConfigError with one sentence that names the setting and where it came from.
    """
    flags = {name: value for name, value in (flags or {}).items() if value is not None}
    environ = os.environ if environ is None else environ
    origins: dict[str, str] = {}
    config_file = _config_file(flags, environ, origins)
    table = _read_table(config_file, required=origins["config_file"] != "default")
    values: dict[str, Any] = {}
    for field in FIELDS:
        values[field.name], origins[field.name] = _resolve(field, flags, environ, table, config_file)
    for field in IN_FILE:
        origins[field.name] = str(config_file) if field.name in table else "default"
        values[field.name] = _from(str(config_file), field, table[field.name]) if field.name in table else field.default
    return Settings(
        data_dir=_data_dir(flags, environ, origins),
        config_file=config_file,
        origins=MappingProxyType(origins),
        **values,
    )


def _resolve(
    field: Field, flags: Mapping[str, Any], environ: Mapping[str, str], table: Mapping[str, Any], config_file: Path
) -> tuple[Any, str]:
    option = "--" + field.name.replace("_", "-")
    if field.name in flags:
        return _from("", field, flags[field.name], name=option), option
    if environ.get(field.variable, "").strip():
        return _from("", field, environ[field.variable], name=field.variable), field.variable
    if field.name in table:
        return _from(str(config_file), field, table[field.name]), str(config_file)
    return field.default, "default"


def _from(where: str, field: Field, value: Any, *, name: str = "") -> Any:
    try:
        return field.read(name or field.name, value)
    except ConfigError as error:
        raise ConfigError(f"{clean(where, 200)}: {error}" if where else str(error)) from None


def _config_file(flags: Mapping[str, Any], environ: Mapping[str, str], origins: dict[str, str]) -> Path:
    named = _named_path("config_file", "--config", CONFIG_VARIABLE, flags, environ, origins)
    if named is not None:
        return named
    import platformdirs

    return platformdirs.user_config_path(APP, appauthor=False) / CONFIG_NAME


def _data_dir(flags: Mapping[str, Any], environ: Mapping[str, str], origins: dict[str, str]) -> Path:
    named = _named_path("data_dir", "--data-dir", HOME_VARIABLE, flags, environ, origins)
    if named is not None:
        return named
    checkout = checkout_root()
    if checkout is not None:
        origins["data_dir"] = "source checkout"
        return checkout / "cache"
    import platformdirs

    return platformdirs.user_data_path(APP, appauthor=False)


def _named_path(
    name: str,
    option: str,
    variable: str,
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    origins: dict[str, str],
) -> Path | None:
    """Return the path that an option or a variable names, None for neither, and note its origin."""
    value = flags.get(name) or environ.get(variable)
    origins[name] = option if name in flags else variable if value else "default"
    return _absolute(origins[name], flags.get(name, value)) if name in flags or value else None


def _absolute(name: str, value: Any) -> Path:
    text = str(value)
    if not text.strip() or "\0" in text:
        raise ConfigError(f"{name} must be the path of a file or folder.")
    try:
        return Path(text).expanduser().absolute()
    except (RuntimeError, OSError) as error:
        raise ConfigError(f"{name}: {clean(str(error), 200)}.") from None


def checkout_root() -> Path | None:
    """Return the source checkout this package runs from, None when it is installed.

    A folder counts only when the pyproject.toml beside the package is this package's own.
    """
    root = Path(__file__).resolve().parent.parent
    try:
        project = (root / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return root if f'\nname = "{APP}"\n' in project else None


def _read_table(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if required:
            raise ConfigError(f"There is no settings file {clean(str(path), 300)}.") from None
        return {}
    except OSError as error:
        raise ConfigError(f"Cannot read {clean(str(path), 300)}: {error.strerror or error}.") from None
    try:
        table = tomllib.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{clean(str(path), 300)} is not TOML: {clean(str(error), 200)}.") from None
    known = tuple(field.name for field in (*FIELDS, *IN_FILE))
    for name in table:
        _check_known(f"{clean(str(path), 300)}: unknown setting", name, known)
    return table


def remember(path: Path, name: Sequence[str], value: Any) -> None:
    """Write one setting into the file at ``path``, which keeps its comments and everything else; None removes it.

    ``name``: the key, after the names of the tables that it stands in. Raises ConfigError when that cannot be done.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
        document = tomlkit.parse(text)
        table: Any = document
        for part in name[:-1]:
            if part not in table:
                table[part] = tomlkit.table()
            table = table[part]
        if value is None:
            table.pop(name[-1], None)
        else:
            table[name[-1]] = value
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        fresh.write_text(tomlkit.dumps(document), encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise ConfigError(f"{clean(str(path), 300)} cannot be written: {error.strerror or error}.") from None
    except (UnicodeDecodeError, TOMLKitError, AttributeError, TypeError) as error:
        raise ConfigError(f"{clean(str(path), 300)} cannot be changed: {clean(str(error), 200)}.") from None
