"""c3sim tune: the best of a space that is small enough to simulate whole, with its regret, and what it says of the rest."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import h5py
from command import COMMAND, SOURCE, ScratchTest, c3sim

sys.path.insert(0, str(SOURCE / "results/python"))
import c3sim_results  # noqa: E402

# Four layers of LLaMA 3 8B on 2 nodes of 8 A100; some layouts break a rule, some do not fit.
SPACE = """\
schema = 1
system = "a100-sxm-80gb-8"
nodes = 2
fabric = "ib-hdr"
[gpu]
hbm_size = "22 GB"
[model]
use = "llama-3-8b"
dtype = "bf16"
layers = 4
[framework]
overlaps_gradients = true
[training]
framework = "megatron-core"
sequence = 2048
micro_batch = 1
global_batch = 64
sharding = "zero1"
[strategy.default]
[measure]
alone = false
loss_split = false
kernel_grain = "fluid"
[tune]
objective = "tokens_per_s"
whole_steps = 3
[[sweep.zip]]
"training.tensor_parallel" = [1, 2, 4]
"training.sequence_parallel" = [false, true, true]
[sweep.product]
"training.pipeline" = [1, 2, 3]
"training.micro_batch" = [1, 2, 16]
"""
POINTS = 3 * 3 * 3

PAIR = """\
schema = 1
system = "mi300x-8"
[[stream]]
name = "compute"
run = [{ gemm = { m = 4096, n = 4096, k = 4096, dtype = "bf16" } }]
[[stream]]
name = "comm"
run = [{ all_gather = "8 MiB" }]
[strategy.together]
[strategy.partitioned]
comm.cus = 8
[measure]
seeds = 1
[tune.product]
"strategy.partitioned.comm.cus" = [8, 16, 32, 64]
"""


class Tune(ScratchTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "space.toml"
        self.file.write_text(SPACE)

    def tune(self, *arguments, folder="out", code=0, file=None):
        done = c3sim("-q", "tune", file or self.file, "-o", self.folder / folder, "-j", "2", "--json", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        found = json.loads(done.stdout)
        ways = ("refused", "beyond_gpus", "out_of_memory", "pruned", "simulated", "failed", "open")
        self.assertEqual(sum(found[way] for way in ways), found["candidates"])
        return found

    def every_rate(self):
        """Tokens a second of every point that runs, by its id: all of them simulated."""
        self.assertIn(c3sim("-q", "sweep", self.file, "-o", self.folder / "all", "-j", "2").returncode, (0, 5))
        c3sim("-q", "merge", self.folder / "all")
        points = h5py.File(self.folder / "all.h5")["points"]
        statuses = list(points["status"].asstr()[:])
        rates = dict(zip(points["id"].asstr()[:], points["default.tokens_per_second"][:]))
        return {its: rate for its, rate in rates.items() if rate > 0}, statuses

    def test_an_exact_search_finds_what_simulating_everything_finds_and_a_short_one_is_within_its_regret(self):
        rates, statuses = self.every_rate()
        best = max(rates.values())
        exact = self.tune("--exact")
        self.assertEqual(exact["candidates"], POINTS)
        self.assertEqual((exact["refused"], exact["out_of_memory"]), (statuses.count("failed"), statuses.count("out_of_memory")))
        self.assertGreater(min(exact["refused"], exact["out_of_memory"], exact["pruned"]), 0)
        self.assertEqual((exact["open"], exact["likely_regret"], exact["regret_bound"], exact["broken_bounds"]), (0, 0, 0, 0))
        self.assertAlmostEqual(exact["ranking"][0]["value"] / best, 1, delta=1e-9)
        for each in exact["ranking"]:
            self.assertAlmostEqual(each["value"] / rates[each["id"]], 1, delta=1e-9)
            self.assertLess(each["bound_us"], each["time_us"])
            self.assertGreater(each["bound_us"], 0.4 * each["time_us"])
        short = self.tune("--whole-steps", "1", folder="short")
        self.assertEqual(short["simulated"], 1)
        self.assertGreater(short["open"], 0)
        self.assertGreaterEqual(short["ranking"][0]["value"] * (1 + short["regret_bound"]), best)
        self.assertLessEqual(short["likely_regret"], short["regret_bound"])
        # The next ones take up what is there, until the regret is likely small enough.
        more = self.tune("--whole-steps", "12", folder="short")
        self.assertGreater(more["simulated"], 1)
        self.assertLess(more["simulated"], 12)
        self.assertLessEqual(more["likely_regret"], 0.005)
        self.assertLessEqual(more["regret_bound"], short["regret_bound"])
        self.assertGreaterEqual(more["ranking"][0]["value"] * (1 + more["likely_regret"]), best)
        self.assertLessEqual({short["ranking"][0]["id"]}, {each["id"] for each in more["ranking"]})

    def test_layouts_of_many_are_ruled_out_by_one_stage_and_the_best_is_that_of_the_few(self):
        batches = [64 + 16 * step for step in range(20)]
        write = lambda batches: self.file.write_text(SPACE.replace('"training.pipeline"', f'"training.global_batch" = {batches}\n"training.pipeline"'))
        write(batches)
        found = self.tune(folder="many")
        self.assertEqual(found["candidates"], POINTS * len(batches))
        self.assertGreater(found["rough"], 0)
        self.assertLessEqual(found["rough"], found["pruned"] + found["open"])
        best = found["ranking"][0]
        write([int(best["values"]["training.global_batch"])])
        few = self.tune("--whole-steps", "12", folder="few")
        self.assertEqual((few["candidates"], few["rough"]), (POINTS, 0))
        self.assertGreater(best["value"], few["ranking"][0]["value"] * (1 - 0.01))
        self.assertGreaterEqual(best["value"] * (1 + found["likely_regret"]), few["ranking"][0]["value"])

    def test_layouts_that_do_not_fit_break_no_rule_where_a_strategy_names_their_streams(self):
        before = self.tune("--whole-steps", "1", folder="before")
        self.file.write_text(SPACE.replace("[strategy.default]", "[strategy.default]\ngradients.priority = 1"))
        after = self.tune("--whole-steps", "1", folder="after")
        self.assertGreater(before["out_of_memory"], 0)
        self.assertEqual([after[way] for way in ("refused", "out_of_memory")], [before[way] for way in ("refused", "out_of_memory")])

    def test_the_winner_s_settings_make_its_run(self):
        best = self.tune()["ranking"][0]
        words = [word for key in best["sets"] for word in ("--set", key)]
        run = c3sim("-q", "run", self.file, "--json", "-o", self.folder / "run.h5", *words)
        self.assertAlmostEqual(json.loads(run.stdout)["strategies"][0]["time_us"] / best["time_us"], 1, delta=1e-9)
        self.assertEqual([f"{key}={value}" for key, value in best["values"].items()], best["sets"])
        self.assertTrue(best["command"].startswith("c3sim run "))

    def test_the_front_is_not_beaten_and_the_best_is_compared_and_started(self):
        self.file.write_text(SPACE.replace('hbm_size = "22 GB"', 'hbm_size = "80 GB"').replace("ib-hdr", "tcp-100g")
                             .replace('"training.micro_batch" = [1, 2, 16]', '"training.micro_batch" = [1, 2]\n"training.recompute" = ["none", "full"]'))
        found = self.tune("--set", "tune.regret=0", "--whole-steps", "8")
        self.assertLess(len(found["front"]), len(found["ranking"]))
        by_id = {each["id"]: each for each in found["ranking"]}
        costs = lambda its: (1 / its["value"], its["needed_bytes"], its["energy_j"], its["usd"] / its["tokens"])
        beats = lambda a, b: a != b and all(x <= y for x, y in zip(costs(a), costs(b)))
        front = [by_id[its] for its in found["front"]]
        self.assertEqual(front[0], found["ranking"][0])
        for each in found["ranking"]:
            self.assertEqual(each in front, not any(beats(other, each) for other in found["ranking"]), each["id"])
        rows = {row["name"]: row for row in found["comparison"]}
        for which, place in (("best", 0), ("next", 1)):
            parts = sum(rows[name][which] for name in ("kernels", "exposed communication", "neither"))
            self.assertAlmostEqual(parts / (found["ranking"][place]["time_us"] * 1e-3), 1, delta=0.02)
            self.assertAlmostEqual(rows["memory"][which] / (found["ranking"][place]["needed_bytes"] * 1e-9), 1, delta=1e-9)
        words, values = found["launch"]["arguments"], found["ranking"][0]["values"]
        after = dict(zip(words, words[1:]))
        self.assertEqual(words[:5], ["torchrun", "--nnodes", "2", "--nproc-per-node", "8"])
        self.assertEqual(after["--tensor-model-parallel-size"], values["training.tensor_parallel"])
        self.assertEqual(after["--pipeline-model-parallel-size"], values["training.pipeline"])
        self.assertEqual(after["--micro-batch-size"], values["training.micro_batch"])
        self.assertEqual(after["--global-batch-size"], "64")
        self.assertEqual("--sequence-parallel" in words, values["training.sequence_parallel"] == "true")
        self.assertEqual(found["launch"]["unsaid"], [])

    def test_python_reads_the_answer(self):
        found = self.tune()
        file = self.folder / "tune.json"
        file.write_text(json.dumps(found))
        tuned = c3sim_results.Tune(file)
        self.assertEqual(list(tuned.ranking.index), [each["id"] for each in found["ranking"]])
        self.assertEqual(tuned.ranking["value"].tolist(), [each["value"] for each in found["ranking"]])
        self.assertEqual(tuned.keys, list(found["ranking"][0]["values"]))
        self.assertEqual(tuned.ranking[tuned.keys[0]].iloc[0], found["ranking"][0]["values"][tuned.keys[0]])
        self.assertEqual(tuned.counts.sum(), found["candidates"])
        self.assertLessEqual(set(tuned.front), set(tuned.ranking.index))
        file.write_text("{}")
        self.assertRaisesRegex(ValueError, "not an answer of c3sim tune", c3sim_results.Tune, file)

    def test_strategies_compete_and_objectives_and_limits_hold(self):
        self.file.write_text(PAIR)
        found = self.tune("--exact")
        self.assertEqual(found["regret_bound"], 0)
        self.assertIn(found["ranking"][0]["strategy"], ("together", "partitioned"))
        self.assertEqual((found["unit"], found["ranking"][0]["tokens"]), ("s", None))
        self.assertEqual((found["comparison"], found["launch"]), ([], None))
        self.assertAlmostEqual(found["ranking"][0]["value"], found["ranking"][0]["time_us"] * 1e-6, delta=1e-12)
        none = c3sim("-q", "tune", self.file, "-o", self.folder / "few", "--set", "tune.most_gpus=4")
        self.assertEqual(none.returncode, 4)
        self.assertRegex(none.stdout, r"\nneed more than 4 GPUs +4\n")
        self.assertRegex(none.stderr, "no candidate can run")
        self.assert_one_line(c3sim("tune", self.file, "-o", self.folder / "tokens", "--set", 'tune.objective="tokens_per_s"'), 3,
                             r"^--set:1:1: tune\.objective: 'tokens_per_s' requires a training step")

    def test_the_better_half_goes_on_with_more_seeds_until_the_best_has_all(self):
        self.file.write_text(PAIR.replace("seeds = 1", "seeds = 6").replace("[tune.product]", "[tune]\nregret = 0\n[tune.product]")
                             .replace("[strategy.together]\n", ""))
        found = self.tune()
        self.assertEqual([each["seeds"] for each in found["ranking"]], [6, 2, 1, 1])
        count = lambda folder: len(list((self.folder / "out" / folder / "points").iterdir()))
        self.assertEqual([count(folder) for folder in ("seeds_1", "seeds_2", "seeds_4", ".")], [4, 2, 1, 1])
        time_of = lambda each: json.loads(c3sim("-q", "run", self.file, "--json", "-o", self.folder / "run.h5", "--set",
                                                f"measure.seeds={each['seeds']}", "--set", each["sets"][0]).stdout)["strategies"][0]["time_us"]
        for each in found["ranking"]:
            self.assertAlmostEqual(each["time_us"] / time_of(each), 1, delta=1e-9)
        self.assertEqual(found["front"][0], found["ranking"][0]["id"])
        self.assertEqual(self.tune()["ranking"], found["ranking"])
        exact = self.tune("--exact", folder="exact")
        self.assertEqual([each["seeds"] for each in exact["ranking"]], [6] * exact["simulated"])
        text = c3sim("-q", "tune", self.file, "-o", self.folder / "out").stdout
        self.assertRegex(text, r"\nseeds: the better half of those simulated went on")
        self.file.write_text(PAIR.replace("[tune.product]", '[tune.product]\n"measure.seeds" = [1, 3]'))
        own = self.tune(folder="own")
        self.assertEqual({each["seeds"] for each in own["ranking"]}, {1, 3})

    def test_a_point_that_was_cut_short_is_simulated_again(self):
        found = self.tune("--whole-steps", "2")
        for file in (self.folder / "out/points").iterdir():
            file.write_bytes(file.read_bytes()[:-40])
        self.assertEqual(self.tune("--whole-steps", "2")["ranking"], found["ranking"])

    def test_money_is_the_list_price_of_all_gpus_for_as_long(self):
        prices = {"a100-sxm-80gb-8": 3.43, "h100-sxm-8": 6.155}
        self.file.write_text(SPACE.replace("[tune]", '[tune]\nregret = 0').replace("tokens_per_s", "tokens_per_usd")
                             + f'"system" = {json.dumps(list(prices))}\n')
        exact = self.tune("--exact")
        self.assertEqual((exact["unit"], exact["broken_bounds"], exact["open"]), ("tokens/USD", 0, 0))
        for each in exact["ranking"]:
            usd = each["time_us"] * 1e-6 / 3600 * 16 * prices[each["values"]["system"]]
            self.assertAlmostEqual(each["usd"] / usd, 1, delta=1e-9)
            self.assertAlmostEqual(each["value"] / (each["tokens"] / usd), 1, delta=1e-9)
        rates, _ = self.every_rate()
        systems = dict(zip(*(h5py.File(self.folder / "all.h5")["points"][name].asstr()[:] for name in ("id", "system"))))
        best = max(rate * 3600 / 16 / prices[systems[its]] for its, rate in rates.items())
        self.assertAlmostEqual(exact["ranking"][0]["value"] / best, 1, delta=1e-9)
        self.assert_one_line(c3sim("tune", self.file, "-o", self.folder / "free", "--set", "node.usd_per_gpu_hour=0"), 3,
                             r"space\.toml:\d+:\d+: tune\.objective: 'tokens_per_usd' requires the price of every node")
        self.file.write_text(PAIR)
        least = self.tune("--exact", "--set", 'tune.objective="usd"', folder="pair")
        self.assertEqual((least["unit"], least["ranking"][0]["tokens"]), ("USD", None))
        self.assertAlmostEqual(least["ranking"][0]["value"], least["ranking"][0]["time_us"] * 1e-6 / 3600 * 8 * 2.59, delta=1e-15)
        self.assert_one_line(c3sim("tune", self.file, "-o", self.folder / "none", "--set", 'tune.objective="tokens_per_usd"'), 3,
                             r"^--set:1:1: tune\.objective: 'tokens_per_usd' requires a training step; without one use 'usd'")

    def test_energy_is_what_all_boards_draw_and_the_best_strategy_is_the_one_with_the_least(self):
        self.file.write_text(SPACE.replace("[tune]", "[tune]\nregret = 0").replace("tokens_per_s", "tokens_per_j"))
        exact = self.tune("--exact")
        self.assertEqual((exact["unit"], exact["broken_bounds"], exact["open"]), ("tokens/J", 0, 0))
        rates, _ = self.every_rate()
        points = h5py.File(self.folder / "all.h5")["points"]
        energies = dict(zip(points["id"].asstr()[:], points["default.energy"][:]))
        tokens = exact["ranking"][0]["tokens"]
        for each in exact["ranking"]:
            self.assertAlmostEqual(each["energy_j"] / energies[each["id"]], 1, delta=1e-9)
        self.assertAlmostEqual(exact["ranking"][0]["value"] / max(tokens / energies[its] for its in rates), 1, delta=1e-9)
        text = c3sim("-q", "tune", self.file, "-o", self.folder / "out", "--exact").stdout
        self.assertRegex(text, r"^space: most tokens/J, exact search\n")
        self.assertIn("\nbound: of the energy, found without a simulation;", text)
        page = self.folder / "page.html"
        c3sim("-q", "tune", self.file, "-o", self.folder / "out", "--exact", "--page", page)
        self.assertNotIn("energy of a step [kJ] against tokens/J", page.read_text())
        self.assertIn("memory needed [GB] against tokens/J", page.read_text())
        self.file.write_text(PAIR.replace("mi300x-8", "h100-sxm-8"))
        least = self.tune("--exact", "--set", 'tune.objective="energy"', "--set", "tune.regret=0", folder="pair")
        run = lambda each: json.loads(c3sim("-q", "run", self.file, "--json", "-o", self.folder / "run.h5", *[word for key in each["sets"] for word in ("--set", key)]).stdout)
        best = least["ranking"][0]
        strategies = {its["strategy"]: its["clock"]["energy_j"] for its in run(best)["strategies"]}
        self.assertEqual((least["unit"], best["strategy"]), ("J", min(strategies, key=strategies.get)))
        self.assertAlmostEqual(best["value"] / min(strategies.values()), 1, delta=1e-9)
        self.assert_one_line(c3sim("tune", self.file, "-o", self.folder / "cold", "--set", 'tune.objective="energy"', "--set", "gpu.flop_pj=0"), 3,
                             r"^--set:1:1: tune\.objective: 'energy' requires the power of every GPU")
        self.assert_one_line(c3sim("tune", self.file, "-o", self.folder / "none", "--set", 'tune.objective="tokens_per_j"'), 3,
                             r"^--set:1:1: tune\.objective: 'tokens_per_j' requires a training step; without one use 'energy'")

    def test_the_table_says_what_became_of_all_and_what_is_best(self):
        text = c3sim("-q", "tune", self.file, "-o", self.folder / "out", "--top", "2").stdout
        self.assertTrue(text.startswith("space: most tokens/s, guided search\n"))
        numbers = dict(re.findall(r"^(break a rule|do not fit in memory|pruned by their bound|simulated|not simulated, may be better|all) +(\d+)$", text, re.M))
        self.assertEqual(sum(map(int, numbers.values())), 2 * POINTS)
        self.assertEqual(len(re.findall(r"^[12] +\d+ +(?:true|false) ", text, re.M)), 2)
        self.assertRegex(text, r"\nkernels \[ms\] +[\d.]+ +[\d.]+ +[+-][\d.]+\n")
        self.assertRegex(text, r"\nstart it: torchrun --nnodes 2 .+ --tensor-model-parallel-size \d")
        self.assertRegex(text, r"\nbest: c3sim run .+ --set training\.tensor_parallel=\d")
        self.assertRegex(text, r"\nregret: (at most [\d.]+ % above .+ with a probability of 95 %; in the worst case [\d.]+ %|none)")

    def test_a_system_of_which_no_candidate_is_possible_is_named_with_the_reason_and_others_with_their_prices(self):
        self.file.write_text(SPACE.replace("[1, 2, 3]", "[1]").replace("[1, 2, 16]", "[1]")
                             + '[[sweep.zip]]\nsystem = ["a100-sxm-80gb-8", "h100-sxm-8"]\nnodes = [2, 9]\n')
        systems = {its["value"]: its for its in self.tune()["by_value"] if its["key"] == "system"}
        self.assertEqual({name: its["candidates"] for name, its in systems.items()}, {"a100-sxm-80gb-8": 3, "h100-sxm-8": 3})
        self.assertGreater(systems["a100-sxm-80gb-8"]["possible"], 0)
        self.assertEqual(systems["h100-sxm-8"]["possible"], 0)
        self.assertIn("72", systems["h100-sxm-8"]["why_impossible"])
        self.assertEqual(systems["a100-sxm-80gb-8"]["usd_per_gpu_hour"], 3.43)
        text = c3sim("-q", "tune", self.file, "-o", self.folder / "out", "-j", "2").stdout
        self.assertRegex(text, r"\na100-sxm-80gb-8 +3 +3 +\S+ +3\.43\n")
        self.assertRegex(text, r"\nh100-sxm-8 +3 +0 +- +-\n")
        self.assertRegex(text, r"\nsystem h100-sxm-8: none possible, because .*72")

    def test_an_interrupted_search_keeps_the_best_so_far_and_goes_on(self):
        slow = self.folder / "slow.toml"
        slow.write_text(SPACE.replace("layers = 4", "layers = 8") .replace('kernel_grain = "fluid"', 'estimate = "none"'))
        arguments = [COMMAND, "-q", "tune", slow, "-o", self.folder / "out", "-j", "1", "--exact", "--json"]
        running = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        points = self.folder / "out/points"
        while running.poll() is None and not (points.exists() and any(points.iterdir())):
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGINT)
        out, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, said)
        self.assertIn("repeat the command to continue", said)
        found = json.loads(out)
        self.assertTrue(found["interrupted"])
        self.assertGreaterEqual(found["simulated"], 1)
        self.assertEqual(found["ranking"][0]["value"], max(each["value"] for each in found["ranking"]))

    def test_what_is_wrong_is_said(self):
        self.assert_one_line(c3sim("tune"), 2, "FILE is required")
        self.assert_one_line(c3sim("tune", self.file, "--whole-steps", "0"), 2, "--whole-steps")
        self.assert_one_line(c3sim("tune", self.file, "--set", "tune.objectve=1"), 3, "did you mean 'objective'")
        self.file.write_text("schema = 1\n")
        self.assert_one_line(c3sim("tune", self.file), 3, r"space\.toml:1:1: tune: is missing: what may vary")


if __name__ == "__main__":
    unittest.main()
