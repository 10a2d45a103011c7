"""c3sim import on public traces: what is known of them beforehand is found, and replays are faithful."""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from measured_data import DATA, skip_without

TRACES = DATA / "traces"
MEGATRON = [TRACES / f"megatron_tp8_a100/kineto_{rank}.json.gz" for rank in range(8)]
PAIRS = ["Falconsai_nsfw_image_detection__1016002", "gaunernst_bert-small-uncased__1016001"]


def c3sim(*arguments):
    return subprocess.run([os.environ["C3SIM"], "import", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)


def report(*files):
    done = c3sim(*files, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kineto_traces():
    """Every given file that is a Kineto trace."""
    return sorted(path for path in TRACES.glob("*/*.json.gz")
                  if path.parent.name in ("hta", "tracelens") and "_et." not in path.name) + [
                      TRACES / "pytorch_et/linear_kineto.json.gz"]


def shaped(rank):
    return rank["gpu_time_with_shapes_us"] / rank["gpu_time_us"]


class Megatron(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = report(*MEGATRON)
        cls.replay = cls.report["replay"]["with_cross_stream_edges"]

    def test_replay_is_faithful(self):
        print("Megatron:", {key: value for key, value in self.replay.items() if key != "ranks"})
        self.assertLessEqual(self.replay["step_error"], 0.005)
        self.assertLessEqual(self.replay["start_error_median"], 0.0001)
        self.assertLessEqual(self.replay["start_error_p95"], 0.0005)

    def test_edges_between_streams_are_needed(self):
        without = self.report["replay"]["without_cross_stream_edges"]
        for key in ("start_error_median", "start_error_p95"):
            self.assertGreaterEqual(without[key], 100 * max(self.replay[key], 1e-9))
        self.assertGreaterEqual(without["start_error_median"], 0.01)

    def test_edges_by_sequence_number(self):
        edges = self.report["edges"]
        self.assertEqual((edges["issue_by_sequence"], edges["wait_by_sequence"], edges["recorded"]), (672, 672, 0))

    def test_collectives(self):
        collectives = self.report["collectives"]
        self.assertEqual((collectives["kernels"], collectives["specified"], collectives["matched_by_sequence"]), (672, 672, 84))
        print("true cost:", collectives["true_cost_us"])
        self.assertAlmostEqual(collectives["true_cost_us"], 50_100, delta=0.02 * 50_100)
        self.assertLessEqual(collectives["end_spread_worst_us"], 49)

    def test_stragglers(self):
        last = {row["rank"]: row["last"] for row in self.report["stragglers"]}
        self.assertEqual((last[0], last[6], last[3]), (32, 28, 15))

    def test_the_hosts_bind_the_step(self):
        rows = {row["change"]: row for row in self.report["bounds"]}
        recorded, halved, hosts = rows["as recorded"], rows["GPU times halved"], rows["host times x 0.02"]
        self.assertAlmostEqual(halved["step_us"] / recorded["step_us"], 1, delta=0.0005)
        self.assertAlmostEqual(hosts["to_end_of_gpu_work_us"], 187_000, delta=0.03 * 187_000)

    def test_shapes(self):
        for rank in self.report["ranks"]:
            self.assertGreaterEqual(shaped(rank), 0.93)


class SingleRanks(unittest.TestCase):
    def test_every_trace_is_replayed_within_2_percent(self):
        for path in kineto_traces():
            with self.subTest(trace=path.name):
                replay = report(path)["replay"]["with_cross_stream_edges"]
                print(f"{path.name:<60} step {100 * replay['step_error']:.4f} %, start "
                      f"{100 * replay['start_error_median']:.4f} / {100 * replay['start_error_p95']:.4f} %")
                self.assertLessEqual(replay["step_error"], 0.02)

    def test_all_to_all_of_six_steps(self):
        replay = report(TRACES / "hta/a100_dlrm_rank3of8.json.gz")["replay"]["with_cross_stream_edges"]
        self.assertLessEqual(replay["step_error"], 0.01)

    def test_recorded_edges(self):
        for name, edges in (("a100_cuda_event_sync_multi_stream", 1), ("a100_alexnet_cuda_sync", 6)):
            self.assertEqual(report(TRACES / f"hta/{name}.json.gz")["edges"]["recorded"], edges)

    def test_collectives_of_ddp(self):
        nvidia = report(TRACES / "hta/a100_ddp_rank0of2_nccl_metadata.json.gz")["collectives"]
        self.assertEqual((nvidia["specified"], nvidia["kernels"], nvidia["upper_bounds"]), (21, 21, True))
        amd = report(TRACES / "tracelens/mi300x_ddp_rank0of8_resnet_act_checkpoint.json.gz")["collectives"]
        self.assertEqual((amd["specified"], amd["kernels"]), (12, 17))
        self.assertEqual([row["launched_before_recording"] for row in amd["unspecified"]], [True] * 5)

    def test_work_launched_before_the_recording(self):
        rank = report(TRACES / "tracelens/mi300x_ddp_rank0of8_resnet_act_checkpoint.json.gz")["ranks"][0]
        self.assertEqual(rank["gpu_work"] - rank["with_launch"], 968)

    def test_shapes_of_pairs(self):
        for gpu in ("h100", "mi300"):
            for name in PAIRS:
                self.assertGreaterEqual(shaped(report(TRACES / f"tracelens/{gpu}_{name}.json.gz")["ranks"][0]), 0.99)


class ExecutionTraces(unittest.TestCase):
    def test_operators_and_collectives(self):
        # nodes, GEMMs with shapes, collectives issued = specified, waits paired
        known = {"megatron_tp8_a100/et_0": (5424, 241, 85, 85), "pytorch_et/linear_et": (931, 62, 0, 0),
                 "pytorch_et/resnet_1gpu_et_1.0.3": (14391, 9, 21, 6), "pytorch_et/resnet_2gpu_et_1.1.0": (14392, 9, 21, 6)}
        for name, (nodes, gemms, collectives, waits) in known.items():
            with self.subTest(trace=name):
                found = report(TRACES / f"{name}.json.gz")
                self.assertEqual(found["ranks"][0]["nodes"], nodes)
                classes = {row["name"]: (row["count"], row["with_shapes"]) for row in found["operators"]}
                self.assertEqual(classes["gemm"], (gemms, gemms))
                self.assertEqual([found["collectives"][key] for key in ("issued", "specified", "waits", "waits_paired")],
                                 [collectives, collectives, waits, waits])
                self.assertEqual({row["dependency"]: row["count"] for row in found["dependencies"]}["node in its parent"], nodes - 1)

    def test_ranks_are_known(self):
        for name, rank in {"resnet_1gpu_et_1.0.3": 0, "resnet_2gpu_et_1.1.0": 1}.items():
            self.assertEqual(report(TRACES / f"pytorch_et/{name}.json.gz")["ranks"][0]["rank"], rank)
        ranks = report(*(TRACES / f"megatron_tp8_a100/et_{rank}.json.gz" for rank in (3, 1, 0, 2)))["ranks"]
        self.assertEqual([rank["rank"] for rank in ranks], [0, 1, 2, 3])

    def test_bytes_of_collectives(self):
        # The gradients of ResNet-50, 25,557,032 floats, three times.
        rows = report(TRACES / "pytorch_et/resnet_2gpu_et_1.1.0.json.gz")["collectives"]["alike"]
        self.assertEqual(sum(row["bytes"] * row["count"] for row in rows if row["kind"] == "all_reduce"), 3 * 4 * 25_557_032)
        rows = report(TRACES / "megatron_tp8_a100/et_0.json.gz")["collectives"]["alike"]
        self.assertEqual([(row["bytes"], row["count"]) for row in rows], [(67_108_864, 81), (32_768, 3), (4, 1)])

    def test_a_folder_of_kineto_and_execution_traces_is_joined_by_rank(self):
        joined = report(TRACES / "megatron_tp8_a100")
        self.assertEqual([join["rank"] for join in joined["execution_traces"]], list(range(8)))
        for rank, join in enumerate(joined["execution_traces"]):
            self.assertTrue(join["file"].endswith(f"et_{rank}.json.gz"))
            # Kineto recorded the shapes of the same step itself: all that are joined agree.
            self.assertEqual((join["joined"], join["shapes_same"], join["shapes_differ"]), (join["operators"], 4287, 0))
        alone = report(*MEGATRON)
        for key in ("edges", "stragglers", "bounds", "replay"):
            self.assertEqual(joined[key], alone[key])
        self.assertEqual(joined["collectives"]["specified"], 672)

    def test_shapes_that_kineto_lacks(self):
        # (Kineto, execution trace): share of GPU time with shapes before and after.
        for kineto, execution in (("pytorch_et/linear_kineto", "pytorch_et/linear_et"),
                                  ("hta/a100_simple_add_kineto", "hta/a100_simple_add_et")):
            with self.subTest(trace=kineto):
                kineto, execution = TRACES / f"{kineto}.json.gz", TRACES / f"{execution}.json.gz"
                self.assertEqual(shaped(report(kineto)["ranks"][0]), 0)
                joined = report(kineto, execution)
                join = joined["execution_traces"][0]
                print(f"{kineto.name}: {join['joined']} of {join['operators']} operators joined, "
                      f"{100 * shaped(joined['ranks'][0]):.2f} % of GPU time with shapes")
                self.assertGreaterEqual(join["joined"] / join["operators"], 0.99)
                self.assertGreaterEqual(shaped(joined["ranks"][0]), 0.99)


class OperatorLists(unittest.TestCase):
    """Benchmarks from execution traces (Mystique)."""

    def test_coverage_and_class_times(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.json"
            done = c3sim(TRACES / "megatron_tp8_a100", "--operators", path, "--json")
            shares = [tuple(map(float, re.findall(r"([\d.]+) %", note))) for note in done.stderr.splitlines()]
            print("Megatron, listed by count and by time [%]:", shares)
            self.assertEqual(len(shares), 8)
            for by_count, by_time in shares:
                self.assertGreaterEqual(by_count, 95)
                self.assertGreaterEqual(by_time, 90)
            kernels = {row["class"]: row["time_us"] for row in json.loads(done.stdout)["classes"]}
            plain = report(path)
            listed = {row["name"]: row["time_us"] for row in plain["operators"]}
            print("class times, listed and of kernels [us]:", listed, kernels)
            # Kernels and operators are classed by other names; memsets of products count as theirs.
            for work in ("gemm", "vector", "collective"):
                self.assertAlmostEqual(listed[work] / kernels[work], 1, delta=0.15)
            hidden = pathlib.Path(folder) / "hidden.json"
            self.assertEqual(c3sim(path, "--operators", hidden, "--obfuscate", "--json").returncode, 0)
            for key in ("operators", "collectives"):
                self.assertEqual(report(hidden)[key], plain[key])

    def test_coverage_of_many_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            done = c3sim(TRACES / "pytorch_et/linear_kineto.json.gz", TRACES / "pytorch_et/linear_et.json.gz", "--operators",
                         pathlib.Path(folder) / "list.json", "--csv", "joins")
            self.assertEqual(done.stderr, "note: rank 0: listed operators launched 100.00 % of the GPU work by count, 100.00 % by time\n")

    def test_of_an_execution_trace_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.json"
            trace = TRACES / "pytorch_et/resnet_2gpu_et_1.1.0.json.gz"
            self.assertEqual(c3sim(trace, "--operators", path).returncode, 0)
            alone, listed = report(trace), report(path)
            for key in ("operators", "collectives"):
                self.assertEqual(listed[key], alone[key])


class Chakra(unittest.TestCase):
    def test_only_seven_of_twenty_one_nodes_communicate(self):
        found = report(TRACES / "chakra/feeder_tests_trace.tar.gz")
        self.assertEqual(found["ranks"][0]["nodes"], 3664)
        rows = found["collectives"]["alike"]
        self.assertEqual(sum(row["count"] for row in rows), 7)
        self.assertEqual({row["name"]: row["count"] for row in found["nodes"]}["operator of the host that calls a collective"], 14)
        # The gradients of ResNet-50 once, and 53,120 floats and 53 integers of 8 B of the buffers.
        self.assertEqual(sum(row["bytes"] for row in rows if row["kind"] == "all_reduce"), 4 * 25_557_032)
        self.assertEqual(sorted(row["bytes"] for row in rows if row["kind"] == "broadcast"), [53 * 8, 53_120 * 4])

    def test_durations(self):
        found = report(TRACES / "chakra/feeder_tests_trace.tar.gz")
        self.assertEqual(sum(found["times"].values()), 381_795)
        self.assertEqual(found["times"]["communication_us"], 36_715)
        self.assertEqual(sum(found["critical_path"].values()), 46_140)

    def test_json(self):
        found = report(TRACES / "chakra/small_chakra.0.json.gz")
        self.assertEqual(found["ranks"][0] | {"file": ""}, {"rank": 0, "file": "", "schema": None, "nodes": 7, "threads": 0})
        self.assertEqual([row["kind"] for row in found["collectives"]["alike"]], ["broadcast"])


if __name__ == "__main__":
    skip_without("traces")
    unittest.main()
