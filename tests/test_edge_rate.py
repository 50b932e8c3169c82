"""How often one name may call: a sliding minute, counted in constant memory."""

from service.entry.http.limits import COUNTED_MAX, WINDOW_SECONDS, SlidingWindow

MINUTE = 1_000 * WINDOW_SECONDS
ME, OTHER = ("acme", "key-1"), ("acme", "key-2")


def test_a_minute_holds_so_many_calls_of_each_name() -> None:
    window = SlidingWindow(3)

    waits = [window.hit(ME, MINUTE + 30) for _ in range(4)]

    assert waits == [0, 0, 0, 30]
    assert window.hit(OTHER, MINUTE + 30) == 0


def test_the_turn_of_a_minute_brings_no_burst_of_twice_the_limit() -> None:
    window = SlidingWindow(60)
    for _ in range(60):
        window.hit(ME, MINUTE + 59)

    let_through = [window.hit(ME, MINUTE + 61) for _ in range(60)].count(0)

    assert let_through == 1


def test_who_waits_as_long_as_was_said_is_let_through() -> None:
    window = SlidingWindow(60)
    for _ in range(60):
        window.hit(ME, MINUTE)
    turn = MINUTE + WINDOW_SECONDS

    wait = window.hit(ME, turn)

    assert 0 < wait <= WINDOW_SECONDS
    assert window.hit(ME, turn + wait - 0.1) > 0
    assert window.hit(ME, turn + wait + 0.1) == 0


def test_who_was_silent_for_two_minutes_begins_anew() -> None:
    window = SlidingWindow(2)
    for _ in range(2):
        window.hit(ME, MINUTE)

    waits = [window.hit(ME, MINUTE + 2 * WINDOW_SECONDS) for _ in range(2)]

    assert waits == [0, 0]


def test_a_call_that_is_refused_is_not_counted() -> None:
    window = SlidingWindow(1)
    window.hit(ME, MINUTE)
    for _ in range(100):
        window.hit(ME, MINUTE)

    assert window.hit(ME, MINUTE + 2 * WINDOW_SECONDS) == 0


def test_no_limit_at_all_leaves_nobody_waiting_for_ever() -> None:
    assert SlidingWindow(0).hit(ME, MINUTE) == WINDOW_SECONDS


def test_many_names_are_counted_and_the_silent_ones_forgotten() -> None:
    window = SlidingWindow(1)
    for number in range(COUNTED_MAX):
        window.hit((str(number),), MINUTE)

    later = MINUTE + 5 * WINDOW_SECONDS

    assert window.hit(ME, later) == 0
    assert window.hit(ME, later) > 0
    assert len(window) == 1
