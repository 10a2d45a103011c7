#include "app/sweep/mpi_points.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "app/sweep/mpi_module.h"
#include "base/usage_error.hpp"

namespace c3 { inline namespace app {
namespace {

/// How many processes a launcher says it started: Open MPI's, and those that speak PMI (Slurm, MPICH).
int launched_processes() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* size = std::getenv(variable)) return std::atoi(size);
  }
  return 1;
}

C3MpiCounts to_message(const PointCounts& counts) { return {counts.simulated, counts.failed}; }

/// Rank 0's.
class HandedOutPoints final : public PointSource {
 public:
  HandedOutPoints(MpiWorld& world, std::vector<std::size_t> points)
      : world_(world), points_(std::move(points)) {}

  std::optional<std::size_t> next() override { return points_.next(); }
  void stop() override { points_.stop(); }
  PointCounts total() const override { return points_.total(); }
  bool serves_others() const override { return world_.others() > 0; }
  void account(const PointCounts& counts) override {
    points_.account(counts);
    points_.account(world_.answer(points_));
  }

 private:
  MpiWorld& world_;
  ListedPoints points_;
};

/// Any other rank's.
class AskedPoints final : public PointSource {
 public:
  explicit AskedPoints(MpiWorld& world) : world_(world) {}
  AskedPoints(const AskedPoints&) = delete;
  AskedPoints& operator=(const AskedPoints&) = delete;
  ~AskedPoints() override { world_.leave(unsaid_); }

  std::optional<std::size_t> next() override {
    if (ended_) return std::nullopt;
    const auto point = world_.ask(std::exchange(unsaid_, {}));
    ended_ = !point;
    return point;
  }
  void stop() override { ended_ = true; }
  void account(const PointCounts& counts) override {
    unsaid_ += counts;
    total_ += counts;
  }
  PointCounts total() const override { return total_; }
  bool serves_others() const override { return false; }

 private:
  MpiWorld& world_;
  PointCounts unsaid_, total_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<MpiWorld> MpiWorld::join() {
  if (launched_processes() < 2) return nullptr;
  constexpr const char* kModule = "c3sim_mpi.so";
  if (module_path(kModule).empty()) {
    throw UsageError(
        "several processes were started, but this c3sim was built without MPI: build it where Open MPI is "
        "installed, or give each process its own --shard i/n");
  }
  return std::unique_ptr<MpiWorld>(new MpiWorld(Module(kModule, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)));
}

MpiWorld::MpiWorld(Module module) : module_(module) {
  int size = 1;
  module_.function<decltype(c3_mpi_begin)>("c3_mpi_begin")(&rank_, &size);
  others_ = rank_ == 0 ? size - 1 : 0;
}

MpiWorld::~MpiWorld() {
  constexpr std::chrono::milliseconds kPause{2};
  ListedPoints none({});
  for (; others_ > 0; std::this_thread::sleep_for(kPause))
    answer(none);
  if (rank_ != 0 && !has_left_) leave({});
  module_.function<decltype(c3_mpi_end)>("c3_mpi_end")();
}

PointCounts MpiWorld::answer(ListedPoints& points) {
  C3MpiCounts done{};
  const auto next = [](void* list) -> long long {
    const auto point = static_cast<ListedPoints*>(list)->next();
    return point ? static_cast<long long>(*point) : -1;
  };
  others_ -= module_.function<decltype(c3_mpi_answer)>("c3_mpi_answer")(next, &points, &done);
  return {.simulated = done.simulated, .failed = done.failed};
}

std::optional<std::size_t> MpiWorld::ask(const PointCounts& done) {
  const long long point = module_.function<decltype(c3_mpi_ask)>("c3_mpi_ask")(to_message(done));
  return point < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(point));
}

void MpiWorld::leave(const PointCounts& done) {
  has_left_ = true;
  module_.function<decltype(c3_mpi_leave)>("c3_mpi_leave")(to_message(done));
}

std::unique_ptr<PointSource> MpiWorld::points(std::vector<std::size_t> points) {
  if (rank_ == 0) return std::make_unique<HandedOutPoints>(*this, std::move(points));
  return std::make_unique<AskedPoints>(*this);
}

}}  // namespace c3::app
