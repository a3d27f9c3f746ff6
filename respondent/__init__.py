"""Deniable for respondents: read a survey, randomise answers, make and send a report."""

from .errors import InvalidAnswer, InvalidData, InvalidReport, InvalidSurvey
from .report import Report, make_report, parse_report
from .survey import Question, Survey

__all__ = [
    "InvalidAnswer",
    "InvalidData",
    "InvalidReport",
    "InvalidSurvey",
    "Question",
    "Report",
    "Survey",
    "make_report",
    "parse_report",
]
