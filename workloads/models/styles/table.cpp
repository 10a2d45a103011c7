// The table of styles: one line each, in the order in which they are listed. A style that no code asks for by
// name is declared here: extern const StyleEntry kName;

#include <array>

#include "workloads/models/styles/style.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::array kTable = {
    KernelStyle(kEagerStyle),     // PyTorch
    KernelStyle(kCompiledStyle),  // PyTorch with torch.compile
    KernelStyle(kMegatronStyle),  // Megatron-LM
};

}  // namespace

constinit const std::span<const KernelStyle> kKernelStyles = kTable;

std::string_view name_of(KernelStyle style) { return style->name; }

}}  // namespace c3::workloads
