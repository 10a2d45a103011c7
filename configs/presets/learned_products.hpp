#pragma once
/// What rocBLAS takes for a product, by the weights of configs/selection/.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/library_kernels.hpp"
#include "gpu/selection/kernel_selector.hpp"

namespace c3 { inline namespace configs {

/// Reads kernels of products out of the sequences of a selector of rocBLAS's choices.
class ProductTokens {
 public:
  /// \throws std::invalid_argument when a step of \p selector is missing or has a token that is not a positive
  /// number
  explicit ProductTokens(const KernelSelector& selector);

  LibraryGemm kernel_of(const TokenSequence& tokens) const;

 private:
  /// A step's place in the sequence of tokens, and what its tokens stand for.
  struct NumberedStep {
    NumberedStep(const KernelSelector& selector, std::string_view what);
    std::int64_t in(const TokenSequence& tokens) const;

    std::vector<std::int64_t> numbers;
    std::size_t place;
  };

  NumberedStep tile_m_, tile_n_, depth_k_, split_k_;
};

/// The most probable tile, depth and split of K that \p selector gives for a product; what it was once asked
/// is kept by shape. Absent for data types that it has not seen. \p selector outlives the result.
/// Wrong when: rocBLAS takes a kernel for vector units, of which the plan keeps only the tile. \throws
/// std::invalid_argument when \p selector is not one of products: another number of features than ours, a
/// step missing, or a token that is not a positive number
std::shared_ptr<const LibraryChoice> learned_products(const KernelSelector& selector);

/// The choices that \p weights (find_selectors("rocblas")) has for \p family: the same object whenever they are
/// asked again, so that equal GPUs compare equal. \throws std::invalid_argument without weights, without a
/// selector of \p family, or as above; ConfigError, IoError as load_selectors
std::shared_ptr<const LibraryChoice> learned_products(const std::optional<std::filesystem::path>& weights,
                                                      const std::string& family);

}}  // namespace c3::configs
