#pragma once
/// The parts of `reproduce interference`: each reads its table, predicts it and compares.

#include <filesystem>
#include <vector>

#include "engine/units.hpp"
#include "gpu/kernels/gemm/gemm_plan.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"

namespace c3::inline studies {

/// Which tile the library takes for a product, beside the one that takes the least time by our model.
class TilesPart {
 public:
  /// \param file of columns gpu, dtype, m, n, k, tile_m, tile_n, tiles. \throws ConfigError, IoError
  explicit TilesPart(const std::filesystem::path& file);

  StudySection section(const PublishedFigures& published) const;

 private:
  struct Row {
    GemmShape shape;
    std::int64_t tile_m = 0, tile_n = 0;  ///< the library's
    GemmPlan ours;
  };
  std::vector<Row> rows_;
};

/// A GEMM and an all-reduce, each alone and both together, by the most channels that the all-reduce may take.
class PairsPart {
 public:
  /// \param file of columns channels, comm_alone_ms, torch_alone_ms, torch_gemm_overlap_ms,
  /// torch_comm_overlap_ms. \throws ConfigError, IoError
  explicit PairsPart(const std::filesystem::path& file);

  void plan(SimulationJobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;

 private:
  struct Side {
    Seconds alone, together;
    double slowdown() const { return together / alone; }
  };
  struct Row {
    int channels = 0;
    Side gemm, collective;  ///< measured
    Side our_gemm, our_collective;
  };
  StudySection side_section(const PublishedFigures& published, bool of_gemm) const;

  std::vector<Row> rows_;
};

}  // namespace c3::studies
