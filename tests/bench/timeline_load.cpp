/// Writes the timeline of a run that never was, as large as asked for, and says what that took: for
/// test_timeline_speed.py. Usage: c3_timeline_load FILE ACTIVITIES STEPS_PER_ACTIVITY

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "results/timeline_writer.hpp"

namespace c3 { namespace {

constexpr int kGpus = 8;
constexpr int kResourcesPerGpu = 10;
constexpr int kPartsPerOperation = 14;  // as in a training step
constexpr std::size_t kInFlight = 128;

/// Kernels with their work groups and collectives with their transfers, on two streams of every GPU, with the
/// names of layers; dates and shares in use have as many digits as the solver's.
class Load {
 public:
  explicit Load(Observer& writer) : writer_(writer) {
    for (int layer = 0; layer < 80; ++layer) {
      for (const char* const name : {"attn.qkv", "attn", "attn.out", "mlp.gate_up", "mlp.down", "all_gather"})
        names_.push_back(fmt::format("layer {} {}", layer, name));
    }
    for (int gpu = 0; gpu < kGpus; ++gpu) {
      for (int i = 0; i < kResourcesPerGpu; ++i) {
        const std::string name = i == 0   ? fmt::format("gpu{}.cus", gpu)
                                 : i == 1 ? fmt::format("gpu{}.hbm", gpu)
                                          : fmt::format("link{}-{}", gpu, i);
        writer_.resource_added(resources_++, {.name = name, .unit = i == 0 ? "CU" : "B/s", .gpu = gpu}, 5e12);
      }
    }
  }

  void write(std::uint64_t activities, std::uint64_t steps_per_activity) {
    while (started_ < activities) {
      start_next();
      for (std::uint64_t i = 0; i < steps_per_activity; ++i)
        writer_.utilisation(static_cast<ResourceId>(random_() % resources_), now_, share_(random_) * 5e12);
      while (open_.size() > kInFlight)
        finish_first();
    }
    while (!open_.empty())
      finish_first();
  }

  Seconds now() const { return now_; }

 private:
  void start_next() {
    now_ = now_ + Seconds{gap_(random_)};
    const bool is_part = started_ % (kPartsPerOperation + 1) != 0;
    if (!is_part) {
      previous_ = operation_;
      operation_ = started_ + 1;
      name_ = (name_ + 1) % names_.size();
      gpu_ = static_cast<int>(random_() % kGpus);
    }
    const bool is_collective = name_ % 6 == 5;
    const auto kind = is_collective ? (is_part ? ActivityKind::transfer : ActivityKind::collective)
                                    : (is_part ? ActivityKind::cohort : ActivityKind::kernel);
    writer_.activity_started(++started_,
                             {.name = names_[name_],
                              .kind = kind,
                              .gpu = gpu_,
                              .stream = is_collective ? 1 : 0,
                              .parent = is_part ? operation_ : kNoActivity,
                              .bytes = Bytes{is_collective ? 4194304.0 : 0.0},
                              .flops = Flops{is_collective ? 0.0 : 1.7e9}},
                             now_);
    if (previous_ != kNoActivity)
      writer_.depends(started_, is_part ? operation_ : previous_,
                      is_part ? DependencyKind::launch : DependencyKind::stream_order);
    if (started_ > kInFlight) writer_.depends(started_, started_ - kInFlight, DependencyKind::slot);
    open_.push_back(started_);
  }

  void finish_first() {
    now_ = now_ + Seconds{gap_(random_)};
    writer_.activity_finished(open_.front(), now_);
    open_.pop_front();
  }

  Observer& writer_;
  std::mt19937_64 random_{1};
  std::exponential_distribution<double> gap_{1e7};  // 0.1 us in the mean
  std::uniform_real_distribution<double> share_{0.0, 1.0};
  std::vector<std::string> names_;
  std::deque<ActivityId> open_;
  ResourceId resources_ = 0;
  ActivityId started_ = 0, operation_ = 0, previous_ = 0;
  std::size_t name_ = 0;
  int gpu_ = 0;
  Seconds now_;
};

/// The result that the table and the page need.
StrategyResult result_of(Seconds time) {
  StrategyResult result;
  result.name = "load";
  result.time = result.lower_bound = time;
  result.speedup = result.ideal_speedup = 1.0;
  return result;
}

/// Hears everything and does nothing, so that what the load itself costs is known.
class Deaf : public Observer {
  void resource_added(ResourceId, const ResourceInfo&, double) override {}
  void capacity_changed(ResourceId, Seconds, double) override {}
  void activity_started(ActivityId, const ActivityInfo&, Seconds) override {}
  void activity_finished(ActivityId, Seconds) override {}
  void depends(ActivityId, ActivityId, DependencyKind) override {}
  void rate_changed(ActivityId, Seconds, double) override {}
  void utilisation(ResourceId, Seconds, double) override {}
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void write_file(const char* path, std::uint64_t activities, std::uint64_t steps) {
  ResultFile file(path, {.experiment = "timeline_load",
                         .config_resolved = "",
                         .seed = 1,
                         .command_line = "c3_timeline_load",
                         .conditions = {.system = "none", .seeds = 1},
                         .gpu = "none",
                         .ranks = kGpus,
                         .streams = {"compute", "comm"}});
  {
    TimelineWriter writer(file, "load");
    Load load(writer);
    load.write(activities, steps);
    writer.finish(result_of(load.now()), {});
  }
  file.commit();
}

int run(const char* path, std::uint64_t activities, std::uint64_t steps) {
  Deaf deaf;
  Load(deaf).write(activities, steps);
  const double load = cpu_seconds();
  write_file(path, activities, steps);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{{\"load_cpu_s\": {:.3f}, \"writer_cpu_s\": {:.3f}, \"peak_rss_bytes\": {}}}\n", load,
             cpu_seconds() - 2 * load, usage.ru_maxrss * 1024);
  return 0;
}

}}  // namespace c3

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return c3::run(argv[1], std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10));
}
