"""Bad configurations: exit code 3, one line on stderr that begins with file:line:col, nothing else anywhere."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

COMMAND = os.environ["C3SIM"]

GOOD = """\
schema = 1
system = "mi300x-8"
[model]
use = "llama-70b"
tokens = 2048
dtype = "bf16"
[[stream]]
name = "compute"
run = ["mlp.gate_up"]
[[stream]]
name = "fsdp"
run = [{ all_gather = "next.mlp.gate_up.weight" }]
[strategy.concurrent]
order = ["compute", "fsdp"]
"""


def gpu(line):
    """The good experiment with one override of the GPU."""
    return GOOD + f"[gpu]\n{line}\n"


# name: (text, line and column of the mistake, what the message says)
MISTAKES = {
    "empty": ("", "1:1", "file: is empty"),
    "deep": (GOOD + ".".join(["a"] * 100_000) + " = 1\n", "15:32", "syntax: a key has at most 16 parts"),
    "binary": ("\x89HDF\r\n\x1a\n\0\0\0", "1:1", "file: is a binary file, not TOML"),
    "syntax": (GOOD + "seeds == 3\n", "15:8", "syntax: "),
    "wrong_unit": (gpu('hbm_read = "4 TB"'), "16:12", "'TB' is the unit of a size; allowed: B/s, kB/s"),
    "no_unit": (gpu("hbm_read = 4"), "16:12", "must be a string with a unit, not an integer"),
    "negative_bandwidth": (gpu('hbm_read = "-4 TB/s"'), "16:12", "must be above 0, not -4 TB/s"),
    "not_a_number": (gpu("work_group_spread = nan"), "16:21", "numbers must be finite"),
    "unknown_key": (gpu('hbm_raed = "4 TB/s"'), "16:1", "unknown key; did you mean 'hbm_read'?"),
    "unknown_preset": (GOOD.replace("mi300x-8", "mi300-8"), "2:10", "did you mean 'mi300x-8'?"),
    "no_such_kernel": (GOOD.replace('["mlp.gate_up"]', '["mlp.gateup"]'), "9:8", "did you mean 'mlp.gate_up'?"),
    "empty_run": (GOOD.replace('["mlp.gate_up"]', "[]"), "9:7", "run: is empty"),
    "no_such_stream": (GOOD + "[strategy.x]\nfspd.cus = 8\n", "16:1", "did you mean 'fsdp'?"),
    "billion_gpus": (GOOD + "[node]\ngpus = 1_000_000_000\n", "16:8", "between 1 and 256, not 1000000000"),
    "off_granule": (GOOD + "[strategy.x]\nfsdp.cus = 9\n", "16:12", "9 is not a multiple of 8"),
    "all_cus": (GOOD + "[strategy.x]\nfsdp.cus = 304\n", "16:12", "must be between 8 and 296"),
    "newer_schema": (GOOD.replace("schema = 1", "schema = 2"), "1:10", "schema: must be between 1 and 1"),
    "extends_itself": ('extends = "extends_itself.toml"\n' + GOOD, "1:11", "cycle: "),
    "extends_nothing": ('extends = "none.toml"\n' + GOOD, "1:11", "none.toml' does not exist"),
}


class BadConfig(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_command(self, *arguments):
        command = [COMMAND, *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60)

    def check_refused(self, file, position, message, *options):
        """Both verbs that read experiments refuse `file` alike, and leave the folder as it was."""
        before = sorted(self.folder.rglob("*"))
        for verb in (["config", "check"], ["run"]):
            with self.subTest(file=file, verb=verb):
                done = self.run_command(*verb, file, *options)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, rf"\A{re.escape(position)}: \S+: [^\n]+\n\Z")
                self.assertIn(message, done.stderr)
                self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_the_experiment_that_the_mistakes_are_made_in_is_good(self):
        (self.folder / "good.toml").write_text(GOOD)
        done = self.run_command("config", "check", "good.toml")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "good.toml: ok (streams: 2, strategies: 1, seeds: 8, draws: 0)\n")

    def test_each_mistake_in_a_file_is_one_line_at_its_position(self):
        for name, (text, position, message) in MISTAKES.items():
            file = f"{name}.toml"
            (self.folder / file).write_text(text, encoding="latin-1", newline="")
            self.check_refused(file, f"{file}:{position}", message)

    def test_a_missing_file_and_a_folder_are_one_line(self):
        (self.folder / "folder.toml").mkdir()
        self.check_refused("missing.toml", "missing.toml:1:1", "file: does not exist")
        self.check_refused("folder.toml", "folder.toml:1:1", "file: is a folder, not a TOML file")

    def test_a_cycle_of_extends_names_its_chain(self):
        (self.folder / "a.toml").write_text('extends = "b.toml"\n' + GOOD)
        (self.folder / "b.toml").write_text('extends = "a.toml"\n')
        self.check_refused("a.toml", "b.toml:1:11", "cycle: a.toml -> b.toml -> a.toml")

    def test_a_bad_set_is_reported_by_its_number(self):
        (self.folder / "good.toml").write_text(GOOD)
        for override, message in (
            ("measure.seeds=0", "measure.seeds: must be between 1 and 1000"),
            ("measure.seeds", "expected key=value"),
            ("~measure.seeds", "there is no such key to delete"),
            ("+schema=1", "the key exists already"),
            ("gpu.hbm_raed=1", "did you mean 'hbm_read'?"),
        ):
            self.check_refused("good.toml", "--set:2:1", message, "--set", "measure.draws=1", "--set", override)

    def test_a_preset_number_without_a_source_is_refused(self):
        presets = self.folder / "models"
        presets.mkdir()
        sourced = "{ value = 4, kind = \"derived\", source = \"made up\" }\n"
        (presets / "tiny.toml").write_text('name = "tiny"\ngated = false\nhidden = 64\n' + "".join(
            f"{key} = {sourced}" for key in ("ffn", "heads", "kv_heads", "layers")))
        done = self.run_command("config", "check", "models/tiny.toml")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"\Amodels/tiny\.toml:3:10: model\.hidden: a preset states [^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
