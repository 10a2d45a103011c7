#pragma once
/// The ladder: every strategy on every scenario, at the nominal values of the priors and over draws of them.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "studies/cases/found_tables.hpp"
#include "studies/conccl/ladder_cases.hpp"

namespace c3 { inline namespace studies {

/// Makes the experiment of a draw; nullopt: of nominal values.
using DrawnExperiment = std::function<Experiment(std::optional<std::uint64_t> draw)>;

struct LadderSize {
  int draws = 0;  ///< of all that is uncertain, each with its own draw of work-group times
  int seeds = 1;  ///< draws of work-group times at nominal values, from 1 on
};

class LadderPart {
 public:
  /// \p scenarios must outlive it.
  LadderPart(const std::vector<Scenario>& scenarios, const DrawnExperiment& make, LadderSize size);

  /// Its address must not change from here on.
  void plan(SimulationJobs& jobs) { cases_.plan(jobs); }

  /// The numbers of each case, when the jobs are done. \param numbers of the case of that number; by default
  /// those of LadderCases::numbers
  Found found(const std::function<NamedNumbers(std::size_t number)>& numbers = {}) const;
  /// A line for each case, scenario and strategy, without the header. \param role its first cell
  std::string rows_as_csv(std::string_view role) const;
  static std::string_view row_columns();

  int draws() const { return size_.draws; }
  const LadderCases& cases() const { return cases_; }  ///< the seeds first, then the draws

 private:
  LadderSize size_;
  LadderCases cases_;
};

}}  // namespace c3::studies
