"""Where a rehearsal interrupts: planned from calls, rule and seed, and the same each time."""

from rehearse_world import STEADY, calls_of

from service.entry.rehearse.interruptions import plan_interruptions
from service.entry.rehearse.manifest import ChosenInterruption, Interruptions, KillRule
from service.entry.rehearse.model import ActKind, Interruption, KillPoint, Moment

QUIET = Interruptions(calls="none", thinking=0, random=0)


def plan(rule: Interruptions, *, seed: int = 7, pause_seconds: float = 0.1) -> tuple[Interruption, ...]:
    calls = calls_of(STEADY, pause_seconds=pause_seconds)
    return plan_interruptions(calls, rule, seed=seed, scenario="order")


def only_kills(planned: tuple[Interruption, ...]) -> list[KillPoint]:
    return [kill for interruption in planned for kill in interruption.kills]


def test_each_route_is_cut_before_and_after_its_first_and_last_call() -> None:
    planned = only_kills(plan(QUIET.model_copy(update={"calls": "routes"})))

    steps = [kill for kill in planned if kill.pattern == "POST /executions/*/steps"]
    assert [(kill.moment.value, kill.occurrence) for kill in steps] == [
        ("before", 1),
        ("after", 1),
        ("before", 4),
        ("after", 4),
    ]
    assert KillPoint(Moment.AFTER, "downstream POST /orders") in planned


def test_every_call_can_be_asked_for() -> None:
    rule = QUIET.model_copy(update={"calls": "all", "moments": (Moment.AFTER,)})

    assert len(plan(rule)) == len(STEADY)


def test_of_too_many_calls_those_that_act_outside_are_kept() -> None:
    rule = QUIET.model_copy(update={"calls": "all", "calls_max": 4})

    patterns = {kill.pattern for kill in only_kills(plan(rule))}

    assert patterns == {"downstream POST /orders", "POST /executions/*/effects"}


def test_the_same_seed_plans_the_same_and_another_seed_otherwise() -> None:
    rule = QUIET.model_copy(update={"random": 8, "random_kills": 3})

    assert plan(rule, seed=1) == plan(rule, seed=1)
    assert plan(rule, seed=1) != plan(rule, seed=2)


def test_thinking_is_interrupted_inside_the_longest_pauses_and_never_in_short_ones() -> None:
    rule = QUIET.model_copy(update={"thinking": 2})

    points = only_kills(plan(rule, pause_seconds=1.0))

    assert [point.moment for point in points] == [Moment.THINKING, Moment.THINKING]
    assert all(0.1 < point.delay_seconds < 0.9 for point in points)
    assert plan(rule, pause_seconds=0.02) == ()


def test_chosen_places_come_first_with_all_their_kills() -> None:
    chosen = ChosenInterruption(
        kills=(
            KillRule(moment=Moment.BEFORE, call="POST /context-packages"),
            KillRule(moment=Moment.AFTER, call="downstream POST /orders", occurrence=2),
        )
    )

    [interruption] = plan(QUIET.model_copy(update={"chosen": (chosen,)}))

    assert str(interruption) == "before POST /context-packages, then after downstream POST /orders #2"


def test_a_later_kill_is_drawn_from_what_is_still_to_come() -> None:
    rule = QUIET.model_copy(update={"random": 40, "random_kills": 2})
    order = {call.pattern: call.number for call in calls_of(STEADY)}

    pairs = [one.kills for one in plan(rule) if len(one.kills) == 2]

    assert pairs
    assert all(
        second.pattern == "POST /executions/*/steps" or order[second.pattern] >= order_of_first(first)
        for first, second in pairs
    )


def order_of_first(kill: KillPoint) -> int:
    same = [call.number for call in calls_of(STEADY) if call.pattern == kill.pattern]
    return same[kill.occurrence - 1]


def test_a_place_says_in_words_where_it_is() -> None:
    assert str(KillPoint(Moment.BEFORE, "POST /x")) == "before POST /x"
    assert str(KillPoint(Moment.THINKING, "POST /x", 2, 0.5)) == "0.50 s into thinking after POST /x #2"
    assert str(Interruption(())) == "uninterrupted"
    assert ActKind.PACKAGE in {call.act.kind for call in calls_of(STEADY) if call.act}
