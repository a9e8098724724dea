"""What hostile programs can't do in the sandbox; each test runs one."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from wisen.errors import ConfigError, SandboxError
from wisen.sandbox.sandbox import Sandbox, SandboxLimits, SandboxResult

pytestmark = pytest.mark.anyio

LIMITS = SandboxLimits(
    cpu_seconds=1,
    wall_seconds=20,
    memory_bytes=64 << 20,
    output_bytes=20_000,
    file_bytes=1 << 20,
    processes=12,
)
QUICK = SandboxLimits(wall_seconds=0.5)


@pytest.fixture(params=[True, False], ids=["isolated", "not isolated"])
def isolate(request: pytest.FixtureRequest) -> bool:
    return request.param


async def run(code: str, limits: SandboxLimits = LIMITS, *, isolate: bool = True, stdin: bytes = b"") -> SandboxResult:
    return await Sandbox(limits, isolate=isolate).run([sys.executable, "-I", "-S", "-c", code], stdin=stdin)


def alive(marker: str) -> list[str]:
    """Processes whose command line holds `marker`, zombies aside."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [str(path)] if marker.encode() in path.read_bytes() else []
        except OSError:
            continue
    return found


async def test_output_and_exit_code_come_back(isolate: bool):
    result = await run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)", isolate=isolate)
    assert (result.exit_code, result.killed) == (3, None)
    assert (result.stdout, result.stderr) == ("out\n", "err\n")
    assert result.ending == "exit code 3"
    assert not result.passed


async def test_stdin_ends(isolate: bool):
    result = await run("import sys; print(sys.stdin.read() + '!')", isolate=isolate, stdin=b"hello")
    assert result.passed
    assert result.stdout == "hello!\n"


async def test_an_endless_loop_is_stopped(isolate: bool):
    result = await run("while True: pass", isolate=isolate)
    assert result.killed == "cpu"


async def test_a_sleeper_is_stopped(isolate: bool):
    result = await run("import time; time.sleep(600)", QUICK, isolate=isolate)
    assert (result.killed, result.exit_code) == ("wall", None)
    assert result.ending == "stopped at the limit of wall"


@pytest.mark.parametrize(
    "hog",
    [
        "hoard = []\nwhile True: hoard.append(bytearray(1 << 20))",
        "hoard = bytearray(1 << 40)",
        "import os, time\nfor _ in range(3): os.fork()\nhoard = bytearray(b'x') * (20 << 20)\ntime.sleep(60)",
    ],
    ids=["piecemeal", "at once", "spread over processes"],
)
async def test_a_memory_hog_is_stopped(hog: str, isolate: bool):
    assert (await run(hog, isolate=isolate)).killed == "memory"


async def test_a_flood_of_output_is_stopped_and_its_tail_kept(isolate: bool):
    result = await run("while True: print('x' * 1000)", isolate=isolate)
    assert result.killed == "output"
    assert set(result.stdout) == {"x", "\n"}


@pytest.mark.parametrize(
    "writer",
    [
        "f = open('big', 'wb')\nwhile True: f.write(b'x' * 100_000)",
        "i = 0\nwhile True:\n    open(str(i), 'wb').write(b'x' * 100_000)\n    i += 1",
    ],
    ids=["one file", "many files"],
)
async def test_writing_too_much_is_stopped(writer: str, isolate: bool):
    assert (await run(writer, isolate=isolate)).killed == "files"


async def test_too_many_processes_are_stopped(isolate: bool):
    # Bounded by itself at 128, so that a broken sandbox doesn't take the machine along.
    bomb = "import os, time\nfor _ in range(7):\n    try: os.fork()\n    except OSError: pass\ntime.sleep(60)"
    assert (await run(bomb, SandboxLimits(processes=12, wall_seconds=10), isolate=isolate)).killed in (
        "processes",
        "wall",
    )


async def test_a_detached_child_does_not_outlive_the_program(isolate: bool):
    marker = f"detached-{os.getpid()}-{isolate}"
    code = f"""
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for stream in (0, 1, 2): os.close(stream)
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", {marker!r}])
    os._exit(0)
time.sleep(0.2)
"""
    result = await run(code, isolate=isolate)
    assert result.passed
    assert alive(marker) == []


async def test_cancelling_kills_everything(isolate: bool, tmp_path: Path):
    marker = f"cancelled-{os.getpid()}-{isolate}"
    started = tmp_path / "started"
    code = f"import os, time\nos.fork()\nopen({str(started)!r}, 'w').close()\ntime.sleep(600)\n# {marker}"
    running = asyncio.create_task(run(code, isolate=isolate))
    while not started.exists():  # noqa: ASYNC110 - another process makes the file
        await asyncio.sleep(0)
    assert alive(marker) != []
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert alive(marker) == []


@asynccontextmanager
async def listening() -> AsyncGenerator[int]:
    async with await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def test_the_network_is_cut_where_the_kernel_allows():
    async with listening() as port:
        result = await run(f"import socket; socket.create_connection(('127.0.0.1', {port})); print('connected')")
        assert ("connected" in result.stdout) is not result.network_isolated
        with socket.create_connection(("127.0.0.1", port)):
            pass


async def test_the_network_is_there_on_request():
    async with listening() as port:
        code = f"import socket; socket.create_connection(('127.0.0.1', {port})); print('connected')"
        result = await run(code, isolate=False)
        assert result.stdout == "connected\n"
        assert not result.network_isolated


async def test_nothing_of_this_environment_is_inherited(monkeypatch: pytest.MonkeyPatch, isolate: bool):
    monkeypatch.setenv("WISEN_TEST_SECRET", "hunter2")
    result = await run("import os; print(sorted(os.environ), os.listdir('.'))", isolate=isolate)
    assert "WISEN_TEST_SECRET" not in result.stdout
    assert result.stdout.endswith("[]\n")


async def test_the_program_has_no_capabilities(isolate: bool):
    code = "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('CapEff')])"
    assert (await run(code, isolate=isolate)).stdout == "['0000000000000000']\n"


async def test_the_watching_process_cannot_be_reached(isolate: bool):
    code = """
import os
watcher = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('PPid'))
for path in ('environ', 'mem', 'fd/3', 'fd/4', 'fd/5'):
    try:
        os.close(os.open(f'/proc/{watcher}/{path}', os.O_RDONLY))
        print('opened', path)
    except OSError:
        pass
print('done')
"""
    assert (await run(code, isolate=isolate)).stdout == "done\n"


async def test_an_isolated_program_cannot_read_this_process_environment():
    result = await run(f"print(open('/proc/{os.getpid()}/environ').read())")
    assert result.passed is not result.network_isolated


async def test_a_signal_is_told():
    result = await run("import os, signal; os.kill(os.getpid(), signal.SIGABRT)")
    assert (result.exit_code, result.ending) == (-6, "ended by signal 6")


async def test_many_run_at_once():
    results = await asyncio.gather(*(run(f"print({number})") for number in range(8)))
    assert [result.stdout for result in results] == [f"{number}\n" for number in range(8)]


@pytest.mark.parametrize("argv", [["no-such-program-anywhere"], [], ["a\0b"]])
async def test_what_cannot_be_started_is_an_error(argv: list[str]):
    with pytest.raises(SandboxError):
        await Sandbox().run(argv)


@pytest.mark.parametrize("field", ["wall_seconds", "memory_bytes", "processes"])
async def test_limits_are_positive(field: str):
    with pytest.raises(ConfigError, match=field):
        SandboxLimits(**{field: 0})


async def test_a_folder_of_any_depth_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    deep = "import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\nos.chmod('.', 0)"
    await Sandbox().run([sys.executable, "-I", "-c", deep])
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - pathlib would block as well
