#include "gpu/dispatcher.hpp"

#include <algorithm>
#include <tuple>

namespace c3 {

bool Dispatcher::Waiting::before(const Waiting& other) const {
  return std::tuple(-launch.priority, date, rank, sequence) <
         std::tuple(-other.launch.priority, other.date, other.rank, other.sequence);
}

Dispatcher::Dispatcher(Simulation& simulation, const GpuSpec& spec, std::uint64_t seed, ResourceId busy_cus)
    : simulation_(simulation),
      units_(spec.compute),
      policy_(spec.dispatch.policy),
      random_(seed, /*stream=*/0x6469737061746368),  // "dispatch"
      busy_cus_(busy_cus),
      xcds_(spec.compute.xcds),
      dirty_(static_cast<std::size_t>(spec.compute.xcds), false) {}

void Dispatcher::submit(const Launch& launch) {
  Waiting waiting{launch, simulation_.now().value, static_cast<double>(launch.order), submitted_, {}, launch.work_groups};
  if (own_queues_) {
    waiting.date = 0.0;
    waiting.rank = static_cast<double>(launch.work_groups);
  } else if (policy_ == DispatchPolicy::random_order) {
    waiting.rank = random_.uniform(submitted_);
  }
  ++submitted_;
  for (int xcd = 0; xcd < xcds_; ++xcd) {
    const std::int64_t share = launch.work_groups / xcds_ + (xcd < launch.work_groups % xcds_ ? 1 : 0);
    waiting.left.push_back(share);
    if (share > 0) dirty_[static_cast<std::size_t>(xcd)] = true;
  }
  const auto position = std::ranges::upper_bound(
      waiting_, waiting, [](const Waiting& a, const Waiting& b) { return a.before(b); });
  waiting_.insert(position, std::move(waiting));
  request_pass();
}

void Dispatcher::release(int xcd, int cu, const WorkGroupNeeds& needs, ActivityId by) {
  units_.release(xcd, cu, needs, by);
  dirty_[static_cast<std::size_t>(xcd)] = true;
  request_pass();
}

// One pass at the end of the instant: everything submitted or released at one date is weighed together.
void Dispatcher::request_pass() {
  if (pass_requested_) return;
  pass_requested_ = true;
  simulation_.fluid().set_timer(simulation_.now(), *this);
}

void Dispatcher::on_complete(std::uint64_t) {
  pass_requested_ = false;
  for (int xcd = 0; xcd < xcds_; ++xcd) {
    if (!dirty_[static_cast<std::size_t>(xcd)]) continue;
    dirty_[static_cast<std::size_t>(xcd)] = false;
    serve(xcd);
  }
  std::erase_if(waiting_, [](const Waiting& waiting) { return waiting.total_left == 0; });
  simulation_.fluid().report_use(busy_cus_, units_.busy());
}

void Dispatcher::serve(int xcd) {
  placed_.resize(std::max(placed_.size(), waiting_.size()));
  for (auto& cus : placed_) cus.clear();
  if (policy_ == DispatchPolicy::round_robin) {
    serve_in_turn(xcd);
  } else {
    serve_in_order(xcd);
  }
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (!placed_[i].empty()) waiting_[i].launch.client->on_placed(xcd, placed_[i]);
  }
}

void Dispatcher::serve_in_order(int xcd) {
  for (Waiting& waiting : waiting_) {
    while (place_one(waiting, xcd)) {
    }
  }
}

// One work group of each queue in turn, among queues of the highest priority that still finds room.
void Dispatcher::serve_in_turn(int xcd) {
  for (std::size_t begin = 0; begin < waiting_.size();) {
    std::size_t end = begin;
    while (end < waiting_.size() && waiting_[end].launch.priority == waiting_[begin].launch.priority) ++end;
    bool any = true;
    while (any) {
      any = false;
      for (std::size_t i = begin; i < end; ++i) any |= place_one(waiting_[i], xcd);
    }
    begin = end;
  }
}

bool Dispatcher::place_one(Waiting& waiting, int xcd) {
  std::int64_t& left = waiting.left[static_cast<std::size_t>(xcd)];
  if (left == 0) return false;
  const int cu = units_.place(xcd, waiting.launch.needs, waiting.launch.range);
  if (cu < 0) return false;
  --left;
  --waiting.total_left;
  placed_[static_cast<std::size_t>(&waiting - waiting_.data())].push_back(cu);
  return true;
}

}  // namespace c3
