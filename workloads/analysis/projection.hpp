#pragma once
/// Steps projected operator by operator from one that was profiled, without simulating them.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "workloads/analysis/isolated_schedule.hpp"
#include "workloads/analysis/operator_profile.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// An operator of a step, and how long it takes alone.
struct TimedOperatorOfStep {
  ProfiledOperator what;
  Seconds time;
};

struct ProjectedStep {
  std::vector<TimedOperatorOfStep> operators;
  IsolatedSchedule schedule;
  std::size_t profiled = 0;  ///< operators that were timed for it
};

/// \p step with each operator as long as it takes alone: what a simulation gives but for interference, late
/// hosts and the gaps between kernels. \throws std::invalid_argument unless all its ranks do the same, without
/// messages; InfeasibleError
ProjectedStep alone(const Experiment& step);

/// A profiled step, from which others are projected: an operator's time grows with its work (flops of products
/// and attention, bytes of other kernels, what a ring sends of a collective) and falls with the peak rate of
/// the hardware that it runs on. Operators are paired by name, pass and turn within a layer; numbers in names
/// do not count. Source: the method of arXiv 2302.02825. Wrong when: efficiency changes with size, as of GEMMs
/// of few tiles, or latency counts, as of small collectives.
class Baseline {
 public:
  /// \throws as alone()
  explicit Baseline(const Experiment& step);

  /// \throws std::invalid_argument naming the operator that the baseline does not have, and as alone()
  ProjectedStep project(const Experiment& step) const;
  std::size_t profiled() const { return profiled_; }

 private:
  struct Entry {
    double work = 0.0;
    Seconds time;
    double rate = 0.0;
  };
  const Entry& entry_of(const ProfiledOperator& its, std::size_t turn) const;

  std::map<std::string, std::vector<Entry>> kernels_;      ///< by range and name, then by turn
  std::map<std::string, std::vector<Entry>> collectives_;  ///< by name
  std::size_t profiled_ = 0;
};

}}  // namespace c3::workloads
