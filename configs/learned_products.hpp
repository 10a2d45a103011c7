#pragma once
/// What rocBLAS takes for a product, by the weights of configs/selection/.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "gpu/library_kernels.hpp"
#include "gpu/selection/kernel_selector.hpp"

namespace c3::inline configs {

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

}  // namespace c3::configs
