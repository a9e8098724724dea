"""URLs that lead inside a network or let one in, and the names of buckets and cloud accounts.

A public URL tells nothing about the one who read it and stays; so do hosts that stand for any ("http://localhost:8000",
"http://server:80", "redis://redis:6379").
"""

import re
from collections.abc import Iterator

from wisen.screening.rules.hosts import is_well_known
from wisen.screening.rules.sightings import Sighting, terms

_URL = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<login>[^\s/@\"'<>]{1,200}@)?"
    r"(?P<host>\[[0-9A-Fa-f:.%]{2,50}\]|[^\s/:?#\"'<>`)\]}@,;|]{1,253})(?P<port>:\d{1,5})?[^\s\"'<>`)\]}|]{0,2000}"
)
_TRAIL = ".,;:!?*_"
_SCHEMES = re.compile(
    r"(?i)(?:https?|wss?|ftps?|sftp|ssh|ldaps?|smb|nfs|rdp|vnc|tcp|udp|grpc|amqps?|rediss?|mongodb(?:\+srv)?"
    r"|postgres(?:ql)?|mysql|mariadb|kafka|jdbc|git\+ssh|telnet|mqtts?)(?:\+\w{1,12})?://"
)
_HOOK = re.compile(
    r"(?i)https?://(?:webhook\.site/[\w-]{8}|hooks\.slack\.com/\w|(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/\d"
    r"|[\w.-]{1,80}\.(?:webhook\.office\.com|m\.pipedream\.net|requestbin\.(?:com|net)|ngrok(?:-free)?\.(?:io|app)"
    r"|trycloudflare\.com))"
)
"""Anyone who knows such a URL can send to it."""
_NO_PASSWORD = re.compile(
    r"(?i)[<{$%\[].*|\*+|x+|\.+|pass|passwd|password|pwd|secret|pw|guest|token|key|postgres|root|admin|user|your.*"
    r"|my.?password"
)
_ANY_HOST = terms(
    "localhost host hostname server example user domain proxy registry redis db database postgres postgresql",
    "mysql mongo mongodb rabbitmq broker kafka elasticsearch web app api backend frontend nginx service endpoint",
    "url foo bar baz test path www ip address site website memcached minio ollama bucket bucket-name username",
    "file index unix null none xxx remote target source node worker scheduler master name",
)
_ANY_BEGINNING = ("your", "my", "example", "some")
_SINGLE = re.compile(r"[a-z][a-z0-9]{2,20}|[a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){1,6}")
_IPV4 = re.compile(r"[\d.]+")
_INSIDE = re.compile(
    r"(?:\A|\.)(?:internal|corp|local|lan|intranet|intra|localdomain|private|svc)(?:\.|\Z)"
    r"|(?:\A|[.-])(?:internal|intranet|corp|staging|stg|preprod|uat|prod|qa|vpn)(?=[.-])"
)
_BUCKET_URL = re.compile(
    r"(?<![\w+])(?:s3[an]?|gs|abfss?|wasbs?)://(?P<name>[a-z0-9][\w.-]{2,62}(?:@[\w.-]{1,100})?)(?![\w{<$])"
)
_BUCKET_HOST = re.compile(
    r"(?<![\w.-])(?P<name>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?=\.s3[.-](?:[a-z0-9-]{4,20}\.)?amazonaws\.com)"
)
_ANY_BUCKET = re.compile(
    r"(?i)(?:my|your|the|some|a|test|example|demo)?[-_.]?(?:bucket|container|path)[-_.]?(?:name|\d)?"
    r"|example.*|test.*|foo|bar"
)
_ACCOUNT = re.compile(r"(?<=:)\d{12}(?=:)")
_ARN_LENGTH = 60


def sight_urls(text: str) -> Iterator[Sighting]:
    """All readings as an internal URL, one with a login, a web hook, a bucket or a cloud account."""
    if "://" in text:
        yield from _urls(text)
        yield from _buckets(text, _BUCKET_URL)
    if ".amazonaws." in text:
        yield from _buckets(text, _BUCKET_HOST)
    if "arn:" in text:
        for match in _ACCOUNT.finditer(text):
            if text.rfind("arn:", max(0, match.start() - _ARN_LENGTH), match.start()) >= 0:
                yield Sighting(7, *match.span(), "cloud-account", "account")


def _buckets(text: str, form: re.Pattern[str]) -> Iterator[Sighting]:
    for match in form.finditer(text):
        if not _ANY_BUCKET.fullmatch(match["name"]):
            yield Sighting(8, *match.span("name"), "bucket", "bucket")


def _urls(text: str) -> Iterator[Sighting]:
    for match in _URL.finditer(text):
        url, host = match.group(), match["host"].lower().rstrip(".")
        start, end = match.span()
        while end > match.end("host") and text[end - 1] in _TRAIL:
            end -= 1
        if not _SCHEMES.match(url) or any(mark in host for mark in "{$%"):
            continue
        if _has_password(match["login"] or ""):
            yield Sighting(9, start, end, "url-with-credentials", "url")
        elif _HOOK.match(url):
            yield Sighting(8, start, end, "webhook-url", "url")
        elif match["port"] or end < min(len(text), match.end() + 1):
            if _is_inside(host):
                yield Sighting(8, start, end, "internal-url", "url")
        elif "." in host and _is_inside(host):
            yield Sighting(8, start, end, "internal-url", "url")


def _has_password(login: str) -> bool:
    """Whether the part before the host holds a password that isn't a placeholder."""
    name, _, password = login.removesuffix("@").partition(":")
    return bool(password) and not _NO_PASSWORD.fullmatch(password) and not name.startswith(("<", "{", "$"))


def _is_inside(host: str) -> bool:
    if is_well_known(host) or host.startswith("[") or _IPV4.fullmatch(host):
        return False
    if "." in host:
        return _INSIDE.search(host) is not None
    return bool(_SINGLE.fullmatch(host)) and host not in _ANY_HOST and not host.startswith(_ANY_BEGINNING)
