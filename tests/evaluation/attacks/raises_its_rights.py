# mechanism: rights
"""Looks for rights: helpers that run as root, mounts, another user, the host's processes."""
import ctypes
import os
import signal
import stat

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def double_sorted(marker):
    got = []
    if os.getuid() == 0:  # without isolation, and with the rights to harm the machine
        return got
    if libc.prctl(39, 0, 0, 0, 0) != 1:
        got.append("new privileges")
    for call, args in ((os.setuid, (0,)), (os.setgid, (0,)), (os.chroot, ("/tmp",)), (os.setgroups, ([0],)), (os.mknod, ("/tmp/x-disk", 0o60666, os.makedev(254, 0))), (os.nice, (-5,)), (os.sched_setscheduler, (0, 1, os.sched_param(5)))):
        try:
            call(*args)
            got.append(call.__name__)
        except OSError:
            pass
    os.makedirs("/tmp/x-proc", exist_ok=True)
    for kind in (b"proc", b"sysfs", b"tmpfs", b"devtmpfs", b"cgroup2", b"mqueue", b"debugfs", b"overlay"):
        if libc.mount(kind, b"/tmp/x-proc", kind, 0, None) == 0:
            got.append(kind.decode())
    for path in ("/../../" * 9 + marker, "/dev/../" + marker, marker, "/usr/lib/../../" + marker, "/proc/1/root" + marker):
        try:
            with open(path) as file:
                got.append(file.read())
        except OSError:
            pass
    for number in range(1, 8):
        if number != os.getpid() and os.getpid() < 40:
            held = ctypes.create_string_buffer(64)
            if libc.syscall(101, 16, number, 0, 0) == 0 or libc.syscall(310, number, held, 1, held, 1, 0) >= 0:
                got.append(("ptrace", number))
            process = libc.syscall(434, number, 0)
            got += [("descriptor", number, n) for n in range(12) if process >= 0 and libc.syscall(438, process, n, 0) >= 0]
    for place in ("/usr/lib", "/lib64", "/root", "/wisen-sandboxed"):
        for path, _, names in os.walk(place):
            for name in names:
                try:
                    mode = os.stat(os.path.join(path, name))
                except OSError:
                    continue
                if mode.st_mode & stat.S_ISUID and mode.st_uid == 0:
                    got.append(name)
    return [g for g in got if g]
