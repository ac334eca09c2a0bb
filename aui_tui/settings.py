"""Settings of the user and places of files: flags, then ``AUI_TUI_*``, then a TOML file, then defaults.

Nothing here depends on the current directory, and nothing is created: a folder is made when something is
stored in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_type_hints

import msgspec

from aui_tui.errors import DEBUG, BadValue, ConfigError
from aui_tui.files import replace, user_path
from aui_tui.model.decoding import sentence
from aui_tui.model.methods import DEFAULT_METHOD, METHODS
from aui_tui.model.options import Acceptance
from aui_tui.model.vocabulary import choose, nearest
from aui_tui.text import clean, web_address

APP: Final = "aui-tui"
PREFIX: Final = "AUI_TUI_"
HOME_VARIABLE: Final = "AUI_TUI_HOME"
CONFIG_VARIABLE: Final = "AUI_TUI_CONFIG"
IN_FLIGHT: Final = 100
LARGEST: Final = 1 << 20
"""Bytes of a settings file at most."""
BASE_URL: Final = "http://127.0.0.1:8600"
"""Where ``aui-tui serve`` answers by default; the start of every ``url`` in the records."""
ViewField = Literal["query", "stance", "category", "sort", "order", "show"]
"""What a saved list may say: the filters, the column it is ordered by, ``reverse``, and ``matrix`` or ``unreachable``
where another list than the usual one is shown."""


class SiteSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one site of the user's own is reached and advised, from ``[sites."HOST"]`` of the settings file.

    ``headers``: fields sent to that site alone. ``basic_auth_env``: variable that holds user:password. ``public_url``
    and ``tester``: the site's public address, and the address that is scanned from, for the files of a plan.
    """

    headers: Mapping[str, str] = {}
    basic_auth_env: str = ""
    public_url: str = ""
    tester: str = ""


SITE_KEYS: Final = SiteSettings.__struct_fields__


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting with its type, meaning and default."""

    source: Annotated[str, "address of a published index, or a file of one; empty: the index on this machine"] = ""
    method: Annotated[str, "scoring method of new report cards"] = DEFAULT_METHOD
    base_url: Annotated[str, "start of the url in every record; behind a proxy, where others reach serve or web"] = (
        BASE_URL
    )
    theme: Annotated[str, "theme of the dashboard; empty: its default"] = ""
    ascii: Annotated[bool, "draw with ASCII characters only"] = False
    mouse: Annotated[bool, "the dashboard listens to the mouse"] = True
    root_browser: Annotated[bool, "as root, a browser without its sandbox may open hosts of others"] = False
    cacert: Annotated[str, "file of certificates (PEM) that scans trust too"] = ""
    insecure: Annotated[bool, "scans do not check certificates; the card says so"] = False
    pace: Annotated[
        float, msgspec.Meta(ge=0, le=60), "seconds between two requests of a scan, one at a time, 0 to 60; 0: no wait"
    ] = 0.0
    text: Annotated[bool, "print plain sentences, for a screen reader"] = False
    json_keys: Annotated[str, "keys in the JSON of scan, site, index and export: names or slots"] = "names"
    deterministic: Annotated[bool, "documents omit times, so that files can be compared"] = False
    control: Annotated[
        str, "what agents are measured by: auto (a real Chromium where it settles something), plain or chromium"
    ] = "auto"
    via: Annotated[str, "proxy that scans go through: http://HOST:PORT or socks5://HOST:PORT"] = ""
    declared: Annotated[bool, "a scan also asks what the site declares for agents; never scored"] = False
    open_agents: Annotated[bool, "a scan also asks as the fetch tools of open agents do; never scored"] = False
    pages: Annotated[
        int,
        msgspec.Meta(ge=0, le=30),
        "pages of a site that a scan chooses, by section, and asks for too, 0 to 30",
    ] = 0
    sign: Annotated[bool, "agents that were turned away ask again, signed with your key (aui-tui key)"] = False
    signature_agent: Annotated[str, "address at which your key is published"] = ""
    with_claims: Annotated[bool, "plans hold fixes too that need something you must have, such as an MCP server"] = (
        False
    )
    first_run: Annotated[str, "--no-regress without an earlier card: pass or inconclusive"] = "inconclusive"
    log_kind: Annotated[str, "where the logs of visits were written: edge, origin, unknown; empty: by their lines"] = ""
    client_field: Annotated[str, "field of a log in which a trusted proxy writes the client's address"] = ""
    trusted_proxy: Annotated[
        tuple[str, ...], "networks of proxies that name the client's address, in logs and to serve"
    ] = ()
    older_than: Annotated[str, "a crawl skips hosts with a card younger than this"] = "7d"
    concurrency: Annotated[
        int,
        msgspec.Meta(ge=1, le=10000),
        "hosts that a crawl scans at a time, 1 to 10000; a cluster sets its own number",
    ] = IN_FLIGHT
    max_per_second: Annotated[
        float, msgspec.Meta(ge=0), "hosts that a crawl starts per second, at most; 0: no limit"
    ] = 0.0
    reads: Annotated[bool, "a crawl also reads each page as readers of text do (aui-tui reads)"] = False
    scheduler: Annotated[str, "Dask cluster that a crawl scans on, such as tcp://head:8786"] = ""
    read_only: Annotated[bool, "serve what is stored and scan nothing for visitors"] = False
    cors: Annotated[tuple[str, ...], "origins whose pages may read the API of serve"] = ()
    allow_origin: Annotated[tuple[str, ...], "origins whose pages may also start scans by serve"] = ()
    publish_visits: Annotated[bool, "serve the figures of access logs too"] = True
    keys: Annotated[Mapping[str, str], "keys of the dashboard by binding id, such as scan = 's'; in the file only"] = {}
    columns: Annotated[tuple[str, ...], "columns of the list in the dashboard; in the file only"] = ()
    views: Annotated[
        Mapping[str, Mapping[ViewField, str]],
        "saved lists of the dashboard by name: query, stance, category, sort, order, show; in the file only",
    ] = {}
    accept: Annotated[
        Mapping[str, Mapping[str, Acceptance]],
        "findings that you accept, by host and finding: reason, until (a date); in the file only",
    ] = {}
    sites: Annotated[
        Mapping[str, SiteSettings],
        "how sites of your own are reached: headers, basic_auth_env, public_url, tester; in the file only",
    ] = {}


class Settings(Choices, frozen=True, kw_only=True):
    """The settings in force; ``origins`` says per name where a value came from.

    ``data_dir``: cards, cache and quota. ``config_file`` may not exist.
    """

    data_dir: Path
    config_file: Path
    origins: Mapping[str, str]

    @property
    def theme_dir(self) -> Path:
        """Folder of the user's own theme files, beside the settings file."""
        return self.config_file.parent / "themes"

    @property
    def options(self) -> list[str]:
        """The settings from the command line, as options for a child process."""
        options: list[str] = []
        for name, option in self.origins.items():
            if option.startswith("--"):
                value = getattr(self, name)
                text = ",".join(value) if isinstance(value, tuple) else str(value)
                options += ["--set", f"{name}={text}"] if name in DEFAULTS else [option, text]
        return options


DEFAULTS: Final = dict(zip(Choices.__struct_fields__, Choices.__struct_defaults__, strict=True))
"""The settings by name."""
IN_FILE: Final = ("keys", "columns", "views", "accept", "sites")
"""Settings that neither an option nor a variable can give."""
OPTIONS: Final = (
    "ascii", "cacert", "control", "declared", "log_kind", "open_agents", "pace", "pages", "reads", "sign", "text",
    "trusted_proxy", "via",
)  # fmt: skip
"""Settings with an option of their own; ``--set NAME=VALUE`` gives any other for a single run."""
OF_SCANS: Final = ("root_browser", "cacert", "insecure", "pace", "control", "via", "sign", "open_agents", "pages")
"""Settings that ``ScanPolicy`` has too, under the same name unless ``cli/site_options.py`` knows another."""
WORDS: Final[Mapping[str, Sequence[str]]] = {
    "method": tuple(METHODS),
    "json_keys": ("names", "slots"),
    "control": ("auto", "plain", "chromium"),
    "first_run": ("pass", "inconclusive"),
    "log_kind": ("edge", "origin", "unknown"),
}
"""Settings that take one of some words."""
SWITCHES: Final = {"yes": "true", "on": "true", "no": "false", "off": "false"}


@cache
def meanings() -> Mapping[str, str]:
    """Return what each setting means."""
    return {name: hint.__metadata__[-1] for name, hint in get_type_hints(Choices, include_extras=True).items()}


def table(settings: Settings) -> dict[str, dict[str, object]]:
    """Return value, origin and meaning of every setting by name."""
    about = {"data_dir": "folder of cards, cache and quota", "config_file": "the settings file", **meanings()}
    values = msgspec.to_builtins(
        settings, enc_hook=lambda value: dict(value) if isinstance(value, Mapping) else str(value)
    )
    return {
        name: {"value": values[name], "origin": settings.origins[name], "meaning": meaning}
        for name, meaning in about.items()
    }


def load(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings in force.

    ``flags`` holds what the command line gave: names of DEFAULTS, ``data_dir`` and ``config_file``; None counts as
    not given. Raises ConfigError with one sentence that names the setting and where it came from.
    """
    flags = {name: value for name, value in (flags or {}).items() if value is not None}
    environ = os.environ if environ is None else environ
    origins = dict.fromkeys(DEFAULTS, "default")
    config_file = _place("config_file", "--config", CONFIG_VARIABLE, flags, environ, origins)
    data_dir = _place("data_dir", "--data-dir", HOME_VARIABLE, flags, environ, origins)
    table = _read_table(config_file, required=origins["config_file"] != "default")
    values = {}
    for name in DEFAULTS:
        option = "--" + name.replace("_", "-") if name in (*OPTIONS, "source", "method") else f"--set {name}"
        variable = PREFIX + name.upper()
        if name in flags:
            values[name], origins[name] = _read(name, flags[name], option), option
        elif name not in IN_FILE and environ.get(variable, "").strip():
            values[name], origins[name] = _read(name, environ[variable], variable), variable
        elif name in table:
            place = str(config_file)
            values[name], origins[name] = _read(name, table[name], f"{clean(place, 200)}: {name}"), place
    return Settings(data_dir=data_dir, config_file=config_file, origins=MappingProxyType(origins), **values)


def again(settings: Settings) -> Settings:
    """Return what is in force now, with the flags of ``settings`` and the file as it is. Raises as :func:`load`."""
    names = (name for name, origin in settings.origins.items() if origin.startswith("--"))
    return load({name: str(value) if isinstance(value := getattr(settings, name), Path) else value for name in names})


def ignored(environ: Mapping[str, str]) -> list[str]:
    """Return a sentence for each variable ``AUI_TUI_*`` that sets nothing, since no setting has its name."""
    variables = [HOME_VARIABLE, CONFIG_VARIABLE, DEBUG]
    variables += [PREFIX + name.upper() for name in DEFAULTS if name not in IN_FILE]
    renamed = {PREFIX + "DATA_DIR": HOME_VARIABLE, PREFIX + "CONFIG_FILE": CONFIG_VARIABLE}
    sentences = []
    for variable in sorted(name for name in environ if name.startswith(PREFIX) and name not in variables):
        hint = nearest(renamed.get(variable, variable), variables) or f"see {APP} config."
        sentences.append(f"{clean(variable, 60)} is ignored: there is no such setting; {hint}")
    return sentences


def _read(name: str, raw: Any, where: str) -> Any:
    """Return the value of a setting from ``raw``, as it was given; ``where`` names it. Raises ConfigError."""
    value = clean(raw.strip(), 500) if isinstance(raw, str) else raw
    if isinstance(value, str) and isinstance(DEFAULTS[name], bool):
        value = SWITCHES.get(value.lower(), value)
    if isinstance(value, str) and isinstance(DEFAULTS[name], tuple):
        value = [part.strip() for part in value.split(",") if part.strip()]
    try:
        setting = getattr(msgspec.convert({name: value}, Choices, strict=False), name)
        if name in WORDS and setting != DEFAULTS[name]:
            return choose(name, setting, WORDS[name])
    except (msgspec.ValidationError, BadValue) as error:
        message = str(error).rstrip(".") if isinstance(error, BadValue) else sentence(error).removeprefix(f"{name}: ")
        raise ConfigError(f"{where}: {message}. It is: {meanings()[name]}.") from None
    if name == "base_url" or (name == "source" and "://" in setting):
        return _address(where, setting)
    if name in ("accept", "sites"):
        return {host.casefold(): site for host, site in setting.items()}
    return setting


def _address(where: str, value: str) -> str:
    address = web_address(value)
    if address is None:
        raise ConfigError(f"{where} must be an address such as https://index.example.")
    return address


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
            return user_path(text).absolute()
        except OSError as error:
            raise ConfigError(f"{origins[name]}: {clean(error, 200)}.") from None
    checkout = checkout_root() if name == "data_dir" else None
    if checkout is not None:
        origins[name] = "source checkout"
        return checkout / "cache"
    import platformdirs

    origins[name] = "default"
    with suppress(RuntimeError):  # newer releases raise it, older ones leave the ~ in the path
        usual = platformdirs.PlatformDirs(APP, appauthor=False)
        path = usual.user_data_path if name == "data_dir" else usual.user_config_path / "config.toml"
        if path.is_absolute():
            return path
    raise ConfigError(
        "No home folder is known for this user; set HOME, or name the data folder and the settings file by "
        f"{HOME_VARIABLE} and {CONFIG_VARIABLE}."
    )


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
    shown = clean(path, 300)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ConfigError(f"{shown} is larger than {LARGEST >> 20} MiB, so it is not a settings file.")
        import tomllib  # a start without a settings file needs no parser

        table = tomllib.loads(data.decode("utf-8-sig"))
    except FileNotFoundError:
        if required:
            raise ConfigError(f"There is no settings file {shown}.") from None
        return {}
    except OSError as error:
        raise ConfigError(f"Cannot read {shown}: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{shown} is not TOML: {clean(error, 200)}.") from None
    for name in table:
        if name not in DEFAULTS:
            hint = nearest(name, DEFAULTS) or f"allowed are: {', '.join(DEFAULTS)}."
            raise ConfigError(f"{shown}: unknown setting {clean(name, 60)!r}; {hint}")
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
        replace(path, [tomlkit.dumps(document)])
    except OSError as error:
        raise ConfigError(f"{clean(path, 300)} cannot be written: {error.strerror or error}.") from None
    except (UnicodeDecodeError, TOMLKitError, AttributeError, TypeError) as error:
        raise ConfigError(f"{clean(path, 300)} cannot be changed: {clean(error, 200)}.") from None
