"""Changes a package's code in small ways, one at a time, and lists the changes that none of its tests notices.

Run it as `make mutants PACKAGE=src/wisen/account`; a single module will do, too. The tests are those of the folder of
the same name and those that import from the package; `ARGS=tests/…` names others. mutmut makes the mutants, in a copy
below build/, and `mutant_trials` tries them there. `ARGS=--again` tries the last run's survivors once more.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import wisen

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build/mutants"
COPIED = ("src", "tests", "tools", "benchmarks", "examples", "docs", "pyproject.toml", "README.md", "LICENSE", "NOTICE")
PROFILE = """
from hypothesis import HealthCheck, Phase
settings.register_profile(
    "mutants",
    parent=settings.get_profile("wisen"),
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=(HealthCheck.differing_executors, HealthCheck.too_slow),
)
settings.load_profile("mutants")
"""
"""For the copy's conftest.py: one process runs each test again and again, and has no use for the smallest example."""


def main() -> None:
    """Make the copy and the mutants in it, have them tried, and tell the score."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("package", type=Path, help="a package or module, such as src/wisen/account")
    asked.add_argument("tests", type=Path, nargs="*", help="test files or folders, in place of those found")
    asked.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked.add_argument("--seconds", type=float, default=6.0, help="of tests for one mutant, the quickest first")
    asked.add_argument("--again", action="store_true", help="try the survivors of the last run once more")
    given = asked.parse_args()
    package: Path = given.package
    if not (ROOT / package).exists() or package.parts[:2] != ("src", "wisen"):
        sys.exit(f"{package} isn't a package or module of wisen's; run: make mutants PACKAGE=src/wisen/account")
    tests = [str(one) for one in given.tests] or tests_of(package)
    if not tests:
        sys.exit(f"no test imports from {package}; name some: make mutants PACKAGE={package} ARGS=tests/…")
    results = WORK / f"{'.'.join(package.with_suffix('').parts[1:])}.json"
    before: dict[str, str] = json.loads(results.read_text("utf-8")) if given.again else {}
    copy()
    names = mutated(package)
    tried = [name for name in names if before.get(name, "") == ""]
    print(f"{package}: {len(tried)} mutants, {len(tests)} test files", file=sys.stderr)  # noqa: T201 - a program's output
    kept = {name: before[name] for name in names if name in before}
    wanted = {"mutants": tried, "processes": given.processes, "seconds": given.seconds, "kept": kept}
    (WORK / "wanted.json").write_text(json.dumps(wanted | {"results": str(results)}), "utf-8")
    if trials(tests):
        sys.exit("the tests don't run without any change; see above")
    noticed: dict[str, str] = json.loads(results.read_text("utf-8"))
    caught = sum(bool(noticed[name]) for name in names)
    print(f"{caught} of {len(names)} mutants noticed ({caught / max(len(names), 1):.1%})")  # noqa: T201 - a program's output


def trials(tests: list[str]) -> int:
    """Run pytest in the copy, with the plugin that tries mutants in place of running tests; gives its exit code."""
    quickly = ("-q", "-n", "0", "--assert=plain", "--tb=native", "-p", "no:cacheprovider", "-p", "mutant_trials")
    command = [sys.executable, "-m", "pytest", *quickly]
    paths = os.pathsep.join((str(WORK / "src"), str(ROOT / "tools")))
    surroundings = os.environ | {"PYTHONPATH": paths, "MUTANT_UNDER_TEST": "", "PY_IGNORE_IMPORTMISMATCH": "1"}
    return subprocess.run([*command, *tests], cwd=WORK, check=False, env=surroundings).returncode  # noqa: S603 - our own words


def tests_of(package: Path) -> list[str]:
    """Test files in the folder of the package's name, and those elsewhere that import from it, or its public names."""
    dotted = ".".join(package.with_suffix("").parts[1:])
    public = [
        name for name in dir(wisen) if f"{getattr(getattr(wisen, name), '__module__', '')}.".startswith(f"{dotted}.")
    ]
    from_package = rf"^\s*(?:from|import) {re.escape(dotted)}\b"
    from_root = rf"^from wisen import [^)]*?\b(?:{'|'.join(public)})\b" if public else "(?!)"
    mentions = re.compile(f"{from_package}|{from_root}", re.MULTILINE)
    own = ROOT / "tests" / package.with_suffix("").name
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    found = [path for path in files if path.is_relative_to(own) or mentions.search(path.read_text("utf-8"))]
    return [str(path.relative_to(ROOT)) for path in found if "frameworks" not in path.parts]


def copy() -> None:
    """A fresh copy of the project, whose tests may run again and again in one process."""
    WORK.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.rmtree(WORK / name, ignore_errors=True)
            shutil.copytree(source, WORK / name, ignore=shutil.ignore_patterns("__pycache__", "results"))
        else:
            shutil.copy(source, WORK / name)
    with (WORK / "tests/conftest.py").open("a", encoding="utf-8") as file:
        file.write(PROFILE)


def mutated(package: Path) -> list[str]:
    """Put all mutants into the copy's modules, where a variable of the environment picks one; gives their names."""
    generated = import_module("mutmut.mutation.file_mutation")
    names = list[str]()
    target = WORK / package
    os.chdir(WORK)  # mutmut looks for its settings here
    for path in sorted(target.rglob("*.py")) if target.is_dir() else [target]:
        made = generated.mutate_file_contents(str(path), path.read_text("utf-8"))
        path.write_text(made.code, "utf-8")
        module = ".".join(path.relative_to(WORK / "src").with_suffix("").parts)
        names += [f"{module}.{name}" for name in made.mutant_names]
    return names


if __name__ == "__main__":
    main()
