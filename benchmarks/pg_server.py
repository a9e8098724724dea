"""A real PostgreSQL for the benchmarks: the tests' server with the settings of a server that keeps its word."""

import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_SUPPORT = Path(__file__).resolve().parents[1] / "tests" / "support" / "postgres.py"
SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "2GB",
    "effective_cache_size": "8GB",
    "maintenance_work_mem": "3GB",
    "max_wal_size": "8GB",
    "work_mem": "16MB",
    "random_page_cost": "1.1",
    "autovacuum_naptime": "1min",
    "max_connections": "200",
}

_TOLD = ("fsync", "synchronous_commit", "shared_buffers")


@contextmanager
def running(memory: str = "") -> Generator[Any]:
    """A server in a temporary directory; nothing of it is left. `memory` replaces its shared buffers."""
    spec = importlib.util.spec_from_file_location("tests_postgres", _SUPPORT)
    if spec is None or spec.loader is None:
        sys.exit(f"{_SUPPORT} is missing")
    support: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = support
    spec.loader.exec_module(support)
    home = Path(tempfile.mkdtemp(prefix="wisen-bench-pg-"))
    chosen = SETTINGS | ({"shared_buffers": memory} if memory else {})
    try:
        server = support.PostgresServer(home)
        with (home / "data" / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.writelines(f"{name} = {value}\n" for name, value in chosen.items())
        server.start()
        try:
            server.make_template()
            yield server
        finally:
            with suppress(RuntimeError):
                server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def told(server: Any) -> str:
    """The server's version and the settings that decide, for reports; `SETTINGS` has all."""
    version = server.sql("SHOW server_version")
    vector = server.sql("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
    settings = ", ".join(f"{name} = {server.sql(f'SHOW {name}')}" for name in _TOLD)
    return f"PostgreSQL {version} with pgvector {vector} over a Unix socket, {settings}"
