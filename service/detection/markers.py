"""Words that tell a guess from a statement, and what is true now from what stays true. English and German."""

import re
from collections.abc import Iterator
from typing import Final

from service.detection.model import Kind
from service.detection.reading import Reading

Hit = tuple[Kind, int, int]

_SPECULATIVE: Final = re.compile(
    r"\b(?:might|perhaps|maybe|possibly|probably|presumably|apparently|supposedly|allegedly|seemingly"
    r"|conceivably"
    r"|(?:i|we) (?:guess|think|suppose|assume|believe|suspect|imagine|reckon)|i'm guessing|my guess|a guess"
    r"|(?:seems?|appears?)(?: to| like| that)|(?:it )?looks like|(?:very |more |most |quite )?likely"
    r"|could (?:be|have|also be|possibly)|may (?:be|have|well|also|prefer|want|like|need|or may not)"
    r"|i(?:'m| am) (?:not (?:sure|certain|entirely sure)|unsure)|rumou?r(?:ed|s)?|it is possible"
    r"|there is a chance|hypothetically"
    r"|vielleicht|vermutlich|wahrscheinlich|moglicherweise|eventuell|anscheinend|angeblich|mutmasslich"
    r"|ich (?:glaube|denke|vermute|schatze|nehme an|meine)|scheint(?: zu)?|wirkt,? als"
    r"|konnte(?:n)? (?:es )?sein"
    r"|bin (?:mir )?nicht sicher|unter umstanden|womoglich|denkbar)\b"
)
_DAYS: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|week(?:end)?|month|quarter|year"
_TAGE: Final = (
    r"woche|wochenende|monat|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|quartal|jahr"
)
_TRANSIENT: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|just now|at the moment|at present|for now|for today"
    r"|for the (?:moment|time being|next|rest of)|currently|temporarily|as of (?:now|today)|these days"
    rf"|(?:this|next|last|until|till) (?:coming )?(?:morning|afternoon|evening|night|{_DAYS})(?!s)"
    r"|until (?:tomorrow|further notice|then)|in (?:an|one|two|a few|\d{1,3}) (?:minute|hour|day|week)s?"
    r"|(?:an|one|two|a few|\d{1,3}) (?:minute|hour|day|week)s? (?:ago|from now)|just this once"
    r"|heute|gestern|(?<!am )(?<!jeden )(?<!guten )morgen|ubermorgen|im moment|im augenblick|momentan|derzeit"
    r"|zurzeit|zur zeit|gerade (?:eben|jetzt|im|auf|in|beim|nicht)|(?:ist|bin|sind) gerade|jetzt gerade"
    r"|vorerst"
    r"|vorubergehend|fur heute|bis (?:morgen|heute|auf weiteres)|ausnahmsweise|diesmal"
    rf"|(?:diese[nrs]?|nachste[nrs]?|letzte[nrs]?|kommende[nrs]?) (?:{_TAGE})"
    r"|(?:in|vor) (?:einer|einem|zwei|\d{1,3}) (?:minute|stunde|tag|woche)(?:n|en)?)\b"
)


def find_markers(reading: Reading) -> Iterator[Hit]:
    """Yield every word that makes a statement a guess, or ties it to the moment."""
    for found in _SPECULATIVE.finditer(reading.folded):
        yield Kind.SPECULATIVE, *found.span()
    for found in _TRANSIENT.finditer(reading.folded):
        yield Kind.TRANSIENT, *found.span()
