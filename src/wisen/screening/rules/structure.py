"""What an attack looks like, whatever it is about: marks of a chat, words that override, commands that do harm."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form that an attack has."""

    name: str
    rule: str
    marks: tuple[str, ...]
    """What a text has to contain for the form to be looked for: one of these, in lower case."""
    regex: re.Pattern[str]
    """Matched against the text in lower case."""
    command: bool = False
    """Whether it is code: a quoted sentence is talked about, a quoted command is given to be run."""


_TO = r"(?:[^\w.!?;]{1,4}\w{1,20})"
"""One word further, in the same sentence."""
_THEN = r"[^\w.!?;]{1,4}"
_DROP = (
    r"\b(?:ignor\w{1,3}|disregard\w{0,3}|forget\w{0,4}|overrid\w{1,3}|overrul\w{1,3}|bypass\w{0,3}"
    r"|(?:stop|n[o']t) (?:follow|obey)\w{0,3})"
)
_EARLIER = r"(?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|existing|original|initial|system|your|my)"
_ORDERS = r"(?:instruction|rule|prompt|guideline|guidance|directi(?:on|ve)|command|order|polic(?:y|ie)|constraint|restriction|programming|training)s?\b"
_DROPS = ("ignor", "disregard", "forget", "overrid", "overrul", "bypass", "follow", "obey")

_SHELL = r"(?:sudo (?:-\w{1,9} ){0,2})?(?:/(?:usr/)?bin/)?(?:env )?(?:(?:ba|z|da|k|fi)?sh|python[\d.]{0,4}|perl|ruby|node|php|iex|pwsh|powershell)\b"
_FETCH = r"\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)\b"
_FETCHERS = ("curl", "wget", "iwr", "irm", "invoke-")
_SECRETS = (
    r"(?:\.(?:ssh|aws|gnupg|kube|netrc|pgpass|npmrc|pypirc|git-credentials|azure|env)\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b"
    r"|/etc/(?:passwd|shadow|sudoers)\b|\.(?:pem|kdbx)\b|\b(?:credentials|secrets?)\.\w{2,5}\b|\bprintenv\b|\benv\b(?! \w))"
)
_SENDERS = r"\b(?:curl|wget|nc|ncat|netcat|socat|telnet|scp|sftp|rsync|ssh)\b"
_EVERYTHING = r"(?:/(?:\*|(?=[\s`'\";)&|]|$))|(?:~|\$home|\$\{home\}|/(?:etc|usr|var|bin|boot|lib|home|root))/?\*?(?=[\s`'\";)&|]|$)|[a-z]:\\)"


def _spoken(name: str, rule: str, marks: tuple[str, ...], *regexes: str) -> Form:
    return Form(name=name, rule=rule, marks=marks, regex=re.compile("|".join(regexes), re.MULTILINE))


def _command(name: str, rule: str, marks: tuple[str, ...], *regexes: str) -> Form:
    return Form(name=name, rule=rule, marks=marks, regex=re.compile("|".join(regexes), re.MULTILINE), command=True)


FORMS: tuple[Form, ...] = (
    _spoken(
        "drop earlier orders",
        "overrides-instructions",
        _DROPS,
        f"{_DROP}{_TO}{{0,4}}?{_THEN}{_EARLIER}{_TO}{{0,3}}?{_THEN}{_ORDERS}",
    ),
    _spoken(
        "drop all orders",
        "overrides-instructions",
        _DROPS,
        rf"{_DROP}{_THEN}(?:all|any|every)\b{_TO}{{0,2}}?{_THEN}{_ORDERS}(?! (?:in|on|of|from|for|inside|within|embedded|found|contained|that)\b)",
    ),
    _spoken(
        "drop what was said",
        "overrides-instructions",
        _DROPS,
        rf"{_DROP}{_THEN}(?:everything|anything|all|whatever|what)\b{_TO}{{0,5}}?{_THEN}(?:above|before|previously|prior|earlier|so far|told|learned)\b",
        rf"{_DROP}{_THEN}(?:all )?(?:of )?(?:the )?(?:above|foregoing)(?= and\b|[.,:;!]|$)",
    ),
    _spoken(
        "new orders",
        "overrides-instructions",
        ("new ",),
        rf"\bnew (?:system )?(?:instructions?|prompt|orders|directives?)(?: are| is)?:",
    ),
    _spoken(
        "from now on you",
        "overrides-instructions",
        ("from now on", "you are now"),
        r"\bfrom now on,? you\b",
        r"\byou are now (?:an? |the |in )",
    ),
    _spoken("template mark", "poses-as-a-role", ("<|", "|>"), r"<\|[a-z_]{2,24}\|?>"),
    _spoken(
        "bracket mark",
        "poses-as-a-role",
        ("inst]", "<<sys", "_of_turn>"),
        r"\[/inst\]|^\s{0,3}\[inst\]|<</?sys>>|<(?:start|end)_of_turn>",
    ),
    _spoken(
        "role heading",
        "poses-as-a-role",
        ("##",),
        r"^[ \t]{0,3}#{2,4} ?(?:system|human|user|assistant)(?: prompt| message)? ?:",
    ),
    _spoken("role line", "poses-as-a-role", ("human:", "assistant:"), r"(?:\A|\n\s{0,3}\n)(?:human|assistant):"),
    _spoken(
        "system line",
        "poses-as-a-role",
        ("system", "developer"),
        r"^\W{0,3}(?:system|developer)(?: (?:prompt|message|override|notice|update))\W{0,3}:",
        r"^\W{0,3}system\W{0,3}: ?you\b",
    ),
    _spoken(
        "role tag",
        "poses-as-a-role",
        ("system", "assistant", "human", "user", "tool"),
        r"</?(?:system|assistant|human|user|tool)(?:[_-](?:prompt|message|instructions?|results?))?>",
    ),
    _command(
        "fetch and run",
        "runs-payload",
        _FETCHERS,
        rf"{_FETCH}[^\n|]{{0,300}}\|\s{{0,5}}{_SHELL}",
        rf"(?:\b(?:(?:ba|z)?sh|source|eval|iex|python\d?)|(?<!\S)\.)\s{{1,3}}(?:-c\s{{1,3}})?[\"']?(?:<\(|\$\(|`|\()\s{{0,3}}{_FETCH}",
        rf"{_FETCH}[^\n|]{{0,200}}(?:&&|;)\s{{0,3}}(?:sudo )?(?:chmod (?:a|u)?\+x\b|chmod 7|(?:ba|z)?sh\s|\./)",
    ),
    _command(
        "decode and run",
        "runs-payload",
        ("base64", "xxd", "openssl"),
        rf"\b(?:base64|xxd|openssl)\b[^\n|]{{0,100}}\|\s{{0,5}}{_SHELL}",
    ),
    _command(
        "evaluate what is fetched",
        "runs-payload",
        ("eval", "exec"),
        r"\b(?:eval|exec)\s?\(\s?(?:compile\(\s?)?(?:requests|urllib|urlopen|httpx|base64|b64decode|bytes\.fromhex|codecs|marshal|zlib|__import__|atob|await fetch)\b",
    ),
    _command(
        "encoded powershell",
        "runs-payload",
        ("powershell", "pwsh"),
        r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,80}\s-e(?:nc?|ncodedcommand)?\b",
    ),
    _command(
        "shell over the network",
        "opens-shell",
        ("/dev/tcp", "/dev/udp", "nc ", "ncat", "netcat", "socat", "mkfifo", "authorized_keys"),
        r"/dev/(?:tcp|udp)/\S",
        r"\b(?:nc|ncat|netcat)\b[^\n]{0,60}\s(?:-\w{0,4}[ec]|--exec)\b[^\n]{0,20}sh\b",
        r"\bsocat\b[^\n]{0,100}\bexec:",
        r"\bmkfifo\b[^\n]{0,100}\b(?:nc|sh)\b",
        r">>?\s?\S{0,60}authorized_keys",
    ),
    _command(
        "send secrets",
        "sends-out",
        ("curl", "wget", "nc ", "ncat", "netcat", "socat", "scp", "sftp", "rsync", "telnet"),
        rf"{_SENDERS}[^\n]{{0,200}}{_SECRETS}[^\n]{{0,200}}\b(?:https?://|\w[\w.-]{{0,60}}@?\w[\w.-]{{0,60}}:)",
        rf"\b(?:curl|wget)\b[^\n]{{0,200}}(?:https?://|@)[^\n]{{0,200}}{_SECRETS}",
        rf"{_SECRETS}[^\n|]{{0,100}}\|[^\n]{{0,100}}\b(?:curl|wget|nc|ncat|netcat|socat|telnet)\b",
    ),
    _command(
        "send by an image",
        "sends-out",
        ("![",),
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&][^)\s=]{1,40}=(?:\{|\$|<|\[|%7b)",
    ),
    _command(
        "delete everything",
        "destroys",
        ("rm ", "rmdir", "del ", "format ", "remove-item"),
        rf"\brm\s{{1,3}}(?:-{{1,2}}[\w-]{{1,20}}\s{{1,3}}){{0,3}}-(?:\w{{0,6}}[rf]\w{{0,6}}|-recursive|-force)\s{{1,3}}(?:-{{1,2}}[\w-]{{1,20}}\s{{1,3}}){{0,3}}[\"']?{_EVERYTHING}",
        r"\b(?:del|rmdir|remove-item)\s[^\n]{0,40}\b[a-z]:\\(?=[\s*`'\"]|$)",
        r"\bformat\s[a-z]:(?=[\s`]|$)",
    ),
    _command(
        "overwrite disks",
        "destroys",
        ("mkfs", "/dev/", "chmod", ":|:"),
        r"\bmkfs(?:\.\w{1,10})?\s[^\n]{0,40}/dev/",
        r"\bdd\s[^\n]{0,100}\bof=/dev/(?!null|zero)",
        r">\s?/dev/(?:sd|hd|nvme|vd)\w",
        r"\bchmod\s{1,3}-r\s{1,3}0?[0-7]{3}\s{1,3}/(?=[\s`]|$)",
        r":\(\)\s?\{\s?:\s?\|\s?:\s?&\s?\}",
    ),
)
