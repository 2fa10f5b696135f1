"""Prints the folder below PREFIX in which this Python looks for packages.

    site_folder.py PREFIX

Where it looks nowhere below the prefix the usual folder is printed: PYTHONPATH then has to name it.
"""

import os
import site
import sys


def folder(prefix):
    for path in site.getsitepackages():
        below = os.path.relpath(path, prefix)
        # /usr/local is a prefix of its own, not a part of /usr.
        if not below.startswith(("..", "local" + os.sep)):
            return below
    return f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


if __name__ == "__main__":
    print(folder(sys.argv[1]))
