"""Writes the numbers of the system calls that the sandbox refuses, from the headers of the C library.

Run `python tools/syscalls.py` on Debian with `linux-libc-dev`; it replaces `syscalls.json` of the sandboxed programs.
"""

import json
import re
from pathlib import Path

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What the kernel calls each architecture in a filter."""
_NAMES = (
    # other processes' memory
    "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd "
    # namespaces and mounts; `clone` is looked at by its flags, `clone3` can't be
    "unshare setns mount umount2 pivot_root chroot mount_setattr move_mount open_tree fsopen fsconfig fsmount fspick "
    # sockets of any family; `socketpair` stays, for event loops
    "socket connect bind listen accept accept4 "
    # memory that no limit counts
    "memfd_create memfd_secret shmget shmat msgget semget mq_open "
    # wide doors of the kernel
    "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key "
    "open_by_handle_at name_to_handle_at init_module finit_module delete_module kexec_load personality"
)
MISSING = ["clone3"]
"""Answered as if the kernel didn't know them, so that the C library takes another."""
FLAGGED = "clone"
TARGET = Path(__file__).parent.parent / "src/wisen/sandbox/sandboxed/syscalls.json"


def numbers(header: Path) -> dict[str, int]:
    """Names and numbers that a header defines."""
    found = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text(), re.MULTILINE)
    return {name: int(number) for name, number in found}


def main() -> None:
    """Write the table."""
    table: dict[str, dict[str, object]] = {}
    for machine, header in HEADERS.items():
        known = numbers(header)
        table[machine] = {
            "audit": AUDIT[machine],
            "flagged": known[FLAGGED],
            "refused": sorted(known[name] for name in _NAMES.split() if name in known),
            "missing": sorted(known[name] for name in MISSING),
        }
    TARGET.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
