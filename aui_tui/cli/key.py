"""``key``: the key that signs probes of your own sites (Web Bot Auth)."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from aui_tui.cli import complete, streams
from aui_tui.cli.options import Config, DataDir, Debug, Quiet, Source, example, run_of
from aui_tui.records.vocabulary import choose

app = typer.Typer()

ACTIONS = ("new", "show", "directory")


@app.command("key", epilog=example("aui-tui key new"))
def key(
    context: typer.Context,
    action: Annotated[
        str, typer.Argument(metavar="new|show|directory", help="What to do.", autocompletion=complete.of(ACTIONS))
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="With new: put a new key in place of the old one.")
    ] = False,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make or show the key that signs probes of your own sites: scan --sign.

    new makes an Ed25519 key in the data folder; show prints its public part and its thumbprint, the keyid of
    signatures; directory prints the JSON to publish at /.well-known/http-message-signatures-directory, which serve
    publishes by itself. The private part is never printed.
    """
    run = run_of(context)
    chosen = choose("action", action, ACTIONS)
    from aui_tui.engine import signing

    folder = run.settings.data_dir
    if chosen == "new":
        made = signing.new_key(folder, replace=replace)
        streams.say(f"A key was made in {folder / signing.NAME}; only you can read it.")
        streams.write_line(made.thumbprint)
        return
    found = signing.read_key(folder)
    if chosen == "show":
        streams.write_line(json.dumps(found.public, indent=2))
    else:
        streams.write_line(signing.directory(found))
