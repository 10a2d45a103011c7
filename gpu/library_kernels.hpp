#pragma once
/// Which kernels of matrix products the vendor's library has, and which of them it takes.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/enum_names.hpp"

namespace c3 { inline namespace gpu {

struct GemmShape;
struct GpuSpec;

/// Output tile of one GEMM work group and the depth of one step of its K loop.
struct GemmTile {
  std::int64_t m = 256;
  std::int64_t n = 256;
  std::int64_t k = 64;
  int waves = 4;  ///< wavefronts of its work group
  friend bool operator==(const GemmTile&, const GemmTile&) = default;
};

/// Which of its kernels the library takes for a product.
enum class GemmChoice : std::uint8_t {
  fastest,  ///< the one that is fastest by the cost model (plan_gemm)
  library,  ///< the one learned from the library's tables (LibraryChoice); the fastest of types they lack
};
constexpr auto enum_names(GemmChoice) {
  return std::to_array<EnumName<GemmChoice>>(
      {{"fastest", GemmChoice::fastest}, {"library", GemmChoice::library}});
}

/// A kernel as a library's tables describe it: all above 0.
struct LibraryGemm {
  std::int64_t tile_m, tile_n, depth_k;  ///< elements, rows and columns as GemmShape has them
  std::int64_t split;                    ///< parts of K
};

/// What a library takes for a product. Safe to ask from several threads.
class LibraryChoice {
 public:
  LibraryChoice() = default;
  LibraryChoice(const LibraryChoice&) = delete;
  LibraryChoice& operator=(const LibraryChoice&) = delete;
  virtual ~LibraryChoice() = default;

  /// Absent: no kernel for such products was learned.
  virtual std::optional<LibraryGemm> kernel_for(const GemmShape& shape, const GpuSpec& gpu) const = 0;
};

/// Which kernels the vendor's library of matrix products has for it.
struct LibraryKernelSpec {
  /// Tiles on matrix units (16 bits and fewer), on vector units, and for batched products on vector units.
  std::vector<GemmTile> matrix_tiles = {};
  std::vector<GemmTile> vector_tiles = {};
  std::vector<GemmTile> batched_vector_tiles = {};
  /// The same of fp32 products on matrix units, where they run there.
  std::vector<GemmTile> fp32_matrix_tiles = {};
  std::vector<GemmTile> batched_fp32_matrix_tiles = {};
  int gemm_cluster = 1;  ///< work groups that fetch a shared panel once for all of them (TMA multicast)
  /// Steps of K that a work group on matrix units has in LDS at once, most of them on their way; 0: as many as
  /// fit, so that no other work group with LDS finds room on its CU.
  int gemm_stages = 1;
  /// Kernels on matrix units are persistent: as many work groups as the GPU holds, each of which has so many
  /// tiles of its own (PersistentBlocks); 0: one work group a tile.
  int gemm_own_tiles = 0;
  GemmChoice gemm_choice = GemmChoice::fastest;

  bool operator==(const LibraryKernelSpec&) const = default;
};

}}  // namespace c3::gpu
