#pragma once
/// The parts of the study of memory channels.

#include <optional>
#include <string>
#include <vector>

#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

/// Closed forms by stride and mapping, and the joint law in the flow solver.
StudySection laws(const PublishedFigures& published);

/// Convolutions by solver, alone on an MI100 with channels, with each mapping.
class ConvolutionsPart {
 public:
  ConvolutionsPart();

  void plan(SimulationJobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;

 private:
  struct Run {
    std::string layer;
    ConvolutionShape shape;
    std::vector<double> times;  ///< memory as a whole, then each of kReachMappings [s]
  };
  StudySection times(const PublishedFigures& published) const;
  StudySection phases(const PublishedFigures& published) const;

  std::vector<Run> runs_;
};

/// A product beside an all-gather, and training steps, with each mapping.
class MappingsPart {
 public:
  MappingsPart();

  void plan(SimulationJobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;
  /// Load of each channel of GPU 0 over time, of the pair: mapping, time, channel, share of what it can give.
  std::string rows_csv() const { return rows_; }
  /// Records what rows_csv() lists.
  void record();

 private:
  /// A product beside an all-gather; BERT-Large on an MI100; LLaMA 3 8B sharded over eight MI300X.
  enum class Work { pair, step, sharded_step };
  struct Run {
    ChannelMapping mapping = ChannelMapping::ipoly;
    Work work = Work::pair;
    MemoryGrain grain = MemoryGrain::channels;
    double time = 0.0, kernels = 0.0;
  };
  static Experiment experiment_of(Work work, ChannelMapping mapping, MemoryGrain grain);
  const Run& of(ChannelMapping mapping, Work work, MemoryGrain grain) const;
  StudySection buffers(const PublishedFigures& published) const;

  std::vector<Run> runs_;
  std::string rows_;
};

}}  // namespace c3::studies
