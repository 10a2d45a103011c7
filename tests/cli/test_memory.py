"""c3sim memory: what GPUs hold, as c3sim run reports it, and what would make a step fit, without a simulation."""

import json
import unittest

from command import MAIN_JOB, SOURCE, ScratchTest, c3sim

TRAINING = SOURCE / "configs/experiments/training"
FSDP = TRAINING / "llama3_8b_fsdp8.toml"
PIPELINE = TRAINING / "llama3_70b_pipeline.toml"
PIPELINE_BY_HAND = SOURCE / "configs/experiments/pipeline_1f1b.toml"
QUICK = ["measure.seeds=1", "measure.alone=false", 'measure.kernel_grain="fluid"', 'measure.vector_grain="fluid"', "measure.loss_split=false"]
# Of shipped experiments, few layers, so that they run in seconds: without and with pipelines, experts and adapters.
SMALL = ((FSDP, ["model.layers=3"]),
         (PIPELINE, ["model.layers=4", "training.global_batch=16"]),
         (TRAINING / "gpt_a100.toml", ["model.layers=2"]),
         (TRAINING / "llama2_70b_lora_mi300x.toml", ["model.layers=4"]))


def sets(*keys):
    return [word for key in keys for word in ("--set", key)]


def memory(file, *arguments):
    return c3sim("-q", "memory", file, *arguments)


def account(file, *arguments):
    return json.loads(memory(file, "--json", *arguments).stdout)


def ranks_of(text):
    """Of "0-3, 9"."""
    found = set()
    for part in text.split(", "):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


class Memory(ScratchTest):
    def run_json(self, file, *keys):
        done = c3sim("-q", "run", file, "--json", "-o", self.folder / "run.h5", *sets(*QUICK, *keys))
        self.assertIn(done.returncode, (0, 4), done.stderr)
        return json.loads(done.stdout)

    def test_a_step_holds_exactly_what_its_run_reports(self):
        for file, keys in SMALL:
            with self.subTest(file=file.name):
                found = account(file, "--no-changes", *sets(*keys))
                ran = self.run_json(file, *keys)
                strategy = ran["strategies"][0]
                fullest = found["classes"][found["fullest"]]
                for key in ("peak_bytes", "needed_bytes", "reserved_bytes", "by_class", "tenants"):
                    self.assertEqual(fullest[key], strategy["step"]["memory"][key], key)
                self.assertTrue(strategy["step"]["memory"]["moment"].endswith(fullest["moment"]))
                self.assertEqual(found["limit_bytes"], strategy["step"]["memory"]["limit_bytes"])
                for simulated in strategy["classes"]:
                    its = next(each for each in found["classes"] if simulated["representative"] in ranks_of(each["ranks"]))
                    self.assertEqual(its["reserved_bytes"], simulated["memory_bytes"])

    def test_the_highest_moment_is_the_peak_and_classes_add_up(self):
        found = account(PIPELINE, "--no-changes", *sets("model.layers=4", "training.global_batch=16"))
        self.assertEqual([each["name"] for each in found["classes"]], [f"stage {stage}" for stage in range(4)])
        self.assertEqual(sum(each["gpus"] for each in found["classes"]), 64)
        for each in found["classes"]:
            highest = max(each["moments"], key=lambda moment: moment["bytes"])
            self.assertEqual((highest["name"], highest["bytes"]), (each["moment"], each["peak_bytes"]))
            for moment in each["moments"]:
                self.assertAlmostEqual(sum(moment["by_class"].values()), moment["bytes"], delta=1)
            self.assertEqual(sum(tenant["bytes"] for tenant in each["tenants"]), each["peak_bytes"])

    def test_streams_that_are_written_out_hold_their_largest_operations(self):
        found = account(MAIN_JOB)
        ran = self.run_json(MAIN_JOB)
        self.assertEqual([each["bytes"] for each in found["classes"]], [ran["strategies"][0]["classes"][0]["memory_bytes"]])
        self.assertEqual([(each["name"], each["stream"]) for each in found["classes"][0]["operations"]],
                         [("mlp.gate_up", "compute"), ("all_gather next.mlp.gate_up.weight", "fsdp")])
        # 57,344 x 8,192 weights and 2,048 rows of both sides in 2 bytes each; an all-gather in place.
        self.assertEqual([each["bytes"] for each in found["classes"][0]["operations"]],
                         [2 * (57344 * 8192 + 2048 * 8192 + 2048 * 57344), 2 * 57344 * 8192])
        unknown = account(PIPELINE_BY_HAND)["classes"]
        self.assertEqual([each["bytes"] for each in unknown], [None, None])

    def test_a_step_that_does_not_fit_ends_with_4_and_says_what_would(self):
        # As it is shipped the step recomputes some of its activations; without it does not fit.
        keys = ['training.recompute="none"', "training.micro_batch=4", "model.layers=31"]
        done = memory(FSDP, "--json", *sets(*keys))
        self.assertEqual((done.returncode, done.stderr), (4, ""))
        found = json.loads(done.stdout)
        verdict = self.run_json(FSDP, *keys)
        self.assertEqual(verdict["verdict"], "out_of_memory")
        self.assertEqual(found["classes"][0]["needed_bytes"], verdict["memory"]["needed_bytes"])
        changes = {each["change"]: each for each in found["changes"]}
        self.assertTrue(changes["recompute full"]["fits"])
        self.assertGreater(changes["recompute full"]["cost"], 0.2)  # a fourth pass of three
        self.assertLess(changes["recompute full"]["cost"], 0.4)
        self.assertRegex(changes["pipeline 2"]["problem"], "layers")  # an odd number of them
        fitting = [each.get("fits", False) for each in found["changes"]]
        self.assertEqual(fitting, sorted(fitting, reverse=True))
        for name in ("recompute full", "micro_batch 2", "tensor_parallel 2, sequence_parallel"):
            with self.subTest(change=name):
                again = memory(FSDP, "--json", "--no-changes", *sets(*keys, *changes[name]["sets"]))
                self.assertEqual(again.returncode, 0 if changes[name]["fits"] else 4)
                itself = json.loads(again.stdout)
                self.assertEqual(itself["classes"][0]["needed_bytes"], changes[name]["needed_bytes"])
                self.assertEqual(itself["closed_form"], changes[name]["closed_form"])

    def test_offload_is_tried_and_what_the_host_updates_costs_its_time(self):
        found = account(FSDP, "--changes", *sets("model.layers=4"))
        as_it_is = found["closed_form"]["time_us"]
        changes = {each["change"]: each for each in found["changes"]}
        needed = [changes[name]["needed_bytes"] for name in ("offload_layers 4", "offload_layers 2")]
        self.assertLess(needed[0], needed[1])
        for name in ("offload_layers 2", "offload_optimizer 1"):
            again = account(FSDP, "--no-changes", *sets("model.layers=4", *changes[name]["sets"]))
            self.assertEqual(again["closed_form"], changes[name]["closed_form"])
            self.assertGreaterEqual(changes[name]["closed_form"]["time_us"], as_it_is)
        self.assertGreater(changes["offload_optimizer 1"]["cost"], 0.1)

    def test_tables_show_classes_tensors_moments_and_changes(self):
        text = memory(FSDP, "--top", "3", "--changes", *sets("model.layers=2")).stdout
        self.assertRegex(text, r"^llama3_8b_fsdp8 on h100-96gb-hbm2e-8: fits, of [\d.]+ GB of each GPU\n")
        self.assertEqual(len(text.split("largest tensors")[1].split("of ranks")[0].strip().splitlines()), 5)
        for line in (r"\nforward, layer +[\d.]+", r"\nbackward, layer +[\d.]+", r"\nas it is +[\d.]+ +[\d.]+% +yes +[\d.]+ +\+0.0%\n", r"\nmicro_batch 1 +"):
            self.assertRegex(text, line)

    def test_a_step_that_fits_has_no_changes_unless_they_are_asked_for(self):
        done = memory(FSDP, *sets("model.layers=2"))
        self.assertNotIn("as it is", done.stdout)
        self.assertTrue(done.stdout.endswith("--changes: what would need less, and what it would cost\n"), done.stdout)
        self.assertEqual(account(FSDP, *sets("model.layers=2"))["changes"], [])

    def test_micro_batches_that_repeat_are_left_out_and_change_nothing(self):
        few, many = (account(FSDP, *sets(f"training.global_batch={batch}")) for batch in (512, 2048))
        self.assertGreater(many["classes"][0]["left_out_micro_batches"], few["classes"][0]["left_out_micro_batches"])
        for a, b in zip(few["classes"], many["classes"]):
            self.assertEqual((a["by_class"], a["tenants"], len(a["moments"])), (b["by_class"], b["tenants"], len(b["moments"])))
            self.assertAlmostEqual(a["needed_bytes"] / b["needed_bytes"], 1.0, delta=0.002)

    def test_what_is_wrong_with_the_file_is_said_as_by_run(self):
        self.assert_one_line(memory(FSDP, *sets("model.hiden=1")), 3, "did you mean")
        self.assert_one_line(memory(FSDP, "--top", "0"), 2, "--top")
        self.assert_one_line(c3sim("memory"), 2, "FILE is required")


if __name__ == "__main__":
    unittest.main()
