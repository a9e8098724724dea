# mechanism: shm
import glob, os
from multiprocessing import shared_memory
found = []
for path in glob.glob("/dev/shm/*"):
    try: found.append(open(path, "rb").read())
    except OSError: pass
with open("/dev/shm/MARKER", "wb") as left: left.write(b"x" * 1000)
try: shared_memory.SharedMemory("MARKER-2", create=True, size=4096)
except (OSError, FileNotFoundError): pass
def solve(n): return found[0] if found else None
