"""Conditions that never hold, always hold, or compare a fact with a word that it never is."""

from collections.abc import Iterator, Mapping

from service.policies.findings import Severity, nearest, shorten
from service.policies.laws import LAWS
from service.policies.lint.cel_tree import All, Call, Constant, Field, Items, Name, Node, facts_in
from service.policies.lint.class_conditions import PROVENANCE, Rule, together
from service.policies.lint.decide import Decider, Undecided
from service.policies.lint.domains import DETECTIONS, Domains
from service.policies.lint.faults import Fault, error, warning
from service.policies.words import RuleEffect


def lint_condition(rule: Rule, keys: Mapping[str, Node], decider: Decider) -> Iterator[Fault]:
    """Yield what is wrong with one condition by itself and beside the other keys of its class."""
    strange = list(_strange_words(rule, rule.tree, decider.domains))
    if strange:
        yield from strange
        return
    try:
        outcomes = {outcome for (outcome,) in decider.outcomes(rule.tree)}
    except Undecided:
        return
    if True not in outcomes:
        fails = " where it cannot be answered it keeps out, and else" if None in outcomes else ""
        message = f"this never holds, whatever is proposed:{fails} the rule does nothing; {_whole(rule)}"
        yield error(rule.path, "never_holds", message)
    elif outcomes == {True}:
        yield _always(rule, "for every proposal")
    else:
        yield from _beside_keys(rule, keys, decider)


def _beside_keys(rule: Rule, keys: Mapping[str, Node], decider: Decider) -> Iterator[Fault]:
    # The others say nothing about it, and would only be more to look at.
    related = {key: let for key, let in keys.items() if facts_in(let) & rule.facts}
    for key, let in related.items():
        if _counts_for_none(rule, let, decider):
            if key == PROVENANCE and rule.effect is not RuleEffect.DENY:
                message = f"{LAWS['law_provenance']}, and this is for what cites none: {_whole(rule)}"
                yield error(rule.path, "law_provenance", message)
            else:
                yield _kept_out(rule, f"`{key}` denies")
            return
    try:
        pairs = decider.outcomes(together(related), rule.tree)
    except Undecided:
        return
    outcomes = {outcome for is_let, outcome in pairs if is_let}
    if outcomes and not any(rule.counts(outcome) for outcome in outcomes):
        yield _kept_out(rule, "the other keys of the class deny")
    elif outcomes == {True}:
        yield _always(rule, "for every proposal that the other keys of the class let through")


def _counts_for_none(rule: Rule, let: Node, decider: Decider) -> bool:
    """Say whether the rule counts for nothing that one key lets through."""
    try:
        outcomes = decider.outcomes(let, rule.tree)
    except Undecided:
        return False
    return not any(is_let and rule.counts(outcome) for is_let, outcome in outcomes)


def _kept_out(rule: Rule, who: str) -> Fault:
    if rule.effect is RuleEffect.DENY:
        message = f"{who} all that this rule would: it adds a reason and decides nothing; leave it out"
        return warning(rule.path, "shadowed_rule", message)
    message = f"{who} all that this would hold for, so it never counts; {_whole(rule)}"
    return error(rule.path, "unreachable_rule", message)


def _always(rule: Rule, what_for: str) -> Fault:
    if rule.effect is RuleEffect.DENY:
        message = (
            f"this holds {what_for}: the class takes nothing. Say when it should, or take the class out,"
            " or its `writers`"
        )
        return error(rule.path, "takes_nothing", message)
    right = {
        RuleEffect.REVIEW: "leave out `automatic_when` and let `approval.by` say who decides",
        RuleEffect.PERMIT: "write `approval: {by: auto}`, if nobody is to be asked",
    }
    message = f"this holds {what_for}: {right.get(rule.effect or RuleEffect.DENY, 'leave it out')}"
    return warning(rule.path, "always_holds", message)


def _whole(rule: Rule) -> str:
    return (
        "leave `when` out, or put it right" if rule.effect is None else "put it right, or leave the rule out"
    )


def _strange_words(rule: Rule, node: Node, domains: Domains) -> Iterator[Fault]:
    match node:
        case Call(("_==_" | "_!=_" | "@in"), (term, Constant() | Items() as right)):
            yield from _strange_beside(rule, term, right, domains)
        case All(over, element, body):
            yield from _strange_words(rule, body, domains.within(over, element))
        case Call(_, args):
            for one in args:
                yield from _strange_words(rule, one, domains)


def _strange_beside(rule: Rule, term: Node, right: Node, domains: Domains) -> Iterator[Fault]:
    words = domains.words(term)
    if words is None:
        return
    for one in right.elements if isinstance(right, Items) else (right,):
        if isinstance(one, Constant) and isinstance(one.value, str) and one.value not in words:
            known = [word for word in words if word]
            message = f"{_named(term)} is never `{shorten(one.value, 40)}`: {nearest(one.value, known)}"
            yield Fault(
                rule.path, "strange_word", message, Severity.ERROR, inside=(rule.text, max(one.at, 0))
            )


def _named(term: Node) -> str:
    match term:
        case Field(_, field):
            return f"the `{field}` of a source"
        case Name(name) if name.startswith("$"):
            return f"one of `{DETECTIONS.name}`"
        case Name(name):
            return f"`{name}`"
    return "this"
