"""c3sim new: an experiment from the files that somebody has."""

import json
import os
import time
import tomllib
import unittest

from command import SOURCE, ScratchTest, c3sim

EXAMPLES = SOURCE / "docs/examples"
CONFIG = EXAMPLES / "config.json"
SYSTEM = ("--system", "h100-sxm-8")


def new(*arguments):
    return c3sim("new", *arguments)


class New(ScratchTest):
    def edited(self, **changes):
        """The example with other keys; None removes one."""
        keys = json.loads(CONFIG.read_text()) | changes
        file = self.folder / "config.json"
        file.write_text(json.dumps({key: value for key, value in keys.items() if value is not None}))
        return file

    def test_a_config_becomes_an_experiment_that_runs(self):
        output = self.folder / "deep/step.toml"
        begin = time.monotonic()
        done = new("--model", CONFIG, *SYSTEM, "-o", output)
        self.assertLess(time.monotonic() - begin, 10.0)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0.80 G parameters, 0.27 G of them active for a token", done.stderr)
        experiment = tomllib.loads(output.read_text())
        self.assertEqual(experiment["model"]["hidden"], 1024)
        self.assertEqual(experiment["model"]["experts"], {"count": 32, "per_token": 4, "width": 512, "scores": "softmax"})
        self.assertEqual(experiment["training"]["recompute"], "none")
        run = c3sim("-q", "run", output, "-o", self.folder / "out.h5", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertGreater(json.loads(run.stdout)["strategies"][0]["time_us"], 0)

    def test_without_output_the_experiment_is_printed_and_each_line_says_whence(self):
        text = new("--model", CONFIG, *SYSTEM).stdout
        self.assertIn("# config.json: num_hidden_layers\n", text)
        self.assertIn("# --system\n", text)
        self.assertIn("#   num_nextn_predict_layers: heads that predict further tokens", text)
        for line in text.split("\n# What config.json says besides")[0].splitlines():
            if " = " in line and not line.startswith("#"):
                self.assertTrue(" # " in line or line == "schema = 1", line)

    def test_lists_as_json_hold_every_key_of_the_file(self):
        lists = json.loads(new("--model", CONFIG, *SYSTEM, "--explain-file").stdout)["files"][0]
        named = {key["from"] for key in lists["taken"]} | {key["from"] for key in lists["ignored"]}
        self.assertEqual(named, set(json.loads(CONFIG.read_text())))
        self.assertEqual(lists["not_modelled"], [])

    def test_a_model_inside_an_experiment_is_the_same_one(self):
        whole, inside = self.folder / "whole.toml", self.folder / "inside.toml"
        new("--model", CONFIG, *SYSTEM, "-o", whole)
        training = tomllib.loads(whole.read_text())["training"]
        inside.write_text('schema = 1\nsystem = "h100-sxm-8"\n[model]\nfrom = "config.json"\n[training]\n' +
                          "".join(f"{key} = {json.dumps(value)}\n" for key, value in training.items()) +
                          "[measure]\nloss_split = false\n[strategy.default]\n")
        self.edited()
        times = [json.loads(c3sim("-q", "run", file, "--json", "-o", self.folder / "out.h5").stdout)["strategies"][0]["time_us"]
                 for file in (whole, inside)]
        self.assertEqual(*times)
        wider = c3sim("config", "show", inside, "--resolved", "--set", "model.ffn=8192").stdout
        self.assertEqual(tomllib.loads(wider)["model"]["ffn"], 8192)

    def test_what_is_not_modelled_is_refused_by_name_unless_it_may_be_left_out(self):
        file = self.edited(attn_type_list=[0] * 12)
        refused = new("--model", file, *SYSTEM)
        self.assertEqual(refused.returncode, 3)
        self.assertRegex(refused.stderr, r"above the 2 % that may be left out; --leave-out 0\.\d+ takes the rest")
        self.assertRegex(refused.stderr, r"lightning attention in 12 of 12 layers: \d+\.\d % of the parameters, \d+\.\d % of the flops")
        allowed = new("--model", file, *SYSTEM, "--leave-out", "0.9")
        self.assertEqual(allowed.returncode, 0, allowed.stderr)
        self.assertIn("\n# Not modelled: lightning attention", allowed.stdout)

    def test_layers_that_are_not_alike_become_blocks(self):
        output = self.folder / "step.toml"
        file = self.edited(layer_types=["sliding_attention", "full_attention"] * 6, sliding_window=128, use_sliding_window=True)
        done = new("--model", file, *SYSTEM, "-o", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        model = tomllib.loads(output.read_text())["model"]
        self.assertEqual((model["layer_pattern"], model["blocks"]), (["window", "attention"], {"window": {"kind": "attention", "window": 128}}))
        self.assertEqual(json.loads(c3sim("-q", "run", output, "--json", "-o", self.folder / "out.h5").stdout)["strategies"][0]["strategy"], "default")

    def test_what_does_not_fit_says_on_how_many_nodes_it_would(self):
        file = self.edited(num_hidden_layers=480, num_experts=256)
        output = self.folder / "step.toml"
        done = new("--model", file, *SYSTEM, "-o", output)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"does not fit in the memory of its GPUs; --nodes \d+ would do")
        nodes = done.stderr.split("--nodes ")[1].split()[0]
        self.assertEqual(new("--model", file, *SYSTEM, "--nodes", nodes).returncode, 0)

    def test_a_recipe_becomes_a_step_with_its_layout(self):
        output = self.folder / "step.toml"
        done = new("--recipe", EXAMPLES / "train.sh", *SYSTEM, "-o", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        experiment = tomllib.loads(output.read_text())
        self.assertEqual((experiment["nodes"], experiment["model"]["ffn"], experiment["training"]["pipeline"]), (2, 5632, 2))
        facts = json.loads(c3sim("-q", "memory", output, "--json").stdout)
        self.assertEqual(len(facts["classes"]), 2)  # a class of ranks for each stage

    def test_of_two_files_that_describe_a_model_its_own_counts(self):
        done = new("--model", CONFIG, "--recipe", EXAMPLES / "train.sh", *SYSTEM)
        experiment = tomllib.loads(done.stdout)
        self.assertEqual((experiment["model"]["hidden"], experiment["training"]["tensor_parallel"]), (1024, 4))
        self.assertIn("#   --hidden-size: the model's own file counts, not model.hidden = 2048", done.stdout)

    def test_a_machine_becomes_a_preset_beside_the_experiment(self):
        output = self.folder / "step.toml"
        done = new("--model", CONFIG, "--machine", EXAMPLES / "topo.txt", "-o", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["nodes/topo.toml", "step.toml"])
        self.assertIn("C3SIM_CONFIGS=", done.stderr)
        os.environ["C3SIM_CONFIGS"] = str(self.folder)
        self.addCleanup(os.environ.pop, "C3SIM_CONFIGS")
        run = c3sim("-q", "run", output, "-o", self.folder / "out.h5", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(c3sim("config", "check", self.folder / "nodes/topo.toml").returncode, 0)

    def test_where_a_preset_cannot_be_written_nothing_is(self):
        (self.folder / "nodes").mkdir()
        (self.folder / "nodes/topo.toml").write_text("# mine\n")
        done = new("--model", CONFIG, "--machine", EXAMPLES / "topo.txt", "-o", self.folder / "step.toml")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(self.files(), ["nodes/topo.toml"])
        self.assertEqual((self.folder / "nodes/topo.toml").read_text(), "# mine\n")

    def test_a_machine_s_odd_name_makes_a_preset_s_name(self):
        odd = self.folder / "..odd name; rm -rf $HOME.txt"
        odd.write_text((EXAMPLES / "topo.txt").read_text())
        done = new("--model", CONFIG, "--machine", odd, "-o", self.folder / "out/step.toml")
        self.assertEqual(done.returncode, 0, done.stderr)
        presets = [file for file in self.files() if file.startswith("out/nodes/")]
        self.assertEqual(len(presets), 1)
        self.assertRegex(presets[0], r"^out/nodes/[a-z0-9][a-z0-9_.-]*\.toml$")

    def test_gpus_of_amd_get_their_framework(self):
        self.assertIn('framework = "pytorch-rocm"', new("--model", CONFIG, "--system", "mi300x-8").stdout)

    def test_bad_input_is_named_and_nothing_is_written(self):
        output = self.folder / "step.toml"
        other = self.folder / "notes.txt"
        other.write_text("nothing that anybody knows\n")
        broken = self.folder / "broken.json"
        broken.write_text(CONFIG.read_text()[:-20])
        for code, words, message in (
                (2, [*SYSTEM], "no file says what is trained: --model FILE"),
                (2, ["--model", CONFIG], "no file says on which machine: --system NAME"),
                (3, ["--model", CONFIG, "--system", "h100-sxm-9"], "unknown node preset 'h100-sxm-9'; did you mean"),
                (3, ["--model", other, *SYSTEM], "notes.txt:1:1: file: is of no format that --model takes"),
                (3, ["--model", broken, *SYSTEM], "broken.json:"),
                (3, ["--model", self.edited(hidden_size="wide"), *SYSTEM], "config.json:1:"),
                (74, ["--model", self.folder / "none.json", *SYSTEM], "No such file")):
            with self.subTest(message=message):
                done = new(*words, "-o", output)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertFalse(output.exists())

    def test_a_file_of_the_user_is_not_replaced(self):
        output = self.folder / "step.toml"
        output.write_text("# mine\n")
        self.assertEqual(new("--model", CONFIG, *SYSTEM, "-o", output).returncode, 2)
        self.assertEqual(output.read_text(), "# mine\n")

    def test_the_verb_that_reads_a_file_does_not_send_its_user_to_itself(self):
        broken = self.edited(hidden_size="wide")
        for words in (("new", "--model", broken, *SYSTEM), ("-q", "new", "--model", broken, *SYSTEM)):
            self.assertEqual(c3sim(*words).stderr.count("\n"), 1)

    def test_other_verbs_name_the_file_for_what_it_is(self):
        for words in (("run", CONFIG), ("memory", CONFIG), ("explain", CONFIG), ("sweep", CONFIG, "-o", self.folder / "s")):
            with self.subTest(verb=words[0]):
                done = c3sim(*words)
                self.assertEqual(done.returncode, 3)
                self.assertIn(f"{CONFIG} is a configuration of Hugging Face: c3sim new --model {CONFIG} --system NAME", done.stderr)


if __name__ == "__main__":
    unittest.main()
