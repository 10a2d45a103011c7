"""What scripts/same_results runs: command lines of c3sim, without the command itself."""

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path

OPS = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather", "scatter",
       "send_receive", "barrier"]
ALGORITHMS = ["direct", "ring", "tree", "nvls", "nvls_tree", "hierarchical", "collnet", "halving_doubling", "pat"]
STUDIES_ON_DATA = ["kernels", "collectives"]

MAIN_JOB = "configs/experiments/c3_llama70b_mi300x.toml"


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    commands: Callable[[Path, Path], list[list[str]]]  # of the source tree and of the folder for their outputs


def shipped_cases(root, data, whole):
    return [*experiments(root), *variants(), *collectives(root), *kernels(root), *memories(root), *explained(whole), *tuned(whole),
            *imported(data), *sampled(), *predicted(), *studies(data, whole)]


def single(name, *words):
    return Case(name, lambda tree, out: [[*words, "--json"]])


def answer(name, *words):
    """As JSON, and as text."""
    return Case(name, lambda tree, out: [[*words, "--json"], list(words)])


def experiments(root):
    for file in sorted((root / "configs/experiments").rglob("*.toml")):
        relative = str(file.relative_to(root))
        if "\n[sweep" in file.read_text():
            yield Case(f"sweep_{file.stem.removeprefix('sweep_')}", lambda tree, out, relative=relative: [
                ["sweep", relative, "-o", str(out / "points"), "-j", "1", "--json"],
                ["merge", str(out / "points"), "-o", str(out / "table.h5")]])
        else:
            yield run(f"run_{file.parent.name}_{file.stem}", relative)
    for study in ["conccl", "t3"]:
        yield run(f"run_{study}_one", f"studies/{study}/one.toml")


def run(name, file, *sets):
    return Case(name, lambda tree, out: [["run", found(tree, file), "-o", str(out / "run.h5"), "--trace", str(out / "trace"), "--json",
                                    *(word for each in sets for word in ("--set", each))]])


def found(tree, file):
    """The file where this tree has it."""
    before = {"studies/conccl/one.toml": "configs/experiments/conccl/one.toml",
              "studies/t3/one.toml": "configs/experiments/t3/one.toml"}
    return file if (tree / file).exists() else before.get(file, file)


def variants():
    """The settings that the shipped experiments leave at their defaults."""
    few = "measure.seeds=2"
    for grain in ["fluid", "work_group"]:
        yield run(f"run_kernel_grain_{grain}", MAIN_JOB, few, f'measure.kernel_grain="{grain}"')
    for grain in ["step", "edge", "gang"]:
        yield run(f"run_collective_grain_{grain}", MAIN_JOB, few, f'measure.collective_grain="{grain}"')
    for arbitration in ["byte_fair", "equal_slowdown", "stream_fair", "compute_first"]:
        yield run(f"run_hbm_{arbitration}", MAIN_JOB, few, f'gpu.hbm_arbitration="{arbitration}"')
    for policy in ["round_robin", "random"]:
        yield run(f"run_dispatch_{policy}", MAIN_JOB, few, f'gpu.dispatch_policy="{policy}"')


def names(root, folder):
    return sorted(file.stem for file in (root / "configs" / folder).glob("*.toml"))


def collectives(root):
    sizes = ["--min", "1 KiB", "--max", "1 GiB", "--factor", "16"]
    for system in names(root, "nodes"):
        yield Case(f"collective_{system}", lambda tree, out, system=system: [
            ["collective", op, "--system", system, *sizes, "--json"] for op in OPS])
    for system in ["h100-sxm-8", "mi300x-8"]:
        yield Case(f"collective_algorithms_{system}", lambda tree, out, system=system: [
            ["collective", op, "--system", system, "--algo", algorithm, "--proto", "ll,ll128,simple", *sizes, "--json"]
            for op in OPS for algorithm in ALGORITHMS])
        yield Case(f"collective_engines_{system}", lambda tree, out, system=system: [
            ["collective", op, "--system", system, "--backend", "dma", "--dma-variant", "pcpy,bcst,swap,b2b", *sizes,
             "--json"] for op in OPS])
    yield Case("collective_two_nodes", lambda tree, out: [
        ["collective", op, "--system", system, "--nodes", "2", "--fabric", "ib-ndr", *sizes, "--json"]
        for op in OPS for system in ["h100-sxm-8", "a100-sxm-80gb-8"]])


def kernels(root):
    """Of each GPU; one that lacks a data type refuses it, with the same exit code before and after."""
    shape = {"gemm": ["-m", "128,1000,8192", "-n", "512,4096", "-k", "1024,5000"],
             "attention": ["--heads", "32", "--kv-heads", "8", "--seq", "2048", "--head-dim", "128", "--causal"],
             "softmax": ["--rows", "8192", "--cols", "4096"]}
    for op in ["layer_norm", "gelu", "add"]:
        shape[op] = shape["softmax"]
    for gpu in names(root, "gpus"):
        yield Case(f"kernel_{gpu}", lambda tree, out, gpu=gpu: [
            ["kernel", op, "--gpu", gpu, "--dtype", dtype, *words, *direction, "--json"]
            for op, words in shape.items() for dtype in ["fp16", "bf16", "fp32"]
            for direction in ([], *([["--pass", "backward"]] if op == "attention" else []))])


def memories(root):
    for file in sorted((root / "configs/experiments").rglob("*.toml")):
        yield answer(f"memory_{file.parent.name}_{file.stem}", "memory", str(file.relative_to(root)))


EXPERIMENTS = "configs/experiments"
FEW_LAYERS = ("--set", "model.layers=2")
EXPLAINED = {"c3_llama70b_mi300x": ("--strategy", "concurrent", "--set", "measure.seeds=2"), "training/llama3_8b_fsdp8": FEW_LAYERS,
             "training/qwen3_30b_ep8": FEW_LAYERS, "images/vgg16_mi100": (), "recurrent/deep_speech_2_v100": (),
             "dlrm/default_8xv100": ()}
EXPLAINED_FOR_LONG = {"training/llama3_70b_pipeline": ("--set", "model.layers=16"), "training/llama3_8b_fsdp8_tp8": ()}


def explained(whole):
    for name, words in {**EXPLAINED, **(EXPLAINED_FOR_LONG if whole else {})}.items():
        yield answer(f"explain_{name.replace('/', '_')}", "explain", f"{EXPERIMENTS}/{name}.toml", *words)


def tuned(whole):
    for name in ["llama3_8b_tune", *(["llama3_405b_tune", "llama3_70b_search"] if whole else [])]:
        yield answer(f"tune_{name}", "tune", f"{EXPERIMENTS}/training/{name}.toml", "-j", "1")


def imported(data):
    """The traces of a run, and those that others published."""
    def of_a_run(tree, out):
        trace = str(out / "written")
        return [["run", MAIN_JOB, "--set", "measure.seeds=1", "-o", str(out / "run.h5"), "--trace", trace],
                ["import", f"{trace}/concurrent", "--json"], ["import", f"{trace}/concurrent"]]

    yield Case("import_of_a_run", of_a_run)
    for file in sorted((data / "traces").rglob("*.json.gz")):
        name = file.name.removesuffix(".json.gz")
        yield answer(f"import_{name}", "import", str(file))
        yield answer(f"import_{name}_mi300x", "import", str(file), "--gpu", "mi300x")


def sampled():
    """Drawn once and for all: the same numbers at each call."""
    def kernels_of(tree, out):
        draw = random.Random(56)
        file = out / "durations.csv"
        rows = [f"k{kernel},{draw.lognormvariate(kernel, 0.2):.6f}" for kernel in range(4) for _ in range(500)]
        file.write_text("\n".join(["name,duration_us", *rows, ""]))
        return [["sample", "kernels", str(file), *words] for words in ([], ["--json"], ["--compare", "--json"], ["--method", "stem"])]

    yield Case("sample_kernels", kernels_of)
    for machine in ["systolic_gemm", "vector_machine"]:
        yield answer(f"sample_loop_{machine}", "sample", "loop", f"studies/sampling/{machine}.toml")
    for name in ["training/llama3_8b_lengths", "recurrent/deep_speech_2_v100"]:
        yield answer(f"sample_epoch_{name.split('/')[1]}", "sample", "epoch", f"{EXPERIMENTS}/{name}.toml")


def predicted():
    """A step without simulation, and which kernels libraries take."""
    layer = f"{EXPERIMENTS}/scaling_laws/layer.toml"
    wider = [word for each in ["hidden=8192", "ffn=32768", "heads=64", "kv_heads=64"] for word in ("--set", f"model.{each}")]
    yield answer("project_layer", "project", layer, "--from", layer, *wider)
    yield answer("select_convolution", "select", "convolution", "--gpu", "mi210", "-b", "64", "--channels", "64", "--filters", "64", "--height", "56",
                 "--filter-h", "3", "--pad-h", "1", "--dtype", "fp16")
    yield answer("select_gemm", "select", "gemm", "--gpu", "mi100,mi300x", "-m", "4096", "-n", "4096", "-k", "4096", "--dtype", "fp32")
    yield answer("select_vgg16", "select", f"{EXPERIMENTS}/images/vgg16_mi100.toml")


def studies(data, whole):
    yield single("study_conccl", "reproduce", "conccl", "--draws", "0")
    yield single("study_t3", "reproduce", "t3")
    if data.is_dir():
        for study in STUDIES_ON_DATA + (["training"] if whole else []):
            yield single(f"study_{study}", "reproduce", study, "--data", str(data))
