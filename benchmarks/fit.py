"""Fits the second stage's weights and writes them as the module that the service reads."""

from collections.abc import Mapping
from pathlib import Path

from benchmarks.fitting import fit_weights
from benchmarks.locomo import record, told
from service.retrieval.rerank.model import PieceKind

_TARGET = Path("service/retrieval/rerank/fitted.py")
_PLAIN: Mapping[str, float] = {"fused": 1.0}
"""No data tell better: the first stage's own order."""


def fit(conversations_path: Path, policies_dir: Path, target: Path = _TARGET) -> None:
    """Fit on every conversation of the file and write `target`. What is reported is measured by `locomo`."""
    with told(conversations_path, policies_dir) as site:
        examples = [example for one in site.told for example in record(site, one)]
    weights = fit_weights(examples, tuple(examples[0].features))
    fitted = {PieceKind.CONVERSATION: weights, PieceKind.DOCUMENT: _PLAIN, PieceKind.TOOL_RESULT: _PLAIN}
    target.write_text(_module(fitted, conversations_path.name, len(examples)), encoding="utf-8")
    print(f"{target}: {len(weights)} weights of {len(examples)} questions")


def _module(fitted: Mapping[PieceKind, Mapping[str, float]], source: str, questions: int) -> str:
    lines = [
        '"""Weights of the second stage, one set for each kind of piece.',
        "",
        f"Written by `python -m benchmarks fit --conversations {source}` ({questions} questions).",
        '"""',
        "",
        "from types import MappingProxyType",
        "from typing import Final",
        "",
        "from service.retrieval.rerank.model import PieceKind, Weights",
        "",
        'VERSION: Final = "linear-1"',
        "",
        "FITTED: Final[Weights] = MappingProxyType(",
        "    {",
    ]
    for kind, weights in fitted.items():
        lines.append(f"        PieceKind.{kind.name}: MappingProxyType(")
        lines += [
            "            {",
            *(f'                "{name}": {weight},' for name, weight in weights.items()),
        ]
        lines += ["            }", "        ),"]
    return "\n".join([*lines, "    }", ")", ""])
