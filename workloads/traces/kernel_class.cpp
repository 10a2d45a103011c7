#include "workloads/traces/kernel_class.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace c3::inline traces {
namespace {

struct Word {
  std::string_view text;  ///< in small letters, anywhere in the name
  WorkClass work;
};

/// The first that is found decides.
constexpr std::array kWords{
    Word{"ncclkernel", WorkClass::collective},
    Word{"nccldevkernel", WorkClass::collective},
    Word{"rccl", WorkClass::collective},
    Word{"deep_ep", WorkClass::collective},
    Word{"multimem", WorkClass::collective},
    Word{"cross_device_reduce", WorkClass::collective},
    Word{"one_shot_all_reduce", WorkClass::collective},
    Word{"two_shot_all_reduce", WorkClass::collective},
    Word{"nvshmem", WorkClass::collective},
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

}  // namespace

WorkClass work_class(EventKind kind, std::string_view kernel_name) {
  if (kind == EventKind::copy) return WorkClass::copy;
  if (kind == EventKind::memset) return WorkClass::memset;
  std::string name(kernel_name);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  // HIP records copies that a kernel does, and clears, as kernels.
  if (name.starts_with("__amd_rocclr_copy")) return WorkClass::copy;
  if (name.starts_with("__amd_rocclr_fill")) return WorkClass::memset;
  const auto* const found =
      std::ranges::find_if(kWords, [&](const Word& word) { return name.find(word.text) != std::string::npos; });
  return found == kWords.end() ? WorkClass::other : found->work;
}

}  // namespace c3::traces
