"""The examples in deploy/ agree with the command line, with one another, and with what they promise."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main
import yaml

from wisen.cli.main import application
from wisen.cli.worker import WatchOptions
from wisen.operations.health import Health
from wisen.operations.metrics import Metrics
from wisen.operations.serving import DEFAULT_ADDRESS, Address
from wisen.operations.serving import application as pages

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8")))
STATEFUL = next(one for one in MANIFESTS if one["kind"] == "StatefulSet")
POD = STATEFUL["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
SPARE = 10
"""Seconds that a worker may need beyond its grace, to hand back and to close."""


def seconds(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(s|m)", text).groups()  # pyright: ignore[reportOptionalMemberAccess]
    return int(number) * {"s": 1, "m": 60}[unit]


def parsed(words: list[str]) -> dict[str, Any]:
    """What the command line's own parser makes of the words behind `wisen`."""
    command: Any = typer.main.get_command(application())
    context: Any = None
    rest = list(words)
    while True:
        context = command.make_context(command.name, rest, parent=context)
        if not hasattr(command, "resolve_command"):
            return {"command": command.name, **context.params}
        rest = [*context._protected_args, *context.args]
        _, command, rest = command.resolve_command(context, rest)


def commands() -> Iterator[Any]:
    for name, service in COMPOSE["services"].items():
        if service.get("image") == "wisen-worker":
            yield pytest.param(service["command"], id=f"compose {name}")
    yield pytest.param(CONTAINER["command"][1:], id="kubernetes")


@pytest.mark.parametrize("words", list(commands()))
def test_every_command_line_is_understood(words: list[str]) -> None:
    assert parsed(words)["command"] in ("worker", "submit")


def test_a_command_line_with_a_mistake_is_noticed() -> None:
    with pytest.raises(Exception, match=r"(?i)no such option"):
        parsed(["worker", "--que", "nightly"])


def test_the_entrypoints_end_in_wisen() -> None:
    for name in ("worker", "submit"):
        shell, flag, script, program = COMPOSE["services"][name]["entrypoint"]
        assert (shell, flag, program) == ("sh", "-c", "wisen")
        assert script.endswith('exec wisen "$$@"')
    assert CONTAINER["command"][0] == "wisen"
    assert 'ENTRYPOINT ["wisen"]' in DOCKERFILE


def test_workers_and_submitters_name_the_same_queue_and_store() -> None:
    services = COMPOSE["services"]
    assert parsed(services["worker"]["command"])["queue"] == parsed(services["submit"]["command"])["queue"]
    stores = {services[name]["environment"]["WISEN_STORE"] for name in ("worker", "submit")}
    (store,) = stores
    assert re.fullmatch(r"postgresql://wisen@postgres:5432/wisen", store)
    assert services["postgres"]["environment"]["POSTGRES_USER"] == "wisen"
    assert services["postgres"]["environment"]["POSTGRES_DB"] == "wisen"


def test_workers_have_time_to_stop() -> None:
    service = COMPOSE["services"]["worker"]
    assert seconds(service["stop_grace_period"]) >= parsed(service["command"])["grace"] + SPARE
    assert POD["terminationGracePeriodSeconds"] >= parsed(CONTAINER["command"][1:])["grace"] + SPARE


def test_ports_agree() -> None:
    default = Address.parse(DEFAULT_ADDRESS)
    service = COMPOSE["services"]["worker"]
    assert Address.parse(parsed(service["command"])["http"]) == default
    assert f"http://{default}/readyz" in service["healthcheck"]["test"][-1]
    listening = Address.parse(parsed(CONTAINER["command"][1:])["http"])
    assert listening.port == default.port
    assert listening.host == "0.0.0.0"  # noqa: S104 - a probe comes from outside of the pod
    assert CONTAINER["ports"] == [{"name": "metrics", "containerPort": default.port}]
    service = next(one for one in MANIFESTS if one["kind"] == "Service")
    assert [(port["port"], port["targetPort"]) for port in service["spec"]["ports"]] == [(default.port, "metrics")]
    assert service["metadata"]["annotations"]["prometheus.io/port"] == str(default.port)
    assert f"EXPOSE {default.port}" in DOCKERFILE


def test_probes_ask_for_pages_that_there_are() -> None:
    paths = {str(getattr(route, "path", "")) for route in pages(Health(), Metrics()).routes}
    asked = {name: CONTAINER[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert {one["path"] for one in asked.values()} <= paths
    assert {one["port"] for one in asked.values()} == {"metrics"}
    assert asked["livenessProbe"]["path"] == asked["startupProbe"]["path"] == "/healthz"
    assert asked["readinessProbe"]["path"] == "/readyz"
    service = next(one for one in MANIFESTS if one["kind"] == "Service")
    assert service["metadata"]["annotations"]["prometheus.io/path"] in paths


def test_a_check_has_time_to_answer() -> None:
    """The limit of one check of readiness is shorter than what asks for it waits."""
    limit = inspect.signature(Health).parameters["patience"].default
    assert CONTAINER["readinessProbe"]["timeoutSeconds"] > limit
    assert seconds(COMPOSE["services"]["worker"]["healthcheck"]["timeout"]) > limit


def test_a_workers_id_is_its_pods_name() -> None:
    assert parsed(CONTAINER["command"][1:])["id_"] == "$(POD_NAME)"
    names = {one["name"]: one.get("valueFrom", {}) for one in CONTAINER["env"]}
    assert names["POD_NAME"] == {"fieldRef": {"fieldPath": "metadata.name"}}
    assert list(names).index("POD_NAME") == 0
    assert STATEFUL["spec"]["serviceName"] in {one["metadata"]["name"] for one in MANIFESTS if one["kind"] == "Service"}


def test_labels_select_the_pods() -> None:
    labels = STATEFUL["spec"]["template"]["metadata"]["labels"]
    assert STATEFUL["spec"]["selector"]["matchLabels"] == labels
    for kind, selector in (
        ("Service", ("spec", "selector")),
        ("PodDisruptionBudget", ("spec", "selector", "matchLabels")),
    ):
        found: Any = next(one for one in MANIFESTS if one["kind"] == kind)
        for step in selector:
            found = found[step]
        assert found == labels


def test_pods_have_no_rights() -> None:
    assert POD["securityContext"]["runAsNonRoot"]
    assert POD["automountServiceAccountToken"] is False
    container = CONTAINER["securityContext"]
    assert container["readOnlyRootFilesystem"]
    assert container["allowPrivilegeEscalation"] is False
    assert container["capabilities"] == {"drop": ["ALL"]}
    user = POD["securityContext"]["runAsUser"]
    assert f"USER {user}:{user}" in DOCKERFILE
    assert {"requests", "limits"} == set(CONTAINER["resources"])
    for name in ("worker", "submit"):
        service = COMPOSE["services"][name]
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]


def test_no_file_holds_a_password_or_a_key() -> None:
    secret = {"PGPASSWORD", "OPENAI_API_KEY"}
    given = {one["name"]: one for one in CONTAINER["env"]}
    assert all("value" not in given[name] and "secretKeyRef" in given[name]["valueFrom"] for name in secret)
    environment = COMPOSE["services"]["worker"]["environment"]
    assert environment["OPENAI_API_KEY"] is None
    assert "POSTGRES_PASSWORD" not in COMPOSE["services"]["postgres"]["environment"]
    for file in DEPLOY.iterdir():
        assert not re.search(r"://[^/\s:@]+:[^/\s@]+@", file.read_text("utf-8")), file.name


def test_names_of_images_have_no_host() -> None:
    images = [one["image"] for one in COMPOSE["services"].values()] + [CONTAINER["image"]]
    images += re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    for image in images:
        assert "." not in image.partition(":")[0].partition("/")[0], image


def test_the_image_takes_files_that_there_are() -> None:
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists(), name
            assert f"!{name}" in (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()


def test_defaults_of_the_worker_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "how-to" / "operations.md").read_text("utf-8")
    assert WatchOptions().http is None
    assert "Without `--http` nothing is served." in page


FIGURE = re.compile(r"\bwisen_[a-z_]+")


def test_the_page_on_operations_names_every_metric_and_no_other() -> None:
    page = (ROOT / "docs" / "how-to" / "operations.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `wisen_")]
    named = {row.split("`")[1].partition("{")[0]: row for row in rows}
    there: dict[str, set[str]] = {}
    for family in Metrics().registry.collect():
        name = family.name + {"counter": "_total", "info": "_info"}.get(family.type, "")
        there[name] = {name, f"{name}_bucket", f"{name}_sum", f"{name}_count"} if family.type == "histogram" else {name}
    assert set(named) == set(there)
    every = {one for names in there.values() for one in names}
    for name, row in named.items():
        alert = row.split("|")[2]
        assert set(FIGURE.findall(alert)) <= every, name
        assert set(FIGURE.findall(alert)) & there[name], name


def test_labels_of_metrics_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "how-to" / "operations.md").read_text("utf-8")
    metrics = Metrics()
    for name, labels in re.findall(r"^\| `(wisen_[a-z_]+)\{([a-z_,]+)\}`", page, re.MULTILINE):
        own = metrics.registry._names_to_collectors[name.removesuffix("_total").removesuffix("_info")]
        if name != "wisen_build_info":
            assert list(own._labelnames) == labels.split(","), name  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
