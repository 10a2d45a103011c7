#include "workloads/traces/communication_names.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace traces {
namespace {

// clang-format off
constexpr std::array kNames{
    // pattern, kind, library, versions, source
    CommunicationName{"nccldevkernel", "", "NCCL, RCCL", "2.19 on", "NVIDIA/nccl v2.19.3-1 src/device/generate.py; ROCm/rccl src/device/common.h"},
    CommunicationName{"ncclkernel", "", "NCCL, RCCL", "2.8 to 2.18", "NVIDIA/nccl v2.8.3-1 src/include/collectives.h"},
    CommunicationName{"ncclsymdevkernel", "", "NCCL", "2.27", "NVIDIA/nccl v2.27.3-1 src/device/symmetric/generate.py"},
    CommunicationName{"ncclsymkdevkernel", "", "NCCL, RCCL", "2.28 on", "NVIDIA/nccl v2.28.3-1 src/device/symmetric/generate.py"},
    CommunicationName{"ncclcelocalreduce", "all_reduce", "RCCL, by copy engines", "2.28 on", "ROCm/rocm-systems projects/rccl/src/device/ce_reduce/ce_reduce_impl.h.in"},
    CommunicationName{"nccl*kernel_", "", "NCCL", "2.3 to 2.7", "NVIDIA/nccl v2.7.8-1 src/include/collectives.h"},
    CommunicationName{"nccl_ep::", "all_to_all", "NCCL EP", "0.1 on", "NVIDIA/nccl contrib/nccl_ep/device/low_latency.cu"},
    CommunicationName{"hybrid_ep::", "all_to_all", "NCCL EP, DeepEP", "0.1 on; branch hybrid-ep", "NVIDIA/nccl contrib/nccl_ep/device/hybrid_ep.cuh"},
    CommunicationName{"mscclkernel_", "", "RCCL", "2.13 to 2.22", "ROCm/rccl src/include/msccl/msccl_kernel.h"},
    CommunicationName{"rccl", "", "RCCL", "all", "ROCm/rccl"},
    CommunicationName{"mscclpp::", "", "MSCCL++", "0.4 on", "microsoft/mscclpp src/ext/collectives, src/core/include/execution_kernel.hpp"},
    CommunicationName{"allreduce_ll_", "all_reduce", "SGLang, by MSCCL++", "0.4 on", "sgl-project/sglang sgl-kernel/csrc/allreduce/mscclpp_allreduce.cuh"},
    CommunicationName{"alltoall_on_stream_kernel", "all_to_all", "NVSHMEM", "3.0 on", "NVIDIA/nvshmem src/include/internal/non_abi/nvshmemi_h_to_d_coll_defs.cuh"},
    CommunicationName{"barrier_on_stream_kernel", "barrier", "NVSHMEM", "3.0 on", "NVIDIA/nvshmem src/include/internal/non_abi/nvshmemi_h_to_d_coll_defs.cuh"},
    CommunicationName{"sync_on_stream_kernel", "barrier", "NVSHMEM", "3.0 on", "NVIDIA/nvshmem src/include/internal/non_abi/nvshmemi_h_to_d_coll_defs.cuh"},
    CommunicationName{"broadcast_on_stream_kernel", "broadcast", "NVSHMEM", "3.0 on", "NVIDIA/nvshmem src/include/internal/non_abi/nvshmemi_h_to_d_coll_defs.cuh"},
    CommunicationName{"fcollect_on_stream_kernel", "all_gather", "NVSHMEM", "3.0 on", "NVIDIA/nvshmem src/include/internal/non_abi/nvshmemi_h_to_d_coll_defs.cuh"},
    CommunicationName{"rdxn_on_stream_kernel", "all_reduce", "NVSHMEM", "3.0 on", "NVIDIA/nvshmem src/include/internal/non_abi/nvshmemi_h_to_d_coll_defs.cuh"},
    CommunicationName{"reducescatter_on_stream_kernel", "reduce_scatter", "NVSHMEM", "3.0 on", "NVIDIA/nvshmem src/include/internal/non_abi/nvshmemi_h_to_d_coll_defs.cuh"},
    CommunicationName{"nvshmem", "", "NVSHMEM", "all", "NVIDIA/nvshmem src/include/internal/non_abi/nvshmemi_h_to_d_rma_defs.cuh, src/host/team/team_internal_cuda.cu"},
    CommunicationName{"deep_ep::*dispatch", "all_to_all", "DeepEP", "1.0 on", "deepseek-ai/DeepEP csrc/kernels/legacy, deep_ep/include/deep_ep/impls/dispatch.cuh"},
    CommunicationName{"deep_ep::*combine", "all_to_all", "DeepEP", "1.0 on", "deepseek-ai/DeepEP csrc/kernels/legacy, deep_ep/include/deep_ep/impls/combine.cuh"},
    CommunicationName{"deep_ep::*barrier", "barrier", "DeepEP", "1.0 on", "deepseek-ai/DeepEP csrc/kernels/legacy/intranode.cu"},
    CommunicationName{"deep_ep", "", "DeepEP", "1.0 on", "deepseek-ai/DeepEP csrc/kernels/legacy/internode.cu"},
    CommunicationName{"epdispatch*kernel", "all_to_all", "MORI", "all", "ROCm/mori src/ops/dispatch_combine/intranode.hpp"},
    CommunicationName{"epcombine*kernel", "all_to_all", "MORI", "all", "ROCm/mori src/ops/dispatch_combine/intranode.hpp"},
    CommunicationName{"cross_device_reduce_scatter", "reduce_scatter", "vLLM", "2026", "vllm-project/vllm csrc/custom_all_gather_reduce_scatter.cuh"},
    CommunicationName{"cross_device_all_gather", "all_gather", "vLLM", "2026", "vllm-project/vllm csrc/custom_all_gather_reduce_scatter.cuh"},
    CommunicationName{"mnnvl_lamport_all_gather", "all_gather", "vLLM", "2026", "vllm-project/vllm csrc/custom_all_gather_reduce_scatter.cuh"},
    CommunicationName{"mnnvl_lamport_reduce_scatter", "reduce_scatter", "vLLM", "2026", "vllm-project/vllm csrc/custom_all_gather_reduce_scatter.cuh"},
    CommunicationName{"cross_device_reduce", "all_reduce", "vLLM, SGLang, FlashInfer, AITER", "vLLM 0.3 on", "vllm-project/vllm csrc/custom_all_reduce.cuh; ROCm/aiter csrc/include/custom_all_reduce.cuh"},
    CommunicationName{"allreduce_prototype_twoshot", "all_reduce", "QuickReduce in vLLM, SGLang, AITER", "vLLM 0.9 on", "ROCm/aiter csrc/include/quick_all_reduce.cuh"},
    CommunicationName{"reduce_scatter_cross_device_store", "reduce_scatter", "AITER", "0.1 on", "ROCm/aiter csrc/include/custom_all_reduce.cuh"},
    CommunicationName{"aiter::reduce_scatter_split", "reduce_scatter", "AITER", "0.1 on", "ROCm/aiter csrc/include/custom_all_reduce.cuh"},
    CommunicationName{"aiter::allgather_", "all_gather", "AITER", "0.1 on", "ROCm/aiter csrc/include/custom_all_reduce.cuh"},
    CommunicationName{"allreduce_fusion_kernel", "all_reduce", "TensorRT-LLM, FlashInfer, AITER", "TensorRT-LLM 0.19 on", "flashinfer-ai/flashinfer include/flashinfer/comm/trtllm_allreduce_fusion.cuh"},
    CommunicationName{"oneshotallreduce*kernel", "all_reduce", "TensorRT-LLM, SGLang, FlashInfer", "TensorRT-LLM 0.8 on", "NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/customAllReduceKernels.cu, communicationKernels/mnnvlAllreduceKernels.cu"},
    CommunicationName{"twoshotallreduce*kernel", "all_reduce", "TensorRT-LLM, SGLang, FlashInfer", "TensorRT-LLM 0.8 on", "NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/customAllReduceKernels.cu, communicationKernels/customLowPrecisionAllReduceKernels.cu"},
    CommunicationName{"moea2a*dispatchkernel", "all_to_all", "TensorRT-LLM, FlashInfer", "TensorRT-LLM 1.1 on", "flashinfer-ai/flashinfer csrc/nv_internal/tensorrt_llm/kernels/communicationKernels/moeAlltoAllKernels.cu"},
    CommunicationName{"moea2a*combinekernel", "all_to_all", "TensorRT-LLM, FlashInfer", "TensorRT-LLM 1.1 on", "flashinfer-ai/flashinfer csrc/nv_internal/tensorrt_llm/kernels/communicationKernels/moeAlltoAllKernels.cu"},
    CommunicationName{"moealltoallkernel", "all_to_all", "TensorRT-LLM, FlashInfer", "TensorRT-LLM 0.20 on", "flashinfer-ai/flashinfer include/flashinfer/comm/trtllm_alltoall.cuh"},
    CommunicationName{"alltoallmetadatadevice", "all_to_all", "TensorRT-LLM, FlashInfer", "TensorRT-LLM 0.20 on", "flashinfer-ai/flashinfer csrc/trtllm_alltoall_prepare.cu"},
    CommunicationName{"ulysses_a2a_kernel", "all_to_all", "FlashInfer", "0.6 on", "flashinfer-ai/flashinfer include/flashinfer/comm/ulysses_all_to_all.cuh"},
    CommunicationName{"mixed_comm::", "", "FlashInfer", "0.6 on", "flashinfer-ai/flashinfer include/flashinfer/comm/mixed_comm.cuh"},
    CommunicationName{"one_shot_*all_reduce", "all_reduce", "PyTorch, FlashInfer", "PyTorch 2.5 on", "pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemoryOps.cu; flashinfer-ai/flashinfer csrc/pcie_ipc_all_reduce.cu"},
    CommunicationName{"two_shot_*all_reduce", "all_reduce", "PyTorch", "2.5 on", "pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemoryOps.cu"},
    CommunicationName{"multimem", "", "PyTorch", "2.5 on", "pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemoryOps.cu"},
    CommunicationName{"symmetric_memory::", "", "PyTorch", "2.5 on", "pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemory.cu"},
    CommunicationName{"exchangesplitandoffset", "all_to_all", "PyTorch, by NVSHMEM", "2.8 on", "pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/nvshmem_extension.cu"},
    CommunicationName{"alltoallv", "all_to_all", "PyTorch, by NVSHMEM", "2.8 on", "pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/nvshmem_extension.cu"},
    CommunicationName{"userbuffers_", "", "Transformer Engine", "0.6 on", "NVIDIA/TransformerEngine transformer_engine/common/comm_gemm_overlap/userbuffers/userbuffers.cu"},
};
// clang-format on

/// Whether \p name has the parts of \p pattern, which * divides, one behind the other.
bool has(std::string_view name, std::string_view pattern) {
  std::size_t from = 0;
  while (true) {
    const std::size_t star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    from = name.find(part, from);
    if (from == std::string_view::npos) return false;
    if (star == std::string_view::npos) return true;
    from += part.size();
    pattern.remove_prefix(star + 1);
  }
}

}  // namespace

const CommunicationName* communication_name(std::string_view kernel_name) {
  const auto* const found = std::ranges::find_if(
      kNames, [&](const CommunicationName& line) { return has(kernel_name, line.pattern); });
  return found == kNames.end() ? nullptr : found;
}

std::span<const CommunicationName> communication_names() { return kNames; }

}}  // namespace c3::traces
