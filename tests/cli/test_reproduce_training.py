"""c3sim reproduce training, with small models and a few measured rows. tests/validation/test_training_study.py is the whole."""

import csv
import json
import unittest

from command import c3sim
from small_steps import VTRAIN_COLUMNS, SmallStepsTest

ROWS = ["2,4,2,256,4,2,256,2,1,1,9.5", "2,8,1,512,8,2,256,1,2,1,30.25", "4,4,2,256,4,2,256,1,2,2,12.5"]  # the last has a pipeline
# One row or two of each table of steps.
TABLES = {
    "vtrain_8gpu_h1024_l12.csv": VTRAIN_COLUMNS + "8,16,1,256,8,2,256,8,1,1,20\n8,8,1,256,8,2,256,8,1,1,11\n",
    "torchtitan_8b_128gpu_and_async_tp.csv":
        "gpus,fsdp,seq,local_batch,compile,async_tp,tps_gpu,mem_gib\n16,16,256,1,0,0,9000,1.5\n16,2,256,2,1,0,9000,\n16,2,256,2,1,1,9100,\n",
    "mosaic_mpt_a100_80g_125m_1b.csv": "model,seq,gpus,micro_batch,grad_accum,tokens_s\n1b,256,8,1,2,500000\n125m,256,8,1,1,300000\n",
    "simumax_b200_70b.csv": "tp,layers,seq,mbs,micro_batches,step_ms,peak_alloc_gib\n2,2,256,1,2,9,0.5\n8,2,256,1,2,9,0.5\n",
    "vtrain_multi_node_18b_39b.csv": VTRAIN_COLUMNS + "16,8,1,512,8,2,256,8,2,1,30\n"}
STEPS = """set,row,group,ranked,judged,frame,settings,source,find
titan128,eager,titan128,,,llama3_8b_fsdp128.toml,training.framework=pytorch-eager,titan,compile=0
titan_tp,plain,titan_tp,,,llama3_8b_fsdp8_tp8.toml,training.framework=pytorch-compiled,titan,compile=1; async_tp=0
titan_tp,async,titan_tp,,,llama3_8b_fsdp8_tp8.toml,training.framework=pytorch-compiled; +training.tensor_overlap=user_buffers,titan,async_tp=1
mpt,1b s256 mb1,mpt,,,mpt_a100.toml,training.recompute=full,mpt,model=1b
mpt,125m s256 mb1,mpt,,,mpt_a100.toml,,mpt,model=125m
simumax,tp2 m2,simumax.tp2,,,llama3_70b_b200.toml,,simumax,tp=2
simumax,tp8 m2,simumax.tp8,,,llama3_70b_b200.toml,,simumax,tp=8
vtrain18b,tp8 mb1,vtrain18b,,,gpt_18b_a100.toml,,vtrain,gpus=16
"""
NODES = {"llama3_8b_fsdp128.toml": 2, "llama3_8b_fsdp8_tp8.toml": 2, "gpt_18b_a100.toml": 2, "mpt_a100.toml": 1,
         "llama3_70b_b200.toml": 1}
# As of the whole study.
GATED = {"titan.eager.speed", "titan.eager.memory", "titan.compiled.speed", "titan.compiled.memory", "memory.ratio", "memory.ran_refused", "memory.large_refused", "memory.in_use", "gpt.mean",
         "interference.difference", "gathers.gain", "gathers.gain_prioritized", "steps.titan128", "steps.titan_tp", "steps.mpt",
         "steps.mpt.signed", "steps.simumax.tp2", "steps.simumax.tp4", "steps.simumax.tp8", "steps.vtrain18b", "async_gain",
         "cpu.step", "pieces.layer", "pieces.rest", "pieces.whole", "intervals.held", "intervals.least", "intervals.width"}


class ReproduceTraining(SmallStepsTest):
    def setUp(self):
        super().setUp()
        self.add_experiment("llama3_8b_fsdp8.toml")  # the study sets its layers
        self.add_experiment("fsdp_dma_mi300x.toml", layers=3)
        for name, nodes in NODES.items():
            self.add_experiment(name, nodes, layers=2)
        self.add_tables(TABLES)
        self.add_steps("training", STEPS)
        self.add_tables({"gpt_one_node_a100_2_and_4_gpus.csv": VTRAIN_COLUMNS + "".join(row + "\n" for row in ROWS)})

    def test_every_figure_is_there_and_those_made_of_others_agree_with_them(self):
        done = c3sim("reproduce", "training", "-q", "--data", self.folder / "data", "--json", "--rows", self.folder / "rows.csv")
        self.assertEqual(done.stderr, "")
        figures = {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}
        self.assertEqual({name for name, figure in figures.items() if figure["gate"] != "none"}, GATED)
        self.assertEqual({figure["kind"] for figure in figures.values()}, {"predicted"})
        # Whatever the size of the model: the parts of the loss split are what sharing costs.
        self.assertTrue(figures["interference.difference"]["pass"], figures["interference.difference"])
        self.assertEqual(done.returncode, 1 if any(figure["pass"] is False for figure in figures.values()) else 0)

        every = list(csv.DictReader((self.folder / "rows.csv").read_text().splitlines()))
        self.check_steps([row for row in every if row["set"] not in ("gpt", "pieces")], figures)
        self.assertEqual([row["row"] for row in every if row["set"] == "pieces"], ["8 GPUs h256 tp8 mb1 whole"])
        rows = [row for row in every if row["set"] == "gpt" and row["slow_host_ms"]]
        self.assertEqual([float(row["measured_ms"]) for row in rows], [9.5, 30.25])  # those without a pipeline
        errors = [abs(float(row["here_ms"]) / float(row["measured_ms"]) - 1) for row in rows]
        self.assertAlmostEqual(100 * sum(errors) / len(errors), figures["gpt.mean"]["simulated"], places=2)
        for row in rows:
            self.assertGreater(float(row["slow_host_ms"]), 0.98 * float(row["here_ms"]), row["row"])

    def check_steps(self, rows, figures):
        names = [(row["set"], row["row"]) for row in rows]
        self.assertEqual(names, [("titan8", "eager"), ("titan8", "compiled"), ("titan128", "eager"), ("titan_tp", "plain"),
                                 ("titan_tp", "async"), ("mpt", "1b s256 mb1"), ("mpt", "125m s256 mb1"), ("simumax", "tp2 m2"),
                                 ("simumax", "tp8 m2"), ("vtrain18b", "tp8 mb1")])
        error = {name: 100 * (float(row["here_ms"]) / float(row["measured_ms"]) - 1) for name, row in zip(names, rows)}
        mpt = [error[name] for name in names if name[0] == "mpt"]
        self.assertAlmostEqual(sum(map(abs, mpt)) / 2, figures["steps.mpt"]["simulated"], delta=0.05)
        self.assertAlmostEqual(sum(mpt) / 2, figures["steps.mpt.signed"]["simulated"], delta=0.05)
        self.assertAlmostEqual(error["simumax", "tp8 m2"], figures["steps.simumax.tp8.tp8-m2"]["simulated"], delta=0.05)
        times = {row["row"]: float(row["here_ms"]) for row in rows if row["set"] == "titan_tp"}
        self.assertAlmostEqual(times["plain"] / times["async"], figures["async_gain"]["simulated"], places=3)
        held = [float(row["p5_ms"]) <= float(row["measured_ms"]) <= float(row["p95_ms"]) for row in rows]
        self.assertAlmostEqual(100 * sum(held) / len(held), figures["intervals.held"]["simulated"], places=6)
        for row in rows:
            self.assertLessEqual(float(row["p5_ms"]), float(row["p95_ms"]), row)


if __name__ == "__main__":
    unittest.main()
