"""c3sim import --gpu: kernels of a trace on another GPU, and what keeps its recorded time."""

import csv
import io
import json
import unittest

from command import ScratchTest, c3sim

BF16 = "c10::BFloat16"


def operator(name, start, duration, dims, types, concrete=()):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration,
            "args": {"Input Dims": dims, "Input type": types, "Concrete Inputs": list(concrete)}}


def launch(name, call, duration, correlation):
    return [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": call, "dur": 5,
             "args": {"correlation": correlation}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": call + 10, "dur": duration,
             "args": {"device": 0, "stream": 7, "correlation": correlation}}]


def trace(gpu="NVIDIA A100-SXM4-80GB", units=108, memory=85174583296):
    """A product of 4096^3, which an A100 computes in half a millisecond, an addition, and a kernel of unknown shape."""
    events = [operator("aten::mm", 0, 50, [[4096, 4096], [4096, 4096]], [BF16, BF16]), *launch("ampere_bf16_gemm", 10, 550, 1),
              operator("aten::add", 600, 50, [[4096, 4096], [4096, 4096], []], [BF16, BF16, "Scalar"], ["", "", "1"]),
              *launch("vectorized_elementwise_kernel<4>", 610, 60, 2),
              operator("mine", 700, 50, [[8]], [BF16]), *launch("my_kernel", 710, 20, 3)]
    return {"deviceProperties": [{"id": 0, "name": gpu, "numSms": units, "totalGlobalMem": memory}],
            "traceEvents": events}


class ImportGpu(ScratchTest):
    def setUp(self):
        super().setUp()
        self.write(trace())

    def write(self, content):
        (self.folder / "rank0.json").write_text(json.dumps(content))

    def imported(self, *arguments):
        done = c3sim("import", "rank0.json", *arguments, folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def rows(self, table, gpu="h100-sxm"):
        return list(csv.DictReader(io.StringIO(self.imported("--gpu", gpu, "--csv", table))))

    def test_each_kernel_has_its_operator_and_times(self):
        product, sum_, mine = self.rows("kernels")
        self.assertEqual((product["class"], product["operator"]), ("gemm", "gemm 4096 x 4096 x 4096 bf16"))
        # 137 GFLOP at less than 989 TFLOP/s on an H100, 312 on an A100.
        self.assertGreater(float(product["on h100-sxm [us]"]), 139)
        self.assertLess(float(product["on h100-sxm [us]"]), 250)
        self.assertGreater(float(product["on the recorded GPU [us]"]), 440)
        # 100 MB: at less than 3.35 TB/s.
        self.assertEqual(sum_["class"], "vector")
        self.assertGreater(float(sum_["on h100-sxm [us]"]), 30)
        self.assertEqual((mine["on h100-sxm [us]"], mine["rule or reason"], mine["scaled [us]"]),
                         ("-", "no rule for this kernel", "20.000"))

    def test_scaled_keeps_what_the_model_does_not_know(self):
        product = self.rows("kernels")[0]
        ratio = float(product["on h100-sxm [us]"]) / float(product["on the recorded GPU [us]"])
        self.assertAlmostEqual(float(product["scaled [us]"]), 550 * ratio, delta=0.1)

    def test_what_is_not_modelled_keeps_its_time_and_is_listed(self):
        retiming = json.loads(self.imported("--gpu", "h100-sxm", "--json"))["retiming"]
        self.assertEqual((retiming["gpu"], retiming["recorded_gpu"]), ("h100-sxm", "a100-sxm-80gb"))
        self.assertEqual([(row["kernel"], row["count"], row["recorded_us"]) for row in retiming["fall_backs"]],
                         [("my_kernel", 1, 20.0)])
        all_ = retiming["all_but_collectives"]
        self.assertEqual((all_["count"], all_["modelled_count"]), (3, 2))
        self.assertAlmostEqual(all_["recorded_us"], 630)
        self.assertAlmostEqual(all_["modelled_us"], all_["predicted_us"] + 20)
        self.assertGreaterEqual(all_["predicted_with_empty_caches_us"], all_["predicted_us"])
        self.assertEqual(self.rows("fallbacks")[0]["kernel"], "my_kernel")

    def test_the_report_has_both_tables(self):
        text = self.imported("--gpu", "h100-sxm")
        self.assertIn("kernels on h100-sxm", text)
        self.assertIn("GPU work that keeps its recorded time", text)
        self.assertNotIn("kernels on", self.imported())
        self.assertNotIn("retiming", json.loads(self.imported("--json")))

    def test_a_recording_of_an_unknown_gpu_is_not_scaled(self):
        self.write(trace("NVIDIA GeForce RTX 2080 Ti", 68, 11554717696))
        self.assertIsNone(json.loads(self.imported("--gpu", "h100-sxm", "--json"))["retiming"]["recorded_gpu"])
        self.assertIn("no preset fits the recorded GPU", self.imported("--gpu", "h100-sxm"))

    def test_a_type_that_the_gpu_lacks_is_a_reason(self):
        content = trace()
        content["traceEvents"][0]["args"]["Input type"] = ["c10::Float8_e4m3fn", "c10::Float8_e4m3fn"]
        content["traceEvents"][0]["name"] = "aten::_scaled_mm"
        self.write(content)
        product = self.rows("kernels", "a100-sxm-80gb")[0]
        self.assertEqual(product["on a100-sxm-80gb [us]"], "-")
        self.assertIn("fp8", product["rule or reason"])

    def test_mistakes_are_one_line(self):
        self.assert_one_line(c3sim("import", "rank0.json", "--gpu", "h1000", folder=self.folder), 3,
                             "--gpu:1:1: gpu: unknown GPU preset 'h1000'")
        self.assert_one_line(c3sim("import", "rank0.json", "--csv", "kernels", folder=self.folder), 2,
                             "--csv kernels requires --gpu")


if __name__ == "__main__":
    unittest.main()
