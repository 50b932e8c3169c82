"""What is refused around summaries that this service writes, each with its stable code."""

from service.core.errors import Conflict, Invalid, Unavailable


class TextNotKept(Conflict):
    """The run's retention class keeps no text, so there is none to summarise."""

    code = "text_not_kept"
    title = "The run's retention class keeps no text to summarise"


class NothingSaid(Invalid):
    """Nothing was said since the newest summary, or at all."""

    code = "nothing_said"
    title = "Nothing was said since the newest summary"


class SummaryTooWide(Invalid):
    """The range holds more than one summary reads."""

    code = "summary_too_wide"
    title = "This is more than one summary takes: choose a shorter range"


class SummaryOvertaken(Conflict):
    """Another summary was kept while this one was written."""

    code = "summary_overtaken"
    title = "Another summary was kept meanwhile: summarise again"


class CompactorUnavailable(Unavailable):
    """The model that is to write the summary does not answer, or not with one. Nothing was kept."""

    code = "compactor_unavailable"
    title = "The model that writes summaries does not answer"
