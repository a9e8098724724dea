# mechanism: processes
import os, time
for _ in range(7):
    try: os.fork()
    except OSError: pass
def solve(n):
    time.sleep(0.05)
    return 0
