#include "workloads/analysis/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "engine/interrupt.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// "bucket 3 all_reduce" is "bucket  all_reduce".
std::string without_digits(const std::string& name) {
  std::string text;
  for (const char letter : name)
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0) text += letter;
  return text;
}

/// A collective's without the size of its group.
std::string name_and_group(const ProfiledOperator& its) {
  return without_digits(its.name) + '|' + its.group.substr(0, its.group.find(" of "));
}

/// Of the hardware on which \p its time depends, in units that cancel.
double rate_of(const ProfiledOperator& its, const ClusterSpec& cluster) {
  if (its.rate == "hbm") return cluster.gpu.hbm.peak.value;
  if (its.rate == "links") return raw_egress(cluster.node).value;
  if (its.rate == "fabric")
    return cluster.fabric->nic.raw.value * cluster.fabric->nics_per_node / cluster.node.gpus;
  for (const auto& [name, dtype] : enum_names(DType{}))
    if (its.rate == name) return product_rate(cluster.gpu, dtype).peak.value;
  throw std::logic_error("rate_of: no rate " + its.rate);
}

const Script& only_script(const Experiment& step) {
  if (step.program.scripts.size() != 1)
    throw std::invalid_argument(fmt::format(
        "'{}' has ranks that do different things; a projection requires that all do the same", step.name));
  return step.program.scripts.front();
}

/// Which operators of a name have come before in the same layer and pass.
class Turns {
 public:
  explicit Turns(const Experiment& step) : program_(step.program), script_(step.program.scripts.front()) {}

  std::size_t next(const ProfiledOperator& its) {
    const Operation& operation = script_.streams[its.place.stream][its.place.operation];
    return seen_[fmt::format("{}|{}", program_.range_of(operation), name_and_group(its))]++;
  }

 private:
  const Program& program_;
  const Script& script_;
  std::map<std::string, std::size_t> seen_;
};

ProjectedStep scheduled(const Experiment& step, std::vector<TimedOperatorOfStep> operators) {
  const Script& script = step.program.scripts.front();
  std::vector<std::vector<Seconds>> lasts;
  for (const auto& stream : script.streams)
    lasts.emplace_back(stream.size());
  for (const TimedOperatorOfStep& its : operators)
    lasts[its.what.place.stream][its.what.place.operation] = its.time;
  ProjectedStep projected{.operators = std::move(operators), .schedule = {}};
  projected.schedule = schedule(step.program, script, lasts);
  return projected;
}

}  // namespace

ProjectedStep alone(const Experiment& step) {
  const Script& script = only_script(step);
  IsolatedTimes times(step.program, step.cluster);
  std::vector<TimedOperatorOfStep> operators;
  for (ProfiledOperator& its : profile(step.program, script, step.cluster)) {
    checkpoint();
    const Seconds time = times.of(script.streams[its.place.stream][its.place.operation]);
    operators.push_back({std::move(its), time});
  }
  ProjectedStep projected = scheduled(step, std::move(operators));
  projected.profiled = times.timed();
  return projected;
}

Baseline::Baseline(const Experiment& step) {
  const ProjectedStep profiled = alone(step);
  profiled_ = profiled.profiled;
  Turns turns(step);
  for (const TimedOperatorOfStep& its : profiled.operators) {
    const Entry entry{its.what.work, its.time, rate_of(its.what, step.cluster)};
    if (its.what.is_collective()) {
      collectives_[name_and_group(its.what)].push_back(entry);
      continue;
    }
    std::vector<Entry>& known = kernels_[its.what.range + '|' + name_and_group(its.what)];
    if (turns.next(its.what) == known.size()) known.push_back(entry);
  }
}

const Baseline::Entry& Baseline::entry_of(const ProfiledOperator& its, std::size_t turn) const {
  if (its.is_collective()) {
    if (const auto found = collectives_.find(name_and_group(its)); found != collectives_.end())
      return *std::ranges::min_element(
          found->second, {}, [&](const Entry& entry) { return std::abs(std::log(its.work / entry.work)); });
  } else {
    const std::string name = '|' + name_and_group(its);
    if (const auto found = kernels_.find(its.range + name); found != kernels_.end())
      return found->second[std::min(turn, found->second.size() - 1)];
    for (const auto& [key, entries] : kernels_)  // as copies into buckets, wherever these become full
      if (key.ends_with(name)) return entries.front();
  }
  throw std::invalid_argument(
      fmt::format("the baseline has no operator '{}' ({}) as in '{}'; profile a step that has it", its.name,
                  its.group, its.range));
}

ProjectedStep Baseline::project(const Experiment& step) const {
  Turns turns(step);
  std::vector<TimedOperatorOfStep> operators;
  for (ProfiledOperator& its : profile(step.program, only_script(step), step.cluster)) {
    const Entry& from = entry_of(its, turns.next(its));
    const double grown = from.work > 0.0 ? its.work / from.work : 1.0;
    const Seconds time = from.time * (grown * from.rate / rate_of(its, step.cluster));
    operators.push_back({std::move(its), time});
  }
  return scheduled(step, std::move(operators));
}

}}  // namespace c3::workloads
