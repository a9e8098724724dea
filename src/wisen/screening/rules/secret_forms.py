"""Secrets known by the form around them: key files, addresses with passwords, headers, commands, hashes, webhooks."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from wisen.protocols import Finding
from wisen.screening.rules.secret_names import WORDS
from wisen.screening.rules.secret_shapes import is_mixed, is_stand_in, randomness
from wisen.screening.rules.sightings import mentions

_KEY_BEGINS = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?: ?-{4,5})?"
    r"|PuTTY-User-Key-File-\d|<RSAKeyValue>"
)
_KEY_ENDS = re.compile(
    r"-{4,5} ?END [A-Z0-9 ]{0,40}(?:KEY|BLOCK)(?: BLOCK)?(?: ?-{4,5})?|Private-MAC: [0-9a-f]{8,128}|</RSAKeyValue>"
)
_KEY_BODY = re.compile(r"(?:[\s\\+\"',.:;#>|*/-]{0,40}+[A-Za-z0-9+/=]{16,20000}+){0,400}+")
_MANIFEST = re.compile(r"\bkind[\"']?:\s{0,3}[\"']?secret\b")
_DATA_BLOCK = re.compile(
    r"^[ \t]{0,12}+(?:stringData|data):[ \t]{0,9}\n((?:[ \t]{1,16}+[^\n]{1,4000}+(?:\n|\Z)){1,60}+)", re.MULTILINE
)
_ENTRY = re.compile(
    r"^[ \t]{1,16}+[\w.-]{1,80}+:[ \t]{1,4}[\"']?([^\s\"'|>{#&*!-][^\s\"']{3,3000}+)[\"']?[ \t]{0,9}$", re.MULTILINE
)
_LONGEST_KEY = 20_000
_LIKE_NAMES, _LETTERS, _LEAST_LETTERS = -2.0, 2.0, 16
_CURL = re.compile(r"curl|wget|https?\b|api")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """A pattern, of whose match the first group is the secret."""

    rule: str
    label: str
    marks: tuple[str, ...]
    """One of these, in lower case, is in every text that the pattern can match."""
    pattern: re.Pattern[str]
    sure: bool = True
    """Whether what matches is a secret whatever it looks like, short of a stand-in."""


def _form(rule: str, label: str, marks: str, pattern: str, *, sure: bool = True) -> _Form:
    compiled = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    return _Form(rule=rule, label=label, marks=tuple(marks.split()), pattern=compiled, sure=sure)


_FORMS = (
    _form(
        "url-credentials",
        "connection credentials",
        "://",
        r"://([^\s/:@\"'<>`{}]{0,120}+:[^\s/\"'<>`]{1,300}@)(?=[\w.\[])",
    ),
    _form("address-token", "access token", "://", r"://([A-Za-z0-9_-]{16,300}+:?)@(?=[\w.\[])", sure=False),
    _form(
        "authorization-header",
        "access token",
        "bearer basic authorization ssws token",
        r"(?:\b(?:bearer|basic|ssws|apikey|digest)\b|authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"']?\w{2,20}\b|"
        r"authorization[\"']?\s{0,3}[:=])"
        r"[\"']?:?\s{1,3}[\"']?([A-Za-z0-9._~+/=:%-]{8,4000}+)",
        sure=False,
    ),
    _form(
        "user-option",
        "connection credentials",
        "-u --user --proxy-user",
        r"(?<=\s)(?:-u|--user|--proxy-user|--userpwd)[\s=]{0,3}[\"']?([^\s\"':]{1,120}+:[^\s\"']{3,300}+)",
        sure=False,
    ),
    _form(
        "password-option",
        "password",
        "sshpass mysql psexec login smbclient redis-cli mongo ldap mariadb xfreerdp winexe",
        r"\b(?:mysql\w{0,12}|mariadb)\b[^\n|]{0,160}?\s-p[\"']?([^\s\"'-][^\s\"']{2,200}+)|"
        r"\b(?:sshpass|psexec\w{0,4}(?:\.exe)?|(?:docker|podman|helm|az|oc|cf)[ \w]{0,20} login|smbclient|redis-cli|"
        r"mongo\w{0,8}|ldap\w{2,8}|xfreerdp|winexe)\b[^\n|]{0,160}?\s(?:-[pawW]|/p:)[ ]{0,2}[\"']?"
        r"([^\s\"'-][^\s\"']{2,200}+)",
    ),
    _form(
        "password-hash",
        "password hash",
        "$",
        r"(?<![\w$])(\$(?:[1567y]|2[abxy]?|apr1|argon2(?:id|i|d)|pbkdf2[\w-]{0,12}|scrypt|sha1|md5|bcrypt[\w-]{0,8}|[phs])"
        r"\$[A-Za-z0-9./+=$,_-]{16,400}+|\$(?:krb5\w{2,12}|dcc2|net(?:ntlm\w{0,4}|lm))\$[^\s\"']{16,6000}+)",
    ),
    _form(
        "webhook-address",
        "webhook address",
        "hook spaces/ trigger/ robot/send",
        r"((?:https?://)?(?<![\w.-])(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[\w/-]{16,200}+|"
        r"(?:\w{1,12}\.)?discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{10,24}/[\w-]{20,120}+|"
        r"(?:[\w-]{1,60}+\.)?(?:webhook\.)?office(?:365)?\.com/webhook[\w/@-]{30,400}+|"
        r"hooks\.zapier\.com/hooks/catch/[\w/-]{8,80}+|hook\.(?:\w{2,6}\.)?(?:make|integromat)\.com/\w{16,60}+|"
        r"chat\.googleapis\.com/v1/spaces/[^\s\"'<>]{16,300}+|maker\.ifttt\.com/trigger/[\w/-]{8,160}+|"
        r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/[\w/-]{16,120}+|webhook\.site/[\w-]{30,40}+|"
        r"oapi\.dingtalk\.com/robot/send\?[\w=&]{16,160}+|[\w-]{1,60}+(?:\.[\w-]{1,60}+){0,4}?\.logic\.azure\.com[^\s\"'<>]{30,400}+|"
        r"[\w.-]{1,60}+/api/webhooks?/[\w/-]{24,160}+))",
    ),
    _form(
        "telegram-token",
        "access token",
        ": bot",
        r"(?<!\d)(\d{8,10}:[A-Za-z0-9_-]{32,40}+)(?![A-Za-z0-9_-])",
    ),
    _form(
        "password-file-line",
        "password",
        ":",
        r"(?<![\w:/@.*-])[\w.*-]{1,100}+:(?:\d{4,5}|\*):[\w*.-]{1,60}+:[\w*.@-]{1,60}+:"
        r"([^\s:\"']{3,200}+)(?=[\s\"']|\Z)",
    ),
    _form(
        "recovery-phrase",
        "recovery phrase",
        "mnemonic seed recovery",
        r"(?:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words?))[\w ]{0,20}[\"']?\s{0,3}(?:[:=]|is|was)\s{0,3}"
        r"[\"']?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b",
    ),
    _form(
        "bundle-credentials",
        "connection credentials",
        "contribsys",
        r"contribsys[^\n]{1,20}?([0-9a-f]{8}:[0-9a-f]{8})\b",
    ),
    _form(
        "weak-password",
        "password",
        "letmein qwerty p@ss passw0rd pa$$ iloveyou",
        r"(?<![\w@.-])((?:letmein|qwerty|iloveyou)[\d!@#$%]{1,12}+|(?:p@ss|passw0rd|pa\$\$)[\w!@#$%]{0,12}+)(?![\w.])",
    ),
    _form(
        "remote-command",
        "connection credentials",
        "exec.py exec secretsdump",
        r"\b(?:\w{2,6}exec|secretsdump)(?:\.py)?\s(?:[\w./\\-]{1,60}/)?([\w.-]{1,60}+:[^\s@]{3,120}+)@",
    ),
    _form(
        "signed-address",
        "access token",
        "sig= signature=",
        r"[?&;](?:sig|(?:x-amz-|x-goog-)?signature)=([A-Za-z0-9%+/=_-]{20,600}+)",
    ),
    _form(
        "secure-string",
        "password",
        "convertto-securestring",
        r"convertto-securestring\s{1,3}(?:-string\s{1,3})?[\"']([^\"'\n]{3,200}+)[\"']",
    ),
    _form("app-token", "access token", "|", r"(?<!\d)(\d{13,17}\|[A-Za-z0-9_-]{20,60}+)", sure=False),
    _form(
        "database-password",
        "password",
        "identified",
        r"\bidentified\s{1,3}by\s{1,3}(?:password\s{1,3})?[\"']([^\"'\n]{3,200}+)[\"']",
    ),
    _form("account-command", "password", "net", r"\bnet\s{1,3}user\s{1,3}\S{1,60}\s{1,3}([^\s/*]{3,120}+)\s{1,3}/add"),
    _form("token-in-address", "access token", "telemetry", r"/api/v1/([a-z0-9]{16,40}+)/telemetry"),
)


def find_forms(text: str, folded: str) -> Iterator[Finding]:
    """What the forms tell; `folded` is the text in lower case, as long as the text itself."""
    if "key" in folded:
        yield from _key_files(text)
    if "data:" in folded and _MANIFEST.search(folded):
        yield from _manifests(text)
    for form in _FORMS:
        if mentions(folded, form.marks):
            for match in form.pattern.finditer(text):
                start, end = match.span(match.lastindex or 0)
                if form.rule == "url-credentials":
                    end -= 1
                if _counts(form, text[start:end], folded[max(0, start - 80) : start]):
                    yield Finding(rule=form.rule, family="secret", start=start, end=end, label=form.label)


def _counts(form: _Form, value: str, before: str) -> bool:
    if form.rule in {"url-credentials", "user-option"}:
        user, _, password = value.partition(":")
        if is_stand_in(password) or (password.isdigit() and user.isdigit()):
            return False
        return form.sure or bool(_CURL.search(before)) or not password.isalpha()
    if form.sure:
        return not is_stand_in(value)
    value = value.rstrip(".:")
    if value.lower() in WORDS or is_stand_in(value):
        return False
    return (is_mixed(value) and randomness(value) > _LIKE_NAMES) or (
        len(value) >= _LEAST_LETTERS and randomness(value) > _LETTERS
    )


def _manifests(text: str) -> Iterator[Finding]:
    """The values of a Kubernetes secret."""
    for block in _DATA_BLOCK.finditer(text):
        for entry in _ENTRY.finditer(text, block.start(1), block.end(1)):
            if not is_stand_in(entry[1]):
                yield Finding(
                    rule="manifest-secret", family="secret", start=entry.start(1), end=entry.end(1), label="secret"
                )


def _key_files(text: str) -> Iterator[Finding]:
    ends: list[int] | None = None
    done = 0
    for begin in _KEY_BEGINS.finditer(text):
        if begin.start() < done or (begin[0][0] == "<" and text.find("<D>", begin.end(), begin.end() + 3_000) < 0):
            continue
        if ends is None:
            ends = [match.end() for match in _KEY_ENDS.finditer(text)]
        place = bisect_left(ends, begin.end())
        if place < len(ends) and ends[place] - begin.start() <= _LONGEST_KEY:
            done = ends[place]
        else:
            body = _KEY_BODY.match(text, begin.end())
            done = body.end() if body else begin.end()
        yield Finding(rule="private-key", family="secret", start=begin.start(), end=done, label="private key")
