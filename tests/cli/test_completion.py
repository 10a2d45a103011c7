"""The completion scripts complete, each in its own shell, as with the Tab key."""

import shutil
import subprocess
import unittest

from command import COMMAND, SOURCE, ScratchTest, c3sim

BASH = """
source <("$C3SIM" completion bash)
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_c3sim
printf '%s\\n' "${COMPREPLY[@]}"
complete -p c3sim
"""

ZSH = """
compdef() { :; }
_files() { print FILES; }
compadd() { shift; print -l -- "$@"; }
source <("$C3SIM" completion zsh)
words=("$@") CURRENT=$# PREFIX=${@[-1]}
_c3sim
"""

FISH = """
"$C3SIM" completion fish | source
complete -C "$argv"
"""


def run(*command):
    done = subprocess.run(command, env={"C3SIM": COMMAND, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done
    assert done.stderr == "", done.stderr
    return done.stdout.split("\n")[:-1]


def bash(*words):
    lines = run("bash", "--norc", "-c", BASH, "bash", "c3sim", *words)
    # Without a word of ours, bash completes file names.
    assert lines[-1] == "complete -o default -F _c3sim c3sim"
    return [line for line in lines[:-1] if line] or ["FILES"]


def zsh(*words):
    """zsh itself drops the words that do not begin with what was typed."""
    return [line for line in run("zsh", "-f", "-c", ZSH, "zsh", "c3sim", *words) if line.startswith(words[-1])
            or line == "FILES"]


def fish(*words):
    return [line.split("\t")[0] for line in run("fish", "--no-config", "-c", FISH, " ".join(["c3sim", *words]))]


SHELLS = [bash] + [shell for shell in (zsh, fish) if shutil.which(shell.__name__)]


class Completion(ScratchTest):
    """Every claim is about bash, and about zsh and fish where they are installed."""

    def test_the_first_word_is_a_verb(self):
        verbs = {"run", "list", "config", "inspect", "diff", "report", "bench", "completion", "version"}
        for shell in SHELLS:
            with self.subTest(shell=shell.__name__):
                self.assertLessEqual(verbs, set(shell("")))
                self.assertEqual(shell("conf"), ["config"])

    def test_verbs_below_a_verb_follow_it(self):
        for shell in SHELLS:
            with self.subTest(shell=shell.__name__):
                self.assertEqual(sorted(shell("config", "")), ["check", "schema", "show"])
                self.assertEqual(sorted(shell("-q", "config", "s")), ["schema", "show"])

    def test_options_are_those_of_the_verb_and_of_the_command(self):
        for shell in SHELLS:
            with self.subTest(shell=shell.__name__):
                self.assertEqual(sorted(shell("config", "show", "--")),
                                 ["--force", "--help", "--origins", "--quiet", "--resolved", "--set", "--version"])
                self.assertNotIn("--resolved", shell("config", "check", "--"))
                self.assertLessEqual({"--output", "--strategies", "--title"}, set(shell("report", "--")))

    def test_arguments_and_options_with_known_values_complete_to_these(self):
        for shell in SHELLS:
            with self.subTest(shell=shell.__name__):
                self.assertIn("systems", shell("list", ""))
                self.assertEqual(sorted(shell("config", "schema", "")),
                                 ["experiment", "fabric", "framework", "gpu", "host", "library", "model", "node"])
                self.assertEqual(shell("inspect", "out.h5", "--table", "dep"), ["dependencies"])
                self.assertEqual(shell("completion", "z"), ["zsh"])
                self.assertEqual(shell("reproduce", "ker"), ["kernels"])

    def test_names_of_presets_complete_where_one_is_an_argument(self):
        llamas = sorted(file.stem for file in (SOURCE / "configs/models").glob("llama-*.toml"))
        for shell in SHELLS:
            with self.subTest(shell=shell.__name__):
                self.assertIn("mi300x", shell("list", "gpus", "mi"))
                self.assertIn("mi300x", shell("kernel", "gemm", "--gpu", "mi"))
                self.assertEqual(sorted(shell("list", "models", "llama-")), llamas)

    def test_where_a_file_belongs_nothing_stands_in_its_way(self):
        for shell in [shell for shell in SHELLS if shell is not fish]:  # fish lists the files themselves
            with self.subTest(shell=shell.__name__):
                self.assertEqual(shell("run", ""), ["FILES"])
                self.assertEqual(shell("config", "show", ""), ["FILES"])

    def test_an_unknown_shell_is_a_usage_error(self):
        self.assert_one_line(c3sim("completion", "tcsh"), 2, "^c3sim: .*tcsh")


if __name__ == "__main__":
    unittest.main()
