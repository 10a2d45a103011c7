"""Ranks that are stated to be slow, as docs/experiments.md shows them."""

import json
import re
import tomllib
import unittest

import jsonschema

from command import SOURCE, ScratchTest, c3sim

HEAD = 'schema = 1\nsystem = "h100-sxm-8"\n'
WORK = '[[stream]]\nname = "s"\nrun = [{ timed = "1 ms" }, { all_reduce = "1 MiB" }]\n[strategy.now]\n'


class Stragglers(ScratchTest):
    def run_text(self, text, *arguments):
        (self.folder / "job.toml").write_text(text)
        return c3sim("run", "job.toml", "-o", "job.h5", "-q", *arguments, folder=self.folder)

    def times(self, text, *arguments):
        done = self.run_text(text, "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["strategies"][0]

    def refused(self, text, pattern):
        self.assert_one_line(self.run_text(text), 3, pattern)

    def test_the_documented_cluster_tells_who_waits_for_whom(self):
        page = (SOURCE / "docs/experiments.md").read_text()
        example = next(block for block in re.findall(r"^```toml\n(.*?)^```", page, re.M | re.S) if "[straggler" in block)
        jsonschema.Draft4Validator(json.loads(c3sim("config", "schema", "experiment").stdout)).validate(tomllib.loads(example))
        classes = self.times(example)["classes"]
        self.assertEqual(sum(its["multiplicity"] for its in classes), 32)
        named = {its["name"]: its for its in classes if its["name"]}
        sound = max((its for its in classes if not its["name"]), key=lambda its: its["multiplicity"])
        self.assertEqual(set(named), {"hot", "cable"})
        self.assertAlmostEqual(named["hot"]["kernels_us"] / sound["kernels_us"], 1.2, delta=0.03)
        self.assertGreater(named["cable"]["communication_us"], 1.6 * sound["communication_us"])
        self.assertRegex(self.run_text(example).stdout, r"\noverlapped hot +13 +1 ")

    def test_a_factor_can_be_set_and_swept(self):
        text = HEAD + '[straggler.hot]\nranks = [3]\n' + WORK
        sound = self.times(HEAD + WORK)["time_us"]
        self.assertEqual(self.times(text)["time_us"], sound)
        self.assertAlmostEqual(self.times(text, "--set", "straggler.hot.factor=1.5")["time_us"], sound + 500, delta=5)
        self.assertAlmostEqual(self.times(text, "--set", 'straggler.hot.late="3 ms"')["time_us"], sound + 3000, delta=5)
        (self.folder / "sweep.toml").write_text(text + '[sweep.product]\n"straggler.hot.factor" = [1.0, 1.1, 1.2]\n')
        done = c3sim("sweep", "sweep.toml", "-o", "points", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 points, 3 done, 0 failed", done.stdout)

    def test_a_late_rank_is_idle_until_it_begins(self):
        text = HEAD + '[straggler.slow_start]\nranks = [0]\nlate = "3 ms"\n' + WORK
        late = self.times(text)
        sound = self.times(HEAD + WORK)
        self.assertAlmostEqual(late["classes"][0]["kernels_us"], 1000, delta=5)
        self.assertAlmostEqual(late["classes"][0]["idle_us"], 3000, delta=10)
        self.assertEqual(late["kernel"]["alone_us"], sound["kernel"]["alone_us"])
        self.assertAlmostEqual(late["speedup"], sound["time_us"] / late["time_us"], delta=0.01)  # serial is punctual

    def test_names_are_of_those_that_are_worse(self):
        nodes = HEAD + 'nodes = 4\nfabric = { use = "ib-ndr", nics = 4 }\n'
        of = lambda text: {its["ranks"]: its["name"] for its in self.times(nodes + text + WORK)["classes"]}
        self.assertEqual(of("[straggler.a]\nranks = [0]\n"), {"0-31": None})
        self.assertEqual(of("[straggler.a]\nranks = [1]\nfactor = 1.2\n[straggler.b]\nranks = [9]\nfactor = 1.2\n").get("9"), "b")
        shared = of("[straggler.cut]\nranks = [3]\nnics = 0.5\n")
        self.assertEqual((shared["2"], shared["3"]), (None, "cut"))

    def test_a_step_of_many_nodes_waits_for_one_hot_gpu(self):
        step = SOURCE / "configs/experiments/training/llama3_8b_fsdp8.toml"
        changes = ["--set", "nodes=16", "--set", 'fabric="ib-ndr"']
        text = step.read_text()
        sound = self.times(text, *changes)["time_us"]
        slow = self.times(text, *changes, "--set", "straggler.hot.ranks=[77]", "--set", "straggler.hot.factor=1.1")
        self.assertGreater(slow["time_us"], 1.02 * sound)
        self.assertLess(slow["time_us"], 1.1 * sound)
        self.assertLessEqual(len(slow["classes"]), 6)

    def test_what_cannot_be_is_refused(self):
        table = "[straggler.hot]\n"
        self.refused(HEAD + table + 'ranks = "0-8"\n' + WORK, r"^job.toml:\d+:\d+: straggler.hot.ranks: there is no rank 8 of 8$")
        self.refused(HEAD + table + 'ranks = [1, 1]\n' + WORK, r"straggler.hot.ranks: rank 1 is listed twice under \[straggler\]$")
        self.refused(HEAD + table + "ranks = [1]\n[straggler.late]\nranks = [1]\n" + WORK, r"straggler.late.ranks: rank 1 is listed twice")
        self.refused(HEAD + table + "factor = 2\n" + WORK, r"straggler.hot.ranks: is missing$")
        self.refused(HEAD + table + "ranks = [1]\nfactor = 0.5\n" + WORK, r"straggler.hot.factor: must be between 1 and 1000, not 0.5$")
        self.refused(HEAD + table + "ranks = [1]\nlinks = 0\n" + WORK, r"straggler.hot.links: must be between 0.001 and 1, not 0$")
        self.refused(HEAD + table + "ranks = [1]\nnics = 0.5\n" + WORK, r"straggler.hot.nics: there is one node, whose ranks use no NIC$")
        self.refused(HEAD.replace("h100-sxm-8", "gh200-1") + table + "ranks = [0]\nlinks = 0.5\n" + WORK.replace(', { all_reduce = "1 MiB" }', ""),
                     r"straggler.hot.links: there is one GPU in a node")
        self.refused(HEAD + table + "ranks = [1]\nfaktor = 2\n" + WORK, r"straggler.hot.faktor: .*did you mean 'factor'\?")


if __name__ == "__main__":
    unittest.main()
