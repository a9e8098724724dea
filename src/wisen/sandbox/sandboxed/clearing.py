"""Empties folders that untrusted code has filled, however deep, with whatever names and modes."""

import os
import uuid
from contextlib import suppress


def clear(top: str) -> None:
    """Remove all that is in a folder, as far as the system allows; nothing else may change it meanwhile.

    Folders are first moved to the top, one by one: a path into the depth could be too long for the system, and a
    function that calls itself for each level would break.
    """
    folders = [top]
    for folder in folders:
        with suppress(OSError):
            os.chmod(folder, 0o700)  # noqa: PTH101 - pathlib is slow to import
            with os.scandir(folder) as entries:
                found = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
            for path, is_folder in found:
                with suppress(OSError):
                    if not is_folder:
                        os.unlink(path)  # noqa: PTH108 - as above
                        continue
                    os.chmod(path, 0o700)  # noqa: PTH101 - as above
                    moved = os.path.join(top, uuid.uuid4().hex)  # noqa: PTH118 - as above
                    os.rename(path, moved)  # noqa: PTH104 - as above
                    folders.append(moved)
    for folder in reversed(folders[1:]):
        with suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106 - as above
