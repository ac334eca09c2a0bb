"""What readers of text get from a page: figures, the facts in it, and what is lost or added. Not scored."""

from __future__ import annotations

from typing import Final

import msgspec

from aui_tui.model.tasks import Record
from aui_tui.model.vocabulary import Count
from aui_tui.text import joined

KINDS: Final = ("article", "page", "words")
"""The kinds of readings: the main part, the whole page as Markdown, all text."""
MEANS: Final = {
    "article": "the main part",
    "page": "the whole page with its title",
    "words": "all text, title and hidden text too",
}
"""What each kind holds; the readable characters of a card leave out the title."""
LIBRARIES: Final = {"article": "trafilatura", "page": "markdownify"}
"""The library that makes a kind of reading; ``words`` needs none."""
TEXT, HIDDEN, NOSCRIPT, ALT, LABEL = "text", "hidden text", "noscript", "alt", "aria-label"
JSON_LD, MICRODATA, META = "JSON-LD", "microdata", "meta"
READ: Final = frozenset((TEXT, HIDDEN, NOSCRIPT))
"""Where a fact stands that readers of all text find."""
FIRM: Final = {"price": "price", "phone": "phone number", "mail": "mail address", "address": "address"}
"""Facts that are known by their form when they stand in a text, whatever its language."""
LETTERS_PER_TOKEN: Final = 4
"""Letters of a token, about: 3.7 to 4.6 were seen, by language and markup."""


class Fact(Record, frozen=True):
    """One fact of a page.

    ``kind``: ``name``, ``price``, ``availability``, ``phone``, ``mail``, ``address``, ``hours`` or ``date``. ``where``:
    the places that have it, words of this module. ``at``: the letter of all text at which it begins, -1 where it is
    not in it.
    """

    kind: str
    value: str
    where: tuple[str, ...]
    at: int = -1

    @property
    def alone(self) -> str:
        """The form that alone has it and that readers of text drop; empty where they find it."""
        forms = [place for place in self.where if place in (JSON_LD, MICRODATA, META)]
        return forms[0] if forms and READ.isdisjoint(self.where) else ""


class Twin(Record, frozen=True):
    """A version of the page in Markdown beside the page itself.

    ``url``: where it is; ``by``: how it was found, a clause. ``letters``: of its text. ``lost``: firm facts that the
    text of the page states and this one does not; ``added``: those that it states alone.
    """

    url: str
    by: str
    letters: Count = 0
    lost: tuple[Fact, ...] = ()
    added: tuple[Fact, ...] = ()
    problem: str = ""

    @property
    def difference(self) -> str:
        """How its facts are not those of the page, as a clause; empty where they are."""
        parts = (("lacks the", self.lost, ""), ("has the", self.added, ", which the page does not have"))
        named = ((verb, [f"{FIRM[fact.kind]} {fact.value}" for fact in facts], then) for verb, facts, then in parts)
        return " and ".join(f"{verb} {joined(words, 4)}{then}" for verb, words, then in named if words)


class Reads(Record, frozen=True):
    """What there is to read in one page.

    ``client``: whose page it is: ``browser``, an agent's slot, or empty for a file. ``html``: bytes; ``letters`` and
    ``words``: of all text; ``seen``: letters that a person sees; ``hidden`` and ``noscript``: letters of such text.
    ``pictures``: images, ``silent`` of them without alternative text and not marked as decoration. ``tables``: with
    more than one cell. ``begins``: how the text begins. ``hidden_text``: pieces of hidden text; ``commands``: those
    that speak to agents. ``twin``: address of a Markdown version that the page names; ``twins``: those that were there.
    ``problem``: why it was not read.
    """

    client: str = ""
    html: Count = 0
    letters: Count = 0
    words: Count = 0
    seen: Count = 0
    hidden: Count = 0
    noscript: Count = 0
    pictures: Count = 0
    silent: Count = 0
    tables: Count = 0
    facts: tuple[Fact, ...] = ()
    begins: str = ""
    hidden_text: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    twin: str = ""
    twins: tuple[Twin, ...] = ()
    problem: str = ""

    @property
    def tokens(self) -> int:
        """An estimate of the tokens of all text."""
        return round(self.letters / LETTERS_PER_TOKEN)


class Reading(Record, frozen=True):
    """The text of a page as one kind of reader gives it; ``problem``: why there is none, a clause.

    ``facts``: those of the page, each with the letter of ``text`` at which it begins.
    """

    kind: str
    text: str = ""
    problem: str = ""
    facts: tuple[Fact, ...] = ()


class KeptPage(msgspec.Struct, frozen=True, array_like=True):
    """One page as it came: whose it is, its Content-Type and bytes; ``cut``: there was more of it."""

    client: str
    content_type: str
    body: bytes
    cut: bool = False
