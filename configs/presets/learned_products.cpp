#include "configs/presets/learned_products.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <ranges>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "configs/presets/selector_file.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/selection/problem_features.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::size_t kProductBeams = 8;  // same as `c3sim select`

/// The numbers that the tokens of \p what stand for.
std::vector<std::int64_t> numbers_of(const KernelSelector& selector, std::string_view what) {
  const auto step = std::ranges::find(selector.steps, what, &SelectorStep::what);
  if (step == selector.steps.end())
    throw std::invalid_argument(fmt::format("the weights of rocBLAS's choices have no step '{}'", what));
  std::vector<std::int64_t> numbers;
  for (const std::string& token : step->tokens) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
    if (error != std::errc() || end != token.data() + token.size() || number < 1)
      throw std::invalid_argument(fmt::format(
          "the weights of rocBLAS's choices have '{}' as a '{}', which must be a whole number above 0", token,
          what));
    numbers.push_back(number);
  }
  return numbers;
}

class LearnedProducts final : public LibraryChoice {
 public:
  explicit LearnedProducts(const KernelSelector& selector) : selector_(selector), tokens_(selector) {
    const std::size_t ours = features_of(GemmShape{.m = 1, .n = 1, .k = 1}, GpuSpec{}).size();
    if (selector.features != ours)
      throw std::invalid_argument(
          fmt::format("the weights of rocBLAS's choices are of another version: they ask {} numbers of a "
                      "product, of {}",
                      selector.features, ours));
  }

  std::optional<LibraryGemm> kernel_for(const GemmShape& shape, const GpuSpec& gpu) const override {
    const std::string kind = kind_of(shape);
    if (!selector_.valid.contains(kind)) return std::nullopt;
    const Asked asked{shape.m, shape.n, shape.k, shape.batch, shape.dtype, shape.layout, gpu.compute.cus()};
    {
      const std::scoped_lock lock(mutex_);
      if (const auto known = known_.find(asked); known != known_.end()) return known->second;
    }
    // Not under the lock: two threads that ask the same find the same.
    const TokenSequence best = selector_.rank(features_of(shape, gpu), kind, kProductBeams).front().tokens;
    const LibraryGemm kernel = tokens_.kernel_of(best);
    const std::scoped_lock lock(mutex_);
    known_.emplace(asked, kernel);
    return kernel;
  }

 private:
  /// All that features_of() sees of a product.
  using Asked = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, DType, GemmLayout, int>;

  const KernelSelector& selector_;
  ProductTokens tokens_;
  mutable std::mutex mutex_;
  mutable std::map<Asked, LibraryGemm> known_;
};

/// A file of weights with the choices that were made of it.
struct LoadedWeights {
  SelectorTable table;
  std::map<std::string, std::shared_ptr<const LibraryChoice>> of_family;
};

}  // namespace

ProductTokens::NumberedStep::NumberedStep(const KernelSelector& selector, std::string_view what)
    : numbers(numbers_of(selector, what)),
      place(static_cast<std::size_t>(std::ranges::find(selector.steps, what, &SelectorStep::what) -
                                     selector.steps.begin())) {}

std::int64_t ProductTokens::NumberedStep::in(const TokenSequence& tokens) const {
  return numbers[static_cast<std::size_t>(tokens[place])];
}

ProductTokens::ProductTokens(const KernelSelector& selector)
    : tile_m_(selector, "tile_m"),
      tile_n_(selector, "tile_n"),
      depth_k_(selector, "depth_k"),
      split_k_(selector, "split_k") {}

LibraryGemm ProductTokens::kernel_of(const TokenSequence& tokens) const {
  return {.tile_m = tile_m_.in(tokens),
          .tile_n = tile_n_.in(tokens),
          .depth_k = depth_k_.in(tokens),
          .split = split_k_.in(tokens)};
}

std::shared_ptr<const LibraryChoice> learned_products(const KernelSelector& selector) {
  return std::make_shared<LearnedProducts>(selector);
}

std::shared_ptr<const LibraryChoice> learned_products(const std::optional<std::filesystem::path>& weights,
                                                      const std::string& family) {
  if (!weights)
    throw std::invalid_argument(
        "\"library\" requires selection/rocblas.csv.gz, which no folder of presets has; \"fastest\" does not");
  static std::mutex loading;
  static std::map<std::filesystem::path, LoadedWeights> loaded;
  const std::scoped_lock lock(loading);
  auto known = loaded.find(*weights);
  if (known == loaded.end())
    known = loaded.emplace(*weights, LoadedWeights{load_selectors(*weights), {}}).first;
  LoadedWeights& file = known->second;
  const auto selector = file.table.find(family);
  if (selector == file.table.end())
    throw std::invalid_argument(
        fmt::format("\"library\" requires choices that were learned for GPUs of {}; they were for {} only; "
                    "use \"fastest\"",
                    family, fmt::join(std::views::keys(file.table), ", ")));
  std::shared_ptr<const LibraryChoice>& choice = file.of_family[family];
  if (choice == nullptr) choice = learned_products(selector->second);
  return choice;
}

}}  // namespace c3::configs
