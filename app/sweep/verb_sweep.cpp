/// c3sim sweep: simulates every point of a [sweep], each in a file of its own.

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/progress_line.hpp"
#include "app/command/verb.hpp"
#include "app/sweep/mpi_points.hpp"
#include "app/sweep/sweep_progress.hpp"
#include "app/sweep/sweep_run.hpp"
#include "app/time_limit.hpp"
#include "base/json.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "configs/presets/preset_store.hpp"
#include "engine/interrupt.hpp"
#include "results/schema.hpp"
#include "results/shell_word.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kShownFailures = 5;

struct SweepOptions {
  SweepRequest request;
  int jobs = 0;  ///< 0: as many as cores, one of each MPI rank
  std::string shard;
  std::string limit;
  bool retry_failed = false;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
};

SweepShard read_shard(const std::string& text) {
  SweepShard shard;
  if (text.empty()) return shard;
  const char* const end = text.data() + text.size();
  const auto [slash, first_error] = std::from_chars(text.data(), end, shard.number);
  const char* const second = slash == end ? end : slash + 1;
  const auto [behind, error] = std::from_chars(second, end, shard.count);
  const bool is_read = first_error == std::errc() && error == std::errc() && behind == end && *slash == '/';
  if (!is_read || shard.number < 1 || shard.number > shard.count) {
    throw UsageError(fmt::format("--shard '{}': must be i/n with i from 1 to n, such as 2/8", text));
  }
  return shard;
}

int workers_of(const SweepOptions& options, const MpiWorld* world) {
  if (options.jobs > 0) return options.jobs;
  return world != nullptr ? 1 : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// "op = all_gather, cus = 8"
std::string point_text(const SweepPlan& plan, std::size_t point) {
  const std::vector<std::string> values = plan.sweep.texts(plan.sweep.points()[point]);
  std::string text;
  for (std::size_t axis = 0; axis < values.size(); ++axis)
    text += fmt::format("{}{} = {}", axis == 0 ? "" : ", ", plan.sweep.names()[axis], values[axis]);
  return text;
}

std::string state_of(const SweepPlan& plan, std::size_t point) {
  const std::string& id = plan.manifest.ids[point];
  if (plan.folder.has(id)) return "done";
  if (plan.folder.has_failed(id)) return "failed";
  return plan.refused[point].empty() ? "to do" : "refused";
}

int list_points(const SweepPlan& plan) {
  std::vector<std::string> header = {"point"};
  std::ranges::copy(plan.sweep.names(), std::back_inserter(header));
  header.emplace_back("state");
  TextTable table(header);
  for (std::size_t point = 0; point < plan.manifest.points(); ++point) {
    std::vector<std::string> row = {plan.manifest.ids[point]};
    std::ranges::move(plan.sweep.texts(plan.sweep.points()[point]), std::back_inserter(row));
    row.push_back(state_of(plan, point));
    table.add(std::move(row));
  }
  fmt::print("{}", table.text());
  for (const std::string& error : plan.refused) {
    if (!error.empty()) fmt::print(stderr, "{}\n", error);
  }
  return kExitOk;
}

/// How many points are in which state after a run.
struct Standing {
  std::size_t points = 0, done = 0;
  std::vector<std::size_t> failed = {};

  std::size_t missing() const { return points - done - failed.size(); }
};

Standing standing_of(const SweepPlan& plan, const std::vector<std::size_t>& points) {
  Standing standing{.points = points.size()};
  for (const std::size_t point : points) {
    const std::string& id = plan.manifest.ids[point];
    if (plan.folder.has(id)) {
      ++standing.done;
    } else if (plan.folder.has_failed(id)) {
      standing.failed.push_back(point);
    }
  }
  return standing;
}

std::string error_of(const SweepPlan& plan, std::size_t point) {
  const std::optional<PointResult> result = plan.folder.read(plan.manifest.ids[point]);
  return result ? result->error : "";
}

void print_json(const SweepPlan& plan, const Standing& standing) {
  Json failures = Json::array();
  for (const std::size_t point : standing.failed)
    failures.push_back({{"id", plan.manifest.ids[point]},
                        {"command", plan.manifest.commands[point]},
                        {"error", error_of(plan, point)}});
  const Json json{{"schema_version", kJsonSchemaVersion},
                  {"sweep", plan.manifest.experiment},
                  {"folder", plan.folder.path().string()},
                  {"points", standing.points},
                  {"done", standing.done},
                  {"failed", standing.failed.size()},
                  {"missing", standing.missing()},
                  {"failures", std::move(failures)}};
  fmt::print("{}\n", json.dump(2));
}

void print_standing(const SweepPlan& plan, const Standing& standing, bool quiet) {
  const std::string folder = plan.folder.path().string();
  fmt::print("{}: {} points, {} done, {} failed, {} missing, in {}\n", plan.manifest.experiment,
             standing.points, standing.done, standing.failed.size(), standing.missing(), folder);
  for (std::size_t i = 0; i < std::min(standing.failed.size(), kShownFailures); ++i) {
    const std::size_t point = standing.failed[i];
    fmt::print(stderr, "failed: {}: {}\n", point_text(plan, point), error_of(plan, point));
  }
  if (standing.failed.size() > kShownFailures)
    fmt::print(stderr, "failed: {} more\n", standing.failed.size() - kShownFailures);
  if (!quiet && standing.missing() == 0)
    fmt::print(stderr, "make one table of all points: c3sim merge {}\n", shell_word(folder));
}

int exit_code_of(const Standing& standing) {
  if (interrupt_requested()) {
    fmt::print(stderr, "interrupted; repeat the command to continue\n");
    return kExitInterrupted;
  }
  return standing.failed.empty() ? kExitOk : kExitPartial;
}

int sweep(const SweepOptions& options) {
  const SweepShard shard = read_shard(options.shard);
  const auto limit = read_time_limit("--point-timeout", options.limit);
  const std::unique_ptr<MpiWorld> world = options.dry_run ? nullptr : MpiWorld::join();
  const bool leads = world == nullptr || world->rank() == 0;
  const PresetSnapshot presets;  // the same for all points, in the workers, too
  const SweepPlan plan = [&] {
    ProgressLine progress(options.quiet || !leads, "points read");
    return plan_sweep(options.request, std::ref(progress));
  }();
  if (options.dry_run) return list_points(plan);

  const std::vector<std::size_t> points = points_of(plan, shard);
  if (leads) {
    for (const std::string& note : claim_folder(plan, points))
      fmt::print(stderr, "{}\n", note);
  }
  install_interrupt_handler();
  {
    std::vector<std::size_t> left = unfinished(plan, points, options.retry_failed);
    SweepProgress progress(options.quiet || !leads, points.size(), points.size() - left.size());
    const auto source =
        world ? world->points(std::move(left)) : std::make_unique<ListedPoints>(std::move(left));
    run_points(plan, *source, {.workers = workers_of(options, world.get()), .limit = limit},
               std::ref(progress));
  }
  if (!leads) return interrupt_requested() ? kExitInterrupted : kExitOk;
  const Standing standing = standing_of(plan, points);
  if (options.json) {
    print_json(plan, standing);
  } else {
    print_standing(plan, standing, options.quiet);
  }
  return exit_code_of(standing);
}

}  // namespace

void add_sweep_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<SweepOptions>();
  Command& verb = app.add_command("sweep", "Simulate every point of an experiment's [sweep]");
  verb.set_footer(
      "Each point runs in a process of its own and writes its own file in DIR/points. Finished points are "
      "never\n"
      "simulated again: after an interruption, a crash or a full disk, repeat the same command to continue.\n"
      "A point that fails stores its error and the others continue; the exit code is then 5. Ctrl-C waits for\n"
      "the points that are running.\n"
      "To use several machines, give each --shard and the same DIR (scripts/sweep.slurm is an example), or "
      "run\n"
      "mpirun -n 64 c3sim sweep FILE -o DIR, where rank 0 distributes the points. c3sim merge makes the "
      "table.\n\n"
      "Examples:\n"
      "  c3sim sweep configs/experiments/sweep_partition_mi300x.toml -j 2 -o out/partition\n"
      "  c3sim sweep my_sweep.toml --shard 2/16 --point-timeout \"600 s\" -o /shared/my_sweep");
  verb.add_option("FILE", options->request.file, "Experiment with a [sweep] (TOML)").required();
  verb.add_option("--set", options->request.sets, "Override one key in all points: key=value; repeatable")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_option("-o,--output", options->request.folder, "Folder of the results (default: out/<experiment>)")
      .type_name("DIR");
  verb.add_option("-j,--jobs", options->jobs,
                  "Points to simulate at once (default: all cores; with MPI one for each rank)")
      .in_range(1, 4096)
      .type_name("N");
  verb.add_option("--shard", options->shard, "Only every n-th point, starting with the i-th: 1/n to n/n")
      .type_name("I/N");
  verb.add_option("--point-timeout", options->limit,
                  "Stop a point after this time and count it as failed: seconds, or 90s, 2m, 1.5h")
      .type_name("TIME");
  verb.add_flag("--retry-failed", options->retry_failed, "Simulate failed points again");
  verb.add_flag("--dry-run", options->dry_run, "Only list the points and their state");
  verb.add_flag("--json", options->json, "The summary as JSON");
  verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return sweep(*options); };
  });
}

}}  // namespace c3::app
