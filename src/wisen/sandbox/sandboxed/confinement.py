"""Shuts a process into an empty root with a filter on its system calls, as far as the kernel grants it."""

import ctypes
import errno
import json
import os
import struct
from pathlib import Path
from typing import Any

_NEW_NS = 0x20000
_NEW_ANY = 0x7E020000
"""The flags of `clone` that ask for a new namespace: user, mount, PID, network, IPC, UTS, cgroup."""
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_DETACH = 2
_MOUNT_SETATTR, _RECURSIVE, _HERE = 442, 0x8000, -100
_ATTR_READONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_SET_SECCOMP, _FILTER, _NO_NEW_PRIVS = 22, 2, 38
_LOAD, _EQUAL, _SET_BITS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_OTHER_ABI = 0x40000000
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SHM_BYTES = 16 << 20
_SHM, _WORK = "/dev/shm", "/tmp"  # noqa: S108 - private ones
_DEVICES = ("null", "zero", "full", "random", "urandom")
_libc = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd"))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def _checked(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    _checked(_libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()))


def _tmpfs(target: str, size: int, mode: str = "755", flags: int = _NOSUID | _NODEV) -> None:
    Path(target).mkdir(parents=True, exist_ok=True)
    _mount("tmpfs", target, "tmpfs", flags, f"size={size},nr_inodes=20000,mode={mode}")


def _read_only(path: str) -> None:
    wanted = _Attributes(_ATTR_READONLY | _ATTR_NOSUID, 0, 0, 0)
    _checked(_libc.syscall(_MOUNT_SETATTR, _HERE, path.encode(), _RECURSIVE, ctypes.byref(wanted), 32))


def _show(root: str, source: str, target: str, *, writable: bool = False) -> None:
    """Make one file or folder of the machine visible below `root`, read-only unless it is a device."""
    inside = Path(root + target)
    inside.parent.mkdir(parents=True, exist_ok=True)
    if Path(source).is_dir():
        inside.mkdir(exist_ok=True)
    else:
        inside.touch()
    _mount(source, str(inside), "", _BIND | _REC)
    if not writable:
        _read_only(str(inside))


def enter_root(room: dict[str, Any], below: str) -> None:
    """Leave this machine's files behind for an empty root that holds what `room` lists.

    `room` has four keys. `shown` holds pairs of a path here and a path there, all read-only. `links` holds pairs of a
    path there and its target. `hidden` lists folders there that are emptied. `bytes` is the size of `/tmp`, the working
    directory. `below` is an empty folder. Raises `OSError` if the kernel refuses; this process then still has its files
    and its working directory.
    """
    _checked(_libc.unshare(_NEW_NS))
    _mount("", "/", "", _REC | _PRIVATE)
    _tmpfs(below, 1 << 20)
    for path, target in room["links"]:
        link = Path(below + path)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    for source, target in room["shown"]:
        _show(below, source, target)
    for path in room["hidden"]:
        if Path(below + path).is_dir():
            _mount("tmpfs", below + path, "tmpfs", _NOSUID | _NODEV, "size=4k,mode=555")
    for name in _DEVICES:
        _show(below, f"/dev/{name}", f"/dev/{name}", writable=True)
    _tmpfs(f"{below}{_SHM}", _SHM_BYTES, "1777", _NOSUID | _NODEV | _NOEXEC)
    _tmpfs(f"{below}{_WORK}", room["bytes"], "1777")
    machine = os.uname().machine
    if machine not in _PIVOT_ROOT:
        raise OSError(errno.ENOSYS, f"no system calls are listed for {machine}")
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.chdir(below)
        _checked(_libc.syscall(_PIVOT_ROOT[machine], b".", b"."))
    except BaseException:
        os.fchdir(here)
        raise
    finally:
        os.close(here)
    _checked(_libc.umount2(b".", _DETACH))
    os.chdir("/")
    _mount("", "/", "", _BIND | 32 | 1 | _NOSUID | _NODEV)
    os.chdir(_WORK)


def forbid_namespaces() -> None:
    """Let nothing in this user namespace make another. Raises `OSError` where the kernel has no such limit."""
    Path("/proc/sys/user/max_user_namespaces").write_text("0")


def call_filter() -> bytes:
    """A filter that refuses what no code under test needs: sockets, other processes' memory, namespaces, mounts.

    Raises `OSError` on machines whose numbers of system calls aren't known.
    """
    machine = os.uname().machine
    known = json.loads(Path(__file__).with_name("syscalls.json").read_text()).get(machine)
    if known is None:
        raise OSError(errno.ENOSYS, f"no system calls are listed for {machine}")
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, known["audit"]), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _OTHER_ABI), (_RETURN, 0, 0, _KILL)]
    for numbers, error in ((known["refused"], errno.EPERM), (known["missing"], errno.ENOSYS)):
        for number in numbers:
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | error)]
    steps += [(_EQUAL, 0, 3, known["flagged"]), (_LOAD, 0, 0, 16), (_SET_BITS, 0, 1, _NEW_ANY)]
    steps += [(_RETURN, 0, 0, _ERROR | errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def filter_calls(code: bytes) -> None:
    """Put this process, and all that it starts, under a filter for good. Raises `OSError` where the kernel refuses."""
    kept = ctypes.create_string_buffer(code)
    program = _Filter(len(code) // 8, ctypes.cast(kept, ctypes.c_void_p))
    _checked(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(_libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0))
