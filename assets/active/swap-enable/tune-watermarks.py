#!/usr/bin/python3
"""Raises the kernel's memory watermarks above the kubelet's eviction threshold.

The kernel swaps once free memory falls below the low watermark; the kubelet evicts once it falls below the hard
threshold for memory.available. With the kernel's defaults a large node evicts VMs before a single page was swapped.
A node without swap would only lose memory by it: the unit starts this only where there is swap to turn on, and to find
none on is a failure.
"""

import argparse
import json
import math
import os
import re
import sys
import time

# The first that holds a kubelet's configuration; on OpenShift it is the last, and the first is a pull secret.
KUBELET_CONFIGS = (
    "/var/lib/kubelet/config.json",
    "/var/lib/kubelet/config.yaml",
    "/etc/kubernetes/kubelet.conf",
)
# Their settings replace those above, and those of a later file those of the files before.
KUBELET_DROP_INS = "/etc/openshift/kubelet.conf.d"
SCALE_FACTOR = "/proc/sys/vm/watermark_scale_factor"
SCALE_UNIT = 10_000  # the factor is in parts per 10,000 of a zone's memory
SCALE_MIN, SCALE_MAX = 10, 1_000  # what every kernel takes

MIB = 1024**2
DEFAULT_EVICTION = 100 * MIB  # the kubelet's own default
MIN_HEADROOM = 256 * MIB
ATTEMPTS = 5

UNITS = {"": 1, "%": 1}
UNITS.update({unit: 1000**power for power, unit in enumerate("kMGTPE", 1)})
UNITS.update({f"{unit}i": 1024**power for power, unit in enumerate("KMGTPE", 1)})


class WatermarksError(Exception):
    """The watermarks could not be put where they belong."""


def main(argv=None):
    """Raises the watermarks if they are too low; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default="/", help="folder that stands for / (for tests)")
    parser.add_argument("--pause", type=float, default=10, help="seconds between looks for the kubelet's configuration")
    options = parser.parse_args(argv)
    try:
        tune(options.root, options.pause)
    except (WatermarksError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def tune(root, pause):
    """Sets the scale factor so that the low watermark lies above the eviction threshold, and checks that it does."""
    if not read(root, "/proc/swaps").splitlines()[1:]:
        raise WatermarksError("nothing is swapped to; see swap-disk-enable.service and ocpswap-file-enable.service")
    total = total_memory(root)
    eviction = eviction_threshold(wait_for_configs(root, pause), total)
    target = eviction + max(MIN_HEADROOM, total // 100)
    before = watermarks(root)
    if before["low"] >= target:
        print(f"nothing to do: low watermark {mib(before['low'])} is at or above {mib(target)}", flush=True)
        return

    # The low watermark is the minimum and the factor's share of the managed memory.
    wanted = math.ceil((target - before["min"]) * SCALE_UNIT / before["managed"])
    current = int(read(root, SCALE_FACTOR))
    factor = max(min(max(wanted, SCALE_MIN), SCALE_MAX), current)  # an admin's, where a kernel takes more, stays
    if factor != current:
        set_scale_factor(root, factor)
    after = watermarks(root)
    low = mib(after["low"])
    change = f"low watermark {mib(before['low'])} -> {low}, eviction at {mib(eviction)}"
    print(f"watermark_scale_factor {current} -> {factor}: {change}", flush=True)
    if after["low"] <= eviction:
        raise WatermarksError(f"low watermark {low} is still not above the eviction threshold {mib(eviction)}")
    if factor < wanted:
        print(f"warning: the largest factor leaves the low watermark below {mib(target)}", file=sys.stderr)


def set_scale_factor(root, factor):
    """Writes the factor, which the kernel answers with new watermarks."""
    try:
        with open(at(root, SCALE_FACTOR), "w", encoding="ascii") as file:
            file.write(f"{factor}\n")
    except OSError as error:
        raise WatermarksError(f"{SCALE_FACTOR} does not take {factor}: {error.strerror}") from error


def total_memory(root):
    """MemTotal in bytes."""
    found = re.search(r"^MemTotal:\s+(\d+) kB$", read(root, "/proc/meminfo"), re.MULTILINE)
    if not found:
        raise WatermarksError("/proc/meminfo has no MemTotal")
    return int(found[1]) * 1024


def watermarks(root):
    """The watermarks and the managed memory of all zones of all NUMA nodes together, in bytes."""
    page = os.sysconf("SC_PAGE_SIZE")
    pages = {"min": 0, "low": 0, "managed": 0}
    for line in read(root, "/proc/zoneinfo").splitlines():
        # The page sets of each CPU have a "high:" and a "batch:" of their own, with a colon.
        found = re.match(r"\s+(min|low|managed)\s+(\d+)$", line)
        if found:
            pages[found[1]] += int(found[2])
    if pages["managed"] == 0:
        raise WatermarksError("/proc/zoneinfo names no managed memory")
    return {name: count * page for name, count in pages.items()}


def wait_for_configs(root, pause):
    """The texts of the kubelet's configuration, the strongest last; on a first start they may take a moment."""
    for attempt in range(ATTEMPTS):
        if attempt > 0:
            time.sleep(pause)
        for path in KUBELET_CONFIGS:
            if os.path.isfile(at(root, path)):
                config = read(root, path)
                if is_kubelet_config(config):
                    return [config, *drop_ins(root)]
    raise WatermarksError(f"no kubelet configuration in {', '.join(KUBELET_CONFIGS)}")


def drop_ins(root):
    """The texts of the drop-ins of the kubelet's configuration, in the order of their names."""
    folder = at(root, KUBELET_DROP_INS)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [read(root, f"{KUBELET_DROP_INS}/{name}") for name in names if name.endswith(".conf")]


def is_kubelet_config(text):
    """Whether a file is what its name promises."""
    return bool(re.search(r"""\bkind["']?\s*:\s*["']?KubeletConfiguration\b""", text))


def eviction_threshold(configs, total):
    """The hard eviction threshold for memory.available in bytes; the kubelet's default where none can be read."""
    values = [value for value in map(hard_eviction, configs) if value is not None]
    threshold = parse_quantity(values[-1], total) if values else None
    if threshold is not None:
        return threshold
    problem = f"memory.available {values[-1]} is no quantity" if values else "there is no memory.available"
    print(f"warning: evictionHard: {problem}; taking {mib(DEFAULT_EVICTION)}", file=sys.stderr)
    return DEFAULT_EVICTION


def hard_eviction(config):
    """The memory.available of evictionHard in a configuration in JSON or YAML; None if it has none."""
    try:
        value = json.loads(config)["evictionHard"]["memory.available"]
        return None if value is None else str(value)
    except ValueError:
        return hard_eviction_in_yaml(config)
    except (KeyError, TypeError):
        return None


def hard_eviction_in_yaml(config):
    """The same in YAML, of which the standard library has no parser: a block, or a map in braces."""
    text = re.sub(r"^\s*#.*\n?", "", config, flags=re.MULTILINE)
    key = r"""^["']?evictionHard["']?\s*:"""
    braces = re.search(key + r"\s*\{(.*?)\}", text, re.MULTILINE | re.DOTALL)
    block = re.search(key + r"[ \t]*(?:#.*)?\n((?:[ \t].*(?:\n|\Z)|\n)*)", text, re.MULTILINE)
    found = braces or block
    entry = r"""(?:^|,)\s*["']?memory\.available["']?\s*:\s*["']?([^\s"',}]+)"""
    value = re.search(entry, found[1], re.MULTILINE) if found else None
    return value[1] if value else None


def parse_quantity(text, total):
    """Bytes of a quantity such as 500Mi, 1.5G, 1e9, 104857600 or 5% of the total; None if it is none of these."""
    if text in ("0%", "100%"):
        return 0  # the kubelet's words for "never"
    found = re.fullmatch(r"\+?(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,2})|(%|[KMGTPE]i|[kMGTPE]))?", text)
    if not found:
        return None
    number, exponent, unit = float(found[1]), int(found[2] or 0), found[3] or ""
    share = total / 100 if unit == "%" else 1
    return int(number * 10.0**exponent * UNITS[unit] * share)


def mib(count):
    """Bytes as people read them."""
    return f"{count / MIB:.0f} MiB"


def read(root, path):
    """The text of a file under root."""
    with open(at(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def at(root, path):
    """Where an absolute path is under root."""
    return os.path.join(root, path.lstrip("/"))


if __name__ == "__main__":
    sys.exit(main())
