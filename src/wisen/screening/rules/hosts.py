"""Names of machines and services inside a network.

Names that every installation has ("host.docker.internal", "kubernetes.default.svc") say nothing and stay, and so do
attributes in code that end like one ("threading.local").
"""

import re
from collections.abc import Iterator

from wisen.screening.rules.marks import Marks
from wisen.screening.rules.sightings import Sighting, terms

_INTERNAL = re.compile(
    r"(?<![\w.@$/\\-])(?<!from )(?<!import )(?:[A-Za-z0-9_-]{1,63}\.){1,8}"
    r"(?:internal|corp|local|lan|intranet|intra|localdomain|home\.arpa|private|svc|consul)"
    r"(?![\w(=\[-]| import\b|\.\w|/[\w-]{1,80}\.(?:py|js|ts))",
    re.IGNORECASE,
)
_SUFFIXES = Marks((".internal", ".corp", ".local", ".lan", ".intra", ".home.arpa", ".private", ".svc", ".consul"))
_WELL_KNOWN = terms(
    "metadata.google.internal google.internal kubernetes.default.svc kubernetes.default.svc.cluster.local",
    "cluster.local svc.cluster.local instance-data.ec2.internal ec2.internal compute.internal docker.internal",
    "asyncio.local env.local werkzeug.local app.local mysite.local",
)
_CODE_HEADS = terms(
    "self cls this value threading thread settings config env os sys np tf torch jax module package java sun com org",
)
_PRIVATE_NAME = re.compile(
    r"(?<![\w.@$/\\-])(?:[A-Za-z0-9-]{1,63}\.){0,4}(?:internal|intranet|corp|staging|stg|preprod|uat)\."
    r"(?:[A-Za-z0-9-]{1,63}\.){1,4}"
    r"(?:com|net|org|io|dev|cloud|co|eu|de|uk|fr|ch|at|nl|se|us|ai|app|biz|info)(?![\w-]|\.\w)"
)
_PRIVATE_SUFFIXES = Marks(("internal.", "intranet.", "corp.", "staging.", "stg.", "preprod.", "uat."))
_CLOUD = re.compile(
    r"(?<![\w.-])(?:[A-Za-z0-9_-]{1,63}\.){1,6}(?:"
    r"(?:rds|cache|elb|redshift|es|compute(?:-\d)?|eks|execute-api|elasticbeanstalk)\.(?:[a-z0-9-]{4,20}\.)?"
    r"(?:elb\.)?amazonaws\.com"
    r"|(?:us|eu|ap|sa|ca|me|af)-[a-z]{4,10}-\d\.(?:rds|elb|eks|es|redshift|compute)\.amazonaws\.com"
    r"|(?:database|blob\.core|queue\.core|table\.core|file\.core|servicebus|vault|documents|redis\.cache)"
    r"\.(?:windows|azure)\.net|cloudapp\.azure\.com|azurecr\.io|azmk8s\.io)(?![\w-]|\.\w)"
)
_EC2 = re.compile(r"(?<![\w.-])(?:ip|ec2)-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:(?:\.[A-Za-z0-9-]{1,63}){1,5})?(?![\w-])")
_POD = re.compile(
    r"(?<![\w./-])[a-z][a-z0-9-]{0,80}-(?=[b-z]{0,9}\d)[bcdf-hj-np-tv-xz24-9]{8,10}-[bcdf-hj-np-tv-xz24-9]{5}(?![\w-])"
)
"""A replica set's and a pod's suffix are drawn from an alphabet without vowels."""
_NUMBERED = re.compile(
    r"(?<![\w./@-])(?P<name>[A-Za-z][A-Za-z0-9]{0,15}+(?:-[A-Za-z0-9]{1,16}+){0,4}(?<=\d))"
    r"(?P<domain>(?:\.[A-Za-z0-9-]{1,63}){0,5})(?![\w-])"
)
_FILES = terms(
    "csv txt log json yaml yml py js ts md sql gz zip tar png jpg svg html xml toml cfg ini sh rs go java c h cpp",
    "pdf",
)
_ROLES = terms(
    "db database web app api cache redis kafka node worker master mysql mariadb postgres pg psql mongo mongodb es",
    "elastic elasticsearch jenkins ldap mail smtp mx proxy lb haproxy nginx vpn bastion jump jumphost gw gateway",
    "fw firewall dc ns dns srv server host vm k8s kube etcd consul vault rabbit rabbitmq mq zk zookeeper broker",
    "auth sso build ci runner gitlab git nexus registry storage nas san backup bkp log logs logging monitor",
    "grafana prom prometheus oracle sql mssql ad ftp sftp file fs esx esxi hv compute gpu batch etl data dwh",
    "hadoop spark billing payments search replica primary fileserver webserver appserver dbserver",
)
_ENVIRONMENTS = terms("prod prd production stg stage staging dev qa uat preprod dr sit nonprod")
_PIECES = re.compile(r"k8s|[A-Za-z]+|\d+")
_MANY_PIECES = 4
_DIGIT = re.compile(r"[0-9]")
_SHARE = re.compile(
    r"(?<![\\\w])\\{2,4}"
    r"(?P<host>(?=[A-Za-z]{0,40}[\d.-]|[A-Za-z]{0,20}(?i:server|srv|nas|share|files))[A-Za-z][\w.-]{2,62})"
    r"\\{1,2}[A-Za-z][\w$ .-]{1,80}"
)


def sight_hosts(text: str) -> Iterator[Sighting]:
    """All readings as the name of a machine or service."""
    if "." in text:
        yield from _with_domain(text)
    if _DIGIT.search(text):
        yield from _numbered(text)
    if "\\\\" in text:
        for match in _SHARE.finditer(text):
            yield Sighting(6, *match.span("host"), "file-share", "host")


def is_well_known(host: str) -> bool:
    """Whether every installation has a host of that name, given in lower case."""
    return host in _WELL_KNOWN or host.endswith(".docker.internal") or host.partition(".")[0] in _CODE_HEADS


def _with_domain(text: str) -> Iterator[Sighting]:
    folded = text.lower()
    if _SUFFIXES.are_in(folded):
        for match in _INTERNAL.finditer(text):
            if not is_well_known(match.group().lower()):
                yield Sighting(6, *match.span(), "internal-host", "host")
    if _PRIVATE_SUFFIXES.are_in(folded):
        for match in _PRIVATE_NAME.finditer(text):
            yield Sighting(6, *match.span(), "internal-host", "host")
    if "amazonaws" in text or "azure" in text or "windows.net" in text:
        for match in _CLOUD.finditer(text):
            yield Sighting(6, *match.span(), "cloud-host", "host")


def _numbered(text: str) -> Iterator[Sighting]:
    if "-" in text:
        for match in _EC2.finditer(text) if "ip-" in text or "ec2-" in text else ():
            yield Sighting(7, *match.span(), "cloud-host", "host")
        for match in _POD.finditer(text) if text.count("-") > 1 else ():
            yield Sighting(5, *match.span(), "pod", "host")
    for match in _NUMBERED.finditer(text):
        if _is_server(match["name"], match["domain"]):
            yield Sighting(4, *match.span(), "server-name", "host")


def _is_server(name: str, domain: str) -> bool:
    """Whether a name has a server's pieces: role, environment and number, or a role and a padded number."""
    *_, last = labels = domain.lower().split(".")
    pieces = [piece.lower() for piece in _PIECES.findall(name)]
    if last in _FILES or not pieces[-1].isdigit():
        return False
    if "-" not in name and pieces[0] not in _ROLES and pieces[0] not in _ENVIRONMENTS:
        return False
    has_role = any(piece in _ROLES for piece in pieces)
    if any(piece in _ENVIRONMENTS for piece in (*pieces, *labels)) and (has_role or len(pieces) >= _MANY_PIECES):
        return True
    return has_role and pieces[-1].startswith("0") and len(pieces[-1]) > 1
