"""The page with plots: whole in itself, readable in light and dark, figures in tables, user text as text."""

import html.parser
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from browser import Page, open_browser
from evaluate_world import answer, asked, evaluation, tried

from service.entry.evaluate.model import Asked, Evaluation, Refused
from service.entry.evaluate.report_page import report_page

HOSTILE = (
    "<script>document.title='taken'</script>",
    "</title><img src=x onerror=\"document.title='taken'\">",
    "</svg><style>body{display:none}</style>",
    "\"'><a href=javascript:alert(1)>",
    "a \u202egnp.exe \u0007\u2028 b",
    "\u05e9\u05dc\u05d5\u05dd 18 \U0001f469\u200d\U0001f4bb",
)


def made(count: int = 40) -> Evaluation:
    questions: list[Asked] = []
    first, second = [], []
    for number in range(1, count + 1):
        hostile = HOSTILE[number % len(HOSTILE)]
        name = hostile if number % 5 == 0 else None
        questions.append(
            asked(
                number,
                f"doc://{''.join(hostile.split())}",
                "doc://b",
                question=f"What of {hostile}?",
                name=name,
            )
        )
        half = number % 3 == 0
        first.append(answer(0.5 if half else 1.0, *([0] if half else []), tokens=1_000 + number))
        second.append(answer(1.0, tokens=1_200 + number, seconds=0.05 + number / 1_000))
    second[3] = Refused("budget_too_small", "<b>needed</b>")
    profiles = (tried("default", *first), tried("<script>x</script>", *second), tried("third", *first))
    return evaluation(questions, *profiles, file="<b>questions</b>.yaml")


class _Elements(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] += 1
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]


def test_the_page_holds_no_script_asks_for_nothing_and_takes_user_text_as_text() -> None:
    page = report_page(made())

    elements = _Elements()
    elements.feed(page)
    assert elements.addresses == []
    assert not {"script", "img", "a", "link", "iframe", "object", "form", "b"} & set(elements.count)
    assert elements.count["svg"] == elements.count["figure"] == 5
    assert elements.count["style"] == elements.count["title"] - elements.count["svg"] == 1
    assert "style=" not in page.replace("style-src", "")
    assert not re.search(r"https?://", page)
    assert "\u202e" not in page
    assert "\u0007" not in page
    assert "\u05e9\u05dc\u05d5\u05dd" in page


def test_one_profile_and_one_question_make_a_page_too() -> None:
    page = report_page(evaluation([asked(1, "doc://a")], tried("default", answer(1.0, reused=None))))

    assert page.count("<svg") == 4
    assert "All found the same sources" in page


def test_thousands_of_questions_share_cells_and_none_is_left_out_of_the_table() -> None:
    page = report_page(made(2_000))

    assert page.count("<rect") < 3 * 2 * 271 + 10
    assert "Each cell holds 8 questions" in page
    assert page.count("What of ") >= 2_000


CONTRAST = """
(() => {
  const shown = color => color.match(/[\\d.]+/g).map(Number);
  const light = color => {
    const [r, g, b] = shown(color).slice(0, 3).map(part => part / 255)
      .map(part => part <= .03928 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const ratio = color => {
    const [low, high] = [light(color), paper].sort((a, b) => a - b);
    return (high + .05) / (low + .05);
  };
  const of = (selector, property) =>
    [...document.querySelectorAll(selector)].map(one => ratio(getComputedStyle(one)[property]));
  return {
    words: Math.min(...of('p, h1, h2, th, td, figcaption *, summary, caption, code, li', 'color')),
    labels: Math.min(...of('svg text', 'fill')),
    marks: Math.min(...of('.f0, .f1, .f2', 'fill'), ...of('.l0, .l1, .l2', 'stroke')),
  };
})()
"""
OUTSIDE = """
[...document.querySelectorAll('svg')].flatMap(svg => {
  const frame = svg.viewBox.baseVal;
  return [...svg.querySelectorAll('text, rect, circle, polygon, line, polyline')].filter(one => {
    const box = one.getBBox();
    return box.x < -.5 || box.y < -.5 || box.x + box.width > frame.width + .5
      || box.y + box.height > frame.height + .5;
  }).map(one => svg.querySelector('title').textContent + ': ' + one.outerHTML);
})
"""
UNTOLD = """
[...document.querySelectorAll('figure')].filter(one => {
  const svg = one.querySelector('svg');
  const named = svg.getAttribute('aria-labelledby').split(' ')
    .every(id => document.getElementById(id)?.textContent.length > 3);
  return svg.getAttribute('role') !== 'img' || !named || one.querySelectorAll('details tbody tr').length < 2;
}).length + [...document.querySelectorAll('th')].filter(one => !one.scope).length
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("browser")
    (folder / "report.html").write_text(report_page(made()), encoding="utf-8")
    with open_browser(folder) as page:
        page.open((folder / "report.html").as_uri())
        yield page


def test_a_browser_opens_it_without_a_request_a_complaint_or_a_script(browser: Page) -> None:
    assert [address.rpartition("/")[2] for address in browser.requested()] == ["report.html"]
    assert browser.complaints() == []
    assert browser.evaluate("document.title") == "Evaluation of <b>questions</b>.yaml"
    assert browser.evaluate("document.body.offsetHeight") > 1_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_and_marks_stand_out_from_the_paper(browser: Page, scheme: str) -> None:
    browser.prefer(scheme)

    contrast = browser.evaluate(CONTRAST)

    # WCAG 2.2: 4.5 for words, 3 for what graphics mean.
    assert contrast["words"] >= 4.5
    assert contrast["labels"] >= 4.5
    assert contrast["marks"] >= 3
    paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_every_drawing_has_a_name_words_and_its_numbers(browser: Page) -> None:
    assert browser.evaluate(UNTOLD) == 0


@pytest.mark.parametrize("width", [360, 1_200])
def test_nothing_reaches_out_of_its_frame_on_a_telephone_or_a_desk(browser: Page, width: int) -> None:
    browser.resize(width, 800)

    assert browser.evaluate(OUTSIDE) == []
    assert browser.evaluate("document.scrollingElement.scrollWidth") <= width
