"""Files that no bundle may hold: what authors mistype, and what somebody may try."""

from dataclasses import dataclass
from typing import Final

from policies_bundle import PURPOSE

MEGABYTE: Final = 1024 * 1024
ALIASES: Final = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}' if before else 'x'] * 9)}]\n"
    for name, before in (("a", ""), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"))
)
CLASS: Final = """classes:
  note:
    because: it helps.
    scope: project
    purposes: [service]
    lawful_basis: contract
    writers: [agent]
    readers: [agent]
    sources: {provenance: [turn], from_sources: [tool], lowest_trust: internal_tool}
    confidence_min: 0.5
    approval: {by: reviewer}
    expiry: {days: 30}
    quota: 10
    destinations: [package]
    rules:
      one:
        effect: deny
        because: it is so.
        when: """


WALKS: Final = """|
          sources.all(a, sources.// hidden
          all(b, sources.all(c, a.uri + b.uri == c.uri)))
"""


@dataclass(frozen=True)
class Bad:
    """One bad file `bad.yaml` beside a good one, and what is to be said about it."""

    name: str
    content: bytes
    code: str
    line: int
    column: int

    @property
    def text(self) -> str | None:
        """The content, where it is text at all."""
        try:
            return self.content.decode()
        except UnicodeDecodeError:
            return None


def _bad(name: str, content: str | bytes, code: str, line: int, column: int) -> Bad:
    return Bad(name, content if isinstance(content, bytes) else content.encode(), code, line, column)


def _when(name: str, condition: str, column: int = 16) -> Bad:
    quoted = condition.replace("'", "''")
    return _bad(name, f"{CLASS}'{quoted}'\n", "condition", 19, column)


def _said(word: str) -> str:
    return f"purposes:\n  other:\n    description: {word}\n"


BAD: Final = [
    _bad("aliases", ALIASES[:200], "anchor", 1, 4),
    _bad("ten_megabytes", "# x\n" * (10 * MEGABYTE // 4), "file_too_large", 1, 1),
    _bad("brackets", "[" * 3_000, "depth", 1, 33),
    _bad("closed_brackets", "purposes: " + "[" * 3_000 + "]" * 3_000, "depth", 1, 42),
    _bad("braces", "{" * 3_000, "key", 1, 2),
    _bad("dashes", "- " * 3_000, "depth", 1, 65),
    _bad("questions", "? " * 3_000, "key", 1, 3),
    _bad("tabs", "purposes:\n\tother: {}\n", "tab", 2, 1),
    _bad("mark", "\ufeff" + PURPOSE, "byte_order_mark", 1, 1),
    _bad("utf_16", "purposes: {}\n".encode("utf-16"), "encoding", 1, 1),
    _bad("latin_1", "purposes:\n  other: {description: Größe}\n".encode("latin-1"), "encoding", 2, 26),
    _bad("lone_carriage_return", "purposes: {}\rclasses: {}\r", "control_character", 1, 13),
    _bad("duplicate_allow", "allow: nobody\nallow: everybody\n", "duplicate_key", 2, 1),
    _bad("no", _said("NO"), "ambiguous", 3, 18),
    _bad("time", _said("22:30"), "ambiguous", 3, 18),
    _bad("decimal", _said("1.10"), "ambiguous", 3, 18),
    _bad("number_for_text", _said("3"), "bad_value", 3, 18),
    _bad("text_for_number", "guards: {max_affected: '3'}\n", "bad_value", 1, 24),
    _bad("empty", "", "empty", 1, 1),
    _bad("comment_alone", "# nothing\n", "empty", 2, 1),
    _bad("nul", "purposes: {}\n\x00", "nul", 2, 1),
    _bad("escaped_nul", _said('"\\0"'), "character", 3, 18),
    _bad("long_line", _said("x" * 200_000), "bad_value", 3, 18),
    _bad("long_word_of_words", _said("x " * 100_000), "bad_value", 3, 18),
    _bad("long_key", "x" * 200_000 + ": 1\n", "syntax", 1, 200_001),
    _bad("many_keys", "".join(f"k{n}: 1\n" for n in range(22_000)), "too_many_values", 10_000, 8),
    _bad("many_values", "purposes: [" + "1," * 100_000 + "]", "too_many_values", 1, 40_006),
    _bad("many_faults", "".join(f"k{n}: NO\n" for n in range(20_000)), "ambiguous", 1, 5),
    _bad("anchor", "purposes: &all {}\n", "anchor", 1, 11),
    _bad("merge_key", "purposes:\n  <<: {}\n", "ambiguous", 2, 3),
    _bad("tag", "purposes: !!python/object:os.system {}\n", "tag", 1, 11),
    _bad("directive", "%TAG ! tag:x,2026:\n---\npurposes: {}\n", "directive", 2, 1),
    _bad("second_document", "purposes: {}\n---\nclasses: {}\n", "document", 2, 1),
    _bad("look_alike_key", "cl\u0430sses: {}\n", "unknown_key", 1, 1),
    _bad("look_alike_name", "purposes:\n  s\u0435rvice: {description: It.}\n", "bad_key", 2, 3),
    _bad("hidden_order", _said("\u202eabc"), "invisible_character", 3, 18),
    _bad("a_list", "- purposes\n", "not_a_mapping", 1, 1),
    _bad("allows_itself", "allow: everything\n", "unknown_key", 1, 1),
    _when("condition_of_a_number", "3"),
    _when("condition_unknown", "true || allowed", 24),
    _when("condition_deep", "(" * 900 + "true" + ")" * 900),
    _when("condition_of_brackets", "[" * 900 + "]" * 900 + " == []"),
    _bad("condition_long", CLASS + "true || " * 400 + "true\n", "bad_value", 19, 15),
    _when(
        "condition_runs_long", "sources.all(a, sources.all(b, sources.all(c, a.uri + b.uri == c.uri)))", 54
    ),
    _bad("condition_hides_a_walk", CLASS + WALKS, "condition", 21, 26),
    _when("condition_divides", "1 / 0"),
]
