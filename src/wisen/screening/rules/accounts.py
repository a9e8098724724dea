"""Names of accounts in paths and prompts of a shell: "/home/anna/project", "anna@build-7:~$".

It stands apart because a rule is a module, as `hosts`, `networks` and `urls` are.

The span is the name alone, so that the path stays useful; names that anybody has ("root", "ubuntu", "user") stay.
"""

import re
from collections.abc import Iterator

from wisen.screening.rules.sightings import Sighting, terms

_UNIX = re.compile(
    r"(?:(?<![\w.:~-])(?<![\w}]/)|(?<=file://)|(?<=/mnt)|(?<=/export)|(?<=/var)|(?<=/usr)|(?<=/nfs)|(?<=/net)"
    r"|(?<=/data)|(?<=:))/(?:home|Users)/(?P<name>[A-Za-z_][\w.-]{0,40})"
)
_WINDOWS = re.compile(
    r"(?<![A-Za-z])(?:[A-Za-z]:|/mnt/[a-z]|/[a-z])(?:\\{1,4}|/)(?:Users|Documents and Settings)(?:\\{1,4}|/)"
    r"(?P<name>[\w.-]{1,40}(?: [\w.-]{1,30}(?=\\))?)"
)
_ANYBODY = terms(
    "user users username user1 you your your-name your-username yourname your_username your_name ubuntu ec2-user",
    "runner vscode root admin administrator node app jovyan docker circleci public default shared me name jenkins",
    "git vagrant pi work dev developer developers test index page dashboard settings index.html linuxbrew myuser",
    "my-user my_user someuser foo bar nobody guest student api login about help profile all runneradmin codespace",
    "gitpod airflow nonroot appuser webapp home linux debian centos fedora sandbox coder travis defaultuser0",
    "example",
)
_PROMPT = re.compile(
    r"(?<![\w.-])(?P<user>[a-z_][\w-]{0,31})@(?P<host>[A-Za-z][\w-]{1,62})(?=:[~/](?!/)[^\s$#]{0,200}[$#])"
)
_SSH = re.compile(
    r"(?<![\w.-])(?:ssh|scp|sftp|rsync)\b[^\n@|;]{0,60}?[ ](?P<user>[A-Za-z_][\w-]{0,31})@"
    r"(?P<host>[A-Za-z0-9][\w-]{1,62})(?![\w.])"
)


def sight_accounts(text: str) -> Iterator[Sighting]:
    """All readings as a user's folder or a login."""
    if "/home/" in text or "/Users/" in text:
        yield from _folders(text, _UNIX)
    if "Users" in text or "Documents and Settings" in text:
        yield from _folders(text, _WINDOWS)
    if "@" in text:
        for form in (_PROMPT, _SSH):
            for match in form.finditer(text):
                if match["host"].lower() not in ("localhost", "host", "hostname", "server"):
                    yield Sighting(5, *match.span("host"), "shell-host", "host")
                if match["user"].lower() not in _ANYBODY:
                    yield Sighting(5, *match.span("user"), "shell-user", "user")


def _folders(text: str, form: re.Pattern[str]) -> Iterator[Sighting]:
    for match in form.finditer(text):
        name = match["name"].rstrip(".")
        if name.strip("xX") and name.lower() not in _ANYBODY:
            start = match.start("name")
            yield Sighting(7, start, start + len(name), "home-directory", "user")
