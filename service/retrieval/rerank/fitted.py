"""Weights of the second stage, one set for each kind of piece.

Written by `python -m benchmarks fit --conversations locomo_dev.json` (997 questions).
"""

from types import MappingProxyType
from typing import Final

from service.retrieval.rerank.model import PieceKind, Weights

VERSION: Final = "linear-1"

FITTED: Final[Weights] = MappingProxyType(
    {
        PieceKind.CONVERSATION: MappingProxyType(
            {
                "fused": 0.015,
                "terms": 0.11,
                "direction": 0.211,
                "covered": 0.42,
                "group": 0.482,
                "alike": 0.2,
                "alike_around": 0.18,
                "direction_around": 0.182,
                "on_date": 0.952,
                "speaker": 0.521,
                "names": 0.118,
                "says_when": 0.739,
                "says_number": 0.342,
                "says_name": 0.361,
                "length": 0.445,
                "asking": -0.33,
                "answering": 0.137,
                "answering_alike": 0.177,
            }
        ),
        PieceKind.DOCUMENT: MappingProxyType(
            {
                "fused": 1.0,
            }
        ),
        PieceKind.TOOL_RESULT: MappingProxyType(
            {
                "fused": 1.0,
            }
        ),
    }
)
