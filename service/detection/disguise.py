"""What is made to look like something else: a chat's markup in a text, and text that no person sees."""

import re
from collections.abc import Iterator
from typing import Final

from service.core.text import find_tag_runs
from service.detection.model import Kind
from service.detection.reading import Reading

Hit = tuple[Kind, int, int]

_MARKUP: Final = (
    (
        r"<\|[a-z_]{2,30}\|>|<\|?/?(?:im_start|im_end|start_of_turn|end_of_turn|begin_of_text|eot_id"
        r"|endoftext)\|?>"
    ),
    (
        r"\[/?inst\]|<</?sys>>|</?(?:system|assistant|instructions?|tool_call|tool_response|tool_result"
        r"|function_calls?"
        r"|function_results?|system-reminder|thinking|user_query|important)>"
    ),
    (
        r"\n\s*#{0,4}\s*(?:system|assistant|human|developer)\s?:|#{2,4} ?(?:instructions?|system|response"
        r"|human|assistant)\b\s?:?"
    ),
    r"[\"']role[\"']\s?:\s?[\"'](?:system|assistant|developer|tool)[\"']",
    (
        r"(?:-|=|#|\*){3,}\s?(?:end|begin|start) (?:of )?(?:the )?(?:document|data|text|context|input|system"
        r"|prompt|conversation"
        r"|instructions?|user|evidence)\b"
    ),
)
_CONCEALED: Final = (
    (
        r"(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0[;\"'])"
        r"|<!--[^>]{0,300}\b(?:ai|assistant|model"
        r"|ignore|instruction|system)\b"
    ),
)
_MARKUPS: Final = tuple(re.compile(rule) for rule in _MARKUP)
_CONCEALMENTS: Final = tuple(re.compile(rule) for rule in _CONCEALED)

_UNSEEN: Final = re.compile(
    # Eight zero-width characters or four variation selectors in a row spell something; emoji need one or two.
    "[\u200b\u200c\u200d\u2060\u2061-\u2064\ufeff\u00ad]{8,}|[\ufe00-\ufe0e\U000e0100-\U000e01ef]{4,}"
)
_OVERRIDE: Final = re.compile("[\u202d\u202e]")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def find_markup(reading: Reading) -> Iterator[Hit]:
    """Yield marks by which a text passes itself off as another part of the conversation, or hides itself."""
    for kind, rules in ((Kind.MARKUP, _MARKUPS), (Kind.HIDDEN_TEXT, _CONCEALMENTS)):
        for rule in rules:
            for found in rule.finditer(reading.folded):
                yield kind, *found.span()


def find_hidden_text(text: str) -> Iterator[Hit]:
    """Yield characters of the original that no person sees and a model reads.

    Joined emoji, flags, and the direction marks of right-to-left text are none: people see what those do.
    """
    for start, end in find_tag_runs(text):
        yield Kind.HIDDEN_TEXT, start, end
    for found in _UNSEEN.finditer(text):
        yield Kind.HIDDEN_TEXT, *found.span()
    if _RIGHT_TO_LEFT.search(text) is None:
        for found in _OVERRIDE.finditer(text):
            yield Kind.HIDDEN_TEXT, *found.span()
