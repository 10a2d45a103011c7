#pragma once
/// A simulation whose flows and timers leave their dates behind, for values worked out by hand.

#include <functional>
#include <map>
#include <vector>

#include "engine/simulation.hpp"

namespace c3 {

/// Tags are names: date(tag) is when the flow or timer of that tag ended.
class FlowClock : public Completion {
 public:
  explicit FlowClock(Observer* observer = nullptr) : simulation(observer) {}
  virtual ~FlowClock() = default;

  ResourceId resource(double capacity) { return simulation.fluid().add_resource({}, capacity); }
  FlowId start(std::uint64_t tag, const std::vector<Demand>& demands, FlowSpec spec = {}) {
    spec.demands = demands;
    return simulation.fluid().start(spec, this, tag);
  }
  /// Runs \p action at \p date.
  void at(Seconds date, std::function<void()> action) {
    const auto tag = kFirstAction + actions_.size();
    actions_.push_back(std::move(action));
    simulation.fluid().set_timer(date, *this, tag);
  }
  /// Runs \p action when the flow \p tag ends.
  void after(std::uint64_t tag, std::function<void()> action) { followers_[tag] = std::move(action); }

  void on_complete(std::uint64_t tag) override {
    if (tag >= kFirstAction) return actions_[tag - kFirstAction]();
    dates_[tag] = simulation.now().value;
    if (const auto follower = followers_.find(tag); follower != followers_.end()) follower->second();
  }

  double date(std::uint64_t tag) const { return dates_.at(tag); }
  double rate(FlowId flow) {
    simulation.fluid().next_date();  // solves
    return simulation.fluid().rate(flow);
  }

  Simulation simulation;

 private:
  static constexpr std::uint64_t kFirstAction = 1'000'000;
  std::map<std::uint64_t, double> dates_;
  std::map<std::uint64_t, std::function<void()>> followers_;
  std::vector<std::function<void()>> actions_;
};

}  // namespace c3
