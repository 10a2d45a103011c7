#include "workloads/execute/kernel_replay.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace c3 { inline namespace workloads {
namespace {

constexpr std::uint64_t kCollective = std::uint64_t{1} << 40, kJoined = std::uint64_t{1} << 41;

}  // namespace

void Company::begin_kernel(std::size_t stream, NameId name) {
  running_[stream] = {.what = std::uint64_t{name} + 1, .run = nullptr};
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
  std::vector<std::uint64_t> others;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const Running& its = running_[i];
    const bool has_joined = its.run != nullptr && its.run->have_all_joined();
    others.push_back(i == stream ? 0 : its.what | (has_joined ? kJoined : 0));
  }
  return others;
}

KernelReplay::KernelReplay(std::size_t streams, double error)
    : streams_(streams), samples_(error, kConfidence) {}

Company& KernelReplay::company(int rank) { return companies_.try_emplace(rank, streams_).first->second; }

const KernelReplay::Named& KernelReplay::named(const Operation& operation, const Operator& what) {
  std::deque<Named>& of_name = names_[operation.name];
  const auto found = std::ranges::find(of_name, what, &Named::what);
  if (found != of_name.end()) return *found;
  auto same = std::ranges::find(operators_, what);
  if (same == operators_.end()) same = operators_.insert(same, what);
  const auto number = static_cast<std::size_t>(same - operators_.begin());
  return of_name.emplace_back(Named{what, kernels_++, number});
}

KernelReplay::Place& KernelReplay::place(const Named& kernel, std::size_t stream, double speed,
                                         std::vector<std::uint64_t> beside) {
  Situation situation{.kernel = kernel.number,
                      .stream = stream,
                      .clock = std::lround(std::log(speed) / kClockStep),
                      .beside = std::move(beside)};
  const auto [found, is_new] = places_.try_emplace(situation);
  if (is_new) {
    situation.kernel = kernel.operator_number;
    auto its_class = classes_.find(situation);
    if (its_class == classes_.end())
      its_class = classes_.emplace(std::move(situation), samples_.add_class()).first;
    found->second.samples = its_class->second;
  }
  return found->second;
}

KernelReplay::Summary KernelReplay::summary() const {
  return {.simulated = simulated_,
          .replayed = samples_.replayed(),
          .disturbed = disturbed_,
          .time = time_,
          .replayed_time = samples_.replayed_time(),
          .disturbed_time = disturbed_time_,
          .expected_error = samples_.expected_error()};
}

SampledKernel::SampledKernel(KernelReplay& replay, int rank, std::size_t stream, const Operation& operation,
                             const Operator& what)
    : replay_(replay),
      company_(replay.company(rank)),
      stream_(stream),
      kernel_(replay.named(operation, what)),
      draw_(operation.draw + static_cast<std::uint64_t>(rank)) {}

std::optional<Seconds> SampledKernel::known(double speed) {
  beside_ = company_.beside(stream_);
  changes_ = company_.changes();
  place_ = &replay_.place(kernel_, stream_, speed, beside_);
  is_replayed_ = place_->is_calm && replay_.samples_.is_known(place_->samples);
  if (!is_replayed_) return std::nullopt;
  return replay_.samples_.draw(place_->samples, draw_);
}

void SampledKernel::ended(Seconds time) {
  place_->is_calm = company_.changes() == changes_ && company_.beside(stream_) == beside_;
  replay_.time_ += time;
  if (is_replayed_) {
    replay_.samples_.add_replayed(place_->samples, time);
    if (place_->is_calm) return;
    ++replay_.disturbed_;
    replay_.disturbed_time_ += time;
    return;
  }
  ++replay_.simulated_;
  if (place_->is_calm) replay_.samples_.add_simulated(place_->samples, time);
}

}}  // namespace c3::workloads
