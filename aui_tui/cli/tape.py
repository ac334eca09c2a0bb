"""Options that keep what a scan saw in a file, and give its card again without the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Self

import typer

from aui_tui.cli import cards
from aui_tui.cli.command import Group
from aui_tui.errors import BadValue, ConfigError
from aui_tui.records.view import ScanAnswer
from aui_tui.settings import Settings

TAPE: Final = "Recordings"
_option = partial(typer.Option, rich_help_panel=TAPE)

Record = Annotated[str, _option("--record", metavar="FILE", help="Keep what the scan saw in FILE, to replay.")]
Replay = Annotated[str, _option("--replay", metavar="FILE", help="Grade the scan kept in FILE, no network.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tape(Group):
    """Where a scan is recorded, or which recording is replayed; both empty for an ordinary scan."""

    OPTIONS: ClassVar = {"record_to": (Record, ""), "replay_of": (Replay, "")}
    record: str
    replay: str

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Return the tape that the options ask for. Raises BadValue."""
        record, replay = values["record_to"], values["replay_of"]
        if record and replay:
            raise BadValue("Choose one of --record and --replay.")
        if "\0" in record:
            raise BadValue("--record names no path.")
        return cls(record=record, replay=replay)

    def asked(self, urls: Sequence[str], settings: Settings) -> tuple[str, ...]:
        """Return what there is to do: ``urls``, or the recording alone. Raises BadValue and ConfigError."""
        if self.replay and urls:
            raise BadValue("--replay reads a recording instead of scanning; name no host beside it.")
        if self.record and len(urls) > 1:
            raise BadValue("--record keeps one scan; name one host.")
        if self.record and settings.source:
            raise ConfigError("A published index does not tell what its scan saw; only a scan made here is recorded.")
        if not urls and not self.replay:
            raise BadValue("Name a host to scan, such as example.com.")
        return tuple(urls) or (self.replay,)

    def keep(self, answer: ScanAnswer) -> None:
        """Write what ``answer`` rests on, whole or not at all. Raises ConfigError."""
        if not self.record:
            return
        if answer.observations is None:
            raise ConfigError("What this scan saw is not kept, so it cannot be recorded.")
        from aui_tui.export.atomic import replace
        from aui_tui.records.recording import Recording, encode

        card = answer.card
        kept = Recording(observations=answer.observations, name=card.name, category=card.category, seed=card.seed)
        replace(Path(self.record).expanduser(), [encode(kept).decode()])

    def answer(self, settings: Settings, *, method: str = "", category: str = "") -> ScanAnswer:
        """Return the card of the recording; nothing is stored and no scan is spent. Raises ConfigError, RecordError."""
        from aui_tui.engine.scoring import Labels, grade_card
        from aui_tui.records.recording import decode

        kept = decode(cards.read_bytes(self.replay))
        labels = Labels(
            name=kept.name, category=category or kept.category, seed=kept.seed, base_url=settings.base_url.rstrip("/")
        )
        card = grade_card(kept.observations, method or settings.method, labels=labels)
        return ScanAnswer(card=card, source="replay", observations=kept.observations)
