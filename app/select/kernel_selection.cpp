#include "app/select/kernel_selection.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/usage_error.hpp"
#include "configs/presets/learned_products.hpp"
#include "configs/presets/selector_file.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/selection/problem_features.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kFewestBeams = 8;  ///< beginnings that the search keeps, as the study of the choices does

/// The instruction of kernels that use no matrix unit.
constexpr std::string_view kVectorInstruction = "vector";

/// What the cost model makes of a sequence of tokens and their names.
using ModelOf =
    std::function<std::optional<ModelledKernel>(const TokenSequence&, const std::vector<std::string>&)>;

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
  for (const auto& [known_kind, valid] : selector.valid) {
    all.push_back(known_kind);
    if (known_kind.starts_with(kind.substr(0, kind.find(' ') + 1))) alike.push_back(known_kind);
  }
  return alike.empty() ? all : alike;
}

Selection ranked(const KernelCase& asked, const KernelSelector& selector, std::string learned_on,
                 const std::vector<float>& features, const std::string& kind, std::size_t top,
                 const ModelOf& model_of) {
  if (features.size() != selector.features)
    throw InfeasibleError(
        fmt::format("the weights are of another version: they ask {} numbers of a problem, of {}",
                    selector.features, features.size()));
  if (!selector.valid.contains(kind))
    throw InfeasibleError(fmt::format("no kernel of the kind '{}' was seen, only of: {}", kind,
                                      fmt::join(kinds_like(selector, kind), ", ")));
  Selection found{.asked = asked,
                  .learned_on = std::move(learned_on),
                  .steps = {},
                  .kernels = {},
                  .model = fastest_of_model(asked)};
  for (const SelectorStep& step : selector.steps)
    found.steps.push_back(step.what);
  for (const RankedSequence& sequence : selector.rank(features, kind, std::max(top, kFewestBeams))) {
    if (found.kernels.size() == top) break;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sequence.tokens.size(); ++i)
      names.push_back(selector.steps[i].tokens[static_cast<std::size_t>(sequence.tokens[i])]);
    std::optional<ModelledKernel> modelled = model_of(sequence.tokens, names);
    found.kernels.push_back({std::move(names), std::exp(sequence.log_probability), modelled});
  }
  return found;
}

Selection of_convolution(const KernelCase& asked, const ConvolutionShape& shape, std::size_t top) {
  if (shape.layout != ImageLayout::nchw)
    throw InfeasibleError("only kernels of nchw convolutions were learned");
  static const SelectorTable kSolvers = load_selectors(shipped_selectors("miopen"));
  const std::string pass = fmt::format(".{}", name_of(shape.pass));
  std::string family = learned_family(kSolvers, *asked.gpu, pass, "MIOpen");
  const KernelSelector& selector = kSolvers.at(family + pass);
  const ModelOf model_of = [&](const TokenSequence&, const std::vector<std::string>& names) {
    return modelled_solver(asked, names.front());
  };
  return ranked(asked, selector, std::move(family), features_of(shape, *asked.gpu), kind_of(shape), top,
                model_of);
}

/// \throws InfeasibleError when \p selector is not one of products
ProductTokens tokens_of_products(const KernelSelector& selector) {
  try {
    return ProductTokens(selector);
  } catch (const std::invalid_argument& error) {
    throw InfeasibleError(error.what());
  }
}

Selection of_product(const KernelCase& asked, const GemmShape& shape, std::size_t top) {
  static const SelectorTable kProducts = load_selectors(shipped_selectors("rocblas"));
  std::string family = learned_family(kProducts, *asked.gpu, "", "rocBLAS");
  const KernelSelector& selector = kProducts.at(family);
  const ProductTokens tokens = tokens_of_products(selector);
  const ModelOf model_of = [&](const TokenSequence& sequence, const std::vector<std::string>& names) {
    const bool on_vectors = std::ranges::find(names, kVectorInstruction) != names.end();
    return modelled_product(asked, tokens.kernel_of(sequence), on_vectors);
  };
  return ranked(asked, selector, std::move(family), features_of(shape, *asked.gpu), kind_of(shape), top,
                model_of);
}

}  // namespace

Selection selection_of(const KernelCase& asked, std::size_t top) {
  if (const auto* shape = asked.op.as<ConvolutionShape>()) return of_convolution(asked, *shape, top);
  if (const auto* shape = asked.op.as<GemmShape>()) return of_product(asked, *shape, top);
  throw UsageError("OP: must be convolution or gemm: kernels of other operators were not learned");
}

}}  // namespace c3::app
