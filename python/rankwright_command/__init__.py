"""The `rankwright` command of a wheel: replaces this process with the program next to this file.

A separate package, so that the command does not load the module `rankwright` first. The program is in the
package, not in the scripts folder, because it finds the wheel's libraries relative to itself.
"""

import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rankwright")
    os.execv(program, [program, *sys.argv[1:]])
