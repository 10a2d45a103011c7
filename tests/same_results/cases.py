"""What scripts/same_results runs: command lines of c3sim, without the command itself."""

import dataclasses
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
    return [*experiments(root), *variants(), *collectives(root), *kernels(root), *studies(data, whole)]


def single(name, *words):
    return Case(name, lambda tree, out: [[*words, "--json"]])


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


def studies(data, whole):
    yield single("study_conccl", "reproduce", "conccl", "--draws", "0")
    yield single("study_t3", "reproduce", "t3")
    if data.is_dir():
        for study in STUDIES_ON_DATA + (["training"] if whole else []):
            yield single(f"study_{study}", "reproduce", study, "--data", str(data))
