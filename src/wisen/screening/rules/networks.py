"""Network addresses: IPv4 and IPv6 with prefix lengths, and hardware addresses.

Loopback, "any" and net masks say nothing about a place and stay. Versions look like IPv4: four small numbers count as
an address only where the text speaks of one.
"""

import ipaddress
import re
from collections.abc import Iterator

from wisen.screening.rules.id_rules import words
from wisen.screening.rules.sightings import Sighting, in_context, is_list_of_ids

_V4 = re.compile(
    r"(?<![\w.+])(?<![\w.]-)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:/(?:3[0-2]|[12]?\d)(?![\d.]))?(?![\w]|\.\w|-\w)"
)
_V6 = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f]{0,8}:)[0-9A-Fa-f:]{2,45}+"
    r"(?:\d{1,3}(?:\.\d{1,3}){3}|(?:\.\d{1,3}){3})?(?:%[\w.-]{1,15})?(?:/\d{1,3})?(?![\w:]|\.\w)"
)
_MAC = re.compile(
    r"[0-9A-Fa-f](?<![\w:.-].)(?:[0-9A-Fa-f](?P<separator>[:-])(?:[0-9A-Fa-f]{2}(?P=separator)){4}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{3}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4})(?![\w]|[:.-]\w)"
)
"""Begins with a set of characters, by which a search is several times as fast as with what stands before it."""
_BARE_MAC = re.compile(r"(?<![\w:.-])(?=[0-9A-Fa-f]{0,11}[0-9])[0-9A-Fa-f]{12}(?![\w])")
_DIGIT = re.compile(r"[0-9]")
_MAC_WORDS = words("mac ethernet hardware_address physical_address hwaddr")
_IP_WORDS = words(
    "ip ips ipv4 ipv6 address addr host hosts server ping ssh route gateway subnet network resolver nameserver dns "
    "listen connect peer node client proxy allow deny firewall bind remote vpn prefix cidr inet broadcast mapped"
)
_VERSION = re.compile(
    r"(?i)(?:\bv[`'\"(*]{0,3}|(?:version:?|release[ds]?|==|[<>~^!]=|\bbuild|\bsince|\bpython)[ `'\"(*]{0,3})\Z"
)
_LARGEST_PART = 25
"""Versions seldom have larger ones in all four places."""
_MASK_HEADS = ("255.0.", "255.255.", "255.128.", "255.192.", "255.224.", "255.240.")
_BROADCAST = "255.255.255.255"


def sight_networks(text: str) -> Iterator[Sighting]:
    """All readings as an IP or hardware address."""
    if text.count(".") > 2:  # noqa: PLR2004 - those of an address
        yield from _v4(text)
    colons = text.count(":")
    if colons > 1:
        yield from _v6(text)
    for match in _MAC.finditer(text) if colons > 4 or text.count("-") > 4 or text.count(".") > 1 else ():  # noqa: PLR2004 - separators of six bytes
        written = match.group()
        if "." in written and written.replace(".", "").isdigit() and not in_context(_MAC_WORDS, text, *match.span()):
            continue
        if set(written.lower()) - set(":-.0") and set(written.lower()) - set(":-.f"):
            yield Sighting(6, *match.span(), "mac-address", "mac")
    if _DIGIT.search(text) and _BARE_MAC.search(text) and _MAC_WORDS.search(text):
        for match in _BARE_MAC.finditer(text):
            if in_context(_MAC_WORDS, text, *match.span()):
                yield Sighting(3, *match.span(), "mac-address", "mac")


def _v4(text: str) -> Iterator[Sighting]:
    for match in _V4.finditer(text):
        parts = [int(part) for part in match.groups()]
        if max(parts) > 255 or parts[0] in (0, 127):  # noqa: PLR2004 - a byte; loopback
            continue
        written = match.group()
        if written.startswith(_MASK_HEADS) and written != _BROADCAST:
            continue
        if _VERSION.search(text, max(0, match.start() - 24), match.start()) and max(parts) < 100:  # noqa: PLR2004 - few versions have larger parts
            continue
        small = max(parts) <= _LARGEST_PART and parts[0] != 10  # noqa: PLR2004 - the private net 10/8
        if small and "/" not in written and not (in_context(_IP_WORDS, text, *match.span()) or is_list_of_ids(text)):
            continue
        yield Sighting(5, *match.span(), "ip-address", "ip")


def _v6(text: str) -> Iterator[Sighting]:
    for match in _V6.finditer(text):
        written = match.group()
        start, end = match.span()
        if written.endswith(":") and not written.endswith("::"):
            written, end = written[:-1], end - 1
        if written.count(":") < 2:  # noqa: PLR2004 - the shortest are ::1 and 1::
            continue
        address, _, prefix = written.partition("/")
        if prefix and int(prefix) > 128:  # noqa: PLR2004 - bits
            continue
        try:
            read = ipaddress.IPv6Address(address)
        except ValueError:
            continue
        if read.is_loopback or read.is_unspecified:
            continue
        if _is_telling(address) or in_context(_IP_WORDS, text, start, end):
            yield Sighting(6, start, end, "ip-address", "ip")


def _is_telling(address: str) -> bool:
    """Whether it can't be a slice ("1::2"), a scope ("add::be") or the like."""
    groups = [group for group in address.split(":") if group]
    has_digit = any(character.isdigit() for character in address)
    return has_digit and (len(groups) >= 3 or any(len(group) == 4 for group in groups))  # noqa: PLR2004 - hex groups
