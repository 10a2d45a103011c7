#include "app/kernel_selection.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/usage_error.hpp"
#include "configs/selector_file.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/selection/problem_features.hpp"

namespace c3::inline app {
namespace {

constexpr std::size_t kFewestBeams = 8;  ///< beginnings that the search keeps, as the study of the choices does

/// The family of \p gpu, where \p table has a selector of it; convolutions on CDNA 3 are asked of CDNA 2's.
/// \throws InfeasibleError
std::string learned_family(const SelectorTable& table, const GpuSpec& gpu, std::string_view pass,
                           std::string_view what) {
  std::vector<std::string> families = {gpu.family.name};
  if (gpu.family.name == "cdna3") families.emplace_back("cdna2");
  for (const std::string& family : families)
    if (table.contains(family + std::string(pass))) return family;
  std::vector<std::string> known;
  for (const auto& [name, selector] : table) {
    std::string family = name.substr(0, name.find('.'));
    if (std::ranges::find(known, family) == known.end()) known.push_back(std::move(family));
  }
  throw InfeasibleError(fmt::format("no choices of {} were learned for {} ({}), only for GPUs of {}", what,
                                    gpu.name, gpu.family.name, fmt::join(known, ", ")));
}

/// Kinds that \p selector has of the type of \p kind, its first word; all where there are none.
std::vector<std::string> kinds_like(const KernelSelector& selector, const std::string& kind) {
  std::vector<std::string> all, alike;
  for (const auto& [each, valid] : selector.valid) {
    all.push_back(each);
    if (each.starts_with(kind.substr(0, kind.find(' ') + 1))) alike.push_back(each);
  }
  return alike.empty() ? all : alike;
}

Selection ranked(const KernelCase& asked, const KernelSelector& selector, std::string learned_on,
                 const std::vector<float>& features, const std::string& kind, std::size_t top) {
  if (features.size() != selector.features)
    throw InfeasibleError(
        fmt::format("the weights are of another version: they ask {} numbers of a problem, of {}",
                    selector.features, features.size()));
  if (!selector.valid.contains(kind))
    throw InfeasibleError(fmt::format("no kernel of the kind '{}' was seen, only of: {}", kind,
                                      fmt::join(kinds_like(selector, kind), ", ")));
  Selection found{
      .asked = asked, .learned_on = std::move(learned_on), .steps = {}, .kernels = {}, .probabilities = {}};
  for (const SelectorStep& step : selector.steps)
    found.steps.push_back(step.what);
  for (const RankedSequence& each : selector.rank(features, kind, std::max(top, kFewestBeams))) {
    if (found.kernels.size() == top) break;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < each.tokens.size(); ++i)
      names.push_back(selector.steps[i].tokens[static_cast<std::size_t>(each.tokens[i])]);
    found.kernels.push_back(std::move(names));
    found.probabilities.push_back(std::exp(each.log_probability));
  }
  return found;
}

}  // namespace

Selection selection_of(const KernelCase& asked, std::size_t top) {
  const GpuSpec& gpu = *asked.gpu;
  if (const auto* shape = asked.op.as<ConvolutionShape>()) {
    if (shape->layout != ImageLayout::nchw)
      throw InfeasibleError("only kernels of nchw convolutions were learned");
    static const SelectorTable kSolvers = load_selectors(shipped_selectors("miopen"));
    const std::string pass = fmt::format(".{}", name_of(shape->pass));
    std::string family = learned_family(kSolvers, gpu, pass, "MIOpen");
    const KernelSelector& selector = kSolvers.at(family + pass);
    return ranked(asked, selector, std::move(family), features_of(*shape, gpu), kind_of(*shape), top);
  }
  if (const auto* shape = asked.op.as<GemmShape>()) {
    static const SelectorTable kProducts = load_selectors(shipped_selectors("rocblas"));
    std::string family = learned_family(kProducts, gpu, "", "rocBLAS");
    const KernelSelector& selector = kProducts.at(family);
    return ranked(asked, selector, std::move(family), features_of(*shape, gpu), kind_of(*shape), top);
  }
  throw UsageError("OP: must be convolution or gemm: kernels of other operators were not learned");
}

}  // namespace c3::app
