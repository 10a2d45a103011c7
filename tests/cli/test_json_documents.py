"""The JSON of explain, memory, tune, select, import and sample against the tables of docs/ that describe it: every key that occurs is documented,
and every key of the
top level and of a table's first column occurs. Names are compared without their place in the document."""

import json
import random
import re
import unittest

from command import MAIN_JOB, SOURCE, ScratchTest, c3sim
from graph_traces import execution_trace, kineto
from test_import import trace as trace_of_a_step
from test_import_gpu import trace as trace_of_kernels
from test_sample import LOOP

# Objects whose keys are names of what the user has.
BY_NAME = {"ranking.values", "retiming.classes"}
VERSIONS = {"explain": 3}  # all others: 1

STEP = """\
schema = 1
system = "h100-sxm-8"
nodes = 2
fabric = "ib-ndr"
[model]
use = "llama-3-8b"
dtype = "bf16"
layers = 2
[training]
framework = "megatron-core"
sequence = 1024
micro_batch = 1
global_batch = 16
sharding = "zero1"
[strategy.default]
[measure]
alone = false
loss_split = false
kernel_grain = "fluid"
"""
TUNE = STEP + """\
[tune]
regret = 0
[tune.product]
"training.tensor_parallel" = [1, 2]
"""
EPOCH = STEP.replace("global_batch = 16\n", "") + "[workload.lengths]\nhistogram = [[100, 30], [700, 50]]\n"


class Described:
    """One JSON object as docs/ has it: the first list of its keys behind `lead`, and the table below that."""

    def __init__(self, doc, lead):
        text = (SOURCE / "docs" / doc).read_text()
        text = text[text.index(lead):]
        keys, table = re.search(r"`\{([^`]*)\}`.*?\n\n((?:\|[^\n]*\n)+)", text, re.S).groups()
        self.top = re.findall(r"\w+", keys)
        words = lambda cell: set(re.findall(r"`([a-z]\w*)`", cell))
        self.rows = set().union(*(words(line.split("|")[1]) for line in table.splitlines()))
        self.all = set(self.top) | words(table)


def keys_of(value, path=""):
    """Every key of objects within `value`."""
    if isinstance(value, list):
        return set().union(*(keys_of(each, path) for each in value))
    if not isinstance(value, dict):
        return set()
    inner = lambda key: f"{path}.{key}".lstrip(".")
    keys = set() if path in BY_NAME else set(value)
    return keys.union(*(keys_of(each, inner(key)) for key, each in value.items()))


class JsonDocuments(ScratchTest):
    def check(self, doc, lead, *commands):
        described, seen, top = Described(doc, lead), set(), set()
        for arguments in commands:
            done = c3sim("-q", *arguments, "--json", folder=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(done.stdout)
            self.assertEqual(found["schema_version"], VERSIONS.get(arguments[0], 1))
            self.assertEqual([key for key in described.top if key in found], list(found))
            top |= set(found)
            seen |= keys_of(found)
        self.assertEqual(seen - described.all, set(), "occur, but docs do not have them")
        self.assertEqual(set(described.top) - top, set(), "documented, but do not occur")
        self.assertEqual(described.rows - seen, set(), "documented, but do not occur")

    def write(self, name, text):
        (self.folder / name).write_text(text if isinstance(text, str) else json.dumps(text))
        return name

    def quick(self, file):
        return [file, "--set", "measure.seeds=1", "--set", "measure.alone=false", "--set", "measure.loss_split=false"]

    def test_explain(self):
        self.check("explain.md", "## JSON", ["explain", self.write("step.toml", STEP)], ["explain", *self.quick(MAIN_JOB)])

    def test_memory(self):
        self.check("memory.md", "## JSON", ["memory", self.write("step.toml", STEP)], ["memory", MAIN_JOB])

    def test_select(self):
        vgg = SOURCE / "configs/experiments/images/vgg16_mi100.toml"
        self.check("kernels.md", "`c3sim select --json`",
                   ["select", "gemm", "--gpu", "mi300x", "-m", "512", "-n", "512", "-k", "512", "--dtype", "bf16"],
                   ["select", "convolution", "--gpu", "mi100", "--channels", "64", "--filters", "64", "--height", "56", "--filter-h", "3", "--dtype", "fp16"],
                   ["select", vgg, "--set", "image_network.layout=nhwc"])

    def test_tune(self):
        self.check("tune.md", "## JSON", ["tune", self.write("space.toml", TUNE)])

    def test_import_of_kineto_traces(self):
        for rank in (0, 1):
            (self.folder / "run").mkdir(exist_ok=True)
            self.write(f"run/rank{rank}.json", trace_of_a_step(rank, late=40.0 * rank))
            (self.folder / "joined").mkdir(exist_ok=True)
            self.write(f"joined/kineto_{rank}.json", kineto(rank))
            self.write(f"joined/et_{rank}.json", execution_trace(rank) | {"pid": 100 + rank})
        self.write("kernels.json", trace_of_kernels())
        self.check("traces.md", "`c3sim import TRACE --json`", ["import", "run"], ["import", "kernels.json", "--gpu", "h100-sxm"],
                   ["import", "joined", "-o", "bench", "--benchmark", "--system", "a100-sxm-80gb-8", "--similarity"])

    def test_import_of_graphs(self):
        self.check("traces.md", "`c3sim import GRAPH --json`", ["import", self.write("et.json", execution_trace(0))])

    def test_sample_kernels(self):
        draw = random.Random(1)
        table = self.write("kernels.csv", "name,duration_us\n" + "".join(f"k{i % 5},{draw.uniform(9, 11)}\n" for i in range(500)))
        self.check("sampling.md", "`c3sim sample kernels --json`", *(["sample", "kernels", table, "--method", method] for method in ("stem", "sieve")))
        self.check("sampling.md", "`c3sim sample kernels --compare --json`", ["sample", "kernels", table, "--compare"])

    def test_sample_lengths(self):
        draw = random.Random(1)
        lengths = [draw.randrange(1, 300) for _ in range(400)]
        slow, fast = (self.write(f"{name}.csv", "length,ms\n" + "".join(f"{length},{1 + slope * length}\n" for length in lengths))
                      for name, slope in (("slow", 0.1), ("fast", 0.05)))
        self.check("sampling.md", "`c3sim sample lengths --json`", ["sample", "lengths", slow], ["sample", "lengths", slow, "--other", fast, "--compare"])

    def test_sample_epoch(self):
        epoch = self.write("epoch.toml", EPOCH)
        self.check("sampling.md", "`c3sim sample epoch --json`", ["sample", "epoch", epoch], ["sample", "epoch", epoch, "--whole"])

    def test_sample_loop(self):
        loop = self.write("loop.toml", LOOP)
        self.check("sampling.md", "`c3sim sample loop --json`", ["sample", "loop", loop], ["sample", "loop", loop, "--whole"])


if __name__ == "__main__":
    unittest.main()
