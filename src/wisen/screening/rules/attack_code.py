"""What attacks look like in code, on command lines and in chat templates; read as it stands, not word by word."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """A form that an attack has, and what a text has to contain, in lower case, for it to be looked for."""

    rule: str
    weight: int
    marks: tuple[str, ...]
    regex: re.Pattern[str]


def pattern(rule: str, weight: int, marks: str, regex: str) -> Pattern:
    """A form with its marks, which are words or signs between blanks."""
    """A form with its marks, which are words or signs between blanks."""
    return Pattern(rule, weight, tuple(marks.split()), re.compile(regex, re.IGNORECASE | re.MULTILINE))


_SHELL = (
    r"(?:sudo\s{1,3}(?:-\w{1,9}\s{1,3}){0,2})?(?:/(?:usr/)?bin/)?(?:env\s{1,3})?(?:(?:ba|z|da|k|c"
    r"|a)?sh|python[\d.]{0,4}|perl|ruby|node|php|iex|pwsh|powershell)\b"
)
_FILES = (
    r"(?:~|/home/\w{1,40}|/root|\$home|\$\{home\})?/?\.(?:ssh|aws|gnupg|kube|netrc|pgpass|npmrc|pypirc"
    r"|git-credentials|azure)\b[\w./-]{0,80}"
    r"|(?<![\w.])\.env(?:\.\w{1,20})?\b|\bid_(?:rsa|ed25519|ecdsa)\b|/etc/(?:passwd|shadow|sudoers)\b"
    r"|\b(?:wallet\.dat|credentials\.json|secrets\.ya?ml|service[_-]account\.json|keychain|login\.keychain"
    r"|\w{1,40}\.pem|\w{1,40}\.kdbx)\b"
)
_CHAT_MARK = (
    r"<\|(?:im_(?:start|end|sep)|system|user|assistant|endoftext|eot_id|begin_of_text|start_header_id"
    r"|end_header_id|endofprompt)\|?>"
)
"""A mark of a chat's template; one that is quoted by itself is a name, not a mark."""

PLACES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "URL",
        ("://", "www."),
        re.compile(r"(?:https?|ftps?|sftp|wss?|smb|s3|gs|tcp)://[^\s<>\"'`)\]]{1,2000}|\bwww\.[\w.-]{3,200}"),
    ),
    (
        "IPURL",
        ("://",),
        re.compile(r"https?://(?!10\.|127\.|0\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)\d{1,3}(?:\.\d{1,3}){3}"),
    ),
    (
        "TESTFILE",
        ("test_", "_test", "tests/", ".spec."),
        re.compile(r"\btests?/[\w./-]{1,200}|\btest_\w{1,80}|\b\w{1,80}(?:_test|\.spec)\.\w{1,5}\b"),
    ),
    (
        "XNAMED",
        ("user ", "account ", "customer ", "client ", "tenant ", "employee ", "supplier ", "from ", "to "),
        re.compile(
            r"\b(?:user|account|customer|client|tenant|employee|supplier|vendor) (?:id )?[#\"']?\d{1,8}\b"
            r"|\b(?:from|to) (?:\d{1,3}(?:\.\d{1,3}){3}|[\w-]{2,60}\.(?:com|net|org|io|biz|example|de|ru|cn))\b"
        ),
    ),
    ("EMAIL", ("@",), re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")),
    (
        "SECRETFILE",
        (
            ".env",
            ".ssh",
            ".aws",
            "id_",
            "/etc/",
            ".kube",
            ".netrc",
            ".pem",
            ".npmrc",
            "credentials.json",
            "keychain",
            "wallet.dat",
            "secrets.y",
            ".gnupg",
            "-credentials",
            ".pypirc",
            ".pgpass",
            ".kdbx",
            "account.json",
        ),
        re.compile(_FILES),
    ),
    (
        "BADTOOL",
        ("_",),
        re.compile(
            r"\b(?:transfer|pay|make_payment|payment|refund|issue|wire|purchase|payout|withdraw|delete"
            r"|drop|grant|share|send|remove|destroy|wipe|disable|unlock|export|forward|publish|approve"
            r"|post|exec|execute|run|reset|update|change)_"
            r"\w{1,40}\b"
        ),
    ),
)
"""Classes that are seen by their form."""

COMMANDS: tuple[Pattern, ...] = (
    pattern(
        "runs-payload",
        3,
        "curl wget fetch iwr invoke-webrequest invoke-restmethod irm",
        r"\b(?:curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod)\b[^\n|]{0,300}\|\s{0,5}" + _SHELL,
    ),
    pattern(
        "runs-payload",
        3,
        "curl wget",
        r"(?:(?:ba|z)?sh|source|eval|\.|python\d?)\s{1,3}(?:-c\s{1,3})?[\"']?(?:<\(|\$\(|`)\s{0,3}(?:curl|wget)\b",
    ),
    pattern(
        "runs-payload",
        3,
        "curl wget",
        r"\b(?:curl|wget)\b[^\n|]{0,200}(?:&&|;)\s{0,3}(?:sudo\s{1,3})?(?:chmod\s{1,3}\+x\b|(?:ba|z)?sh\s|\./)",
    ),
    pattern(
        "runs-payload",
        3,
        "eval exec",
        (
            r"\b(?:eval|exec)\s{0,3}\(\s{0,3}(?:compile\()?(?:requests|urllib|urlopen|httpx|fetch|await|base64"
            r"|bytes\.fromhex|codecs|marshal|zlib|open\(|__import__|atob)"
        ),
    ),
    pattern("runs-payload", 3, "base64 xxd openssl", r"\b(?:base64|xxd|openssl)\b[^\n|]{0,100}\|\s{0,5}" + _SHELL),
    pattern("runs-payload", 3, "/dev/tcp /dev/udp", r"/dev/(?:tcp|udp)/"),
    pattern("runs-payload", 3, "nc ncat netcat", r"\b(?:nc|ncat|netcat)\b[^\n]{0,60}\s-\w{0,4}[ec]\b"),
    pattern("runs-payload", 3, "mkfifo", r"\bmkfifo\b[^\n]{0,100}\b(?:nc|sh)\b"),
    pattern(
        "runs-payload",
        3,
        "powershell pwsh iex certutil mshta bitsadmin regsvr32",
        (
            r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,80}\s-e(?:nc?|ncodedcommand)?\b|\biex\s{0,3}\(|certutil\b[^\n]{0,40"
            r"}-urlcache|mshta\s{1,3}https?:|bitsadmin\s{1,3}/transfer"
        ),
    ),
    pattern(
        "runs-payload",
        3,
        "system( popen( subprocess os.system",
        (
            r"(?:os\.system|popen|subprocess\.\w{1,20})\s{0,3}\(\s{0,3}\[?[frb]{0,2}[\"'][^\n]{0,120}(?:curl"
            r"|wget|/bin/sh|nc\s|rm\s+-rf|\bbash\b|@/|chmod 777)"
        ),
    ),
    pattern(
        "destroys",
        3,
        "rm",
        (
            r"\brm\s{1,3}(?:-{1,2}[\w-]{1,30}\s{1,3}){1,5}(?:[\"']?(?:/|~|\$home|\$\{home\}|/\*|\.git|c:\\\\?)"
            r"(?=[\s\"'`*;.,]|$|/\s)|/(?:etc|var|usr|home|boot|root|bin|lib|opt|srv|mnt)\b)"
        ),
    ),
    pattern("destroys", 3, "preserve-root", r"--no-preserve-root"),
    pattern(
        "destroys",
        3,
        "mkfs dd /dev/sd :(){",
        r"\bmkfs\.\w{2,8}\s|\bdd\s{1,3}if=\S{1,80}\s{1,3}of=/dev/|>\s{0,3}/dev/sd[a-z]|:\(\)\s{0,3}\{\s{0,3}:\|:",
    ),
    pattern("destroys", 3, "chmod", r"\bchmod\s{1,3}(?:-\w{1,9}\s{1,3}){0,3}(?:0?777|a\+rwx)\s{1,3}(?:/|~|\$home)"),
    pattern("destroys", 2, "chmod", r"\bchmod\s{1,3}(?:-r\s{1,3})(?:0?777|a\+rwx)\b"),
    pattern("destroys", 2, "drop", r"\bdrop\s{1,3}(?:table|database|schema)\s{1,3}(?:if\s{1,3}exists\s{1,3})?\w"),
    pattern(
        "sends-out",
        3,
        "curl wget",
        (
            r"\b(?:curl|wget|http)\b[^\n]{0,200}(?:\s-(?:d|f|t)\s{0,2}|--data(?:-\w{1,10})?[= ]|--upload-file"
            r"|--post-(?:file|data)=|--form\s)[\"']?[^\n\"']{0,40}(?:@\s{0,2}(?:/|~|\.env|\$)|\$\(|`|\$\{?\w{0,30}"
            r"(?:key|token|secret|pass))"
        ),
    ),
    pattern(
        "sends-out",
        3,
        "env printenv /etc/ history .ssh .env .aws",
        r"\b(?:env|printenv|cat\s{1,3}\S{1,80}|history)\s{0,3}\|\s{0,3}(?:curl|nc|wget|base64)\b",
    ),
    pattern(
        "sends-out",
        3,
        "authorized_keys",
        (
            r">>?\s{0,3}\S{0,60}authorized_keys|authorized_keys[\"'][^\n]{0,60}[\"'][aw]\+?[\"']|to\s{1,3}\S{0,60}authoriz"
            r"ed_keys"
        ),
    ),
    pattern("sends-out", 3, "document.cookie", r"(?:src|location|href|fetch\(|beacon)[^\n]{0,120}document\.cookie"),
    pattern(
        "sends-out", 3, "![", r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&][^)\s]{0,60}=(?:\{|<|\[|\$[\w{(]|%7b)"
    ),
    pattern(
        "covers-traces",
        3,
        "history histfile auditctl wevtutil shred",
        (
            r"\bhistory\s{1,3}-c\b|unset\s{1,3}histfile|histfile=/dev/null|auditctl\s{1,3}-e\s{0,2}0|wevtutil\s{1,3}cl\b"
            r"|\bshred\b[^\n]{0,40}/var/log"
        ),
    ),
    pattern(
        "disables-safety",
        2,
        "verify",
        (
            r"\bverify\s{0,3}=\s{0,3}false\b|ssl_?verify\S{0,3}\s{0,3}false|--no-verify\b|verify_?mode\s{0,3}=\s{0,3}"
            r"(?:ssl\.)?cert_none"
        ),
    ),
    pattern(
        "disables-safety",
        2,
        "node_tls_reject_unauthorized strict-ssl sslverify cert_none rejectunauthorized",
        (
            r"node_tls_reject_unauthorized\W{1,4}0|strict-ssl\s{1,3}false|sslverify\W{1,4}false|rejectunauthorized\W{1,4}f"
            r"alse"
        ),
    ),
    pattern("disables-safety", 3, "dangerously", r"--?dangerously-[\w-]{4,40}"),
    pattern(
        "disables-safety",
        3,
        "setenforce iptables ufw defender",
        (
            r"\bsetenforce\s{1,3}0\b|\biptables\s{1,3}-f\b|\bufw\s{1,3}disable\b|disablerealtimemonitoring\s{1,3}\$?"
            r"(?:true|1)"
        ),
    ),
    pattern("steers-the-score", 2, "sys.exit os._exit exit(0", r"\b(?:sys\.exit|os\._exit|exit|quit)\(0\)"),
    pattern(
        "steers-the-score",
        3,
        "score: score= reward",
        (
            r"\b(?:print|write|output|echo|log)\b[^\n]{0,20}\b(?:score|reward|grade)\"?\s{0,3}[:=]\s{0,3}(?:1"
            r"(?:\.0)?|100|10/10)\b"
        ),
    ),
    pattern(
        "steers-the-score",
        3,
        "__eq__",
        r"__eq__[^\n]{0,60}\b(?:always\s{1,3})?returns?\s{1,3}true|return\s{1,3}true[^\n]{0,60}__eq__",
    ),
)

TEMPLATES: tuple[Pattern, ...] = (
    pattern(
        "poses-as-a-role",
        3,
        "<|",
        rf"(?<![\"'`]){_CHAT_MARK}|{_CHAT_MARK}(?![\"'`])",
    ),
    pattern("poses-as-a-role", 3, "inst] <<sys <</sys <start_of_turn", r"\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>"),
    pattern(
        "poses-as-a-role",
        3,
        "<system </system <assistant <admin <developer <operator <important> <information>",
        (
            r"</?(?:system|assistant|admin|developer|operator)(?:[-_ ](?:prompt|message|note|instructions?"
            r"|reminder))?>|<(?:important|information)>"
        ),
    ),
    pattern(
        "poses-as-a-role",
        3,
        "system] admin] developer] operator] assistant] root] [system [admin",
        (
            r"^[\s>*#_-]{0,20}\[{1,2}(?:system|admin|administrator|developer|operator|assistant|root|policy)"
            r"(?:[\s:_-]{1,3}[\w ]{1,30})?\]"
        ),
    ),
    pattern(
        "poses-as-a-role",
        3,
        (
            "system: system* system_ system` admin: developer: assistant: operator: assistant* system** instruction:"
            " instructions:"
        ),
        (
            r"^[\s>*#_`-]{0,20}(?:system|assistant|developer|sysadmin|root|admin(?:istrator)?|operator)(?:"
            r" (?:prompt|message|note|override|instructions?|update|notice|directive|command|alert))?[*_`]{0,3}\s{0,3}:"
            r"(?!\s{0,3}(?:windows|linux|ubuntu|debian|mac|darwin|fedora|centos|alpine|arch|x86|arm|n/a|python"
            r"|node|\d|[^\n]{0,12}$))"
        ),
    ),
    pattern(
        "poses-as-a-role",
        3,
        "instruction: instructions: response: input:",
        r"^#{2,4}\s{0,3}(?:new\s{1,3})?(?:system|instructions?|human|assistant|user)\s{0,3}:",
    ),
    pattern(
        "poses-as-a-role",
        3,
        "end of beginning of",
        (
            r"[-=*<]{2,10}\s{0,3}(?:end|start|begin(?:ning)?)\s{1,3}of\s{1,3}(?:the\s{1,3})?(?:system|user"
            r"|context|memory|document|prompt|data|untrusted|instructions?)\b[^\n]{0,30}[-=*>]{2,10}"
        ),
    ),
)

_LEAK_SOURCE = re.compile(
    r"open\(|environ|getpass|screenshot|cookie|listdir|working_set|contacts|clipboard|expanduser|os\.walk"
    r"|glob\(|getuser|gethostname|psutil|platform\.|keyboard|pynput|camera|microphone|sqlite3|\.history"
    r"|get_key|ifconfig|scapy|netifaces|uname|read\(\)",
    re.IGNORECASE,
)
_LEAK_SINK = re.compile(
    r"requests\.(?:post|put)|\.sendall?\(|\.sendto\(|sendmail|smtplib|yagmail|\bscp\b|\brsync\b|ftplib"
    r"|storbinary|request\(\s{0,3}[\"'](?:post|put)|urlopen\([^)\n]{0,80}data|webhook|bluetooth|paramiko"
    r"|\bsftp\b|boto3|upload|discover_devices|publish\(",
    re.IGNORECASE,
)
_HARM = re.compile(
    r"\bssh\s{1,3}-[LRDN]|-L\s{0,2}\d{2,5}:|nohup|cryptomin|AES\.new|Cipher\(|Fernet|authorized_keys|rmtree"
    r"|os\.remove|os\.rename|shutil\.move|systemctl\s{1,3}stop|shutdown|taskkill|os\.kill|while True|ImageGrab"
    r"|/bin/(?:ba)?sh|exec\(|eval\(|urlretrieve|wget\.download|ctypes|winreg|crontab|pyautogui|iptables"
    r"|sniff\(|setuid|os\.fork|_load_cookie_file|\.terminate\(|Popen|os\.system|socket\.socket|\brm -rf"
    r"|useradd|chpasswd|netsh|multiprocessing|kill\(",
    re.IGNORECASE,
)
_PLANT = re.compile(
    r"\b(?:code|script) (?:snippet|block|excerpt|section|segment|fragment|piece|lines?|sample)s?\b", re.IGNORECASE
)
_FENCE = re.compile(r"```[^`]{20,6000}(?:```|\Z)")


def plants_code(text: str) -> tuple[int, int] | None:
    """Where a text asks to carry code into answers that sends data out, takes over a machine or does damage."""
    if "```" not in text or not _PLANT.search(text):
        return None
    for fence in _FENCE.finditer(text):
        code = fence.group()
        if (_LEAK_SOURCE.search(code) and _LEAK_SINK.search(code)) or _HARM.search(code):
            return fence.span()
    return None
