"""Draws invocations: a pure function of seed and number, so that a failing one can be repeated alone."""

import dataclasses
import os
import random
import re

from . import world

# Numbers at and beyond the edges of ranges, and texts of every wrong kind. Large but allowed counts are left out:
# they are long simulations, not attacks.
NUMBERS = ("0", "-1", "1", "2", "3", "0.5", "-0.0", "1e-300", "5e-324", "1e300", "1.7976931348623157e308", "1e999", "inf", "-inf",
           "nan", "9223372036854775808", "18446744073709551616", "9" * 400, "0x10", "1_000", "1e", "--", "٣")
UNITS = ("B", "KiB", "MiB", "GB", "GB/s", "TB/s", "Gbit/s", "us", "ns", "s", "GHz", "TFLOP/s", "W", "m", "parsec", "")
TEXTS = ("", " ", "a", "mi300x", "h100-sxm-8", "nosuch", "=1+cmd|' /C calc'!A0", "a,b", '"', "'", "\\", "\n", "\t", "\x1b[31m", "é", "日本",
         "%s%n", "${HOME}", "../..", "/", "/dev/null", "-", "--", "--help", "x" * 300, "x" * 70_000, "{}", "[]", "[1, 2]", "{ a = 1 }",
         "true", "false", "1979-05-27", "'''", "[[", "]]", "a.b", "a..b", ".a", "0", "-0", b"\xff\xfe", b"caf\xe9")
CHOICES = {  # by the metavariable or name of an option, where the help has no list
    "SYSTEM": ("mi300x-8", "h100-sxm-8", "a100-sxm-40gb-4", "rtx-6000d-8"), "GPU": ("mi300x", "h100-sxm", "v100-sxm2", "mi250x"),
    "FABRIC": ("ib-hdr", "ib-ndr"), "--backend": ("cu", "dma", "cu,dma"), "--dma-variant": ("pcpy", "bcst", "swap", "b2b"),
    "--dma-host": ("gpu", "node"), "--algo": ("auto", "direct", "ring", "tree", "nvls", "hierarchical", "halving_doubling", "pat"),
    "--proto": ("auto", "ll", "ll128", "simple"), "--launch": ("graph", "eager", "one_process"),
    "--dtype": ("fp32", "bf16", "fp16", "fp8"), "--ranks": ("0-3", "0,2", "7", "0-99"), "--pass": ("forward", "backward"),
    "--traffic": ("tiled", "streamed"), "OP": ("gemm", "attention", "softmax", "gelu+add"), "--strategy": ("concurrent", "dma", "a:b"),
    "--strategies": ("concurrent", "dma", "concurrent,dma"), "NAME": ("mi300x", "h100-sxm-8", "llama-7b"), "--shard": ("1/2", "2/2", "3/2"),
    "--x": ("seed", "measure.seed", "strategy"), "--y": ("time", "speedup", "dma.time"), "--series": ("strategy", "seed"),
    "--heat": ("seed,strategy", "a,b"), "--pareto": ("time,speedup", "dma.time,concurrent.time"), "--for-each": ("seed",),
    "--only": ("seed=1", "measure.seed=2"), "--case": ("node-mix",), "--train": ("a100-sxm-80gb",), "--free": ("scale",), "--hold": ("scale",),
    "SHELL": ("bash", "fish", "zsh"), "STUDY": ("collectives", "kernels", "training"), "--title": ("A title",), "--source": ("here",),
}
# Options that make a verb long unless they have these values.
CHEAP = {
    "run": [], "sweep": ["-j", "1"], "bench": ["--case", "node-mix", "--repeat", "1"],
    "collective": ["--min", "1 KiB", "--max", "4 KiB", "--factor", "4"],
    "calibrate": ["--starts", "1", "--no-leave-out", "--rows", "8"],
}
WEIGHTS = {"run": 24, "sweep": 5, "merge": 8, "collective": 9, "kernel": 9, "calibrate": 2, "list": 4, "config check": 14,
           "config show": 8, "config schema": 1, "inspect": 18, "diff": 10, "report": 12, "import": 8, "reproduce": 3, "sample kernels": 4, "sample lengths": 3, "sample loop": 3, "bench": 0.1,
           "completion": 1, "version": 1}
OUTPUTS = ("-o", "--trace", "--rows", "--page")
STREAMS = ("2>/dev/full", "2>&-", ">/dev/full", ">&-", "<&-", "<&- >&- 2>&-", "<&- 2>&-", ">/dev/full 2>&1")


@dataclasses.dataclass
class Invocation:
    words: list  # bytes, without the command
    streams: str = ""  # redirections of a shell
    file_size: int | None = None  # a full disk: RLIMIT_FSIZE
    files: dict = dataclasses.field(default_factory=dict)  # own inputs below own/
    before: list = dataclasses.field(default_factory=list)  # (kind, path, target) below out/


class Generator:
    def __init__(self, verbs, keys, inputs, seed):
        self.verbs = {" ".join(verb.words): verb for verb in verbs}
        self.keys, self.seed = keys, seed
        self.inputs = {kind: sorted(b"in/" + name for name in inputs if name.split(b"/")[0] == kind.encode())
                       for kind in ("exp", "csv", "h5", "sweeps", "data", "traces")}
        self.inputs["any"] = [name for names in self.inputs.values() for name in names] + [b"in/text.txt", b"nowhere", b"in", b"."]

    def draw(self, number):
        return Drawing(self, random.Random(f"{self.seed}:{number}")).invocation()


class Drawing:
    def __init__(self, generator, draw):
        self.all, self.random = generator, draw
        self.made = Invocation([])

    def chance(self, probability):
        return self.random.random() < probability

    def invocation(self):
        verb = self.verb()
        words = [*verb.words]
        name = " ".join(verb.words)
        options = [option for option in verb.options if option.names[0] != "-h" or self.chance(0.01)]
        chosen = [option for option in options if self.chance(0.9 if option.kind and self.needed(name, option) else 0.12)]
        given = {word for option in chosen for word in option.names}
        for word, value in zip(CHEAP.get(verb.words[0], [])[::2], CHEAP.get(verb.words[0], [])[1::2]):
            if word not in given or self.chance(0.8):
                words += [word, value]
                chosen = [option for option in chosen if word not in option.names]
        self.reads = []
        for positional in verb.positionals:
            if self.chance(0.97):
                words.append(self.positional(name, positional))
        for option in chosen:
            words += self.option(name, option)
        if name == "collective" and "--nodes" in given and self.chance(0.5):
            words += ["--fabric", "ib-hdr"]
        if self.chance(0.04):
            self.spoil(words)
        self.made.words = [word if isinstance(word, bytes) else os.fsencode(word) for word in words]
        self.made.words = [word.replace(b"\0", b"") for word in self.made.words]
        if self.chance(0.08):
            self.made.streams = self.random.choice(STREAMS)
        if self.chance(0.04):
            self.made.file_size = self.random.choice((0, 1, 100, 511, 512, 1000, 5000, 20_000, 60_000))
        return self.made

    def verb(self):
        names = list(self.all.verbs)
        return self.all.verbs[self.random.choices(names, [WEIGHTS.get(name, 2) for name in names])[0]]

    def needed(self, name, option):
        words = {"collective": ("--system",), "kernel": ("--gpu", "-m", "-n", "-k", "--dtype"), "calibrate": ("--class",),
                 "reproduce": ("--data",)}.get(name, ())
        return any(word in option.names for word in words)

    def spoil(self, words):
        """A command line that is wrong as such: words lost, doubled, strange or in another order."""
        kind = self.random.randrange(5)
        if kind == 0 and words:
            del words[self.random.randrange(len(words))]
        elif kind == 1 and words:
            words.append(self.random.choice(words))
        elif kind == 2:
            words.insert(self.random.randrange(len(words) + 1), self.random.choice(TEXTS))
        elif kind == 3:
            self.random.shuffle(words)
        else:
            words.insert(self.random.randrange(len(words) + 1), self.random.choice(("--nosuch", "-Z", "--set", "-q", "--quiet=1", "--version")))

    def positional(self, verb, positional):
        kind = positional.names[0]
        if positional.choices:
            return self.random.choice(positional.choices) if self.chance(0.95) else self.random.choice(TEXTS)
        if kind in ("FILE", "FILES", "A", "B", "DIR"):
            return self.input(verb)
        if verb == "reproduce":
            return self.random.choice(CHOICES["STUDY"])
        return self.value(kind, CHOICES.get(kind, ("x",)))

    def input(self, verb):
        kind = {"run": "exp", "sweep": "exp", "config check": "exp", "config show": "exp", "merge": "sweeps", "inspect": "h5", "diff": "h5",
                "report": "h5", "calibrate": "csv", "import": "traces"}.get(verb, "any")
        if self.chance(0.05):
            kind = "any"
        if kind == "exp" and self.chance(0.35):
            path = self.own_experiment()
        elif kind == "sweeps" and self.chance(0.4):
            path = b"in/sweeps/whole"
        elif kind == "exp" and self.chance(0.5):
            path = b"in/exp/" + self.random.choice((b"base.toml", b"child.toml", b"layer.toml", b"sweep.toml"))
        elif kind == "h5" and self.chance(0.3):
            path = b"in/h5/" + self.random.choice((b"base.h5", b"layer.h5", b"merged.h5", b"base_unsealed.h5"))
        else:
            path = self.random.choice(self.all.inputs[kind])
        self.reads.append(path)
        if verb == "calibrate" and self.chance(0.3):
            return b"a100-sxm-80gb=" + path
        return path

    def own_experiment(self):
        """An experiment with some of its text changed."""
        text = self.random.choice((world.EXPERIMENT, world.LAYER, world.TRAINING, world.SWEEP))
        for _ in range(self.random.choice((1, 1, 2, 4))):
            text = self.mutate(text)
        self.made.files[b"own/x.toml"] = text.encode("utf-8", "surrogateescape")
        return b"own/x.toml"

    def mutate(self, text):
        lines = text.splitlines(keepends=True)
        at = self.random.randrange(len(lines))
        kind = self.random.randrange(7)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[self.random.randrange(len(lines))])
        elif kind == 2:
            lines[at] = re.sub(r"\d+", lambda _: self.number(), lines[at], count=1)
        elif kind == 3:
            lines[at] = re.sub(r'"[^"]*"', lambda _: '"' + self.text().replace('"', "") + '"', lines[at], count=1)
        elif kind == 4:
            key = self.random.choice(self.all.keys)
            lines.append(f"{key} = {self.toml_value()}\n" if self.chance(0.5) else f"\n[{key}]\n")
        elif kind == 5:
            whole = "".join(lines)
            cut = self.random.randrange(len(whole) + 1)
            return whole[:cut] + self.text() + whole[cut:]
        else:
            self.random.shuffle(lines)
        return "".join(lines) or "\n"

    def option(self, verb, option):
        name = self.random.choice(option.names)
        if name in ("-j", "--jobs"):
            return [name, self.random.choice(("1", "2", "0", "-1", "x"))]
        if name in ("-n", "--lines") and verb == "diff":
            return [name, self.random.choice(("0", "3", "-1", "x", "99999999999999999999"))]
        if option.kind in ("", "Needs", "Excludes"):
            return [name]
        if any(word in OUTPUTS for word in option.names) and not (verb == "kernel" and "--rows" in option.names):
            return [name, self.output(verb)]
        if name == "--set":
            return [name, self.setting(verb)]
        if name == "--csv" and verb != "import":
            return [name, self.random.choice(self.all.inputs["csv"])]
        if name in ("--start", "--systems"):
            return [name, self.random.choice(self.all.inputs["any"])]
        if name == "--data":
            return [name, self.random.choice((b"in/data", b"nowhere", b"in/text.txt", b"in/exp/pipe.toml"))]
        if name == "--nodes":
            return [name, self.random.choice(("1", "2", "0", "-1", "x"))]
        if name in ("--draws", "--tornado", "--calibrated"):
            return [name, "0"]
        known = option.choices or CHOICES.get(name) or CHOICES.get(option.names[-1]) or CHOICES.get(option.kind)
        if known is None:
            known = ("1 KiB", "64 KiB") if option.kind == "SIZE" else ("5 s",) if option.kind == "TIME" else ("1", "2", "128", "256")
        return [name, self.value(option.kind, known)]

    def value(self, kind, known):
        if self.chance(0.75):
            return self.random.choice(known)
        return self.number() + " " + self.random.choice(UNITS) if self.chance(0.3) else self.random.choice((self.number(), self.text()))

    def number(self):
        return self.random.choice(NUMBERS)

    def text(self):
        text = self.random.choice(TEXTS)
        return text if isinstance(text, str) else os.fsdecode(text)

    def toml_value(self):
        kind = self.random.randrange(4)
        if kind == 0:
            return self.number()
        if kind == 1:
            return f'"{self.number()} {self.random.choice(UNITS)}"'
        if kind == 2:
            return f"'{self.text()}'"
        return self.text()

    def setting(self, verb):
        keys = self.all.keys
        if verb == "kernel":
            keys = [key for key in keys if key.startswith("gpu.")]
        elif verb == "collective":
            keys = [key for key in keys if key.split(".")[0] in ("gpu", "node", "library", "fabric")]
        sign = self.random.choices(("", "+", "~"), (16, 2, 1))[0]
        key = self.random.choice(keys) if self.chance(0.93) else self.text()
        return f"{sign}{key}" + ("" if sign == "~" else f"={self.toml_value()}")

    def output(self, verb):
        """New, existing, linked, special, or one of the inputs, read or not."""
        kind = self.random.randrange(16)
        place = b"out/x"
        if kind <= 3:
            return self.random.choice((place, b"./out/x", b"out/../out/x", b"out/\xff.h5", b"out/" + b"n" * 255))
        if kind == 4:
            self.made.before.append(("file", place, self.random.choice((world.OF_THE_USER, world.OWN, b""))))
        elif kind == 5:
            self.made.before.append(("link", place, self.random.choice((b"y", b"nowhere/y", b"x", b"/dev/null", b"/dev/full", b"/dev/stdout"))))
        elif kind == 6:
            self.made.before.append(("folder", place, b""))
        elif kind == 7:
            self.made.before.append(("pipe", place, b""))
        elif kind <= 10 and self.reads:
            path = self.random.choice(self.reads)
            if path == b"in/sweeps/whole" and self.chance(0.8):
                path += b"/manifest.json"
            if self.chance(0.3):
                self.made.before.append(("link", place, b"../" + path))
                return place
            # A file that this command does not come to read may be replaced: only a copy of it is at stake.
            return path if not path.startswith(b"in/h5/link") else place
        elif kind == 11:
            return self.random.choice((b"", b"/dev/null", b"/dev/full", b"/dev/stdout", b"/dev/stderr", b"/proc/x", b"/proc/self/mem"))
        elif kind == 12:
            return self.random.choice((b"nowhere/x", b"in/text.txt/x", b"out/" + b"n" * 256, b"out/x/y/z", b"out", b".", b"/"))
        elif kind == 13:
            return b"-"
        elif kind >= 14:  # by somebody's mistake: c3sim did not write them, so none may change
            return b"in/" + self.random.choice((b"text.txt", b"exp/base.toml", b"exp/layer.toml", b"csv/shapes.csv", b"csv/measured.csv",
                                                b"traces/rank0.json", b"data/rows.csv"))
        return place
