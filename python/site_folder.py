"""Prints this Python's package folder, relative to PREFIX.

    site_folder.py PREFIX

If Python has none below the prefix, prints the usual one; PYTHONPATH must then contain it.
"""

import os
import site
import sys


def folder(prefix):
    for path in site.getsitepackages():
        below = os.path.relpath(path, prefix)
        # /usr/local is a separate prefix, not part of /usr.
        if not below.startswith(("..", "local" + os.sep)):
            return below
    return f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


if __name__ == "__main__":
    print(folder(sys.argv[1]))
