#include "gpu/dispatcher.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "gpu/waves.hpp"

namespace c3 { inline namespace gpu {

Dispatcher::Dispatcher(Simulation& simulation, const GpuSpec& spec, std::uint64_t seed, ResourceId busy_cus,
                       std::shared_ptr<KnownPlacements> placements)
    : simulation_(simulation),
      units_(spec.compute),
      known_(std::move(placements)),
      shares_(spec.compute.xcds, spec.compute.cus_per_xcd),
      rotation_(spec),
      wave_ends_(simulation),
      policy_(spec.dispatch.policy),
      random_(seed, /*stream=*/0x6469737061746368),  // "dispatch"
      busy_cus_(busy_cus),
      xcds_(spec.compute.xcds),
      dirty_(static_cast<std::size_t>(spec.compute.xcds), false),
      last_turn_(static_cast<std::size_t>(spec.compute.xcds)) {}

void Dispatcher::submit(const Launch& launch) {
  write_down_alone();
  Turn turn{-launch.priority, simulation_.now().value, static_cast<double>(launch.order), submitted_};
  if (own_queues_) {
    turn.date = 0.0;
    turn.rank = static_cast<double>(launch.work_groups);
  } else if (policy_ == DispatchPolicy::random_order) {
    turn.rank = random_.uniform(launch.draw);
  }
  rotation_.begin(*launch.client, launch.work_groups);
  Waiting waiting{launch, turn, {}, launch.work_groups};
  ++submitted_;
  for (int xcd = 0; xcd < xcds_; ++xcd) {
    waiting.left.push_back(work_groups_of_xcd(launch.work_groups, xcds_, xcd));
    if (waiting.left.back() > 0) dirty_[static_cast<std::size_t>(xcd)] = true;
  }
  queue(std::move(waiting));
  for (const Waiting& other : waiting_) {
    if (other.launch.client != launch.client) other.launch.client->on_newcomer();
  }
}

void Dispatcher::queue(Waiting waiting) {
  const auto position = std::ranges::upper_bound(waiting_, waiting.turn, std::less{}, &Waiting::turn);
  waiting_.insert(position, std::move(waiting));
  request_pass();
}

std::vector<Dispatcher::Waiting>::iterator Dispatcher::waiting_of(const DispatchClient& client) {
  return std::ranges::find(waiting_, &client, [](const Waiting& waiting) { return waiting.launch.client; });
}

bool Dispatcher::others_wait(const DispatchClient& client) const {
  return std::ranges::any_of(waiting_, [&](const Waiting& waiting) {
    return waiting.launch.client != &client && waiting.total_left > 0;
  });
}

bool Dispatcher::others_wait_before(const DispatchClient& client) const {
  for (const Waiting& waiting : waiting_) {
    if (waiting.launch.client == &client) return false;
    if (waiting.total_left > 0) return true;
  }
  return false;
}

void Dispatcher::withdraw(const DispatchClient& client) {
  const auto found = waiting_of(client);
  if (found == waiting_.end()) return;
  const std::int64_t left = found->total_left;
  waiting_.erase(found);
  end(client, left);
}

void Dispatcher::release(const DispatchClient& client, int xcd, int cu, const WorkGroupNeeds& needs,
                         ActivityId by, int groups) {
  write_down_alone();
  units_.release(xcd, cu, needs, by, groups);
  dirty_[static_cast<std::size_t>(xcd)] = true;
  end(client, groups);
  request_pass();
}

bool Dispatcher::release_alone(const LoneClient& client, ActivityId by) {
  if (!alone_ || alone_->client != &client) return false;
  if (by != kNoActivity) {
    for (const GridPlacement::Slot& slot : alone_->placement->slots)
      units_.note_end(slot.xcd, slot.cu, by);
  }
  alone_.reset();
  request_pass();
  return true;
}

// The grid that is left may go to CUs of every XCD that it waited beside.
void Dispatcher::end(const DispatchClient& client, std::int64_t work_groups) {
  if (!rotation_.end(client, work_groups)) return;
  dirty_.assign(dirty_.size(), true);
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
  if (place_alone()) dirty_.assign(dirty_.size(), false);
  serve_dirty();
  shares_.settle();
  const int alone =
      alone_ ? static_cast<int>(alone_->placement->slots.size()) - alone_->placement->beside_copies : 0;
  simulation_.fluid().report_use(busy_cus_, units_.busy() + alone);
}

void Dispatcher::serve_dirty() {
  for (int xcd = 0; xcd < xcds_; ++xcd) {
    if (!dirty_[static_cast<std::size_t>(xcd)]) continue;
    dirty_[static_cast<std::size_t>(xcd)] = false;
    serve(xcd);
  }
  std::erase_if(waiting_, [](const Waiting& waiting) { return waiting.total_left == 0; });
}

void Dispatcher::release_in_turn(const DispatchClient& client, std::span<const GridPlacement::Slot> slots,
                                 const WorkGroupNeeds& needs, ActivityId by) {
  if (waiting_.empty()) {
    for (const GridPlacement::Slot& slot : slots)
      release(client, slot.xcd, slot.cu, needs, by, slot.groups);
    return;
  }
  bool goes_on = true;
  for (int round = 0; goes_on; ++round) {
    goes_on = false;
    for (const GridPlacement::Slot& slot : slots) {
      if (slot.groups <= round) continue;
      goes_on = true;
      const bool is_wanted = waits_for(slot.xcd);
      release(client, slot.xcd, slot.cu, needs, by);
      if (is_wanted) serve_dirty();
    }
  }
}

bool Dispatcher::waits_for(int xcd) const {
  return std::ranges::any_of(
      waiting_, [xcd](const Waiting& waiting) { return waiting.left[static_cast<std::size_t>(xcd)] > 0; });
}

void Dispatcher::release_wave(const DispatchClient& client, std::span<const GridPlacement::Slot> slots,
                              const WorkGroupNeeds& needs, ActivityId by, std::span<const std::int64_t> left) {
  const auto found = waiting_of(client);
  if (found == waiting_.end()) throw std::logic_error("Dispatcher::release_wave: the grid does not wait");
  Waiting again = std::move(*found);
  waiting_.erase(found);
  release_in_turn(client, slots, needs, by);
  again.left.assign(left.begin(), left.end());
  again.total_left = std::accumulate(left.begin(), left.end(), std::int64_t{0});
  dirty_.assign(dirty_.size(), true);
  queue(std::move(again));
}

int Dispatcher::copying(CuRange range) const {
  return units_.copying(range) - (alone_ ? alone_->placement->beside_copies : 0);
}

bool Dispatcher::place_alone() {
  if (waiting_.size() != 1 || units_.computes() || alone_) return false;
  Waiting& waiting = waiting_.front();
  const Launch& launch = waiting.launch;
  if (launch.lone == nullptr || !launch.needs.computes || waiting.total_left != launch.work_groups)
    return false;
  if (rotation_.is_on() || policy_ == DispatchPolicy::round_robin) return false;
  std::shared_ptr<const KnownPlacements::Placement> found =
      known_->of(units_, xcds_, launch.needs, launch.range, launch.work_groups);
  const GridPlacement& placement = *found;
  if (placement.slots.empty()) return false;
  alone_ = {launch.lone, launch.needs, std::move(found)};
  for (std::size_t xcd = 0; xcd < waiting.left.size(); ++xcd) {
    waiting.left[xcd] -= placement.in_xcd[xcd];
    waiting.total_left -= placement.in_xcd[xcd];
  }
  launch.lone->on_placed_alone(placement);
  return true;
}

void Dispatcher::write_down_alone() {
  if (!alone_) return;
  for (const GridPlacement::Slot& slot : alone_->placement->slots)
    units_.put(slot.xcd, slot.cu, alone_->needs, slot.groups);
  alone_->client->on_company();
  alone_.reset();
}

void Dispatcher::serve(int xcd) {
  placed_.resize(std::max(placed_.size(), waiting_.size()));
  for (auto& cus : placed_)
    cus.clear();
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
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    std::int64_t& left = waiting_[i].left[static_cast<std::size_t>(xcd)];
    if (left == 0) continue;
    if (rotation_.is_strict()) {
      while (place_one(waiting_[i], xcd)) {
      }
      continue;
    }
    units_.place_all(xcd, waiting_[i].launch.needs, waiting_[i].launch.range, left, placed_[i]);
    rotation_.pass(*waiting_[i].launch.client, xcd, std::ssize(placed_[i]));
    left -= std::ssize(placed_[i]);
    waiting_[i].total_left -= std::ssize(placed_[i]);
  }
}

// One work group of each queue in turn, among queues of the highest priority that still finds room. The turn
// outlives the pass: slots that come free one at a time go round too.
void Dispatcher::serve_in_turn(int xcd) {
  for (std::size_t begin = 0; begin < waiting_.size();) {
    std::size_t end = begin;
    while (end < waiting_.size() && waiting_[end].turn.urgency == waiting_[begin].turn.urgency)
      ++end;
    const std::size_t first = after_last_turn(xcd, begin, end) - begin;
    bool any = true;
    while (any) {
      any = false;
      for (std::size_t i = 0; i < end - begin; ++i) {
        Waiting& waiting = waiting_[begin + (first + i) % (end - begin)];
        if (!place_one(waiting, xcd)) continue;
        last_turn_[static_cast<std::size_t>(xcd)] = waiting.turn;
        any = true;
      }
    }
    begin = end;
  }
}

std::size_t Dispatcher::after_last_turn(int xcd, std::size_t begin, std::size_t end) const {
  std::size_t next = begin;
  while (next < end && waiting_[next].turn <= last_turn_[static_cast<std::size_t>(xcd)])
    ++next;
  return next;
}

bool Dispatcher::place_one(Waiting& waiting, int xcd) {
  std::int64_t& left = waiting.left[static_cast<std::size_t>(xcd)];
  if (left == 0) return false;
  const Launch& launch = waiting.launch;
  int cu = -1;
  if (rotation_.is_strict()) {
    cu = rotation_.place(units_, *launch.client, xcd, launch.needs, launch.range);
  } else {
    cu = units_.place(xcd, launch.needs, launch.range);
    if (cu >= 0) rotation_.pass(*launch.client, xcd, 1);
  }
  if (cu < 0) return false;
  --left;
  --waiting.total_left;
  placed_[static_cast<std::size_t>(&waiting - waiting_.data())].push_back(cu);
  return true;
}

}}  // namespace c3::gpu
