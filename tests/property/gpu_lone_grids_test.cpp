// A grid that is alone on a GPU is not written down before another one comes: nobody may see a difference.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tests/support/held_grids.hpp"
#include "tests/support/recording.hpp"

namespace c3::gpu_lone_grids_test {

using namespace literals;
using namespace test;

namespace {

using Log = std::vector<std::string>;

/// A kernel as one flow: holds all slots that it is given for a fixed time from the first on.
class Holder final : public DispatchClient, public LoneClient, public ComputeClient {
 public:
  Holder(Queues& queues, std::string name, Launch launch, Seconds holding, Log& log)
      : queues_(queues), name_(std::move(name)), launch_(launch), holding_(holding), log_(log) {}

  Task submitted(Seconds date, bool may_be_alone) {
    co_await queues_.simulation.sleep(date);
    launch_.client = this;
    if (may_be_alone) launch_.lone = this;
    activity_ = queues_.simulation.begin_activity({.name = name_, .kind = ActivityKind::kernel});
    queues_.dispatcher.submit(launch_);
  }

  void on_placed(int xcd, std::span<const int> cus) override {
    GridPlacement more;
    more.add(xcd, cus);
    for (const GridPlacement::Slot& slot : more.slots) {
      held_.slots.push_back(slot);
      if (launch_.needs.computes)
        queues_.dispatcher.shares().join(xcd, slot.cu, *this, launch_.needs.waves, slot.groups);
    }
    begin();
  }
  void on_placed_alone(const GridPlacement& placement) override {
    alone_ = &placement;
    begin();
  }
  void on_company() override {
    held_ = *std::exchange(alone_, nullptr);
    for (const GridPlacement::Slot& slot : held_.slots)
      queues_.dispatcher.shares().join_alone(slot.xcd, slot.cu, *this, launch_.needs.waves, slot.groups);
    ++written_down;
  }
  double arithmetic_asked(int groups) override { return std::min(1.0, 0.3 * groups); }
  void on_shares_changed(int xcd) override {
    if (has_begun_) tell(fmt::format("has other shares of XCD {}: {}", xcd, shares()));
  }

  int alone = 0, written_down = 0;

 private:
  void begin() {
    if (std::exchange(is_placed_, true)) return;
    queues_.simulation.spawn(name_, hold());
  }

  Task hold() {
    if (alone_ != nullptr) ++alone;
    has_begun_ = true;
    tell(fmt::format("begins on {}: {}, {} CUs copy", slots(), shares(),
                     queues_.dispatcher.copying(launch_.range)));
    co_await queues_.simulation.sleep(holding_);
    tell("ends on " + slots());
    queues_.dispatcher.withdraw(*this);
    queues_.simulation.end_activity(activity_);
    if (queues_.dispatcher.release_alone(*this, activity_)) co_return;
    for (const GridPlacement::Slot& slot : held_.slots) {
      if (launch_.needs.computes) queues_.dispatcher.shares().leave(slot.xcd, slot.cu, *this, slot.groups);
      queues_.dispatcher.release(*this, slot.xcd, slot.cu, launch_.needs, activity_, slot.groups);
    }
  }

  std::string slots() const {
    std::map<std::pair<int, int>, int> groups;
    for (const GridPlacement::Slot& slot : alone_ != nullptr ? alone_->slots : held_.slots)
      groups[{slot.xcd, slot.cu}] += slot.groups;
    return fmt::format("{}", groups);
  }
  std::string shares() const {
    std::map<std::pair<int, int>, double> available;
    if (!launch_.needs.computes) return "none";
    for (const GridPlacement::Slot& slot : alone_ != nullptr ? alone_->slots : held_.slots)
      available[{slot.xcd, slot.cu}] =
          alone_ != nullptr ? 1.0 : queues_.dispatcher.shares().of(*this, slot.xcd, slot.cu).available;
    return fmt::format("{}", available);
  }
  void tell(const std::string& what) {
    log_.push_back(fmt::format("{} {} {}", queues_.simulation.now().value, name_, what));
  }

  Queues& queues_;
  std::string name_;
  Launch launch_;
  Seconds holding_;
  Log& log_;
  ActivityId activity_ = kNoActivity;
  GridPlacement held_;
  const GridPlacement* alone_ = nullptr;
  bool is_placed_ = false, has_begun_ = false;
};

struct Job {
  Launch launch;
  Seconds date, holding;
};

struct Seen {
  Log log;
  int alone = 0, written_down = 0;
};

/// All that can be seen of \p jobs from without.
Seen seen_of(const std::vector<Job>& jobs, bool may_be_alone) {
  Seen seen;
  Recording recording;
  Queues queues(DispatchPolicy::oldest_first, 0, &recording);
  std::deque<Holder> holders;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Holder& holder =
        holders.emplace_back(queues, fmt::format("grid {}", i), jobs[i].launch, jobs[i].holding, seen.log);
    queues.simulation.spawn("submit", holder.submitted(jobs[i].date, may_be_alone));
  }
  queues.simulation.run_without_simgrid();
  for (int xcd = 0; xcd < queues.spec.compute.xcds; ++xcd) {
    for (int cu = 0; cu < queues.spec.compute.cus_per_xcd; ++cu)
      seen.log.push_back(fmt::format("CU {}.{} was held last by {}", xcd, cu,
                                     queues.dispatcher.units().last_released_by(xcd, cu)));
  }
  seen.log.push_back(fmt::format("{:.9g} CU-seconds", recording.total("cus")));
  for (const Holder& holder : holders) {
    seen.alone += holder.alone;
    seen.written_down += holder.written_down;
  }
  return seen;
}

Job random_job() {
  const double lds = *rc::gen::element(0.0, 16.0, 33.0, 64.0);
  Job job;
  job.launch.needs = {.lds = Bytes{lds * kKibi},
                      .registers = {},
                      .waves = *rc::gen::inRange(1, 9),
                      .computes = *rc::gen::inRange(0, 3) > 0};
  const int begin = *rc::gen::inRange(0, 3);
  job.launch.range = {begin, *rc::gen::inRange(begin + 1, 5)};
  job.launch.work_groups = *rc::gen::inRange(1, 40);
  job.launch.priority = *rc::gen::inRange(0, 2);
  job.date = 1.0_us * *rc::gen::inRange(0, 60);
  job.holding = 1.0_us * *rc::gen::inRange(1, 30);
  return job;
}

}  // namespace

TEST_CASE("property: nobody sees whether a grid that is alone was written down") {
  int alone = 0, written_down = 0;
  CHECK(rc::check([&] {
    std::vector<Job> jobs(static_cast<std::size_t>(*rc::gen::inRange(1, 7)));
    for (Job& job : jobs)
      job = random_job();
    const Seen seen = seen_of(jobs, true);
    RC_ASSERT(seen.log == seen_of(jobs, false).log);
    alone += seen.alone;
    written_down += seen.written_down;
  }));
  CHECK(alone > 50);
  CHECK(written_down > 20);
}

namespace {

/// A job of \p work_groups that take a whole CU each, from \p date on.
Job whole_cus(std::int64_t work_groups, Seconds date, Seconds holding, bool computes) {
  Job job{.launch = {}, .date = date, .holding = holding};
  job.launch.needs = {.lds = 64.0_KiB, .registers = {}, .waves = 1, .computes = computes};
  job.launch.range = {0, 4};
  job.launch.work_groups = work_groups;
  return job;
}

bool tells(const Log& log, const std::string& what) {
  return std::ranges::any_of(log,
                             [&](const std::string& line) { return line.find(what) != std::string::npos; });
}

}  // namespace

TEST_CASE("who alone computes takes what channels leave, and tells how many CUs only copy") {
  const std::vector<Job> jobs = {whole_cus(8, 0.0_s, 10.0_us, true), whole_cus(2, 20.0_us, 50.0_us, false),
                                 whole_cus(8, 21.0_us, 10.0_us, true)};
  const Seen seen = seen_of(jobs, true);
  CHECK(seen.alone == 2);
  CHECK(seen.log == seen_of(jobs, false).log);
  CHECK(tells(seen.log, "grid 0 begins on {(0, 0): 1, (0, 1): 1, (0, 2): 1, (0, 3): 1, (1, 0): 1"));
  CHECK(tells(seen.log, "grid 2 begins on {(0, 1): 1, (0, 2): 1, (0, 3): 1, (1, 1): 1, (1, 2): 1, (1, 3): 1}"));
  CHECK(tells(seen.log, "(1, 3): 1}, 2 CUs copy"));
}

TEST_CASE("work groups that found no slot while the grid was alone get those that channels give back, once") {
  const std::vector<Job> jobs = {whole_cus(4, 0.0_s, 5.0_us, false), whole_cus(5, 1.0_us, 10.0_us, true)};
  const Seen seen = seen_of(jobs, true);
  CHECK(seen.alone == 1);
  CHECK(seen.written_down == 1);
  CHECK(seen.log == seen_of(jobs, false).log);
  CHECK(tells(seen.log, "grid 1 ends on {(0, 0): 1, (0, 2): 1, (0, 3): 1, (1, 2): 1, (1, 3): 1}"));
}

}  // namespace c3::gpu_lone_grids_test
