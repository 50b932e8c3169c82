"""Weights of the second stage, one set for each kind of piece.

Written by `python -m benchmarks fit --conversations FILE --documents FILE --tasks FILE`. No data
tell better of results of tools: there the first stage's own order stays.
"""

from types import MappingProxyType
from typing import Final

from service.retrieval.rerank.model import PieceKind, Weights

VERSION: Final = "linear-2"

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
                "fused": 0.218,
                "direction": 0.264,
                "alike": -0.29,
                "central": 0.021,
                "titled": 0.374,
                "terms_sum": 0.286,
                "terms_best": 0.296,
                "alike_best": 0.093,
                "length": -0.253,
                "title_best": -0.37,
                "title_size": 0.487,
                "address_best": 0.738,
                "address_size": -0.439,
            }
        ),
        PieceKind.TOOL_RESULT: MappingProxyType(
            {
                "fused": 1.0,
            }
        ),
    }
)
