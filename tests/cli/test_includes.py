"""The include rules of the layers: never upward, and never a cycle, not between files either."""

import collections
import re
import unittest

from command import SOURCE

# What each layer may include, itself aside. A file and its header are one.
MAY_INCLUDE = {
    "base": [],
    "files": ["base"],
    "engine": ["base"],
    "gpu": ["base", "engine"],
    "interconnect": ["base", "engine"],
    "collectives": ["base", "engine", "gpu", "interconnect"],
    "workloads": ["base", "engine", "gpu", "interconnect", "collectives"],
    "results": ["base", "files", "engine", "workloads"],
    "configs": ["base", "files", "engine", "gpu", "interconnect", "collectives", "workloads", "results"],
    "studies": ["base", "files", "engine", "gpu", "interconnect", "collectives", "workloads", "configs", "results"],
    "app": ["base", "files", "engine", "gpu", "interconnect", "collectives", "workloads", "configs", "results", "studies"],
}
# Within workloads/: who runs a program does not know who wrote it, nor what is made of its runs.
MUST_NOT_INCLUDE = {"workloads/experiment": ["workloads/training", "workloads/models", "workloads/execute", "workloads/analysis",
                                             "workloads/traces"],
                    "workloads/analysis": ["workloads/training", "workloads/models", "workloads/traces"],
                    "workloads/program": ["workloads/execute", "workloads/training", "workloads/models", "workloads/analysis",
                                          "workloads/experiment", "workloads/traces"],
                    "workloads/execute": ["workloads/training", "workloads/models", "workloads/analysis", "workloads/traces",
                                          "workloads/comparison"],
                    "workloads/pipeline": ["workloads/program", "workloads/execute", "workloads/training", "workloads/models",
                                           "workloads/analysis", "workloads/experiment", "workloads/traces"],
                    "workloads/training": ["workloads/execute", "workloads/analysis", "workloads/traces"],
                    "workloads/recommendation": ["workloads/training", "workloads/execute", "workloads/analysis", "workloads/experiment",
                                                 "workloads/traces", "workloads/comparison"],
                    "workloads/models": ["workloads/training", "workloads/execute", "workloads/analysis"],
                    "workloads/sampling": ["workloads/training", "workloads/execute", "workloads/models", "workloads/analysis",
                                           "workloads/experiment", "workloads/comparison"],
                    "workloads/traces": ["workloads/training", "workloads/execute", "workloads/models", "workloads/analysis",
                                         "workloads/experiment", "workloads/comparison"]}
# A configuration names files that c3sim wrote, and nothing else of results/.
ONLY_INCLUDES = {("configs", "results"): ["results/program_file"]}
# Libraries whose headers take seconds to parse, and the one file that includes them.
ONE_FILE = {"nlohmann/": "base/json.cpp", "CLI/": "base/options.cpp", "simdjson": "workloads/traces/json_tree.cpp"}


def layer_of(file):
    return file.split("/")[0]


def includes():
    """Of each file without its ending, what it and its header include of ours."""
    found = collections.defaultdict(set)
    for layer in MAY_INCLUDE:
        for path in sorted((SOURCE / layer).rglob("*.[ch]pp")):
            file = str(path.relative_to(SOURCE)).rsplit(".", 1)[0]
            for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
                if (SOURCE / name).exists() and name.rsplit(".", 1)[0] != file:
                    found[file].add(name.rsplit(".", 1)[0])
    return found


def cycle_in(graph):
    """Some files that include each other in a ring, or nothing."""
    done = set()
    for start in sorted(graph):
        path, stack = [], [(start, iter(sorted(graph[start])))]
        path.append(start)
        while stack:
            file, rest = stack[-1]
            following = next((name for name in rest if name not in done), None)
            if following is None:
                done.add(file)
                stack.pop()
                path.pop()
            elif following in path:
                return path[path.index(following):] + [following]
            else:
                path.append(following)
                stack.append((following, iter(sorted(graph.get(following, ())))))
    return None


class Includes(unittest.TestCase):
    def setUp(self):
        self.graph = includes()

    def test_layers_include_only_what_is_below(self):
        self.assertGreater(len(self.graph), 300)
        for file, others in self.graph.items():
            for other in others:
                with self.subTest(file=file, includes=other):
                    self.assertIn(other, ONLY_INCLUDES.get((layer_of(file), layer_of(other)), [other]))
                    self.assertIn(layer_of(other), [layer_of(file), *MAY_INCLUDE[layer_of(file)]])

    def test_who_runs_a_program_does_not_know_its_author(self):
        for folder, forbidden in MUST_NOT_INCLUDE.items():
            for file, others in self.graph.items():
                if file != folder and not file.startswith(folder + "/"):
                    continue
                for other in others:
                    with self.subTest(file=file, includes=other):
                        self.assertFalse(any(other == name or other.startswith(name + "/") for name in forbidden))

    def test_slow_libraries_are_included_in_one_file(self):
        for library, only in ONE_FILE.items():
            including = [str(path.relative_to(SOURCE)) for layer in [*MAY_INCLUDE, "tests"]
                         for path in sorted((SOURCE / layer).rglob("*.[ch]pp"))
                         if re.search(rf'^#include [<"]{library}', path.read_text(), re.M)]
            self.assertEqual(including, [only])

    def test_no_files_include_each_other(self):
        cycle = cycle_in(self.graph)
        self.assertIsNone(cycle, " -> ".join(cycle or []))

    def test_a_cycle_would_be_found(self):
        self.assertEqual(cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}), ["b", "c", "b"])
        self.assertIsNone(cycle_in({"a": {"b", "c"}, "b": {"c"}}))


if __name__ == "__main__":
    unittest.main()
