"""Options that say how a scan may reach its site: the local user's own word."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aui_tui.errors import BadValue, ConfigError
from aui_tui.text import clean

if TYPE_CHECKING:
    from aui_tui.engine.policy import ScanPolicy

REACH: Final = "How to reach the site"
_option = partial(typer.Option, rich_help_panel=REACH)

AllowPrivate = Annotated[bool, _option("--allow-private", help="Allow localhost, private addresses and any port.")]
ConnectTo = Annotated[
    list[str] | None,
    _option(
        "--connect-to",
        metavar="HOST:PORT:ADDR:PORT",
        help="Connect to ADDR:PORT instead, as curl does; an empty HOST or PORT matches any.",
    ),
]
Header = Annotated[
    list[str] | None, _option("--header", metavar="NAME: VALUE", help="Send this field to the site alone.")
]
BasicAuth = Annotated[
    str | None, _option("--basic-auth-env", metavar="VARIABLE", help="Variable that holds user:password of the site.")
]
CaFile = Annotated[str | None, _option("--cacert", metavar="FILE", help="Trust the certificates in FILE too.")]
NoLimit = Annotated[
    bool,
    _option("--no-limit", help="No ten an hour for a host of your own, under --allow-private or --connect-to."),
]
Insecure = Annotated[bool, _option("--insecure", help="Don't check certificates; the card says so.")]

LONGEST_PACE: Final = 60.0
Pace = Annotated[
    float,
    _option(
        "--pace",
        metavar="SECONDS",
        help="Send one request at a time, so many seconds apart (0 to 60), for hosts with strict limits; 0 is no pace.",
        show_default=False,
    ),
]


def reach_of(context: typer.Context) -> ScanPolicy | None:
    """Return what the options of this module allow a command, None when none was given.

    Raises BadValue or ConfigError.
    """
    names = ("allow_private", "connect_to", "header", "basic_auth_env", "cacert", "insecure", "no_limit")
    pace = context.params.get("pace", 0.0)
    return access_of(**{name: context.params[name] for name in names}, pace=pace)


def access_of(
    *,
    allow_private: bool = False,
    connect_to: list[str] | None = None,
    header: list[str] | None = None,
    basic_auth_env: str | None = None,
    cacert: str | None = None,
    insecure: bool = False,
    no_limit: bool = False,
    pace: float = 0.0,
) -> ScanPolicy | None:
    """Return what the options allow, None when none was given. Raises BadValue or ConfigError."""
    if no_limit and not (allow_private or connect_to):
        raise BadValue("--no-limit is for hosts of your own: it goes with --allow-private or --connect-to.")
    if not 0 <= pace <= LONGEST_PACE:
        raise BadValue(f"--pace takes the seconds between two requests, 0 to {LONGEST_PACE:g}.")
    if not (allow_private or connect_to or header or basic_auth_env or cacert or insecure or pace):
        return None
    from aui_tui.engine.policy import ConnectTo, Limits, ScanPolicy

    return ScanPolicy(
        allow_private=allow_private,
        connect_to=tuple(ConnectTo.parse(rule) for rule in connect_to or ()),
        headers=tuple(_field(text) for text in header or ()),
        basic_auth=_credentials(basic_auth_env) if basic_auth_env else None,
        cafile=_readable(cacert) if cacert else "",
        insecure=insecure,
        no_limit=no_limit,
        limits=Limits(pace=pace),
    )


def _field(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise BadValue("--header takes NAME: VALUE, with a colon.")
    return name.strip(), value.strip()


def _credentials(variable: str) -> tuple[str, str]:
    user, colon, password = os.environ.get(variable, "").partition(":")
    if not colon:
        raise ConfigError(f"--basic-auth-env: the variable {clean(variable, 60)} does not hold user:password.")
    return user, password


def _readable(path: str) -> str:
    try:
        with Path(path).open("rb"):
            return path
    except OSError as error:
        raise ConfigError(f"--cacert: cannot read {clean(path, 200)}: {error.strerror or error}.") from None
