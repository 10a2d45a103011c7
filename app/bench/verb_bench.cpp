/// c3sim bench: how fast this simulator simulates, beside its two references.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/bench/command_cases.hpp"
#include "app/bench/load.hpp"
#include "app/bench/measure.hpp"
#include "app/bench/scale.hpp"
#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "base/json.hpp"
#include "base/nearest_name.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

struct BenchOptions {
  std::vector<std::string> cases;  ///< empty: all of the engine
  std::string against;             ///< another build, for cases of commands; empty: none
  int repeat = 5;
  bool json = false;
  bool quiet = false;
};

struct Row {
  bench::Load load;
  bench::Measurement measured;
  double ratio_limit() const { return measured.events_per_s / measured.limit_events_per_s; }
  double ratio_native() const { return measured.events_per_s / measured.native_events_per_s; }
};

/// One of the cases of many GPUs.
struct ScaleRow {
  bench::ScaleCase work;
  bench::ScaleMeasurement measured;
  double events_per_s() const { return static_cast<double>(measured.flows) / measured.cpu_seconds; }
  double limit_events_per_s() const {
    return static_cast<double>(measured.flows) / measured.limit_cpu_seconds.value();
  }
  double gang_time_error() const { return measured.gang->simulated_seconds / measured.simulated_seconds - 1.0; }
  double gang_cpu_ratio() const { return measured.gang->cpu_seconds / measured.cpu_seconds; }
};

struct CommandRow {
  bench::CommandCase work;
  bench::CommandMeasurement measured;
};

constexpr const char* kInteractive = "interactive";  // all commands

struct Chosen {
  std::vector<bench::Load> loads = bench::all_loads();
  std::vector<bench::ScaleCase> scale = bench::all_scale_cases();
  std::vector<bench::CommandCase> commands = bench::all_command_cases();
};

Chosen chosen_cases(const std::vector<std::string>& names) {
  Chosen chosen;
  std::vector<std::string> known;
  for (const auto& load : chosen.loads)
    known.push_back(load.name);
  for (const auto& work : chosen.scale)
    known.push_back(work.name);
  for (const auto& work : chosen.commands)
    known.push_back(work.name);
  known.emplace_back(kInteractive);
  for (const auto& name : names) {
    if (std::ranges::find(known, name) == known.end()) throw UsageError(unknown_name("case", name, known));
  }
  if (names.empty()) {
    chosen.commands.clear();
    return chosen;
  }
  const auto is_left_out = [&](const auto& one) { return std::ranges::find(names, one.name) == names.end(); };
  std::erase_if(chosen.loads, is_left_out);
  std::erase_if(chosen.scale, is_left_out);
  if (std::ranges::find(names, kInteractive) == names.end()) std::erase_if(chosen.commands, is_left_out);
  return chosen;
}

Json json_of(const ScaleRow& row) {
  const bench::ScaleMeasurement& m = row.measured;
  Json one{{"name", row.work.name},
           {"gpus", row.work.gpus},
           {"cpu_s", m.cpu_seconds},
           {"peak_rss_bytes", m.peak_rss_bytes}};
  if (m.simulated_seconds > 0.0) one["simulated_us"] = m.simulated_seconds * 1e6;
  if (!m.gang) return one;
  one["events"] = m.flows;
  one["events_per_s"] = row.events_per_s();
  one["limit_events_per_s"] = row.limit_events_per_s();
  one["ratio_limit"] = row.events_per_s() / row.limit_events_per_s();
  one["gang"] = {{"cpu_s", m.gang->cpu_seconds},
                 {"simulated_us", m.gang->simulated_seconds * 1e6},
                 {"time_error", row.gang_time_error()},
                 {"ratio_cpu", row.gang_cpu_ratio()}};
  return one;
}

Json json_of(const CommandRow& row) {
  const bench::CommandMeasurement& m = row.measured;
  Json one{{"name", row.work.name}, {"user_s", m.here.user_seconds}, {"peak_rss_bytes", m.here.peak_rss_bytes}};
  if (!m.against) return one;
  one["against"] = {{"user_s", m.against->user_seconds}, {"peak_rss_bytes", m.against->peak_rss_bytes}};
  one["ratio"] = m.ratio;
  return one;
}

void print_json(const std::vector<Row>& rows, const std::vector<ScaleRow>& scale,
                const std::vector<CommandRow>& commands) {
  Json cases = Json::array();
  for (const Row& row : rows) {
    cases.push_back({{"name", row.load.name},
                     {"events_per_s", row.measured.events_per_s},
                     {"limit_events_per_s", row.measured.limit_events_per_s},
                     {"native_events_per_s", row.measured.native_events_per_s},
                     {"ratio_limit", row.ratio_limit()},
                     {"ratio_native", row.ratio_native()},
                     {"peak_rss_bytes", row.measured.peak_rss_bytes},
                     {"dates_sha256", row.measured.dates_sha256}});
  }
  for (const ScaleRow& row : scale)
    cases.push_back(json_of(row));
  for (const CommandRow& row : commands)
    cases.push_back(json_of(row));
  const Json document{{"schema_version", kJsonSchemaVersion}, {"cases", cases}};
  fmt::print("{}\n", document.dump(2));
}

void print_scale_table(const std::vector<ScaleRow>& rows) {
  TextTable table({"case", "CPU time [s]", "here [kev/s]", "no SimGrid [kev/s]", "here/no SimGrid",
                   "peak memory [MB]", "time [us]", "gang time", "gang CPU time"});
  for (const ScaleRow& row : rows) {
    const bench::ScaleMeasurement& m = row.measured;
    table.add({row.work.name, fmt::format("{:.3f}", m.cpu_seconds),
               m.gang ? fmt::format("{:.0f}", row.events_per_s() / 1e3) : "-",
               m.gang ? fmt::format("{:.0f}", row.limit_events_per_s() / 1e3) : "-",
               m.gang ? fmt::format("{:.2f}", row.events_per_s() / row.limit_events_per_s()) : "-",
               fmt::format("{:.1f}", static_cast<double>(m.peak_rss_bytes) / 1e6),
               m.simulated_seconds > 0.0 ? fmt::format("{:.3f}", m.simulated_seconds * 1e6) : "-",
               m.gang ? fmt::format("{:+.2f} %", 100.0 * row.gang_time_error()) : "-",
               m.gang ? fmt::format("1/{:.0f}", 1.0 / row.gang_cpu_ratio()) : "-"});
  }
  fmt::print("{}\n", table.text());
  for (const ScaleRow& row : rows)
    fmt::print("{:<16} {}\n", row.work.name, row.work.what);
  fmt::print(
      "CPU time: the best of the repeats. An event is one chunk sent over one link. gang: the same all-reduce\n"
      "at grain gang; its simulated time and CPU time relative to the simulation of every chunk.\n");
}

void print_table(const std::vector<Row>& rows) {
  TextTable table({"case", "here [kev/s]", "no SimGrid [kev/s]", "native [kev/s]", "here/no SimGrid",
                   "here/native", "peak memory [MB]", "times SHA-256"});
  for (const Row& row : rows) {
    table.add({row.load.name, fmt::format("{:.0f}", row.measured.events_per_s / 1e3),
               fmt::format("{:.0f}", row.measured.limit_events_per_s / 1e3),
               fmt::format("{:.1f}", row.measured.native_events_per_s / 1e3),
               fmt::format("{:.2f}", row.ratio_limit()), fmt::format("{:.1f}", row.ratio_native()),
               fmt::format("{:.1f}", static_cast<double>(row.measured.peak_rss_bytes) / 1e6),
               row.measured.dates_sha256.substr(0, 12)});
  }
  fmt::print("{}\n", table.text());
  for (const Row& row : rows)
    fmt::print("{:<10} {}\n", row.load.name, row.load.what);
  fmt::print(
      "kev/s: thousand completions per second of CPU time. here: in SimGrid's loop. no SimGrid: the same\n"
      "solver in a plain loop. native: SimGrid's own Comms with callbacks, and fewer events.\n");
}

void print_command_table(const std::vector<CommandRow>& rows) {
  TextTable table(
      {"case", "CPU time [s]", "peak memory [MB]", "other CPU time [s]", "other memory [MB]", "other/here"});
  const auto megabytes = [](std::uint64_t bytes) {
    return fmt::format("{:.0f}", static_cast<double>(bytes) / 1e6);
  };
  for (const CommandRow& row : rows) {
    const bench::CommandMeasurement& m = row.measured;
    table.add({row.work.name, fmt::format("{:.2f}", m.here.user_seconds), megabytes(m.here.peak_rss_bytes),
               m.against ? fmt::format("{:.2f}", m.against->user_seconds) : "-",
               m.against ? megabytes(m.against->peak_rss_bytes) : "-",
               m.against ? fmt::format("{:.2f}", m.ratio) : "-"});
  }
  fmt::print("{}\n", table.text());
  for (const CommandRow& row : rows)
    fmt::print("{:<16} {}\n", row.work.name, row.work.what);
  fmt::print(
      "CPU time: user time of the command and of what it starts, the median of the repeats. other: the "
      "program\n"
      "of --against; other/here: the median over pairs of runs, one by each program in turn.\n");
}

int run_bench(const BenchOptions& options) {
  const Chosen chosen = chosen_cases(options.cases);
  if (!options.against.empty() && chosen.commands.empty())
    throw UsageError(fmt::format("--against needs a --case of commands, e.g. {}", kInteractive));
  const auto announce = [&](const std::string& name, const std::string& what) {
    if (!options.quiet) fmt::print(stderr, "{}: {}\n", name, what);
  };
  std::vector<Row> rows;
  for (const bench::Load& load : chosen.loads) {
    announce(load.name, load.what);
    rows.push_back({load, bench::measure(load, options.repeat)});
  }
  std::vector<ScaleRow> scale;
  for (const bench::ScaleCase& work : chosen.scale) {
    announce(work.name, work.what);
    scale.push_back({work, bench::measure(work, options.repeat)});
  }
  std::vector<CommandRow> commands;
  for (const bench::CommandCase& work : chosen.commands) {
    announce(work.name, work.what);
    commands.push_back({work, bench::measure(work, options.repeat, options.against)});
  }
  if (options.json) {
    print_json(rows, scale, commands);
    return kExitOk;
  }
  if (!rows.empty()) print_table(rows);
  if (!rows.empty() && !scale.empty()) fmt::print("\n");
  if (!scale.empty()) print_scale_table(scale);
  if (!commands.empty()) print_command_table(commands);
  return kExitOk;
}

}  // namespace

void add_bench_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<BenchOptions>();
  Command& verb = app.add_command("bench", "Measure the speed of the simulator itself");
  verb.set_footer(
      "Each case runs in SimGrid's loop (here), on the same solver without SimGrid, and as native SimGrid\n"
      "activities; the completion times of all repeats must be equal. Cases of many GPUs simulate collectives\n"
      "chunk by chunk and as a gang, or build the interconnect. All cases take about six minutes, most of\n"
      "them for allreduce-4096. Other work on the machine disturbs the measurement.\n"
      "Cases of commands run only when they are named. They run c3sim as a user does, and beside it, in turn,\n"
      "the build that --against names.\n\n"
      "Examples:\n"
      "  c3sim bench\n"
      "  c3sim bench --case ring-64 --case allreduce-512 --repeat 3 --json\n"
      "  c3sim bench --case interactive --repeat 1 --against ../before/build/release/c3sim");
  verb.add_option("--case", options->cases,
                  "Only this case (repeatable): node-mix, ring-N, nodes-512, allreduce-N,\n"
                  "hierarchy-16384, platform-100000; of commands: memory-70b, run-70b, run-70b-fluid,\n"
                  "run-70b-1024, run-70b-seeds, run-405b, run-deepseek-v3, explain-70b, or all: interactive")
      .type_name("NAME");
  verb.add_option("--against", options->against, "Another build of c3sim, for cases of commands")
      .type_name("PROGRAM");
  verb.add_option("--repeat", options->repeat,
                  "Repeats of each case: the median counts, for many GPUs the best; at most 3 for\n"
                  "allreduce-1024, one for allreduce-4096")
      .in_range(1, 1000)
      .show_default();
  verb.add_flag("--json", options->json, "Print one JSON object");
  verb.when_parsed([&action, &app, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return run_bench(*options); };
  });
}

}}  // namespace c3::app
