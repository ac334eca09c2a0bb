"""Permissions of a scan, by options of the command and by settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aui_tui.cli.run import Run
from aui_tui.errors import BadValue, ConfigError, InvalidHost
from aui_tui.files import user_path
from aui_tui.settings import SiteSettings
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

    ``pages``: paths of :func:`pages_of`.

    Raises BadValue, InvalidHost or ConfigError.
    """
    settings = run.settings
    relaxed = settings.cacert or settings.insecure or settings.pace or settings.sign or settings.root_browser
    if not (allow_private or connect_to or relaxed or pages or settings.via or settings.control != "auto"):
        return None
    if settings.control == "chromium":
        from aui_tui.tasks.browser import available

        if missing := available():
            raise BadValue(f"The setting control = chromium needs {missing}; install it, or choose auto.")
    from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy, Via

    policy = ScanPolicy(
        allow_private=allow_private,
        keyboard=True,
        connect_to=tuple(ConnectTo.parse(rule) for rule in connect_to or ()),
        cafile=_readable(settings.cacert) if settings.cacert else "",
        insecure=settings.insecure,
        root_browser=settings.root_browser,
        control=settings.control,
        via=Via.parse(settings.via) if settings.via else None,
        limits=Limits(pace=settings.pace),
        pages=tuple(pages),
    )
    if settings.sign:
        from aui_tui.scan.signing import Signer, checked_agent, read_key

        agent = checked_agent(settings.signature_agent) if settings.signature_agent else ""
        policy = replace(policy, signer=Signer(read_key(settings.data_dir), agent))
    return policy


def pages_of(url: str, pages: Sequence[str]) -> tuple[str, ...]:
    """Return the further ``pages`` of the site at ``url``, as paths, each once. Raises BadValue."""
    if not pages:
        return ()
    from aui_tui.scan.probes import MAX_PAGES, page_path
    from aui_tui.scan.target import parse

    try:
        site = parse(url, allow_private=True)
    except InvalidHost:
        return ()  # said when the site is scanned
    paths = dict.fromkeys(page_path(site, page) for page in pages)
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
