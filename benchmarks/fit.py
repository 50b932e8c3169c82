"""Fits the second stage's weights and writes them as the module that the service reads."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.bank_ranked import record_bank, told_bank
from benchmarks.fitting import Example, fit_weights
from benchmarks.locomo import record, told
from service.retrieval.rerank.fitted import FITTED
from service.retrieval.rerank.model import PieceKind

_TARGET = Path("service/retrieval/rerank/fitted.py")


def fit(conversations_path: Path | None, bank_paths: tuple[Path, Path] | None, policies_dir: Path) -> None:
    """Fit on all of what is given and write the weights; what is not given keeps those that it has.

    What is reported is measured by `locomo` and `bank`, with weights of other conversations and tasks.
    """
    weights = dict(FITTED)
    if conversations_path is not None:
        with told(conversations_path, policies_dir) as site:
            examples = [example for one in site.told for example in record(site, one)]
        weights[PieceKind.CONVERSATION] = _fitted("conversations", examples)
    if bank_paths is not None:
        with told_bank(*bank_paths, policies_dir) as bank:
            weights[PieceKind.DOCUMENT] = _fitted("documents", record_bank(bank))
    _TARGET.write_text(_module(weights), encoding="utf-8")


def _fitted(title: str, examples: Sequence[Example]) -> Mapping[str, float]:
    weights = fit_weights(examples, tuple(examples[0].features))
    print(f"{title}: {len(weights)} weights of {len(examples)} questions")
    return weights


def _module(fitted: Mapping[PieceKind, Mapping[str, float]]) -> str:
    lines = [
        '"""Weights of the second stage, one set for each kind of piece.',
        "",
        "Written by `python -m benchmarks fit --conversations FILE --documents FILE --tasks FILE`. No data",
        "tell better of results of tools: there the first stage's own order stays.",
        '"""',
        "",
        "from types import MappingProxyType",
        "from typing import Final",
        "",
        "from service.retrieval.rerank.model import PieceKind, Weights",
        "",
        'VERSION: Final = "linear-2"',
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
