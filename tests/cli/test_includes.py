"""The include rules of the layers: never upward, and never a cycle, not between files either."""

import collections
import re
import sys
import unittest

from command import SOURCE

sys.path.insert(0, str(SOURCE / "scripts"))
from library_graph import libraries, reached  # noqa: E402

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
    "importers": ["base", "files", "engine", "interconnect", "collectives", "configs"],
    "app": ["base", "files", "engine", "gpu", "interconnect", "collectives", "workloads", "configs", "importers", "results"],
    "studies": ["base", "files", "engine", "gpu", "interconnect", "collectives", "workloads", "configs", "importers", "results", "app"],
}
# Within workloads/, by library: who runs a program does not know who wrote it, nor what is made of its runs. Runs ask sampling which
# kernels they need not simulate again; explaining and tuning do not know each other.
MAY_USE = {
    "program": ["collectives"],
    "experiment": ["program"],
    "models": ["base", "gpu"],
    "pipeline": ["base", "engine"],
    "training": ["experiment", "models", "pipeline"],
    "recommendation": ["program"],
    "sampling": ["base", "engine"],
    "recorded_kernels": ["sampling", "traces", "replay"],
    "execute": ["experiment", "sampling"],
    "analysis": ["execute"],
    "explain": ["analysis"],
    "tune": ["analysis", "sampling"],
    "traces": ["base", "gpu"],
    "execution_traces": ["traces"],
    "chakra": ["traces"],
    "replay": ["traces", "program"],
    "benchmark": ["execution_traces", "replay"],
    "comparison": ["benchmark", "analysis"],
}
# A configuration names files that c3sim wrote, and nothing else of results/.
# Of app/, studies take what a program of verbs is made of.
ONLY_INCLUDES = {("configs", "results"): ["results/program_file"],
                 ("studies", "app"): ["app/command/command_line", "app/command/exit_code", "app/command/progress_line", "app/command/verb", "app/reproduce/reproduce_request"]}
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

    def test_libraries_of_workloads_are_linked_with_what_is_below(self):
        made = {name: library for name, library in libraries().items() if any(file.startswith("workloads/") for file in library.files)}
        self.assertEqual({name: library.uses for name, library in made.items()}, {name: set(uses) for name, uses in MAY_USE.items()})

    def test_a_library_includes_only_those_that_it_is_linked_with(self):
        made = libraries()
        library_of = {file: name for name, library in made.items() for file in library.files}
        uses = {name: library.uses for name, library in made.items()}
        for name, library in made.items():
            allowed = reached(name, uses)
            for file in sorted(file for file in library.files if (SOURCE / file).exists()):  # CMake writes some
                for other in re.findall(r'^#include "([^"]+)"', (SOURCE / file).read_text(), re.M):
                    with self.subTest(file=file, includes=other):
                        self.assertIn(library_of.get(other, name), allowed)

    def test_every_file_of_workloads_is_of_a_library(self):
        listed = {file for library in libraries().values() for file in library.files}
        there = {str(path.relative_to(SOURCE)) for path in (SOURCE / "workloads").rglob("*.[ch]pp")}
        self.assertEqual(there - listed, set())

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
