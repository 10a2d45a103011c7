#include "workloads/analysis/average_breakdown.hpp"

#include <algorithm>

namespace c3 { inline namespace workloads {
namespace {

void add(std::vector<ClassTime>& sums, const ClassTime& its, double ranks) {
  auto found = std::ranges::find(sums, its.name, &ClassTime::name);
  if (found == sums.end()) found = sums.insert(found, {.name = its.name, .time = {}});
  found->time += ranks * its.time;
  found->count += ranks * its.count;
}

void add(std::vector<ExposedTime>& sums, const ExposedTime& its, double ranks) {
  auto found = std::ranges::find(sums, its.kind, &ExposedTime::kind);
  if (found == sums.end()) found = sums.insert(found, {.kind = its.kind, .time = {}});
  found->time += ranks * its.time;
  found->waiting += ranks * its.waiting;
}

void divide(StepBreakdown& sum, double ranks) {
  for (Seconds* const time : {&sum.kernels, &sum.communication, &sum.exposed, &sum.idle, &sum.bubble})
    *time = *time / ranks;
  for (ClassTime& its : sum.classes) {
    its.time = its.time / ranks;
    its.count /= ranks;
  }
  for (ExposedTime& its : sum.exposed_by) {
    its.time = its.time / ranks;
    its.waiting = its.waiting / ranks;
  }
}

}  // namespace

StepBreakdown average_breakdown(const std::vector<SimulatedClass>& classes) {
  StepBreakdown mean;
  double ranks = 0.0;
  for (const SimulatedClass& its : classes) {
    const double alike = its.multiplicity();
    ranks += alike;
    mean.kernels += alike * its.times.kernels;
    mean.communication += alike * its.times.communication;
    mean.exposed += alike * its.times.exposed;
    mean.idle += alike * its.times.idle;
    mean.bubble += alike * its.times.bubble;
    for (const ClassTime& of_class : its.times.classes)
      add(mean.classes, of_class, alike);
    for (const ExposedTime& of_kind : its.times.exposed_by)
      add(mean.exposed_by, of_kind, alike);
  }
  divide(mean, ranks);
  return mean;
}

}}  // namespace c3::workloads
