"""Permissions of a scan, by options of the command and by settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aui_tui.cli.run import Run
from aui_tui.errors import BadValue, ConfigError, InvalidHost
from aui_tui.files import user_path
from aui_tui.settings import DEFAULTS, OF_SCANS, SiteSettings
from aui_tui.text import clean

if TYPE_CHECKING:
    from aui_tui.scan.policy import ScanPolicy


def policy_of(
    run: Run,
    *,
    allow_private: bool = False,
    connect_to: Sequence[str] | None = None,
    pages: Sequence[str] = (),
) -> ScanPolicy | None:
    """Return what the options and settings allow; None where there are neither.

    ``pages``: paths of :func:`pages_of`. Raises BadValue, InvalidHost or ConfigError.
    """
    settings = run.settings
    changed = {name: value for name in OF_SCANS if (value := getattr(settings, name)) != DEFAULTS[name]}
    if not (allow_private or connect_to or pages or changed):
        return None
    if settings.control == "chromium":
        from aui_tui.tasks.browser import available

        if missing := available():
            raise BadValue(f"The setting control = chromium needs {missing}; install it, or choose auto.")
    from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy, Via
    from aui_tui.scan.signing import Signer, checked_agent, read_key

    def signer(_: bool) -> Signer:
        agent = checked_agent(settings.signature_agent) if settings.signature_agent else ""
        return Signer(read_key(settings.data_dir), agent)

    fields: dict[str, tuple[str, Callable[[Any], object]]] = {
        "cacert": ("cafile", _readable),
        "via": ("via", Via.parse),
        "pace": ("limits", lambda pace: Limits(pace=pace)),
        "sign": ("signer", signer),
        "pages": ("sample", int),
    }
    values: dict[str, Any] = {}
    for name, value in changed.items():
        field, read = fields.get(name, (name, lambda value: value))
        values[field] = read(value)
    return ScanPolicy(
        allow_private=allow_private,
        keyboard=True,
        connect_to=tuple(ConnectTo.parse(rule) for rule in connect_to or ()),
        pages=tuple(pages),
        **values,
    )


def pages_of(url: str, pages: Sequence[str]) -> tuple[str, ...]:
    """Return the page that ``url`` names and further ``pages`` of its site, as paths, each once. Raises BadValue."""
    from aui_tui.scan.probes import MAX_PAGES, page_path
    from aui_tui.scan.target import parse

    try:
        site = parse(url, allow_private=True)
    except InvalidHost:
        return ()  # said when the site is scanned
    paths = dict.fromkeys((site.path, *(page_path(site, page) for page in pages)))
    paths.pop("/", None)
    if len(paths) > MAX_PAGES:
        raise BadValue(f"--page takes {MAX_PAGES} pages at most, not {len(paths)}.")
    return tuple(paths)


def site_of(run: Run, url: str) -> SiteSettings | None:
    """Return the settings of the site at ``url``. Raises InvalidHost."""
    from aui_tui.scan import target

    return run.settings.sites.get(target.site_of(url))


def _readable(path: str) -> str:
    import ssl

    path = str(user_path(path))
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except ssl.SSLError:
        raise ConfigError(f"cacert: {clean(path, 200)} has no certificates in PEM form.") from None
    except OSError as error:
        raise ConfigError(f"cacert: cannot read {clean(path, 200)}: {error.strerror or error}.") from None
    return path
