"""One page of help on the query language: for ``aui-tui help query``, the dashboard and whoever reads the code."""

from __future__ import annotations

from typing import Final

TITLE: Final = "The query line"
INTRODUCTION: Final = (
    "Words and terms choose hosts; all of them must hold. The same line works in the dashboard (/), in "
    "aui-tui index --query, aui-tui export --query, and on the pages and for the agents of aui-tui serve.",
    "Upper and lower case are alike. A term that does not exist is an error, never an empty list.",
)
TERMS: Final = (
    ("shop", "host or name holds this text"),
    ("stance:walled", "open, selective or walled"),
    ("category:travel", 'a category, or its beginning: category:"social & media", category:soc'),
    ("agent:claude=blocked", "verdict of an agent: product, token or company, or any"),
    ("", "verdicts: allowed, allowed-robots, partial, blocked, disallowed, walled, untested"),
    ("", "or: in, part, out, refused, challenged, unclear"),
    ("edge:akamai", "a CDN or server that answered"),
    ("score:<40", "a score: score:60, score:>=70, score:40..60"),
    ("grade:<c", "a grade: grade:f, grade:a,b, grade:b..d; lower means worse"),
    ("fresh:<7d", "age of the last scan in m, h, d or w: fresh:>30d, fresh:1d..1w"),
    ("has:llms", "llms, ai-plugin, jsonld, main, nav, forms, signal, wildcard, shell"),
    ("signal:no", "whether robots.txt has a Content-Signal line: yes or no"),
    ("fix:llms", "a fix is still to be made: wba, front-door, llms, jsonld, landmarks, ssr, signal, robots"),
    ("tasks:yes", "whether tasks were run: yes or no"),
    ("method:v0.2", "scoring method of the card"),
    ("contradiction:out", "robots.txt lets an agent in and the site turns it away"),
    ("contradiction:in", "robots.txt shuts an agent out and the site serves it"),
    ("contradiction", "either of the two"),
)
"""A term and its meaning; an empty name goes on with the term above."""
JOINING: Final = (
    ("a b", "both must hold"),
    ("a OR b", "one must hold; OR joins its neighbours first: x a OR b means x and (a or b)"),
    ("grade:a,b", "one of several values of a term"),
    ("NOT a, -a", "must not hold"),
    ('"two words"', "a value with spaces; quotes also make or, and, not words to look for"),
)
EXAMPLES: Final = (
    ("contradiction:out stance:walled", "invited by robots.txt, shut out by the edge"),
    ("category:retail agent:claude,chatgpt=out", "shops that turn Claude or ChatGPT away"),
    ("grade:a,b OR score:65..69 -tasks:yes", "good or nearly, without a run of the tasks"),
)
