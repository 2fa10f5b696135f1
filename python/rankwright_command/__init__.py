"""The `rankwright` command of a wheel: replaces this process by the program beside this file.

A package of its own, so that the command does not load the module `rankwright` first. The program is in
the package and not in the folder of scripts because it finds the wheel's libraries relative to itself.
"""

import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rankwright")
    os.execv(program, [program, *sys.argv[1:]])
