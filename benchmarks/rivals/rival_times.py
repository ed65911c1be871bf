"""Reads the workloads from `bench_attention --list`, times a function, prints the line: for the rivals in Python."""

import collections
import resource
import statistics
import time

Workload = collections.namedtuple("Workload", "name kind heads key_heads queries keys d_k d_v causal d_model d_ff flops")


def workloads(lines):
    for line in lines:
        name, *numbers = line.split()
        yield Workload(name, *(int(number) for number in numbers))


def quartiles_of(f, threads, seconds):
    """-> a quarter, half, and three quarters of all calls take less, in ms"""
    clock = time.process_time if threads == 1 else time.perf_counter
    f()
    begin = clock()
    f()
    once = max(clock() - begin, 1e-7)
    inner = max(1, int(1e-3 / once)) if once < 1e-4 else 1
    each = []
    for _ in range(min(max(int(seconds / (once * inner)), 5), 1001)):
        begin = clock()
        for _ in range(inner):
            f()
        each.append((clock() - begin) / inner * 1e3)
    return statistics.quantiles(each, n=4)


def report(library, w, threads, seconds, peak, f, memory=False):
    """memory: adds the process's peak in MB, which means something where one workload runs in a process."""
    low, median, high = quartiles_of(f, threads, seconds)
    gflops = w.flops / median * 1e-6
    megabytes = f" {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}" if memory else ""
    print(f"{library} {w.name} {threads} {median:.6f} {gflops:.2f} {100 * gflops / (threads * peak):.1f} {low:.6f} {high:.6f}{megabytes}",
          flush=True)
