"""What the user set and where things lie: flags, then ``AUI_TUI_*``, then a TOML file, then defaults.

Nothing here depends on the current directory, and nothing is created: a folder is made when something is
stored in it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import msgspec

from aui_tui.errors import BadValue, ConfigError
from aui_tui.model.methods import DEFAULT_METHOD, METHODS
from aui_tui.model.vocabulary import choose
from aui_tui.text import clean

APP: Final = "aui-tui"
PREFIX: Final = "AUI_TUI_"
HOME_VARIABLE: Final = "AUI_TUI_HOME"
CONFIG_VARIABLE: Final = "AUI_TUI_CONFIG"
IN_FLIGHT: Final = 100
BASE_URL: Final = "http://127.0.0.1:8600"
"""Where ``aui-tui serve`` answers by default; the start of every ``url`` in the records."""
VIEW_FIELDS: Final = ("query", "stance", "category", "sort", "order", "show")
"""What a saved list may say: the filters, the column it is ordered by, ``reverse``, and ``matrix`` or ``unreachable``
where another list than the usual one is shown."""

Reader = Callable[[str, Any], Any]
"""Returns the value of a setting from its name and what was given. Raises ConfigError."""


def _is(kind: Any, words: str) -> Reader:
    """Return the reader of what msgspec takes for a ``kind``; ``words`` say what that is."""

    def read(name: str, value: Any) -> Any:
        try:
            return msgspec.convert(value, kind, strict=False)
        except msgspec.ValidationError:
            raise ConfigError(f"{name} must be {words}{_instead(name, value)}.") from None

    return read


def _instead(name: str, value: Any) -> str:
    """Return what ``name`` was set to, for an error; nothing where that may be a secret."""
    secret = name.startswith("sites") or "@" in str(value)
    return "" if secret else f", not {clean(repr(value), 80)}"


_plain = _is(str, "text")


def _text(name: str, value: Any) -> str:
    return clean(_plain(name, value).strip(), 500)


def _switch(name: str, value: Any) -> bool:
    words = {"yes": True, "on": True, "no": False, "off": False}
    given = words.get(value.strip().lower(), value.strip()) if isinstance(value, str) else value
    found: bool = _is(bool, "true or false")(name, given)
    return found


def _word(*allowed: str) -> Reader:
    """Return the reader of one of some words."""

    def read(name: str, value: Any) -> str:
        try:
            return choose(name.strip("-"), _text(name, value), allowed)
        except BadValue as error:
            raise ConfigError(str(error)) from None

    return read


def _texts(name: str, value: Any) -> tuple[str, ...]:
    """Read a list of texts; in a variable they are separated by commas."""
    items = value.split(",") if isinstance(value, str) else value
    found = _is(tuple[str, ...], 'a list of texts, such as ["one", "two"]')(name, items)
    return tuple(text for item in found if (text := _text(name, item)))


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
        raise ConfigError(f"{name} must be an address such as https://index.example{_instead(name, value)}.")
    return text.rstrip("/")


def _source(name: str, value: Any) -> str:
    text = _text(name, value)
    return _address(name, text) if "://" in text else text


def _views(name: str, value: Any) -> Mapping[str, Mapping[str, str]]:
    must = f"a table of lists by name, each a table of texts: {', '.join(VIEW_FIELDS)}"
    found: dict[str, dict[str, str]] = _is(dict[str, dict[str, str]], must)(name, value)
    for key in (key for view in found.values() for key in view):
        _check_known(f"{name}: unknown field", key, VIEW_FIELDS)
    return {clean(title, 60): {key: clean(text, 500) for key, text in found[title].items()} for title in found}


def _sites(name: str, value: Any) -> Mapping[str, SiteSettings]:
    must = 'a table of sites, such as [sites."staging.shop.example"]'
    found: dict[str, dict[str, Any]] = _is(dict[str, dict[str, Any]], must)(name, value)
    readers = {one.name: one.metadata["read"] for one in fields(SiteSettings)}
    for host, table in found.items():
        where = f"{name}.{clean(host, 80)}"
        for key in table:
            _check_known(f"{where}: unknown setting", key, SITE_KEYS)
        found[host] = {key: readers[key](f"{where}.{key}", item) for key, item in table.items()}
    return {host.casefold(): SiteSettings(**table) for host, table in found.items()}


def _setting(default: Any, read: Reader, meaning: str = "", *, in_file: bool = False) -> Any:
    return field(default_factory=lambda: default, metadata={"read": read, "meaning": meaning, "in_file": in_file})


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSettings:
    """How one site of the user's own is reached and advised, from ``[sites."HOST"]`` of the settings file.

    ``headers``: fields sent to that site alone. ``basic_auth_env``: variable that holds user:password. ``public_url``
    and ``tester``: the site's public address, and the address that is scanned from, for the files of a plan.
    """

    headers: Mapping[str, str] = _setting({}, _is(dict[str, str], 'a table of fields, such as { "X-Preview" = "1" }'))
    basic_auth_env: str = _setting("", _text)
    public_url: str = _setting("", _text)
    tester: str = _setting("", _text)


SITE_KEYS: Final = tuple(one.name for one in fields(SiteSettings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its value, its reader and its meaning; ``origins`` says per name where it came from.

    ``data_dir``: cards, cache and quota. ``config_file`` may not exist.
    """

    data_dir: Path
    config_file: Path
    origins: Mapping[str, str]
    source: str = _setting(
        "", _source, "address of a published index, or a file of one; empty: the index on this machine"
    )
    method: str = _setting(DEFAULT_METHOD, _word(*METHODS), "scoring method of new report cards")
    base_url: str = _setting(
        BASE_URL, _address, "start of the url in every record; behind a proxy, where others reach serve or web"
    )
    theme: str = _setting("", _text, "theme of the dashboard; empty: its default")
    ascii: bool = _setting(False, _switch, "draw with ASCII characters only")
    mouse: bool = _setting(True, _switch, "the dashboard listens to the mouse")
    no_limit: bool = _setting(False, _switch, "scans of your own hosts cost none of the ten an hour")
    root_browser: bool = _setting(False, _switch, "as root, a browser without its sandbox may open hosts of others")
    cacert: str = _setting("", _text, "file of certificates (PEM) that scans trust too")
    insecure: bool = _setting(False, _switch, "scans do not check certificates; the card says so")
    pace: float = _setting(
        0.0,
        _is(Annotated[float, msgspec.Meta(ge=0, le=60)], "a number from 0 to 60"),
        "seconds between two requests of a scan, one at a time; 0: no wait",
    )
    text: bool = _setting(False, _switch, "print plain sentences, for a screen reader")
    json_keys: str = _setting(
        "names", _word("names", "slots"), "keys in the JSON of scan, site, index and export: names or slots"
    )
    deterministic: bool = _setting(False, _switch, "documents omit times, so that files can be compared")
    control: str = _setting(
        "auto",
        _word("auto", "plain", "chromium"),
        "what agents are measured by: auto (a real Chromium where it settles something), plain or chromium",
    )
    via: str = _setting("", _text, "proxy that scans go through: http://HOST:PORT or socks5://HOST:PORT")
    declared: bool = _setting(False, _switch, "a scan also asks what the site declares for agents; never scored")
    sign: bool = _setting(False, _switch, "agents that were turned away ask again, signed with your key (aui-tui key)")
    signature_agent: str = _setting("", _text, "address at which your key is published")
    with_claims: bool = _setting(
        False, _switch, "plans hold fixes too that need something you must have, such as an MCP server"
    )
    first_run: str = _setting(
        "inconclusive", _word("pass", "inconclusive"), "--no-regress without an earlier card: pass or inconclusive"
    )
    log_kind: str = _setting(
        "", _text, "where the logs of visits were written: edge, origin, unknown; empty: by their lines"
    )
    client_field: str = _setting("", _text, "field of a log in which a trusted proxy writes the client's address")
    trusted_proxy: tuple[str, ...] = _setting(
        (), _texts, "networks of proxies that name the client's address, in logs and to serve"
    )
    older_than: str = _setting("7d", _text, "a crawl skips hosts with a card younger than this")
    concurrency: int = _setting(
        IN_FLIGHT,
        _is(Annotated[int, msgspec.Meta(ge=1, le=10_000)], "a whole number from 1 to 10000"),
        "hosts that a crawl scans at a time; a cluster sets its own number",
    )
    max_per_second: float = _setting(
        0.0,
        _is(Annotated[float, msgspec.Meta(ge=0)], "a number of hosts; 0 is no limit"),
        "hosts that a crawl starts per second, at most; 0: no limit",
    )
    scheduler: str = _setting("", _text, "Dask cluster that a crawl scans on, such as tcp://head:8786")
    read_only: bool = _setting(False, _switch, "serve what is stored and scan nothing for visitors")
    cors: tuple[str, ...] = _setting((), _texts, "origins whose pages may read the API of serve")
    allow_origin: tuple[str, ...] = _setting((), _texts, "origins whose pages may also start scans by serve")
    publish_visits: bool = _setting(True, _switch, "serve the figures of access logs too")
    keys: Mapping[str, str] = _setting(
        {},
        _is(dict[str, str], 'a table of binding = "key", such as scan = "s"'),
        "keys of the dashboard by binding id; in the file only",
        in_file=True,
    )
    columns: tuple[str, ...] = _setting(
        (), _texts, "columns of the list in the dashboard; in the file only", in_file=True
    )
    views: Mapping[str, Mapping[str, str]] = _setting(
        {}, _views, "saved lists of the dashboard by name; in the file only", in_file=True
    )
    sites: Mapping[str, SiteSettings] = _setting(
        {}, _sites, "how sites of your own are reached; in the file only", in_file=True
    )

    @property
    def theme_dir(self) -> Path:
        """Folder of the user's own theme files, beside the settings file."""
        return self.config_file.parent / "themes"


FIELDS: Final = tuple(one for one in fields(Settings) if one.metadata)
"""The settings that a flag, a variable or the file can give; those ``in_file`` only the file."""


def load(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings in force.

    ``flags`` holds what the command line gave: names of FIELDS, ``data_dir`` and ``config_file``; None counts as
    not given. Raises ConfigError with one sentence that names the setting and where it came from.
    """
    flags = {name: value for name, value in (flags or {}).items() if value is not None}
    environ = os.environ if environ is None else environ
    origins: dict[str, str] = {}
    config_file = _place("config_file", "--config", CONFIG_VARIABLE, flags, environ, origins)
    data_dir = _place("data_dir", "--data-dir", HOME_VARIABLE, flags, environ, origins)
    table = _read_table(config_file, required=origins["config_file"] != "default")
    values = {}
    for one in FIELDS:
        values[one.name], origins[one.name] = _resolve(one, flags, environ, table, config_file)
    return Settings(data_dir=data_dir, config_file=config_file, origins=MappingProxyType(origins), **values)


def _resolve(
    one: Field[Any], flags: Mapping[str, Any], environ: Mapping[str, str], table: Mapping[str, Any], config_file: Path
) -> tuple[Any, str]:
    read, option, variable = one.metadata["read"], "--" + one.name.replace("_", "-"), PREFIX + one.name.upper()
    if one.name in flags:
        return read(option, flags[one.name]), option
    if not one.metadata["in_file"] and environ.get(variable, "").strip():
        return read(variable, environ[variable]), variable
    if one.name not in table:
        assert one.default_factory is not MISSING
        return one.default_factory(), "default"
    try:
        return read(one.name, table[one.name]), str(config_file)
    except ConfigError as error:
        raise ConfigError(f"{clean(str(config_file), 200)}: {error}") from None


def _place(
    name: str,
    option: str,
    variable: str,
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    origins: dict[str, str],
) -> Path:
    """Return the path that an option or a variable names, else the usual one, and note its origin."""
    if name in flags or environ.get(variable):
        origins[name] = option if name in flags else variable
        text = str(flags.get(name, environ.get(variable)))
        if not text.strip() or "\0" in text:
            raise ConfigError(f"{origins[name]} must be the path of a file or folder.")
        try:
            return Path(text).expanduser().absolute()
        except (RuntimeError, OSError) as error:
            raise ConfigError(f"{origins[name]}: {clean(str(error), 200)}.") from None
    checkout = checkout_root() if name == "data_dir" else None
    if checkout is not None:
        origins[name] = "source checkout"
        return checkout / "cache"
    import platformdirs

    origins[name] = "default"
    if name == "data_dir":
        return platformdirs.user_data_path(APP, appauthor=False)
    return platformdirs.user_config_path(APP, appauthor=False) / "config.toml"


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
    shown = clean(str(path), 300)
    try:
        table = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        if required:
            raise ConfigError(f"There is no settings file {shown}.") from None
        return {}
    except OSError as error:
        raise ConfigError(f"Cannot read {shown}: {error.strerror or error}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{shown} is not TOML: {clean(str(error), 200)}.") from None
    for name in table:
        _check_known(f"{shown}: unknown setting", name, [one.name for one in FIELDS])
    return table


def _check_known(what: str, name: str, known: Sequence[str]) -> None:
    """Raise ConfigError, with the nearest name or all of them, when ``name`` is not among ``known``."""
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"allowed are: {', '.join(known)}."
        raise ConfigError(f"{what} {clean(name, 60)!r}; {hint}")


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
