"""Who could work on a task: for agents that design teams."""

from __future__ import annotations

import re

_TEAMS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        r"\b(app|mobile|frontend|interface|website|screen|ux|ui)\b",
        (
            ("UX Designer", "You see the work with the eyes of those who use it"),
            ("Frontend Developer", "You know what can be built in the interface and what it takes"),
            ("Backend Developer", "You see to data, interfaces and what has to hold under load"),
            ("Accessibility Reviewer", "You make sure that nobody is left out"),
        ),
    ),
    (
        r"\b(ticket|support|customer|refund|complaint|order)\b",
        (
            ("Support Specialist", "You find out what the customer needs and what is known about the case"),
            ("Policy Reviewer", "You hold what is proposed against the rules"),
            ("Customer Writer", "You put it into friendly and exact words"),
            ("Quality Reviewer", "You look for what was missed"),
        ),
    ),
    (
        r"\b(business|market|strategy|finance|revenue|competit\w+|analysis)\b",
        (
            ("Business Analyst", "You look for what creates value and for whom"),
            ("Market Researcher", "You know the others in the field and what sets this apart"),
            ("Financial Analyst", "You ask what it costs and what it brings"),
            ("Risk Reviewer", "You say what can go wrong and how likely that is"),
        ),
    ),
    (
        r"\b(software|system|architect\w*|api|requirement\w*|code|service|database|test\w*)\b",
        (
            ("Requirements Engineer", "You say what is needed so that it can be tested"),
            ("Software Architect", "You choose the structure and give reasons"),
            ("Test Engineer", "You think of the cases in which it fails"),
            ("Operations Engineer", "You ask how it runs, and how it is repaired"),
        ),
    ),
    (
        r"\b(article|text|story|blog|email|write|writing|campaign|content)\b",
        (
            ("Researcher", "You gather what is known and say where it comes from"),
            ("Writer", "You write it so that it is a pleasure to read"),
            ("Editor", "You take out what is not needed"),
            ("Fact Checker", "You trust nothing that is not shown"),
        ),
    ),
)
_ANYBODY = (
    ("Researcher", "You gather what is known and what is missing"),
    ("Planner", "You turn it into steps that can be done"),
    ("Critic", "You look for weak places and say how to mend them"),
    ("Editor", "You put it together so that it can be used"),
)


def team(task: str) -> list[tuple[str, str]]:
    """Names, and what each stands for; the likeliest first."""
    scored = [(len(re.findall(pattern, task, re.IGNORECASE)), people) for pattern, people in _TEAMS]
    best = max(scored, key=lambda one: one[0])
    chosen = best[1] if best[0] else _ANYBODY
    return [*chosen, *(one for one in _ANYBODY if one not in chosen)]
