# mechanism: processes
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        try: os.execv(sys.executable or "/usr/bin/python3", ["python", "-c", "import time; time.sleep(600)", "MARKER"])
        finally: time.sleep(600)
    os._exit(0)
def solve(n): return 0
