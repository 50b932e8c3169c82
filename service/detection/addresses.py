"""Postal addresses: a house number beside the name of a street, in the forms of several countries."""

import re
from collections.abc import Iterator
from typing import Final

from service.detection.model import Kind
from service.detection.reading import Reading

Hit = tuple[Kind, int, int]

_NAME: Final = r"[A-Z][\w'.-]{0,30}"
_STREET_WORDS: Final = (
    r"Street|St|Avenue|Ave|Av|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Place|Pl|Square|Sq|Terrace"
    r"|Ter|Crescent|Cres|Close|Parkway|Pkwy|Highway|Hwy|Row|Walk|Hill|Gardens|Circle|Cir|Trail|Trl|Loop|Alley"
    r"|Quay|Mews|Grove|Green|Park|Heights|Plaza|Route|Pike|Turnpike|Rue|Straat|Weg"
)
_FORMS: Final = tuple(
    re.compile(form)
    for form in (
        # 12 Baker Street, 1600 Pennsylvania Ave.
        rf"\b\d{{1,5}}[A-Za-z]?,?\s(?:{_NAME}\s){{1,4}}(?:{_STREET_WORDS})\b\.?",
        # 6750 Koskikatu 25 Apt. 864, 77 Main Suite 3
        (
            r"\b\d{1,5}\s(?:[\w'.-]{1,30},?\s){1,5}(?:Apt|Apartment|Suite|Unit|Flat"
            r"|Floor)\b\.?\s?#?\d{1,5}"
        ),
        # Hauptstrasse 5, Koskikatu 25, Storgatan 1
        (
            r"\b[A-Z][\w.-]{1,40}(?:strasse|str\.|gasse|allee|chaussee|platz|weg|ufer|damm|katu|tie|gatan"
            r"|gata"
            r"|vagen"
            r"|vegen|gade|vej|straat|laan|plein|kade|utca|ulica)\s\d{1,4}\s?[a-zA-Z]?\b"
        ),
        # Berliner Str. 7, Am Markt 3, Unter den Linden 77
        (
            rf"\b{_NAME}[ -](?:Str\.|Strasse|Allee|Platz|Weg|Ring|Damm|Ufer|Chaussee"
            rf"|Gasse)\s\d{{1,4}}\s?[a-z]?\b"
        ),
        (
            rf"\b(?:Am|An der|Auf der|Auf dem|Im|In der|Zum|Zur|Unter den"
            rf"|Hinter der)\s{_NAME}\s\d{{1,4}}\s?[a-z]?\b"
            rf"(?=,?\s(?:in\s)?(?:\d{{5}}\s)?[A-Z])"
        ),
        # 12 rue de la Paix, Calle Mayor 4, Via Roma 1, ul. Dluga 3
        (
            r"\b\d{1,4}(?:\s?(?:bis|ter))?,?\s(?:rue|avenue|boulevard|place|chemin|impasse|quai|allee|cours"
            r"|route)\s"
            r"(?:(?:de|du|des|la|le|les|l'|d')\s?){0,3}[A-Z]"
        ),
        (
            rf"\b(?:Calle|C/|Avenida|Avda\.?|Plaza|Paseo|Via|Viale|Corso|Piazza|Rua|Rue|ul\.|al\.|Ulica)\s"
            rf"(?:[\w'.]{{1,15}}\s){{0,3}}{_NAME},?\s(?:n[.o]?\s?)?\d{{1,4}}\b"
        ),
        # 6750 Koskikatu; 17 Mayor, 28013 Madrid; Mayor 17, 28013 Madrid
        (
            r"\b\d{1,5}[a-zA-Z]?,?\s[A-Z][\w.-]{1,40}(?:strasse|str\.|gasse|allee|weg|katu|gatan|gata|vagen"
            r"|vegen|gade|vej|straat"
            r"|laan|plein|utca)\b"
        ),
        rf"\b\d{{1,5}}[a-zA-Z]?,?\s(?:{_NAME}\s?){{1,4}}[,\n][^\d]{{2,60}}?\b\d{{4,6}}\b",
        rf"\b{_NAME}(?:\s{_NAME}){{0,2}}\s\d{{1,4}}\s?[a-zA-Z]?\s?[,\n]\s{{0,2}}(?:[A-Z]{{1,2}}-)?\d{{4,6}}\s{_NAME}",
        # P.O. Box 12, Postfach 34 56
        r"\b(?:P\.?\s?O\.?\s?Box|Post Office Box|Postfach|Postbus|Apartado|PSC|CMR)\s\d{1,6}",
        # Springfield, IL 62704; EC1A 1BB; D-10115 Berlin
        (
            rf"\b{_NAME}(?:\s{_NAME}){{0,2}},?\s(?:A[LKZR]|C[AOT]|DE|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]"
            rf"|N[EVHJMYCD]"
            r"|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY]|DC|AE|AP|AA)\s\d{5}(?:-\d{4})?\b"
        ),
        r"(?<![\w-])[A-Z]{1,2}\d[A-Z\d]?\s\d[ABD-HJLNP-UW-Z]{2}(?![\w-])",
        rf"(?<![\w-])(?:D|A|CH|DE|AT|F|FR|B|BE|L|I|IT|DK|S|SE|N)-\d{{4,5}}\s{_NAME}",
    )
)
_TOLD: Final = re.compile(
    r"\b(?:(?<!ip )(?<!mac )(?<!mail )(?<!web )address(?:es)?(?: of [\w .'-]{1,60})?(?: is| are|:|,| was)"
    r"|(?:i|we|he|she|they|who|mostly|now)? ?(?:lives?|living|resid(?:es?|ing)|moved|located|deliver|ship"
    r"|situated)"
    r" (?:at|to)|visit (?:me|us) at|address on file,?|anschrift(?: ist)?:?|adresse(?: ist| lautet)?:?"
    r"|wohn(?:t|haft)"
    r"(?: in)?(?: der| dem)?)\s{1,2}"
    r"(?:\d{1,5}[a-z]?[ ,]{1,2}[^\W\d][\w'.-]{1,30}"
    r"|[^\W\d][\w'.-]{1,30}(?: [^\W\d][\w'.-]{1,30}){0,2} \d{1,4}\b(?! ?%))"
)
_NO_STREETS: Final = frozenset(
    {"arbeitsplatz", "speicherplatz", "sitzplatz", "umweg", "feldweg", "unterwegs"}
)


def find_addresses(reading: Reading) -> Iterator[Hit]:
    """Yield what reads like the place where somebody lives or receives post."""
    for form in _FORMS:
        for found in form.finditer(reading.text):
            if found.group().partition(" ")[0].lower() not in _NO_STREETS:
                yield Kind.POSTAL_ADDRESS, *found.span()
    for found in _TOLD.finditer(reading.folded):
        yield Kind.POSTAL_ADDRESS, *found.span()
