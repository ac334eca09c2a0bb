"""Makes the preset dictionaries of the store from made-up scans: ``python -m tests.benchmarks.dictionaries FOLDER``.

A new dictionary gets a new number; the old ones stay, since kept records need them.
"""

from __future__ import annotations

import random
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from aui_tui.model.codec import encode_card
from tests.benchmarks.samples import scans

LARGEST = 20_000


def choose(samples: Sequence[bytes], trial: Sequence[bytes]) -> bytes:
    """Return samples one after another, each the one that shortens ``trial`` most; the first chosen comes last."""
    random_ = random.Random(1)
    chosen = b""
    while len(chosen) < LARGEST:
        chosen = min(
            (sample + chosen for sample in random_.sample(samples, 24)),
            key=lambda candidate: sum(len(packed(text, candidate)) for text in trial),
        )
    return chosen[-LARGEST:]


def packed(text: bytes, dictionary: bytes) -> bytes:
    machine = zlib.compressobj(6, zdict=dictionary)
    return machine.compress(text) + machine.flush()


def main() -> None:
    folder = Path(sys.argv[1])
    many = list(scans(1200, seed=5))
    for name, texts in (
        ("card", [encode_card(card, own=True) for card, _ in many]),
        ("observations", [msgspec.json.encode(seen) for _, seen in many]),
    ):
        number = 1 + len(list(folder.glob(f"{name}-*.json")))
        dictionary = choose(texts[:1000], texts[1000:1080])
        (folder / f"{name}-{number}.json").write_bytes(dictionary)
        size = sum(len(packed(text, dictionary)) for text in texts[1000:]) / 200
        print(f"{name}-{number}.json: {len(dictionary):,} bytes; {len(texts[0]):,} become {size:,.0f}")


if __name__ == "__main__":
    main()
