"""What tells how a network is built, and what every installation has."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.screening.infrastructure import find_infrastructure

LOGIN = "admin:" + "Tr0ub4dor" * 2
FOUND = (
    ("ip", "The host 10.0.0.5 refuses", "10.0.0.5"),
    ("ip", "talk to 10.0.0.5:5432.", "10.0.0.5"),
    ("ip", "V 10.1.1.1 ", "10.1.1.1"),
    ("ip", "Subnet: 192.168.1.0/24", "192.168.1.0/24"),
    ("ip", "resolver 8.8.8.8", "8.8.8.8"),
    ("ip", "the answer came back as 54.23.11.98", "54.23.11.98"),
    ("ip", "Broadcast 255.255.255.255", "255.255.255.255"),
    ("ip", "see http://10.1.2.3:8080/x", "10.1.2.3"),
    ("ip", "see http://[2001:db8::1]/path", "2001:db8::1"),
    ("ip", "Prefix: 2001:db8::/32", "2001:db8::/32"),
    ("ip", "fe80::1ff:fe23:4567:890a%eth0 is up", "fe80::1ff:fe23:4567:890a%eth0"),
    ("ip", "Mapped: ::ffff:192.168.1.1", "::ffff:192.168.1.1"),
    ("ip", "0:0:0:0:0:FFFF:129.144.52.38", "0:0:0:0:0:FFFF:129.144.52.38"),
    ("mac", "Device 00:1A:2B:3C:4D:5E joined", "00:1A:2B:3C:4D:5E"),
    ("mac", "Device 00-1a-2b-3c-4d-5e joined", "00-1a-2b-3c-4d-5e"),
    ("mac", "Device aabb.ccdd.ee0f joined", "aabb.ccdd.ee0f"),
    ("mac", "MAC 001A2B3C4D5E", "001A2B3C4D5E"),
    ("host", "restart db-prod-03 first", "db-prod-03"),
    ("host", "query vault.service.consul", "vault.service.consul"),
    ("host", "restart prod-db-1 first", "prod-db-1"),
    ("host", "restart web01.corp first", "web01.corp"),
    ("host", "restart redis-prod-1.acme.net first", "redis-prod-1.acme.net"),
    ("host", "restart k8s-worker-07 first", "k8s-worker-07"),
    ("host", "restart jenkins.internal first", "jenkins.internal"),
    ("host", "printer.lan is down", "printer.lan"),
    ("host", "calls payments.billing.svc.cluster.local often", "payments.billing.svc.cluster.local"),
    ("host", "on ip-10-0-0-1.ec2.internal it hung", "ip-10-0-0-1.ec2.internal"),
    ("host", "on ip-10-0-0-1 it hung", "ip-10-0-0-1"),
    ("host", "on staging.acme.com it hung", "staging.acme.com"),
    ("host", "pod api-7d9f8b6c5d-x2x4z crashed", "api-7d9f8b6c5d-x2x4z"),
    ("host", "mydb.abc123.us-east-1.rds.amazonaws.com:5432", "mydb.abc123.us-east-1.rds.amazonaws.com"),
    ("host", "copy to \\\\fileserver01\\share", "fileserver01"),
    ("host", "ssh root@bastion01", "bastion01"),
    ("url", "open http://jenkins:8080/job/1, then", "http://jenkins:8080/job/1"),
    ("url", "open https://wiki.acme.internal/x.", "https://wiki.acme.internal/x"),
    ("url", "open https://grafana.corp.acme.com/d/1", "https://grafana.corp.acme.com/d/1"),
    ("url", f"use postgres://{LOGIN}@db.acme.com:5432/app", f"postgres://{LOGIN}@db.acme.com:5432/app"),
    ("url", "post to https://webhook.site/0a1b2c3d-0000", "https://webhook.site/0a1b2c3d-0000"),
    ("bucket", "read s3://acme-payroll-prod/2024", "acme-payroll-prod"),
    ("bucket", "read https://acme-payroll.s3.eu-west-1.amazonaws.com/x", "acme-payroll"),
    ("account", "role arn:aws:iam::123456789012:role/x", "123456789012"),
    ("user", "in /home/anna/project", "anna"),
    ("user", "in /Users/anna.", "anna"),
    ("user", "file:///home/anna/x", "anna"),
    ("user", "in C:\\Users\\anna\\x", "anna"),
    ("user", "in C:\\\\Users\\\\Anna Schmidt\\\\x", "Anna Schmidt"),
    ("user", "in /mnt/c/Users/anna", "anna"),
    ("user", "anna@build-box:~$ make", "anna"),
)
LEFT = (
    *("127.0.0.1:8000", "0.0.0.0", "::1", "http://localhost:8000/x", "http://127.0.0.1/x", "255.255.255.0"),  # noqa: S104
    *("version 1.2.3.4", "v10.0.19041", "tool==45.67.12.3", "text192.168.1.1", "300.168.1.1", "192.168.0", "12:34:56"),
    *("std::vector", "x[1::2]", "a::b", "2001::25de::cade", "::ffff:256.0.0.1", "12345:db8::1", "ZZ:ZZ:ZZ:ZZ:ZZ:ZZ"),
    *("00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "threading.local()", "self.local", "host.docker.internal", "web01.csv"),
    *(
        "https://github.com/a/b",
        "http://server:80/",
        "redis://redis:6379/0",
        "http://example.com:8080",
        "{host}.internal/x(",
    ),
    *("https://your-bucket.s3.amazonaws.com/x", "s3://bucket/key", "postgres://user:password@host/db", "python-3.11"),
    *("/home/user/project", "/home/<name>/x", "GET /users/12", "https://a.org/home/page", "/home/ubuntu", "~/project"),
    *("git@github.com:org/x.git", "gpt-4o-mini-2024", "node-18", "utf-8", "x86-64", "api-v2", "http://{host}:80/"),
)


@pytest.mark.parametrize(("label", "text", "value"), FOUND)
def test_it_is_found_with_its_place(label: str, text: str, value: str) -> None:
    findings = find_infrastructure(text)

    assert (label, value) in {(finding.label, text[finding.start : finding.end]) for finding in findings}
    assert {finding.family for finding in findings} == {"infrastructure"}


@pytest.mark.parametrize("text", LEFT)
def test_it_is_left_alone(text: str) -> None:
    assert find_infrastructure(f"Yesterday we noticed: {text} and went on.") == []


def test_four_small_numbers_are_an_address_where_one_is_spoken_of() -> None:
    assert find_infrastructure("upgraded from 1.2.3.4 to 1.2.3.5") == []
    assert len(find_infrastructure("the server 1.2.3.4 is down")) == 1


def test_a_folders_span_is_the_users_name_alone() -> None:
    (finding,) = find_infrastructure("/home/anna/project")

    assert (finding.start, finding.end) == (6, 10)


@given(st.text(st.characters(), max_size=200) | st.text("019af:./-@\\%[]sh homeUrscpt\ud800", max_size=60))
def test_any_text_is_taken(text: str) -> None:
    findings = find_infrastructure(text)

    assert all(0 <= finding.start < finding.end <= len(text) for finding in findings)
    assert all(one.end <= other.start for one, other in pairwise(findings))


@given(st.sampled_from(FOUND), st.text(max_size=40), st.text(max_size=40))
def test_lines_around_hide_nothing(found: tuple[str, str, str], before: str, after: str) -> None:
    label, text, _ = found
    whole = f"{before}\n{text}\n{after}"
    start, end = len(before), len(before) + len(text) + 1

    assert any(finding.start < end and finding.end > start for finding in find_infrastructure(whole)), label
