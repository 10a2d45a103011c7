#pragma once
/// A space of candidates of which every one is simulated.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "configs/jobs/tune.hpp"
#include "studies/simulations.hpp"
#include "workloads/tune/candidate.hpp"

namespace c3 { inline namespace studies {

/// A candidate, and what it takes to know it, in seconds of CPU time.
struct MeasuredCandidate {
  double reading = 0.0;              ///< its experiment
  double looking = 0.0;              ///< its memory and its bound
  double simulating = 0.0;           ///< a whole step under each strategy
  CandidateFacts facts;              ///< where it is sound
  bool is_sound = false;             ///< it breaks no rule
  std::optional<Seconds> time = {};  ///< of the fastest strategy; absent: it was not simulated, or failed
};

class MeasuredSpace {
 public:
  /// \throws ConfigError, IoError
  explicit MeasuredSpace(const std::filesystem::path& file);

  /// A job for each candidate.
  void plan(SimulationJobs& jobs);

  const std::string& name() const { return file_.space.name(); }
  const TuneGoal& goal() const { return file_.goal; }
  const std::vector<MeasuredCandidate>& candidates() const { return candidates_; }
  /// Positions of those that may be simulated.
  std::vector<std::size_t> admitted() const;
  /// Positions of each candidate, see positions_of().
  const std::vector<std::vector<double>>& positions() const { return positions_; }
  double cost(std::size_t candidate, const Expense& expense) const;
  /// The least of all. \pre one was simulated
  double least_cost() const;

  /// Seconds of CPU in which a sweep reads every candidate, and then those that fit once more, which it
  /// simulates.
  double exhaustive_seconds() const;
  /// The same of a search, which looks at every candidate, and reads those once more that it simulates.
  double search_seconds(const std::vector<std::size_t>& simulated) const;

 private:
  MeasuredCandidate measure(std::size_t point) const;

  TuneFile file_;
  std::vector<std::vector<double>> positions_;
  std::vector<MeasuredCandidate> candidates_;  ///< by point
};

}}  // namespace c3::studies
