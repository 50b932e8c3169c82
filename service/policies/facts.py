"""What a proposal was judged by, as it is kept: enough to judge it under another bundle, without its words.

Text and value are kept as length, type and whether they fitted their class; key and quotes not at all. Of
what was denied no address is kept either, but the name of the source that it belonged to.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

from service.detection.model import Kind
from service.detection.proposed import Detected
from service.identity.model import Role
from service.policies.content import content_fault, value_type_name
from service.policies.evaluate import judge_proposal
from service.policies.model import Bundle
from service.policies.sources import find_source
from service.policies.values import FieldRule, ValueRule
from service.policies.verdict import Existing, MemoryMode, ProposalFacts, Quote, SourceFacts, Verdict
from service.policies.words import Authority, FieldType, ProvenanceKind, Trust, ValueType

_STAND_INS: Final[Mapping[str, Any]] = {
    "none": None,
    "boolean": True,
    "number": 0,
    "text": "x",
    "object": {"x": True},
}
_TAKES_ALL: Final = ValueRule(
    text_characters_max=10_000,
    value_types=tuple(ValueType),
    fields={"x": FieldRule(type=FieldType.BOOLEAN)},
)
_TAKES_NONE: Final = ValueRule(text_characters_max=10_000)
_PLAIN: Final = (
    "class_name", "subject", "acts_for_subject", "purpose", "confidence", "consent_given", "quota_used",
    "refused", "corrects", "outranked", "project", "agent",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptFacts:
    """Facts that were read back. In place of text and value stand others of the same length and type.

    `fitted`: text and value were what the class takes. `without_addresses`: addresses were not kept.
    """

    facts: ProposalFacts
    fitted: bool
    without_addresses: bool


def keep_facts(facts: ProposalFacts, bundle: Bundle, *, denied: bool) -> Mapping[str, Any]:
    """Answer the facts as JSON, under the bundle that decided."""
    rule = bundle.classes.get(facts.class_name)
    fitted = rule is None or content_fault(facts.text, facts.value, rule.value) is None
    text = facts.text
    return {
        **{name: getattr(facts, name) for name in _PLAIN},
        "role": facts.proposer_role.value,
        "text_characters": None if text is None else len(text),
        "text_says_something": bool(text and text.strip()),
        "value_type": value_type_name(facts.value),
        "fitted": fitted,
        "existing": facts.existing.value,
        "memory_mode": None if facts.execution_memory_mode is None else facts.execution_memory_mode.value,
        "detections": [asdict(found) for found in facts.detections],
        "without_addresses": denied,
        "sources": [_source(source, bundle, denied=denied) for source in facts.provenance],
    }


def without_addresses(kept: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer kept facts as a denial keeps them."""
    sources = [{**source, "uri": ""} for source in kept["sources"]]
    return {**kept, "sources": sources, "without_addresses": True}


def read_facts(kept: Mapping[str, Any], decided: Bundle) -> KeptFacts:
    """Answer kept facts. `decided` is the bundle that they were kept under."""
    characters = kept["text_characters"]
    mark = "x" if kept["text_says_something"] else " "
    facts = ProposalFacts(
        **{name: kept[name] for name in _PLAIN},
        proposer_role=Role(kept["role"]),
        text=None if characters is None else mark * characters,
        value=_STAND_INS[kept["value_type"]],
        provenance=tuple(_read_source(source, decided) for source in kept["sources"]),
        existing=Existing(kept["existing"]),
        execution_memory_mode=None if kept["memory_mode"] is None else MemoryMode(kept["memory_mode"]),
        detections=tuple(Detected(**{**found, "kind": Kind(found["kind"])}) for found in kept["detections"]),
    )
    return KeptFacts(facts, kept["fitted"], kept["without_addresses"])


@dataclass(slots=True)
class Judge:
    """Judges kept facts under one bundle."""

    bundle: Bundle
    _opened: dict[tuple[str, bool], Bundle] = field(default_factory=dict)

    def judge(self, kept: KeptFacts, decided: Bundle, at: datetime) -> Verdict | None:
        """Answer the verdict as of `at`; `None` where it would turn on what was not kept.

        That is a value under another rule for values, and an address that other sources would cover.
        """
        facts, now = kept.facts, self.bundle.classes.get(kept.facts.class_name)
        if kept.without_addresses and _areas(decided) != _areas(self.bundle):
            return None
        if facts.value is None or now is None:
            return judge_proposal(facts, self.bundle, at)
        then = decided.classes.get(facts.class_name)
        if then is None or then.value != now.value:
            return None
        return judge_proposal(facts, self._with(facts.class_name, fitted=kept.fitted), at)

    def _with(self, class_name: str, *, fitted: bool) -> Bundle:
        """Answer the bundle with a class that takes every value, or none, as it is known to have done."""
        if (class_name, fitted) not in self._opened:
            value = _TAKES_ALL if fitted else _TAKES_NONE
            opened = self.bundle.classes[class_name].model_copy(update={"value": value})
            classes = {**self.bundle.classes, class_name: opened}
            self._opened[class_name, fitted] = self.bundle.model_copy(update={"classes": classes})
        return self._opened[class_name, fitted]


def _areas(bundle: Bundle) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Answer which addresses belong to which source."""
    return tuple((rule.name, rule.uri_prefix, rule.kinds) for rule in bundle.sources)


def _source(source: SourceFacts, bundle: Bundle, *, denied: bool) -> Mapping[str, Any]:
    rule = find_source(source.uri, source.source_kind, bundle) if source.uri else None
    return {
        **asdict(source),
        "uri": "" if denied else source.uri,
        "source": "" if rule is None else rule.name,
    }


def _read_source(kept: Mapping[str, Any], decided: Bundle) -> SourceFacts:
    fields = {name: value for name, value in kept.items() if name != "source"}
    if not kept["uri"] and kept["source"]:
        fields["uri"] = next((one.uri_prefix for one in decided.sources if one.name == kept["source"]), "")
    return SourceFacts(
        **{
            **fields,
            "kind": ProvenanceKind(kept["kind"]),
            "quote": Quote(kept["quote"]),
            "trust": Trust(kept["trust"]),
            "authority": Authority(kept["authority"]),
        }
    )
