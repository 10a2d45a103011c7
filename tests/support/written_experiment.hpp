#pragma once
/// An experiment whose streams a test writes, and changes, by hand.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "workloads/experiment.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3::test {

/// Becomes an Experiment where one is asked for. Events are numbered in the order of their records.
struct WrittenExperiment {
  std::string name;
  ClusterSpec cluster;
  std::vector<WrittenStream> streams;
  std::vector<Strategy> strategies;
  Measure measure;
  std::optional<HostProgram> host = std::nullopt;

  operator Experiment() const {  // NOLINT(google-explicit-constructor): that is its purpose
    Experiment experiment;
    experiment.name = name;
    experiment.cluster = cluster;
    experiment.program = program_of(streams, cluster.ranks());
    experiment.strategies = strategies;
    experiment.measure = measure;
    for (Script& script : experiment.program.scripts)
      script.host = host;
    return experiment;
  }
};

/// The shape of a kernel of one class; nullptr for anything else.
template <OperatorShape Shape>
const Shape* shape_of(const WrittenOperation& operation) {
  const auto* op = std::get_if<Operator>(&operation.work);
  return op == nullptr ? nullptr : op->as<Shape>();
}

/// The streams of rank 0 as they could have been written.
inline std::vector<WrittenStream> written(const Program& program) {
  const Script& script = program.script_of(0);
  const auto event = [&](EventId number) { return program.names[script.events[number]]; };
  std::vector<WrittenStream> streams;
  for (std::size_t s = 0; s < program.streams.size(); ++s) {
    streams.push_back({program.streams[s], {}});
    for (const Operation& operation : script.streams[s]) {
      WrittenOperation one{program.name_of(operation), CollectiveCall{}, {}, program.range_of(operation)};
      if (const Operator* op = kernel_of(operation)) one.work = *op;
      if (const CollectiveCall* call = program.call_of(operation)) one.work = *call;
      if (const auto* record = std::get_if<RecordEvent>(&operation.work))
        one.work = WrittenRecord{event(record->event)};
      if (const auto* wait = std::get_if<WaitEvent>(&operation.work))
        one.work = WrittenWait{event(wait->event)};
      streams.back().operations.push_back(std::move(one));
    }
  }
  return streams;
}

}  // namespace c3::test
