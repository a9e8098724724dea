import importlib.util
import json
import sys
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest
from secret_samples import Samples

from wisen.screening.rules.secret_names import SERVICES
from wisen.screening.rules.secret_prefixes import PrefixRule, prefix_table
from wisen.screening.secrets import find_secrets

ROOT = Path(__file__).parent.parent.parent
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
RULES = sorted({rule for rules in prefix_table().rules.values() for rule in rules}, key=lambda rule: rule.prefix)
SET = r"""
rules:
  - name: Acme Access Token
    id: set.acme.1
    pattern: |
      (?x)
      \b
      (
        acmx_[0-9a-zA-Z]{20}   # a comment
      )
      (?:\b|$)
  - name: Acme Key
    id: set.acme.2
    pattern: (?xi) \b acme (?:.|[\n\r]){0,32}? (?:SECRET|KEY) (?:.|[\n\r]){0,32}? \b ( [a-f0-9]{32} ) \b
  - name: Two Token
    id: set.two.1
    pattern: \b((?:zk|zt)[ab]-v1_(?:[a-f0-9]{10}){2,3}|zq\.\d{3}-[A-Z]{10}={0,2})
  - name: Looks like a public key
    id: set.public.1
    pattern: \b(pubx1[a-z0-9]{58})\b
"""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("secret_rules", ROOT / "tools" / "secret_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["secret_rules"] = module
    spec.loader.exec_module(module)
    return module


def drawn(rule: PrefixRule, seed: int) -> str:
    signs = "".join(sign for sign in ALPHABET if rule.run.fullmatch(sign))
    return rule.prefix + Samples(seed).draw(signs, min(rule.least, 4_000))


@pytest.mark.parametrize("seed", range(3))
def test_what_has_a_published_prefix_alphabet_and_length_is_found_whole(seed: int) -> None:
    missed: list[str] = []
    for rule in RULES:
        text = f"see {drawn(rule, seed)} there"
        if not any(one.start <= 4 and one.end >= len(text) - 6 for one in find_secrets(text)):
            missed.append(f"{rule.name}: {rule.prefix} {rule.least}")
    assert len(missed) <= len(RULES) * 0.02, missed


def test_tables_say_where_they_are_from() -> None:
    data = files("wisen.screening.rules").joinpath("data")
    sources = json.loads(data.joinpath("secrets.json").read_text("utf-8"))["sources"]
    assert {one["licence"] for one in sources} == {"Apache-2.0"}
    assert all(len(one["version"]) == 40 for one in sources)
    assert "Apache License" in data.joinpath("secrets.LICENSE").read_text("utf-8")
    notice = (ROOT / "NOTICE").read_text("utf-8").lower()
    assert all(one["origin"].rpartition("/")[2] in notice for one in sources)


def test_services_that_are_spoken_of_beside_digests_announce_no_secret() -> None:
    digest = "0123456789abcdef"[::-1] * 2 + "0a1b2c3d"
    assert "github" not in SERVICES
    assert find_secrets(f"github {digest} and docker {digest}") == []
    assert find_secrets(f"cloudflare {digest}")


def test_a_set_becomes_rows_of_the_table(tool: ModuleType, tmp_path: Path) -> None:
    tmp_path.joinpath("set.yml").write_text(SET, "utf-8")
    target = tmp_path / "secrets.json"
    tool.main(ROOT / "src/wisen/embedders/bert-uncased-vocab.txt.gz", [f"me/set,MIT,1.0,{tmp_path}"], target)
    assert json.loads(target.read_text("utf-8")) == {
        "sources": [{"origin": "me/set", "licence": "MIT", "version": "1.0"}],
        "services": ["acme"],
        "prefixes": [
            ["Acme Access Token", "alnum", 20, "telling", "acmx_"],
            ["Two Token", "dots", 14, "plain", "zq."],
            ["Two Token", "hex", 20, "telling", "zka-v1_ zkb-v1_ zta-v1_ ztb-v1_"],
        ],
    }


@pytest.mark.parametrize(
    ("prefix", "telling"),
    [("glpat-", True), ("AKIA", True), ("GR1348941", True), ("sk-", False), ("test_", False), ("AAAA", False)],
)
def test_a_prefix_of_words_alone_tells_little(tool: ModuleType, prefix: str, telling: bool) -> None:
    common = frozenset(("test", "gr", "live", "secret"))
    assert tool.is_telling(prefix, common) is telling
