"""Finds what tells how a network or a machine is built: addresses, internal names and URLs, users' folders.

It stands apart because it is one of the detectors that a screen is made of.

The span of a home directory is the user's name alone, so that the path stays useful: "/home/<user-1>/project". The
span of an internal URL is the whole URL. A public IP in a URL is found as an IP; public URLs aren't infrastructure.
"""

from collections.abc import Iterator

from wisen.protocols import Finding
from wisen.screening.rules.accounts import sight_accounts
from wisen.screening.rules.hosts import sight_hosts
from wisen.screening.rules.networks import sight_networks
from wisen.screening.rules.sightings import Sighting, settle
from wisen.screening.rules.urls import sight_urls


def find_infrastructure(text: str) -> list[Finding]:
    """Find addresses and names of machines; one finding for a span that fits several kinds, sorted by place."""
    return settle(_sight(text), "infrastructure")


def _sight(text: str) -> Iterator[Sighting]:
    yield from sight_networks(text)
    yield from sight_hosts(text)
    yield from sight_urls(text)
    yield from sight_accounts(text)
