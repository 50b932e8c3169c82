"""The codes of findings, and what each means in a sentence. Append-only: build servers keep them."""

from collections.abc import Mapping
from typing import Final

from service.policies.laws import LAWS

_READING: Final = {
    "alias": "a value is named instead of written out",
    "ambiguous": "a plain word that readers of YAML differ about",
    "anchor": "a value is given a name for later use",
    "bundle_too_large": "all files together are too large",
    "byte_order_mark": "a file begins with a byte order mark",
    "character": "a text holds a character that may not stand in it",
    "control_character": "a file holds a control character",
    "depth": "lists and mappings are nested too deep",
    "directive": "a line that begins with %",
    "document": "a file holds a second document",
    "duplicate_key": "a key stands twice in one mapping",
    "empty": "a file says nothing",
    "encoding": "a file is not UTF-8",
    "file_too_large": "a file is too large",
    "invisible_character": "a file holds a character that hides or reorders text",
    "key": "a key that is no text",
    "no_files": "the folder holds no policy file",
    "no_folder": "there is no such folder",
    "not_a_file": "a link or device in the place of a file",
    "nul": "a file holds the character NUL",
    "surrogate": "a text holds half of a surrogate pair",
    "syntax": "a file is not YAML",
    "tab": "a file holds a tab",
    "tag": "a value is given a type of YAML's",
    "too_many_files": "the folder holds too many files",
    "too_many_values": "a file or bundle holds too many keys and values",
    "unexpected_file": "a file that no bundle has",
    "unreadable": "a file or folder cannot be opened",
}
_FITTING: Final = {
    "ambiguous_source": "two sources cover the same addresses and kinds",
    "bad_key": "a name that is not allowed there",
    "bad_value": "a value that is not allowed there",
    "condition": "a condition that cannot be read, names an unknown fact, or answers no yes or no",
    "contradiction": "keys that contradict each other",
    "defined_twice": "an entry stands in two files",
    "missing_key": "a key that is needed is missing",
    "not_a_mapping": "a file that has no sections",
    "undeclared": "a name that nothing declares",
    "unknown_key": "a key that is not known there",
}
_MEANT: Final = {
    "always_holds": "a condition that holds in any case",
    "dead_key": "a key that can have no effect beside the others",
    "expiry_before_hold": "something ends while a hold, or a deletion that can be taken back, still lasts",
    "goes_nowhere": "a class whose memories go into no package and no search",
    "never_holds": "a condition that can never hold",
    "no_source": "a class that takes nothing of what it says it takes",
    "nobody": "a role or capability for which it means nothing",
    "nobody_reads": "a class that nobody may read",
    "nobody_writes": "a class that nobody may write",
    "shadowed_rule": "a rule that another rule or key makes superfluous",
    "strange_word": "a comparison of a fact with a word that it never is",
    "takes_nothing": "a rule that refuses whatever its class would take",
    "unreachable_rule": "a rule or shortcut that never counts, because something stronger always does",
    "untested": "a rule by which no test decides",
    "unused": "a purpose, source, profile, capability or file without which everything would be the same",
}

CODES: Final[Mapping[str, str]] = {**_READING, **_FITTING, **_MEANT, **LAWS}
"""What each code means."""
