#pragma once
/// What must hold of a simulated step, whatever was measured: the parts of its interference add up.

#include <vector>

#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

/// A step with everything shared, with nothing shared, and what its loss split says of the difference.
class InterferencePart {
 public:
  InterferencePart();
  void plan(SimulationJobs& jobs);
  StudySection section(const PublishedFigures& published) const;

 private:
  Experiment experiment_;
  double shared_ = 0.0, unshared_ = 0.0;  ///< ms
  std::vector<double> losses_;            ///< ms, one for each resource
};

}}  // namespace c3::studies
