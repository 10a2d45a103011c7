"""The node that configs/README.md adds, as files and without code, is one that c3sim can use."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

COMMAND = os.environ["C3SIM"]
CONFIGS = pathlib.Path(os.environ["C3SIM_SOURCE"]) / "configs"
NODE = "a100-sxm-40gb-4"


def files_of(markdown):
    """The TOML blocks whose first line names a preset file, by that name."""
    blocks = re.findall(r"^```toml\n(# (?:nodes|libraries|gpus)/\S+\.toml)\n(.*?)^```", markdown, re.MULTILINE | re.DOTALL)
    return {first.removeprefix("# "): text for first, text in blocks}


class AddingANode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.configs = pathlib.Path(folder.name) / "configs"
        shutil.copytree(CONFIGS, self.configs)
        self.files = files_of((CONFIGS / "README.md").read_text())
        for name, text in self.files.items():
            self.assertFalse((self.configs / name).exists(), f"{name} is there already: the example adds nothing")
            (self.configs / name).write_text(text)

    def run_command(self, *arguments):
        environment = os.environ | {"C3SIM_CONFIGS": str(self.configs)}
        return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, env=environment)

    def test_every_file_is_a_valid_preset(self):
        self.assertEqual(set(self.files), {f"nodes/{NODE}.toml", "libraries/nccl-a100-mesh.toml"})
        for name in self.files:
            result = self.run_command("config", "check", str(self.configs / name))
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_node_can_be_used_by_name(self):
        result = self.run_command("collective", "all_gather", "--system", NODE, "--min", "1 GiB", "--max", "1 GiB", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        row = json.loads(result.stdout)["rows"][0]
        raw = 3 * 100.0  # GB/s of a GPU's three links
        self.assertGreater(row["busbw_gbps"], 0.7 * raw)
        self.assertLess(row["busbw_gbps"], raw)


if __name__ == "__main__":
    unittest.main()
