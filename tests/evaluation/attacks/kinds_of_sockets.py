# mechanism: sockets
"""Tries each family and kind of sockets, and the rings that make them without the call."""
import ctypes
import socket

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def double_sorted(xs):
    got = []
    for family in range(64):
        for kind in (1, 2, 3, 5):
            try:
                socket.socket(family, kind).close()
                got.append(family)
            except OSError:
                pass
    for kind in (1, 2, 5):
        try:
            left, _ = socket.socketpair(socket.AF_UNIX, kind)  # which an event loop needs
        except OSError:
            continue
        for use in (left.connect, left.bind, *([lambda name, left=left: left.sendto(b"x", name)] if kind == 2 else [])):
            for name in ("\0wisen-attack", "/tmp/x-wisen-attack-socket"):
                try:
                    use(name)
                    got.append(("pair", kind, name))
                except OSError:
                    pass
    for number, args in ((425, (8, ctypes.create_string_buffer(256))), (321, (0, ctypes.create_string_buffer(128), 128)), (298, (ctypes.create_string_buffer(128), 0, -1, -1, 0)), (323, (1,)), (304, (0, ctypes.create_string_buffer(64), 0)), (438, (0, 0, 0)), (310, (1, None, 0, None, 0, 0)), (101, (0, 0, 0, 0)), (272, (0x10000000,)), (430, (b"tmpfs", 0)), (428, (-100, b"/", 1)), (246, (0, 0, 0, 0)), (312, (1, 1, 0, 0, 0))):
        if libc.syscall(number, *args) >= 0 and number not in (101,):
            got.append(("call", number))
    return got
