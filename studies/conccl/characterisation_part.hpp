#pragma once
/// What each side of the study does alone: GEMMs with CUs removed, collectives on few CUs, copy engines beside
/// the library by size. Nothing here runs beside anything.

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <string_view>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "results/report/curve_plot.hpp"
#include "studies/conccl/collectives_alone.hpp"
#include "studies/conccl/ladder_part.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

class CharacterisationPart {
 public:
  /// Figures at nominal values and over \p draws, curves at nominal values. \param memory_bound GEMMs that are
  /// shown beside the compute-bound ones; may be empty.
  CharacterisationPart(const DrawnExperiment& make, int draws, std::vector<GemmShape> memory_bound = {});

  /// Its address must not change from here on.
  void plan(SimulationJobs& jobs);

  /// Complete when the jobs are done.
  StudyReport sections(const PublishedFigures& published) const;
  std::vector<CurvePlot> plots(const PublishedFigures& published) const;

 private:
  static constexpr int kMostRemoved = 64;  ///< CUs
  static constexpr std::array kMasks = {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128};
  static constexpr Bytes kSmall{kKibi}, kLarge{kGibi};

  /// What is found in every draw.
  struct Found {
    double gemms_minus_32 = 0.0, gemms_minus_64 = 0.0;  ///< mean slowdown, percent
    double up_minus_32 = 0.0, up_minus_64 = 0.0;
    CopyTimes small_gather, small_all_to_all, large_gather;
  };
  using OfDraw = double (*)(const Found& found);
  struct Drawn {
    Experiment experiment;
    Found found;
  };
  /// Times under masks, and on all CUs.
  struct MaskCurve {
    CollectiveKind kind;
    Algorithm algorithm;
    std::string_view figure;
    std::vector<Seconds> on_cus = {};  ///< by mask
    Seconds on_all = {};
  };
  struct SizePoint {
    Bytes bytes;
    CopyTimes gather = {}, all_to_all = {};
  };

  static Found find(const Experiment& experiment);
  void plan_draw(SimulationJobs& jobs, Drawn& drawn);
  void plan_masks(SimulationJobs& jobs, MaskCurve& curve);
  void plan_size(SimulationJobs& jobs, SizePoint& point);

  const Experiment& nominal() const { return cases_.front().experiment; }
  LadderValue value(const std::function<double(const Drawn& drawn)>& of) const;
  StudyLine line(const PublishedFigures& published, std::string_view id, std::string_view label,
                 OfDraw of) const;
  static StudyLine line(const PublishedFigure& of, std::string_view label, const LadderValue& found);
  StudySection gemms(const PublishedFigures& published) const;
  StudySection memory_bound_gemms(const PublishedFigures& published) const;
  StudySection masks(const PublishedFigures& published) const;
  StudySection copies(const PublishedFigures& published) const;
  CurvePlot gemm_plot(const PublishedFigures& published) const;
  CurvePlot mask_plot(const PublishedFigures& published) const;
  CurvePlot copy_plot(const PublishedFigures& published) const;

  std::vector<GemmShape> memory_bound_;
  std::deque<Drawn> cases_;  ///< the nominal one, then the draws
  std::deque<MaskCurve> masks_;
  std::deque<SizePoint> sizes_;
};

}}  // namespace c3::studies
