#pragma once
/// What each side of the study does alone: GEMMs with CUs removed, collectives on few CUs, copy engines beside
/// the library by size. Nothing here runs beside anything.

#include <array>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "results/report/curve_plot.hpp"
#include "studies/cases/found_tables.hpp"
#include "studies/conccl/alone.hpp"
#include "studies/conccl/ladder_part.hpp"
#include "studies/simulations.hpp"

namespace c3 { inline namespace studies {

class CharacterisationPart {
 public:
  /// Figures at nominal values and over \p draws, curves at nominal values. \param memory_bound GEMMs that are
  /// shown beside the compute-bound ones; may be empty.
  CharacterisationPart(const DrawnExperiment& make, int draws, std::vector<GemmShape> memory_bound = {});

  /// Its address must not change from here on.
  void plan(SimulationJobs& jobs);

  /// Complete when the jobs are done. `alone`: by how many percent GEMMs take longer without CUs, `gemms.32`
  /// (mean, and with `.least` and `.greatest` behind it), `up.32`; RCCL's times at 1 KiB [us],
  /// `gather.library`, `gather.ring` and `exchange.library`, with `.over` behind it those of engines over them;
  /// `large`, by how many percent engines are faster than a ring at 1 GiB. `streamed`: `streamed.8` of the
  /// memory-bound GEMMs. `all_gather` and `all_to_all`: `fewest` CUs that are as good as all, and times
  /// over that on all, `on_8`.
  void add_found(FoundNumbers& found) const;
  std::vector<CurvePlot> plots(const PublishedFigures& published) const;

 private:
  static constexpr int kMostRemoved = 64;  ///< CUs
  static constexpr std::array kMasks = {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128};
  static constexpr Bytes kSmall{kKibi}, kLarge{kGibi};

  struct Drawn {
    Experiment experiment;
    CopyTimes small_gather = {}, small_exchange = {}, large_gather = {};
  };
  /// Times under masks over that on all CUs.
  struct MaskCurve {
    CollectiveKind kind;
    Algorithm algorithm;
    std::vector<double> over_all = {};  ///< by mask
  };
  struct SizePoint {
    Bytes bytes;
    CopyTimes gather = {}, exchange = {};
  };

  const Experiment& nominal() const { return cases_.front().experiment; }
  void plan_copies(SimulationJobs& jobs, const Experiment& experiment, CollectiveKind kind, Bytes bytes,
                   CopyTimes& times) const;
  NamedNumbers numbers_of(const Drawn& drawn) const;
  Found over_draws(const std::function<NamedNumbers(const Drawn&)>& numbers) const;
  CurvePlot gemm_plot(const PublishedFigures& published) const;
  CurvePlot mask_plot(const PublishedFigures& published) const;
  CurvePlot copy_plot(const PublishedFigures& published) const;

  std::vector<GemmShape> memory_bound_;
  std::deque<Drawn> cases_;  ///< the nominal one, then the draws
  std::deque<MaskCurve> masks_;
  std::deque<SizePoint> sizes_;
};

}}  // namespace c3::studies
