#!/usr/bin/python3
"""Raises the kernel's memory watermarks above the kubelet's eviction threshold.

The kernel swaps once free memory falls below the low watermark; the kubelet evicts once it falls below the hard
threshold for memory.available. With the kernel's defaults a large node evicts VMs before a single page was swapped.
"""

import argparse
import json
import math
import os
import re
import sys
import time

ROOT = "/"

# The first that exists is the one that this kubelet runs with.
KUBELET_CONFIGS = (
    "/var/lib/kubelet/config.json",
    "/var/lib/kubelet/config.yaml",
    "/etc/kubernetes/kubelet.conf",
)
SCALE_FACTOR = "/proc/sys/vm/watermark_scale_factor"
SCALE_UNIT = 10_000  # the factor is in parts per 10,000 of a zone's memory
SCALE_MIN, SCALE_MAX = 10, 1_000  # the kernel takes no other values

MIB = 1024**2
DEFAULT_EVICTION = 100 * MIB  # the kubelet's own default
MIN_HEADROOM = 256 * MIB
ATTEMPTS = 5

UNITS = {
    "": 1,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
}


class Failure(Exception):
    """The watermarks could not be put where they belong."""


def main(argv=None):
    """Raises the watermarks if they are too low; returns the exit status."""
    global ROOT
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default="/", help="folder that stands for / (for tests)")
    parser.add_argument(
        "--pause", type=float, default=10, help="seconds between looks for the kubelet's configuration"
    )
    options = parser.parse_args(argv)
    ROOT = options.root
    try:
        tune(options.pause)
    except (Failure, OSError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 0


def tune(pause):
    """Sets the scale factor so that the low watermark lies above the eviction threshold, and checks that it does."""
    total = total_memory()
    eviction = eviction_threshold(wait_for_config(pause), total)
    target = eviction + max(MIN_HEADROOM, total // 100)
    before = watermarks()
    if before["low"] >= target:
        print(f"nothing to do: low watermark {mib(before['low'])} is at or above {mib(target)}")
        return

    # low = min + managed * factor / 10,000
    wanted = math.ceil((target - before["min"]) * SCALE_UNIT / before["managed"])
    factor = min(max(wanted, SCALE_MIN), SCALE_MAX)
    with open(at(SCALE_FACTOR), "w", encoding="ascii") as file:
        file.write(f"{factor}\n")

    after = watermarks()
    low = mib(after["low"])
    print(f"watermark_scale_factor={factor}: low watermark {mib(before['low'])} -> {low}, eviction at {mib(eviction)}")
    if after["low"] <= eviction:
        raise Failure(f"low watermark {low} is still not above the eviction threshold {mib(eviction)}")
    if after["low"] < target and factor < wanted:
        print(f"warning: the largest factor leaves the low watermark below {mib(target)}", file=sys.stderr)


def total_memory():
    """MemTotal in bytes."""
    found = re.search(r"^MemTotal:\s+(\d+) kB$", read("/proc/meminfo"), re.MULTILINE)
    if not found:
        raise Failure("/proc/meminfo has no MemTotal")
    return int(found[1]) * 1024


def watermarks():
    """The watermarks and the managed memory of all zones together, in bytes."""
    page = page_size()
    pages = {"min": 0, "low": 0, "high": 0, "managed": 0}
    for line in read("/proc/zoneinfo").splitlines():
        # The page sets of each CPU have a "high:" and a "batch:" of their own, with a colon.
        found = re.match(r"\s+(min|low|high|managed)\s+(\d+)$", line)
        if found:
            pages[found[1]] += int(found[2])
    if pages["managed"] == 0:
        raise Failure("/proc/zoneinfo names no managed memory")
    return {name: count * page for name, count in pages.items()}


def page_size():
    """Bytes of a page."""
    try:
        return os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 4096


def wait_for_config(pause):
    """The text of the kubelet's configuration, which on a first start may take a moment to be there."""
    for attempt in range(ATTEMPTS):
        if attempt > 0:
            time.sleep(pause)
        for path in KUBELET_CONFIGS:
            if os.path.isfile(at(path)):
                return read(path)
    raise Failure(f"no kubelet configuration in {', '.join(KUBELET_CONFIGS)}")


def eviction_threshold(config, total):
    """The hard eviction threshold for memory.available in bytes; the kubelet's default where none can be read."""
    value = hard_eviction(config)
    threshold = None if value is None else parse_quantity(value, total)
    if threshold is None:
        print(f"warning: no usable evictionHard memory.available, taking {mib(DEFAULT_EVICTION)}", file=sys.stderr)
        return DEFAULT_EVICTION
    return threshold


def hard_eviction(config):
    """evictionHard's memory.available in a configuration in JSON or, as the kubelet writes it, YAML."""
    try:
        return str(json.loads(config)["evictionHard"]["memory.available"])
    except ValueError:
        pass
    except (KeyError, TypeError):
        return None
    entry = r"""["']?memory\.available["']?:\s*["']?([^\s"',}]+)"""
    key = r"""^["']?evictionHard["']?:"""
    inline = re.search(key + r"\s*\{(.*?)\}", config, re.MULTILINE | re.DOTALL)
    block = re.search(key + r"[ \t]*(?:#.*)?\n((?:[ \t].*(?:\n|\Z)|\n)*)", config, re.MULTILINE)
    found = inline or block
    value = re.search(entry, found[1]) if found else None
    return value[1] if value else None


def parse_quantity(text, total):
    """Bytes of a quantity such as 500Mi, 1G, 104857600 or 5% of the total; None if it is none of these."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(%|[KMGT]i|[kMGT])?", text)
    if not found:
        return None
    number, unit = float(found[1]), found[2] or ""
    return int(total * number / 100) if unit == "%" else int(number * UNITS[unit])


def mib(count):
    """Bytes as people read them."""
    return f"{count / MIB:.0f} MiB"


def read(path):
    """The text of a file under ROOT."""
    with open(at(path), encoding="utf-8") as file:
        return file.read()


def at(path):
    """Where an absolute path is under ROOT."""
    return os.path.join(ROOT, path.lstrip("/"))


if __name__ == "__main__":
    sys.exit(main())
