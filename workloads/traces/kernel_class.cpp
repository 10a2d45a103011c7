#include "workloads/traces/kernel_class.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/small_letters.hpp"
#include "workloads/traces/communication_names.hpp"
#include "workloads/traces/trace_join.hpp"

namespace c3 { inline namespace traces {
namespace {

struct Word {
  std::string_view text;  ///< in small letters, anywhere in the name
  WorkClass work;
};

/// The first that is found decides.
constexpr std::array kWords{
    Word{"fmha", WorkClass::attention},
    Word{"flash", WorkClass::attention},
    Word{"attention", WorkClass::attention},
    Word{"attn_", WorkClass::attention},
    Word{"_attn", WorkClass::attention},
    Word{"conv", WorkClass::convolution},
    Word{"winograd", WorkClass::convolution},
    Word{"wgrad", WorkClass::convolution},
    Word{"dgrad", WorkClass::convolution},
    Word{"igemm", WorkClass::convolution},
    Word{"fbgemm", WorkClass::vector},  // embeddings of a library that is named after its products
    Word{"gemm", WorkClass::gemm},
    Word{"gemv", WorkClass::gemm},
    Word{"cijk_", WorkClass::gemm},
    Word{"nvjet", WorkClass::gemm},
    Word{"cutlass", WorkClass::gemm},
    Word{"splitk", WorkClass::gemm},
    Word{"triton_mm", WorkClass::gemm},
    Word{"triton_tem", WorkClass::gemm},
    Word{"elementwise", WorkClass::vector},
    Word{"at::native", WorkClass::vector},
    Word{"at_cuda_detail", WorkClass::vector},
    Word{"triton_", WorkClass::vector},
    Word{"allreduce", WorkClass::collective},  // of libraries that communication_names lacks
    Word{"all_reduce", WorkClass::collective},
    Word{"allgather", WorkClass::collective},
    Word{"all_gather", WorkClass::collective},
    Word{"reducescatter", WorkClass::collective},
    Word{"reduce_scatter", WorkClass::collective},
    Word{"alltoall", WorkClass::collective},
    Word{"all_to_all", WorkClass::collective},
    Word{"norm", WorkClass::vector},
    Word{"bn_", WorkClass::vector},
    Word{"softmax", WorkClass::vector},
    Word{"reduce", WorkClass::vector},
    Word{"embedding", WorkClass::vector},
    Word{"embed", WorkClass::vector},
    Word{"cub::", WorkClass::vector},
    Word{"rocprim", WorkClass::vector},
    Word{"multi_tensor", WorkClass::vector},
    Word{"dropout", WorkClass::vector},
    Word{"gelu", WorkClass::vector},
    Word{"transpose", WorkClass::vector},
    Word{"optensor", WorkClass::vector},
    Word{"tensor_kernel", WorkClass::vector},
    Word{"adam", WorkClass::vector},
};

/// Whether metadata say that \p activity is a part of a collective: the kernel's own, or those of c10d's
/// operator that launched it without another operator between. Copies of the second kind are those of NCCL by
/// copy engines (2.28 on), which go from GPU to GPU; others are of its setup.
bool is_said_to_communicate(const Trace& trace, const TraceJoin& join, std::uint32_t activity) {
  const TraceEvent& event = trace.activities[activity];
  if (event.kind == EventKind::memset) return false;
  if (event.kind == EventKind::kernel && event.collective != kNoIndex) return true;
  const std::uint32_t op = join.op_of[activity];
  if (op == kNoIndex || trace.name_of(trace.ops[op]) != "record_param_comms") return false;
  return event.kind == EventKind::kernel || trace.name_of(event).find("PtoP") != std::string::npos;
}

}  // namespace

WorkClass work_class(EventKind kind, std::string_view kernel_name) {
  if (kind == EventKind::copy) return WorkClass::copy;
  if (kind == EventKind::memset) return WorkClass::memset;
  const std::string name = in_small_letters(kernel_name);
  // HIP records copies that a kernel does, and clears, as kernels.
  if (name.starts_with("__amd_rocclr_copy")) return WorkClass::copy;
  if (name.starts_with("__amd_rocclr_fill")) return WorkClass::memset;
  if (communication_name(name) != nullptr) return WorkClass::collective;
  const auto* const found =
      std::ranges::find_if(kWords, [&](const Word& word) { return name.find(word.text) != std::string::npos; });
  return found == kWords.end() ? WorkClass::other : found->work;
}

std::vector<WorkClass> work_classes(const Trace& trace, const TraceJoin& join) {
  std::map<std::pair<EventKind, TextId>, WorkClass> by_name;
  std::vector<WorkClass> classes;
  classes.reserve(trace.activities.size());
  for (std::uint32_t i = 0; i < trace.activities.size(); ++i) {
    const TraceEvent& event = trace.activities[i];
    if (is_said_to_communicate(trace, join, i)) {
      classes.push_back(WorkClass::collective);
      continue;
    }
    const auto [place, is_new] = by_name.try_emplace({event.kind, event.name});
    if (is_new) place->second = work_class(event.kind, trace.name_of(event));
    classes.push_back(place->second);
  }
  return classes;
}

}}  // namespace c3::traces
