"""Prints the ten slowest tests of a log of CTest beside what tests/budget.txt gives them, and which take longer than that.

Usage: tests/slowest.py LOG BUDGET
"""

import fnmatch
import re
import sys

SHOWN = 10
TEST = re.compile(r"^ *\d+/\d+ +Test +#\d+: (?P<name>.*?[^ .])[ .]*(?:Passed|\*\*\*[A-Za-z ]+[a-z]) +(?P<seconds>[\d.]+) sec")


def read_times(log):
    """(seconds, name) of every test that ran, the slowest first."""
    found = (TEST.match(line) for line in log.splitlines())
    return sorted(((float(one["seconds"]), one["name"]) for one in found if one), reverse=True)


def read_budgets(text):
    """(seconds, pattern) of each line, in its order."""
    lines = (line.partition("#")[0].split(maxsplit=1) for line in text.splitlines())
    return [(float(words[0]), words[1].strip()) for words in lines if words]


def budget_of(name, budgets):
    """The seconds of the first pattern that the name fits."""
    return next((seconds for seconds, pattern in budgets if fnmatch.fnmatchcase(name, pattern)), float("inf"))


def report(times, budgets):
    lines = [f"{seconds:8.1f} s of {budget_of(name, budgets):g} s  {name}" for seconds, name in times[:SHOWN]]
    over = [f"{name}: {seconds:.1f} s instead of at most {budget_of(name, budgets):g} s"
            for seconds, name in times if seconds > budget_of(name, budgets)]
    if over:
        lines += ["Longer than tests/budget.txt allows; on a machine that was busy, run them again alone:"]
        lines += [f"  {line}" for line in over]
    else:
        lines += ["All tests are within their budgets."]
    return lines


def main(log, budget):
    with open(log, encoding="utf-8") as log_file, open(budget, encoding="utf-8") as budget_file:
        print("\n".join(report(read_times(log_file.read()), read_budgets(budget_file.read()))))


if __name__ == "__main__":
    main(*sys.argv[1:])
