# mechanism: file system
"""Leaves folders that are hard to clear away: very deep ones, locked ones, odd names, links to what isn't its own."""
import os


def solve(xs):
    for base in (os.getcwd(), *(["/dev/shm"] if os.getcwd() == "/tmp" else [])):
        try:
            os.chdir(base)
            os.symlink("/tmp/x-wisen-attack-victim", "wisen-attack-link")
            os.makedirs("wisen-attack-locked/inside")
            open("wisen-attack-locked/inside/file", "w").close()
            os.symlink("/tmp/x-wisen-attack-victim", "wisen-attack-locked/inside/link")
            os.chmod("wisen-attack-locked", 0)
            os.mkdir(b"wisen-attack-\xff\n")
            for _ in range(3000):
                os.mkdir("wisen-attack-deep")
                os.chdir("wisen-attack-deep")
            os.chdir(base)
        except OSError:
            pass
    return []
