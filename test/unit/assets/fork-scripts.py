"""Runs scripts as `python3 -I` does, each in a fork of this process: to start Python anew takes 0.1 s, and the tables are long.

Reads lines of JSON, each a list of the script and its arguments; answers each with a line of JSON: its status and output.
"""

# What the scripts import, imported once.
import argparse  # noqa: F401
import json
import math  # noqa: F401
import os
import re  # noqa: F401
import runpy
import subprocess  # noqa: F401
import sys
import tempfile
import time  # noqa: F401


def main():
    for line in sys.stdin:
        argv = json.loads(line)
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            pid = os.fork()
            if pid == 0:
                become(argv, stdout, stderr)
                return
            _, how = os.waitpid(pid, 0)
            answer = {"status": os.waitstatus_to_exitcode(how), "stdout": text_of(stdout), "stderr": text_of(stderr)}
        print(json.dumps(answer), flush=True)


def become(argv, stdout, stderr):
    """Turns this process into the script; it ends as the script does."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(stdout.fileno(), 1)
    os.dup2(stderr.fileno(), 2)
    sys.argv = argv
    runpy.run_path(argv[0], run_name="__main__")


def text_of(file):
    file.seek(0)
    return file.read().decode()


main()
