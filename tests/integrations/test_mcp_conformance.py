"""The protocol's conformance suite against `wisen mcp`: what a server of tools alone can pass, it passes.

`make test-mcp-conformance` installs the suite. What isn't named here fails because the suite asks for its own fixtures
(tools, resources and prompts of certain names) or for features that this server has no use for: completion, sampling,
elicitation, progress, log levels, subscriptions, tasks.
"""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

GIVEN = os.environ.get("WISEN_MCP_CONFORMANCE", "")
SUITE = Path(GIVEN)
NODE, PROGRAM = SUITE / "node" / "bin" / "node", SUITE / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

pytestmark = pytest.mark.skipif(
    not GIVEN, reason="the suite isn't named in WISEN_MCP_CONFORMANCE; make test-mcp-conformance"
)

PASSED = {
    "2026-07-28": {
        "caching",
        "dns-rebinding-protection",
        "http-header-validation",
        "input-required-result-ignore-extra-params",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
        "prompts-list",
        "resources-list",
        "sep-2164-resource-not-found",
        "server-sse-multiple-streams",
        "tools-call-error",
        "tools-call-simple-text",
        "tools-list",
    },
    "2025-11-25": {
        "dns-rebinding-protection",
        "ping",
        "prompts-list",
        "resources-list",
        "server-initialize",
        "tools-call-error",
        "tools-call-simple-text",
        "tools-list",
    },
}
"""The scenarios of each revision of the protocol of which no check fails, and some passes."""
UNTESTABLE = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}
"""Checks of the scenario `server-stateless` that call a tool of the suite's own."""
_WIRE = "wire-schema-valid"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    store = tmp_path_factory.mktemp("conformance") / "lessons.db"
    command = [sys.executable, "-m", "wisen", "mcp", "--embedder", "hash", "--store", str(store), "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        yield server.stderr.readline().split()[-1]
        server.terminate()


def checks(url: str, revision: str, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What the suite found, by scenario."""
    command = [NODE, PROGRAM, "server", "--url", url, "--requirements", revision, "-o", folder]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    found = {
        path.parent.name[len("server-") : -len("-2026-01-01T00-00-00-000Z")]: path for path in folder.glob("*/*.json")
    }
    assert found, done.stderr
    return {scenario: json.loads(path.read_text("utf-8")) for scenario, path in found.items()}


@pytest.mark.parametrize("revision", PASSED)
def test_what_a_server_of_tools_can_pass_it_passes(url: str, revision: str, tmp_path: Path) -> None:
    found = checks(url, revision, tmp_path)
    failed = {name: {one["id"] for one in all_ if one["status"] == "FAILURE"} for name, all_ in found.items()}
    passed = {
        name
        for name, all_ in found.items()
        if not failed[name] and any(one["status"] == "SUCCESS" and one["id"] != _WIRE for one in all_)
    }
    assert passed == PASSED[revision]
    assert failed.get("server-stateless", UNTESTABLE) == UNTESTABLE
    assert not [name for name, ids in failed.items() if _WIRE in ids], "each message fits the protocol's schema"
