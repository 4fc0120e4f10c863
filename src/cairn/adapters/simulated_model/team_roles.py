"""Suggest a team for a task, for agents that design teams."""

from __future__ import annotations

import re

_TEAMS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        r"\b(app|mobile|frontend|interface|website|screen|ux|ui)\b",
        (
            ("UX Designer", "You look at the product from the user's point of view"),
            ("Frontend Developer", "You know what the interface can do and how much work it takes"),
            ("Backend Developer", "You design data, APIs and behavior under load"),
            ("Accessibility Reviewer", "You make sure that everyone can use the product"),
        ),
    ),
    (
        r"\b(ticket|support|customer|refund|complaint|order)\b",
        (
            ("Support Specialist", "You find out what the customer needs and what is known about the case"),
            ("Policy Reviewer", "You check proposals against company policy"),
            ("Customer Writer", "You write clear and friendly replies"),
            ("Quality Reviewer", "You look for what others missed"),
        ),
    ),
    (
        r"\b(business|market|strategy|finance|revenue|competit\w+|analysis)\b",
        (
            ("Business Analyst", "You look for what creates value and for whom"),
            ("Market Researcher", "You know the competition and what makes this product different"),
            ("Financial Analyst", "You estimate costs and returns"),
            ("Risk Reviewer", "You identify what could go wrong and how likely it is"),
        ),
    ),
    (
        r"\b(software|system|architect\w*|api|requirement\w*|code|service|database|test\w*)\b",
        (
            ("Requirements Engineer", "You write requirements that can be tested"),
            ("Software Architect", "You choose the structure and give reasons"),
            ("Test Engineer", "You think of the cases in which it fails"),
            ("Operations Engineer", "You plan how it is run, monitored and repaired"),
        ),
    ),
    (
        r"\b(article|text|story|blog|email|write|writing|campaign|content)\b",
        (
            ("Researcher", "You collect what is known and cite sources"),
            ("Writer", "You write text that is a pleasure to read"),
            ("Editor", "You cut everything that is not needed"),
            ("Fact Checker", "You accept no claim without evidence"),
        ),
    ),
)
_GENERAL_TEAM = (
    ("Researcher", "You collect what is known and find what is missing"),
    ("Planner", "You turn ideas into concrete steps"),
    ("Critic", "You look for weaknesses and suggest fixes"),
    ("Editor", "You combine the results into one usable document"),
)


def suggest_team(task: str) -> list[tuple[str, str]]:
    """Names and roles, most relevant first."""
    scored = [(len(re.findall(pattern, task, re.IGNORECASE)), members) for pattern, members in _TEAMS]
    score, members = max(scored, key=lambda team: team[0])
    chosen = members if score else _GENERAL_TEAM
    return [*chosen, *(role for role in _GENERAL_TEAM if role not in chosen)]
