/// c3sim bench: how fast this simulator simulates, beside its two references.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench/load.hpp"
#include "app/bench/measure.hpp"
#include "app/exit_code.hpp"
#include "app/usage_error.hpp"
#include "app/verb.hpp"
#include "configs/nearest_name.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 {
namespace {

struct BenchOptions {
  std::vector<std::string> cases;  ///< empty: all
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

std::vector<bench::Load> chosen_loads(const std::vector<std::string>& names) {
  std::vector<bench::Load> loads = bench::all_loads();
  std::vector<std::string> known;
  known.reserve(loads.size());
  for (const auto& load : loads)
    known.push_back(load.name);
  for (const auto& name : names) {
    if (std::ranges::find(known, name) == known.end()) throw UsageError(unknown_name("case", name, known));
  }
  if (!names.empty()) {
    std::erase_if(loads, [&](const auto& load) { return std::ranges::find(names, load.name) == names.end(); });
  }
  return loads;
}

void print_json(const std::vector<Row>& rows) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
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
  const nlohmann::ordered_json document{{"schema_version", kJsonSchemaVersion}, {"cases", cases}};
  fmt::print("{}\n", document.dump(2));
}

void print_table(const std::vector<Row>& rows) {
  TextTable table({"case", "here [kev/s]", "no SimGrid [kev/s]", "native [kev/s]", "here/no SimGrid",
                   "here/native", "peak memory [MB]", "dates SHA-256"});
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
      "kev/s: thousand completions per second of CPU time. here: in SimGrid's loop. no SimGrid: the same "
      "solver\n"
      "in a plain loop. native: SimGrid's own Comms with callbacks, fewer events (a rate needs no more).\n");
}

int run_bench(const BenchOptions& options) {
  std::vector<Row> rows;
  for (const bench::Load& load : chosen_loads(options.cases)) {
    if (!options.quiet) fmt::print(stderr, "{}: {}\n", load.name, load.what);
    rows.push_back({load, bench::measure(load, options.repeat)});
  }
  options.json ? print_json(rows) : print_table(rows);
  return kExitOk;
}

}  // namespace

void add_bench_verb(CLI::App& app, VerbAction& action) {
  const auto options = std::make_shared<BenchOptions>();
  auto* verb = app.add_subcommand("bench", "Measure the speed of the simulator itself");
  verb->footer(
      "Each case runs here (in SimGrid's loop), on the same solver without SimGrid, and as native SimGrid "
      "activities;\n"
      "all dates of all repeats must be equal. Takes about a minute; other work on the machine disturbs it.\n\n"
      "Examples:\n"
      "  c3sim bench\n"
      "  c3sim bench --case ring-64 --case node-mix --repeat 3 --json");
  verb->add_option("--case", options->cases, "Only this case (may be given again): node-mix, ring-N, nodes-512")
      ->type_name("NAME");
  verb->add_option("--repeat", options->repeat, "Runs of each, of which the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "As one JSON object");
  verb->callback([&action, &app, options] {
    options->quiet = app.count("--quiet") > 0;
    action = [options] { return run_bench(*options); };
  });
}

}  // namespace c3
