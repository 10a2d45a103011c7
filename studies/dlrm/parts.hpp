#pragma once
/// The parts of `reproduce dlrm`.

#include <string>
#include <vector>

#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "workloads/experiment.hpp"
#include "workloads/recommendation/job.hpp"

namespace c3 { inline namespace studies {

/// A file of this study.
std::string_view dlrm_name();

/// Their curve of moved bytes at given sizes.
StudySection curve_section(const PublishedFigures& published);
/// Our kernels of embedding bags beside their formula.
StudySection lookup_section(const PublishedFigures& published);
/// All-to-alls of four V100.
StudySection exchange_section(const PublishedFigures& published);

/// Steps of four ranks with unlike loads, beside what a prediction without waits between ranks has.
class RanksPart {
 public:
  RanksPart();
  void plan(SimulationJobs& jobs);
  StudySection section(const PublishedFigures& published) const;

 private:
  struct Task {
    Experiment step;
    double time = 0,
           alone = 0;  ///< s: simulated; longest rank's kernels or its collectives, without waits or hosts
    double cpu = 0;    ///< s of one simulation
  };
  std::vector<Task> tasks_;
};

/// Tables of generated tasks: how well sharders and the search choose, by our own simulation.
class ChoicePart {
 public:
  ChoicePart();
  void plan(SimulationJobs& jobs);
  std::vector<StudySection> sections(const PublishedFigures& published) const;

 private:
  struct Task {
    RecommendationJob job;
    std::size_t cluster = 0;
    int placements = 0;          ///< to simulate
    double predicted_first = 0;  ///< s: the sharder of six that the bound takes
    double fastest_sharder = 0;  ///< the fastest of six
    double search = 0;           ///< the search's first placement
    double best = 0;             ///< of all placements that were simulated
    double cpu = 0;              ///< s of one simulation, on average
  };
  StudySection four_ranks(const PublishedFigures& published) const;
  StudySection many_ranks(const PublishedFigures& published) const;

  std::vector<ClusterSpec> clusters_;  ///< of four ranks, then of ever more
  std::vector<Task> tasks_;            ///< those of four ranks, then one of each other cluster
};

/// Lookups beside an exchange of sums, each alone and both together, with channels and with copy engines.
class BesidePart {
 public:
  BesidePart();
  void plan(SimulationJobs& jobs);
  StudySection section(const PublishedFigures& published) const;

 private:
  struct Case {
    std::string system, strategy;
    Experiment pair;
    double lookups_alone = 0, lookups = 0, exchange_alone = 0, exchange = 0;  ///< s
  };
  std::vector<Case> cases_;
};

}}  // namespace c3::studies
