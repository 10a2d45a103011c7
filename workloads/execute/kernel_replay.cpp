#include "workloads/execute/kernel_replay.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace c3 { inline namespace workloads {
namespace {

constexpr std::uint64_t kTimed = std::uint64_t{1} << 39, kCollective = std::uint64_t{1} << 40,
                        kJoined = std::uint64_t{1} << 41;

/// Whether what was \p beside a kernel has done nothing but end, where it has become \p end.
bool only_ends(const std::vector<std::uint64_t>& beside, const CompanyState& end) {
  if (end.size() != beside.size() + 1) return false;
  std::uint64_t ended = 0;
  for (std::size_t i = 0; i < beside.size(); ++i) {
    if (end[i] == beside[i]) continue;
    if (end[i] != 0) return false;
    ++ended;
  }
  return end.back() == ended;
}

}  // namespace

void Company::begin_kernel(std::size_t stream, std::size_t number) {
  running_[stream] = {.what = std::uint64_t{number} + 1, .run = nullptr};
  ++changes_;
}

void Company::begin_timed(std::size_t stream, NameId name) {
  running_[stream] = {.what = kTimed | name, .run = nullptr};
  ++changes_;
}

void Company::begin_collective(std::size_t stream, const CollectiveRun& run) {
  const auto kind = static_cast<std::uint64_t>(run.plan().call.kind);
  const auto backend = std::ranges::find(kBackends, run.plan().backend) - kBackends.begin();
  running_[stream] = {.what = kCollective | kind << 8U | static_cast<std::uint64_t>(backend), .run = &run};
  ++changes_;
}

void Company::end(std::size_t stream) {
  running_[stream] = {};
  ++changes_;
}

std::vector<std::uint64_t> Company::beside(std::size_t stream) const {
  std::vector<std::uint64_t> others(running_.size());
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const Running& its = running_[i];
    const bool has_joined = its.run != nullptr && its.run->have_all_joined();
    others[i] = i == stream ? 0 : its.what | (has_joined ? kJoined : 0);
  }
  return others;
}

KernelReplay::KernelReplay(double error, std::size_t streams) : streams_(streams), samples_(error) {}

Company& KernelReplay::company(int rank) { return companies_.try_emplace(rank, streams_).first->second; }

std::size_t KernelReplay::number_of(NameId name, const Operator& what) {
  return numbers_.of(name, what, [&] { return samples_.number_of(what); });
}

KernelReplay::Place& KernelReplay::place(NameId name, KernelSamples::Situation situation) {
  const auto [found, is_new] = places_.try_emplace({name, std::move(situation)});
  if (is_new) {
    KernelSamples::Begun& begun = samples_.begun(found->first.second);
    found->second = {.begun = &begun, .last_end = begun.last_end};
  }
  return found->second;
}

KernelReplay::Summary KernelReplay::summary() const {
  Summary summary = sum_;
  const Seconds of_all = samples_.replayed_time();
  if (of_all.value > 0.0) summary.expected_error = (sum_.replayed_time / of_all) * samples_.expected_error();
  return summary;
}

SampledKernel::SampledKernel(KernelReplay& replay, int rank, std::size_t stream, const Operation& operation,
                             std::size_t number)
    : replay_(replay),
      company_(replay.company(rank)),
      stream_(stream),
      number_(number),
      name_(operation.name),
      draw_(operation.draw + static_cast<std::uint64_t>(rank)) {}

std::optional<Seconds> SampledKernel::known(double speed) {
  speed_ = speed;
  beside_ = company_.beside(stream_);
  changes_ = company_.changes();
  place_ = &replay_.place(name_, {.kernel = number_,
                                  .stream = stream_,
                                  .clock = std::lround(std::log(speed) / KernelReplay::kClockStep),
                                  .beside = beside_});
  expected_ = place_->last_end;
  const KernelSamples& samples = replay_.samples_;
  is_replayed_ = only_ends(beside_, expected_) && samples.is_known(*place_->begun, expected_);
  if (!is_replayed_) return std::nullopt;
  return samples.draw(*place_->begun, expected_, draw_) / speed_;
}

void SampledKernel::ended(Seconds time) {
  KernelReplay::Summary& sum = replay_.sum_;
  CompanyState end = company_.beside(stream_);
  end.push_back(company_.changes() - changes_);
  sum.time += time;
  if (is_replayed_) {
    replay_.samples_.add_replayed(*place_->begun, end, expected_, speed_ * time);
    ++sum.replayed;
    sum.replayed_time += time;
    if (end != expected_) {
      ++sum.surprised;
      sum.surprised_time += time;
    }
  } else {
    ++sum.simulated;
    replay_.samples_.add_simulated(*place_->begun, end, speed_ * time);
  }
  place_->last_end = std::move(end);
}

}}  // namespace c3::workloads
