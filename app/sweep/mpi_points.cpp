#include "app/sweep/mpi_points.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "app/sweep/mpi_module.h"
#include "app/usage_error.hpp"

namespace c3 {
namespace {

/// How many processes a launcher says it started: Open MPI's, and those that speak PMI (Slurm, MPICH).
int launched_processes() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* size = std::getenv(variable)) return std::atoi(size);
  }
  return 1;
}

/// Beside the command as it was built, or where it was installed.
std::filesystem::path module_file() {
  std::error_code failed;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* place : {"c3sim_mpi.so", "../lib/c3sim/c3sim_mpi.so"}) {
    if (std::filesystem::exists(folder / place, failed)) return folder / place;
  }
  return {};
}

template <class Function>
Function* function(void* module, const char* name) {
  return reinterpret_cast<Function*>(dlsym(module, name));
}

C3MpiCounts to_message(const PointCounts& counts) { return {counts.simulated, counts.failed}; }

/// Rank 0's.
class HandedOutPoints final : public PointSource {
 public:
  HandedOutPoints(void* module, int others, std::vector<std::size_t> points)
      : points_(std::move(points)),
        others_(others),
        answer_(function<decltype(c3_mpi_answer)>(module, "c3_mpi_answer")) {}

  std::optional<std::size_t> next() override { return points_.next(); }
  void stop() override { points_.stop(); }
  PointCounts total() const override { return points_.total(); }
  bool serves_others() const override { return others_ > 0; }
  void account(const PointCounts& counts) override {
    points_.account(counts);
    C3MpiCounts theirs{};
    others_ -= answer_(
        [](void* points) -> long long {
          const auto point = static_cast<ListedPoints*>(points)->next();
          return point ? static_cast<long long>(*point) : -1;
        },
        &points_, &theirs);
    points_.account({.simulated = theirs.simulated, .failed = theirs.failed});
  }

 private:
  ListedPoints points_;
  int others_;  ///< ranks that have not left
  decltype(c3_mpi_answer)* answer_;
};

/// Any other rank's.
class AskedPoints final : public PointSource {
 public:
  explicit AskedPoints(void* module)
      : ask_(function<decltype(c3_mpi_ask)>(module, "c3_mpi_ask")),
        leave_(function<decltype(c3_mpi_leave)>(module, "c3_mpi_leave")) {}
  AskedPoints(const AskedPoints&) = delete;
  AskedPoints& operator=(const AskedPoints&) = delete;
  ~AskedPoints() override { leave_(to_message(unsaid_)); }

  std::optional<std::size_t> next() override {
    if (ended_) return std::nullopt;
    const long long point = ask_(to_message(std::exchange(unsaid_, {})));
    ended_ = point < 0;
    return ended_ ? std::nullopt : std::optional(static_cast<std::size_t>(point));
  }
  void stop() override { ended_ = true; }
  void account(const PointCounts& counts) override {
    unsaid_ += counts;
    total_ += counts;
  }
  PointCounts total() const override { return total_; }
  bool serves_others() const override { return false; }

 private:
  decltype(c3_mpi_ask)* ask_;
  decltype(c3_mpi_leave)* leave_;
  PointCounts unsaid_, total_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<MpiWorld> MpiWorld::join() {
  if (launched_processes() < 2) return nullptr;
  const std::filesystem::path file = module_file();
  if (file.empty()) {
    throw UsageError(
        "several processes were started, but this c3sim was built without MPI: build it where Open MPI is "
        "installed, or give each process its own --shard i/n");
  }
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (module == nullptr) throw UsageError(fmt::format("{}: {}", file.string(), dlerror()));
  std::unique_ptr<MpiWorld> world(new MpiWorld);
  world->module_ = module;
  function<decltype(c3_mpi_begin)>(module, "c3_mpi_begin")(&world->rank_, &world->size_);
  return world;
}

MpiWorld::~MpiWorld() { function<decltype(c3_mpi_end)>(module_, "c3_mpi_end")(); }

std::unique_ptr<PointSource> MpiWorld::points(std::vector<std::size_t> points) const {
  if (rank_ == 0) return std::make_unique<HandedOutPoints>(module_, size_ - 1, std::move(points));
  return std::make_unique<AskedPoints>(module_);
}

}  // namespace c3
