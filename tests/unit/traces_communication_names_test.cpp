// The table of names of communication kernels, with names as their libraries' sources and profilers write them.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "base/small_letters.hpp"
#include "tests/support/trace_text.hpp"
#include "workloads/traces/communication_names.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3::traces_communication_names_test {

namespace {

struct Named {
  const char* kernel;
  const char* library;  ///< that the line of the table names first
  const char* kind;     ///< empty: nobody knows
};

constexpr std::array kKernels{
    Named{"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "NCCL", "all_reduce"},
    Named{"ncclKernel_AllReduce_RING_LL_Sum_half(ncclWorkElem)", "NCCL", "all_reduce"},
    Named{"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "NCCL",
          "send_recv"},
    Named{"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", "NCCL",
          "all_reduce"},
    Named{"ncclDevKernel_ReduceScatter_Sum_bf16_NVLS(ncclDevKernelArgsStorage<4096ul>)", "NCCL",
          "reduce_scatter"},
    Named{"ncclDevKernel_AllGather_PAT_SIMPLE(ncclDevKernelArgsStorage<4096ul>)", "NCCL", "all_gather"},
    Named{"ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymDevArgs)", "NCCL", "all_reduce"},
    Named{"ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)", "NCCL", "all_reduce"},
    Named{"ncclSymkDevKernel_AllGather_STMC(ncclSymkDevWorkArgs4K)", "NCCL", "all_gather"},
    Named{"ncclSymkDevKernel_ReduceScatter_RailA2A_LsaLD_sum_f32(ncclSymkDevWorkArgs4K)", "NCCL",
          "reduce_scatter"},
    Named{"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "NCCL", ""},
    Named{"ncclDevKernelDebug_Generic(ncclDevComm*, channelMasks, ncclWork*)", "NCCL", ""},
    Named{"void ncclCeLocalReduceKernelVec<hip_bfloat16, 0, 4>(hip_bfloat16 const*, ..)", "RCCL", "all_reduce"},
    Named{"mscclKernel_Sum_half_LL_false(ncclDevComm*, mscclAlgo*, mscclWork*)", "RCCL", ""},
    Named{"void mscclpp::collective::allreduceAllPairs<(mscclpp::ReduceOp)0, __half>(..)", "MSCCL++",
          "all_reduce"},
    Named{"void mscclpp::executionKernel<__half, mscclpp::LL16Packet>(int, __half*, ..)", "MSCCL++", ""},
    Named{"void alltoall_on_stream_kernel<int>(int, int*, int const*, unsigned long, int)", "NVSHMEM",
          "all_to_all"},
    Named{"void fcollect_on_stream_kernel<float>(int, float*, float const*, unsigned long, int)", "NVSHMEM",
          "all_gather"},
    Named{"void rdxn_on_stream_kernel<float, (rdxn_ops)4>(int, float*, ..)", "NVSHMEM", "all_reduce"},
    Named{"void reducescatter_on_stream_kernel<float, (rdxn_ops)4>(int, float*, ..)", "NVSHMEM",
          "reduce_scatter"},
    Named{"void barrier_on_stream_kernel_threadgroup<(threadgroup_t)2>(int, int)", "NVSHMEM", "barrier"},
    Named{"nvshmemi_signal_wait_until_on_stream_kernel(unsigned long volatile*, int, unsigned long)", "NVSHMEM",
          ""},
    Named{"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*, ..)", "DeepEP", "all_to_all"},
    Named{"void deep_ep::internode_ll::combine<true, 7168, 9>(void*, void*, ..)", "DeepEP", "all_to_all"},
    Named{"void deep_ep::intranode::barrier<8>(int**, int)", "DeepEP", "barrier"},
    Named{"EpDispatchIntraNodeKernel_bf16", "MORI", "all_to_all"},
    Named{"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(RankData*, RankSignals, ..)", "vLLM",
          "all_reduce"},
    Named{"void aiter::cross_device_reduce_2stage<__half, 8>(aiter::RankData*, ..)", "vLLM", "all_reduce"},
    Named{"void vllm::cross_device_reduce_scatter<__half, 4>(RankData*, ..)", "vLLM", "reduce_scatter"},
    Named{"void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half, CodecQ4<__half, 8>, true>, "
          "__half>(..)",
          "QuickReduce", "all_reduce"},
    Named{"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<..>(..)",
          "TensorRT-LLM", "all_reduce"},
    Named{"void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, true, false>(AllReduceParams)",
          "TensorRT-LLM", "all_reduce"},
    Named{"void tensorrt_llm::kernels::mnnvl::oneshotAllreduceFusionKernel<8, __half, true, float4>(..)",
          "TensorRT-LLM", "all_reduce"},
    Named{"void lowPrecisionTwoShotAllReduceKernel<__half, __nv_fp8_e4m3, 8>(LowPrecisionAllReduceParams)",
          "TensorRT-LLM", "all_reduce"},
    Named{"void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<..>(..)", "TensorRT-LLM", "all_to_all"},
    Named{"void (anonymous namespace)::one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(..)", "PyTorch",
          "all_reduce"},
    Named{"void (anonymous namespace)::multimem_all_gather_kernel<16>(char*, char*, ..)", "PyTorch",
          "all_gather"},
    Named{"void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int, int, ..)", "Transformer", ""},
};

}  // namespace

TEST_CASE("kernels of libraries that communicate are collectives, of the kind that their table or name says") {
  for (const Named& named : kKernels) {
    CAPTURE(std::string(named.kernel));
    const CommunicationName* const line = communication_name(in_small_letters(named.kernel));
    REQUIRE(line != nullptr);
    CHECK(line->library.starts_with(named.library));
    TraceText text;
    text.kernel(named.kernel, 10, 5, 1);
    const Rank rank(text.read());
    REQUIRE(rank.collectives.size() == 1);
    CHECK(rank.collectives.front().kind == named.kind);
  }
}

TEST_CASE(
    "each line of the table of communication names decides for some name, and says where that comes from") {
  for (const CommunicationName& line : communication_names()) {
    CAPTURE(std::string(line.pattern));
    std::string name(line.pattern);
    std::ranges::replace(name, '*', '_');
    CHECK(communication_name(name) == &line);  // no line above it hides it
    CHECK(in_small_letters(line.pattern) == line.pattern);
    CHECK_FALSE((line.library.empty() || line.versions.empty()));
    CHECK(line.source.find('/') != std::string_view::npos);
  }
}

TEST_CASE("kernels that compute are not taken for communication") {
  const auto work = [](const char* name) { return work_class(EventKind::kernel, name); };
  CHECK(work("triton_red_fused_add_all_reduce_wait_tensor_3") == WorkClass::vector);
  CHECK(work("void at::native::reduce_kernel<512, 1, ..>") == WorkClass::vector);
  CHECK(work("__amd_rocclr_copyBuffer") == WorkClass::copy);
  CHECK(work("void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16>") == WorkClass::gemm);
  CHECK(work("a_library_of_tomorrow::all_to_all_kernel") == WorkClass::collective);
}

}  // namespace c3::traces_communication_names_test
