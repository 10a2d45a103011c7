"""Where the measured tables of the validation tests are, and what to tell a reader who does not have them.

The tables are other people's measurements, and not part of this repository: tests/README.md says where they come from and
how the folder is laid out. It is $C3SIM_DATA, or data/ in the repository.
"""

import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ["C3SIM_SOURCE"])
DATA = SOURCE / (os.environ.get("C3SIM_DATA") or "data")
SKIPPED = 77  # the exit code that CTest reports as skipped

_VTRAIN = "vTrain, https://github.com/VIA-Research/vTrain"
_NEUSIGHT = "NeuSight, https://github.com/sitar-lab/NeuSight"
_AICONFIGURATOR = "aiconfigurator, https://github.com/ai-dynamo/aiconfigurator"
_TRACES = "astra-sim, HolisticTraceAnalysis, TraceLens and param on GitHub"
_TRITONBLAS = "tritonBLAS, https://github.com/ROCm/tritonBLAS"
_MIOPEN = "MIOpen, https://github.com/ROCm/MIOpen"
_COLLECTIVES = "nccl-tests and rccl-tests outputs published on GitHub"

# File or folder below DATA that a study reads, and its source.
TABLES = {
    "collectives": {"collectives": _COLLECTIVES, "p2p/mi300x_transferbench_p2p_uni.csv": "AMD's MI300X guides",
                    "p2p/mi300x_transferbench_a2a.csv": "AMD's MI300X guides"},
    "interference": {f"interference/{name}.csv": _TRITONBLAS
                     for name in ("hipblaslt_tiles_mi300x", "tritonblas_rccl_sweep_8192")},
    "kernels": {**{f"kernels/neusight_{name}.csv": _NEUSIGHT
                   for name in ("nvidia_bmm", "nvidia_linear", "nvidia_vec", "e2e")},
                **{f"kernels/{name}_sxm.csv": _AICONFIGURATOR
                   for name in ("gemm_a100", "gemm_h100", "attention_prefill_causal_a100",
                                "attention_prefill_causal_h100")},
                **{f"kernels/{name}_h100.csv": _AICONFIGURATOR for name in ("linear_attention", "mamba2")}},
    "models": {"models": "aiconfigurator's model_configs, as the models' makers publish them"},
    "selection": {**{f"kernels/miopen_convolution_{gpu}.csv": _MIOPEN for gpu in ("mi100", "mi210")},
                  "kernels/rocblas_tile_choice.csv": "rocBLAS, https://github.com/ROCm/rocBLAS"},
    "traces": {f"traces/{name}": _TRACES for name in ("megatron_tp8_a100", "hta", "tracelens", "pytorch_et")},
    "windows": {f"kernels/attention_{name}_h100.csv": _AICONFIGURATOR for name in ("windows", "prefill_libraries")},
    "decode": {"kernels/attention_decode_h100.csv": _AICONFIGURATOR},
    "sparse attention": {"kernels/sparse_attention_h100.csv": _AICONFIGURATOR},
    "training": {"training/gpt_one_node_a100_2_and_4_gpus.csv": _VTRAIN},
}


def skip_without(study):
    """Ends the script as skipped, with one line that says why, unless DATA has every table of `study`."""
    missing = {name: source for name, source in TABLES[study].items() if not (DATA / name).exists()}
    if missing:
        print(f"skipped: {DATA} does not have {', '.join(missing)} (from {'; '.join(dict.fromkeys(missing.values()))}); "
              "tests/README.md describes the folder, C3SIM_DATA names it")
        sys.exit(SKIPPED)
