"""What an attack looks like, whatever it is about: marks of a chat, words that override, commands that do harm.

Each form is here because it stops texts that it wasn't written from and that no other form stops
(`benchmarks/screening.py --ablation`). What was measured and stopped none of them isn't here.
"""

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
    kind: str
    """ "words", "marks" or "command": quoted words and marks are talked about, a quoted command is given to be run."""


def _attack(name: str, rule: str, marks: str, *regexes: str, kind: str = "command") -> Form:
    """A form; marks stand between commas."""
    regex = re.compile("|".join(regexes), re.MULTILINE)
    return Form(name=name, rule=rule, marks=tuple(marks.split(",")), regex=regex, kind=kind)


_THEN = r"[^\w.!?;]{1,4}"
"""Between two words of one sentence."""
_WORD = rf"(?:{_THEN}\w{{1,20}})"
_DROP = (
    r"\b(?:ignor\w{1,3}|disregard\w{0,3}|forget\w{0,4}|overrid\w{1,3}|overrul\w{1,3}|bypass\w{0,3}"
    r"|(?:stop|n[o']t) (?:follow|obey)\w{0,3})"
)
_DROPS = "ignor,disregard,forget,overrid,overrul,bypass,follow,obey"
_EARLIER = r"(?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|existing|original|initial|system|your|my)"
_ORDERS = (
    r"(?:instruction|rule|prompt|guideline|guidance|direction|directive|command|order|polic(?:y|ie)|constraint|restriction"
    r"|programming|training)s?\b"
)
_ELSEWHERE = r"(?! (?:in|on|of|from|for|inside|within|embedded|found|contained|that)\b)"
"""Orders in a file or a page aren't the reader's own."""
_SAID = r"(?:above|before|previously|prior|earlier|so far|told|learned)\b"

_SHELL = (
    r"(?:sudo (?:-\w{1,9} ){0,2})?(?:/(?:usr/)?bin/)?(?:env )?"
    r"(?:(?:ba|z|da|k|fi)?sh|python[\d.]{0,4}|perl|ruby|node|php|iex|pwsh|powershell)\b"
)
_FETCH = r"\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)\b"
_END = r"(?=[\s`'\";)&|]|$)"
_EVERYTHING = rf"[\"']?(?:/\*|/{_END}|(?:~|\$home|\$\{{home\}}|/(?:etc|usr|var|bin|boot|lib|home|root))/?\*?{_END})"
_OPTIONS = r"(?:-{1,2}[\w-]{1,20}\s{1,3}){0,3}"

FORMS: tuple[Form, ...] = (
    _attack(
        "drop earlier orders",
        "overrides-instructions",
        _DROPS,
        f"{_DROP}{_WORD}{{0,4}}?{_THEN}{_EARLIER}{_WORD}{{0,3}}?{_THEN}{_ORDERS}",
        kind="words",
    ),
    _attack(
        "drop all orders",
        "overrides-instructions",
        _DROPS,
        rf"{_DROP}{_THEN}(?:all|any|every)\b{_WORD}{{0,2}}?{_THEN}{_ORDERS}{_ELSEWHERE}",
        kind="words",
    ),
    _attack(
        "drop what was said",
        "overrides-instructions",
        _DROPS,
        rf"{_DROP}{_THEN}(?:everything|anything|all|whatever|what)\b{_WORD}{{0,5}}?{_THEN}{_SAID}",
        rf"{_DROP}{_THEN}(?:all )?(?:of )?(?:the )?(?:above|foregoing)(?= and\b|[.,:;!]|$)",
        kind="words",
    ),
    _attack(
        "other orders",
        "overrides-instructions",
        "from now on,you are now,new ",
        r"\bfrom now on,? you\b",
        r"\byou are now (?:an? |the |in )",
        r"\bnew (?:system )?(?:instructions?|prompt|orders|directives?)(?: are| is)?:",
        kind="words",
    ),
    _attack(
        "template mark",
        "poses-as-a-role",
        "<|,|>,inst],<<sys,<</sys,_of_turn>",
        r"<\|[a-z_]{2,24}\|?>|\[/inst\]|^\s{0,3}\[inst\]|<</?sys>>|<(?:start|end)_of_turn>",
        kind="marks",
    ),
    _attack(
        "role at a line's beginning",
        "poses-as-a-role",
        "human:,assistant:,system,developer",
        r"(?:\A|\n\s{0,3}\n)(?:human|assistant):",
        r"^\W{0,40}(?:system|developer) (?:prompt|message|override|notice|update)\W{0,3}:",
        r"^\W{0,40}system\W{0,3}: ?you\b",
        kind="marks",
    ),
    _attack(
        "fetch and run",
        "runs-payload",
        "curl,wget,iwr,irm,iex,invoke-",
        rf"{_FETCH}[^\n|]{{0,300}}\|\s{{0,5}}{_SHELL}",
        rf"(?:\b(?:(?:ba|z)?sh|source|eval|iex|python\d?)|(?<!\S)\.)\s{{1,3}}(?:-c\s{{1,3}})?[\"']?(?:<\(|\$\(|`|\()\s{{0,3}}{_FETCH}",
        rf"{_FETCH}[^\n|]{{0,200}}(?:&&|;)\s{{0,3}}(?:sudo )?(?:chmod (?:a|u)?\+x\b|chmod 7|(?:ba|z)?sh\s|\./)",
        r"\biex\s?\(\s?\(?new-object (?:system\.)?net\.webclient\b",
    ),
    _attack(
        "decode and run",
        "runs-payload",
        "base64,b64decode,xxd,openssl,eval,exec,powershell,pwsh",
        rf"\b(?:base64|b64decode|xxd|openssl)\b[^\n|]{{0,100}}\|\s{{0,5}}{_SHELL}",
        r"\b(?:eval|exec)\s?\(\s?(?:compile\(\s?)?(?:requests|urllib|urlopen|base64|b64decode|bytes\.fromhex|__import__|atob)\b",
        r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,80}\s-e(?:nc?|ncodedcommand)?\b",
    ),
    _attack(
        "shell over the network",
        "opens-shell",
        "/dev/tcp,/dev/udp,nc ,nc\t,ncat,netcat,socat,mkfifo,authorized_keys,sock",
        r"/dev/(?:tcp|udp)/\S",
        r"\b(?:nc|ncat|netcat)[ \t](?:[^\n]{0,60}\s)?(?:-\w{0,4}[ec]|--exec)\b[^\n]{0,20}sh\b",
        r"\bsocat\b[^\n]{0,100}\bexec:",
        r"\bmkfifo\b[^\n]{0,100}\b(?:nc|sh)\b",
        r">>?\s?\S{0,60}authorized_keys",
        r"sock\w{0,8}\b[^\n]{0,400}(?:/bin/(?:ba)?sh\b|\b(?:ba)?sh -i\b|\bcmd\.exe\b)",
    ),
    _attack(
        "destroy",
        "destroys",
        "rm ,rm\t,mkfs,/dev/,:()",
        rf"\brm[ \t]{{1,3}}{_OPTIONS}-(?:\w{{0,6}}[rf]\w{{0,6}}|-recursive|-force)\s{{1,3}}{_OPTIONS}{_EVERYTHING}",
        r"\bmkfs(?:\.\w{1,10})?\s[^\n]{0,40}/dev/",
        r"\bdd\s[^\n]{0,100}\bof=/dev/(?!null|zero)",
        r">\s?/dev/(?:sd|hd|nvme|vd)\w",
        r":\(\)\s?\{\s?:\s?\|\s?:\s?&\s?\}",
    ),
)
