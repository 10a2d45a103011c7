#pragma once
/// `c3sim import -o`: a folder with the program of a recorded run, or a benchmark, and an experiment that runs
/// it.

#include <string>
#include <vector>

#include "app/import/replay_check.hpp"
#include "workloads/traces/execution/operator_list.hpp"
#include "workloads/traces/rank_record.hpp"
#include "workloads/traces/replay/recorded_run.hpp"
#include "workloads/traces/replay/replay_model.hpp"

namespace c3 { inline namespace app {

struct ProgramRequest {
  std::string folder;  ///< made where it is not there
  std::string system;  ///< preset of nodes; empty: by the GPU of the trace
  std::string command_line;
};

struct WrittenProgram {
  std::string program, experiment;  ///< paths
  std::string system;
  int nodes = 1;
  RecordedRun run;                        ///< the run that became the program or the list
  ReplayCheck check;                      ///< only for a program
  ReplayShares shares;                    ///< shares in a replay that models all it can, on that system
  std::vector<NotModelled> not_modelled;  ///< what that replay does not model
};

/// Writes `program.h5` and `experiment.toml`, and simulates the experiment once. \throws UsageError when the
/// system of the trace is not known; IoError, OutputConflictError
WrittenProgram write_program(const std::vector<Rank>& ranks, const ProgramRequest& request);

/// Writes `operators.json` and `experiment.toml`, which runs the list. \param ranks Kineto traces, whose GPU
/// the system has. \throws UsageError, also where there are none and no system is asked for; IoError,
/// OutputConflictError, TraceSetError
WrittenProgram write_benchmark(const OperatorList& list, const std::vector<Rank>& ranks,
                               const ProgramRequest& request);

}}  // namespace c3::app
