#pragma once
/// The parts of `reproduce interference`: each reads its table, predicts it and compares.

#include <filesystem>
#include <vector>

#include "engine/units.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

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

/// RCCL has as many channels in one node of MI300X: a higher maximum changes nothing.
inline constexpr int kMostChannels = 56;
/// If channels are fewer, the GEMM's tiles need as many waves as alone, and what it loses all the same is not
/// explained.
inline constexpr int kFewestJudged = 16;

/// \p experiment with so many channels in every strategy.
Experiment with_channels(Experiment experiment, int channels);

/// A GEMM and an all-reduce, each alone and both together, by the most channels that the all-reduce may take.
class PairsPart {
 public:
  /// \param file of columns channels, comm_alone_ms, torch_alone_ms, torch_gemm_overlap_ms,
  /// torch_comm_overlap_ms. \throws ConfigError, IoError
  explicit PairsPart(const std::filesystem::path& file);

  struct Side {
    Seconds alone, together;
    double slowdown() const { return together / alone; }
  };
  struct Row {
    int channels = 0;
    Side gemm, collective;  ///< measured
    Side our_gemm, our_collective;

    const Side& side(bool of_gemm) const { return of_gemm ? gemm : collective; }
    const Side& ours(bool of_gemm) const { return of_gemm ? our_gemm : our_collective; }
  };

  void plan(SimulationJobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;
  /// Ours are complete when the jobs are done.
  const std::vector<Row>& rows() const { return rows_; }

 private:
  StudySection side_section(const PublishedFigures& published, bool of_gemm) const;

  std::vector<Row> rows_;
};

/// The same pairs with each of hypotheses() on.
class PairHypotheses {
 public:
  /// \p pairs must outlive it.
  explicit PairHypotheses(const PairsPart& pairs);

  void plan(SimulationJobs& jobs);
  /// Complete when the jobs of both parts are done. Never judged.
  StudyReport sections(const PublishedFigures& published) const;

 private:
  struct Together {
    Seconds gemm, collective;
  };
  double slowdown(std::size_t hypothesis, std::size_t row, bool of_gemm) const;
  StudyLine errors(const PublishedFigures& published, bool of_gemm, int least, int most) const;
  StudySection section(const PublishedFigures& published, bool of_gemm) const;

  const PairsPart& pairs_;
  std::vector<std::vector<Together>> together_;  ///< by hypothesis, then by row
};

/// A product on an H100 while a kernel of another queue holds SMs and moves nothing: measured by this project.
/// It tells what a second queue costs beyond the SMs that it holds.
class HeldPart {
 public:
  /// \param file of columns m, n, k, alone_ms, held, slowdown. \throws ConfigError, IoError
  explicit HeldPart(const std::filesystem::path& file);

  void plan(SimulationJobs& jobs);
  /// Complete when the jobs are done. Never judged.
  StudySection section(const PublishedFigures& published) const;

 private:
  struct Row {
    GemmShape shape;
    int held = 0;
    double measured = 1.0;
    double free = 1.0, strict = 1.0;  ///< ours: dispatch to any SM, or in turn to the GPCs
  };
  StudyLine errors(const PublishedFigures& published, int most) const;

  std::vector<Row> rows_;
};

}}  // namespace c3::studies
