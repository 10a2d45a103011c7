#pragma once
/// The ladder: every strategy on every scenario, at the nominal values of the priors and over draws of them.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "studies/conccl/ladder_cases.hpp"
#include "studies/conccl/statistics.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Makes the experiment of a draw; nullopt: of nominal values.
using DrawnExperiment = std::function<Experiment(std::optional<std::uint64_t> draw)>;

struct LadderSize {
  int draws = 0;  ///< of all that is uncertain, each with its own draw of work-group times
  int seeds = 1;  ///< draws of work-group times at nominal values, from 1 on
};

/// A number of the ladder.
struct LadderValue {
  double nominal = 0.0;         ///< mean over the seeds
  std::vector<double> by_draw;  ///< empty without draws
  double judged() const;        ///< the median over draws; without draws the nominal one
};

/// Whether its results are held to the published figures.
enum class LadderRole {
  predicted,   ///< nothing in it was set from what runs together: judged
  calibrated,  ///< something was: printed beside, never judged
};

class LadderPart {
 public:
  /// \p scenarios must outlive it.
  LadderPart(const std::vector<Scenario>& scenarios, const DrawnExperiment& make, LadderSize size,
             LadderRole role);

  /// Its address must not change from here on.
  void plan(SimulationJobs& jobs) { cases_.plan(jobs); }

  /// Complete when the jobs are done.
  StudyReport sections(const PublishedFigures& published) const;
  /// A line for each ladder, scenario and strategy, without the header.
  std::string rows_as_csv() const;
  static std::string_view row_columns();

  /// Mean of shares, in percent.
  LadderValue share(const StudyStrategy& strategy) const;
  int draws() const { return size_.draws; }
  const LadderCases& cases() const { return cases_; }  ///< the first one at nominal values
  std::string conditions() const;                      ///< under which it runs: a sentence

 private:
  using OfCase = std::function<double(std::size_t number)>;
  LadderValue value(const OfCase& of_case) const;
  double share(std::size_t number, const StudyStrategy& strategy) const;  ///< mean, in percent

  std::string id(std::string_view of) const;  ///< with "calibrated." before it where that is so
  std::string heading(std::string_view of) const;
  StudyLine line(const PublishedFigures& published, std::string_view of, std::string_view label,
                 const LadderValue& value) const;

  StudySection shares(const PublishedFigures& published) const;
  StudySection splits(const PublishedFigures& published) const;
  StudySection order(const PublishedFigures& published) const;
  StudySection speedups(const PublishedFigures& published) const;
  StudySection agreement(const PublishedFigures& published) const;
  StudyLine step(const PublishedFigures& published, std::string_view of, std::string_view lower,
                 std::string_view upper) const;
  StudyLine policies(const PublishedFigures& published) const;

  LadderSize size_;
  LadderRole role_;
  LadderCases cases_;  ///< the seeds first, then the draws
};

}}  // namespace c3::studies
