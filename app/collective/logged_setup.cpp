#include "app/collective/logged_setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "base/usage_error.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/gpu_match.hpp"
#include "importers/collective_times/library_release.hpp"
#include "importers/logs/library_variables.hpp"
#include "importers/logs/logged_system.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::string_view kAuto = "auto";
using Variables = std::vector<std::pair<std::string, std::string>>;

/// One file and the options beside it, on their way into a setup.
class SetupReader {
 public:
  SetupReader(const CollectiveOptions& options, const std::optional<TableFile>& file, Variables environment)
      : options_(options),
        log_(file ? file->log : LibraryLog()),
        table_(file && file->measured ? file->measured->table : CollectiveTable()) {
    setup_.environment = std::move(environment);
    if (!table_.ranks) table_.ranks = log_.ranks;
    if (!table_.hosts && log_.host_count() > 0) table_.hosts = static_cast<int>(log_.host_count());
    if (table_.library.empty()) table_.library = log_.library;
  }

  LoggedSetup read() {
    choose_system();
    choose_nodes();
    place_variables();
    choose_release();
    choose_launch();
    compare_gpus();
    return std::move(setup_);
  }

 private:
  void take(std::string from, std::string key, std::string value) {
    setup_.taken.push_back({.from = std::move(from), .key = std::move(key), .value = std::move(value)});
  }

  void choose_system() {
    choice_ = {
        .system = options_.system, .nodes = options_.nodes, .fabric = options_.fabric, .environment = {}};
    if (options_.system != kAuto) return;
    if (options_.table.empty()) throw UsageError("--system auto: requires --table FILE, whose system it takes");
    LoggedSystem found = system_of(log_, table_.ranks);
    choice_.system = found.system;
    if (choice_.fabric.empty()) choice_.fabric = found.fabric;
    setup_.taken = std::move(found.taken);
    setup_.assumed = std::move(found.assumed);
    found_nodes_ = found.nodes;
    const auto is_said = [&](const AssumedKey& assumed) {
      return (assumed.key == "fabric" && !options_.fabric.empty()) ||
             (assumed.key == "nodes" && options_.nodes);
    };
    std::erase_if(setup_.assumed, is_said);
  }

  /// Nodes as an option says them, the table, or else the log.
  void choose_nodes() {
    const auto logged =
        found_nodes_ ? found_nodes_ : nodes_on(choice_.system, log_, table_.ranks, table_.hosts);
    const auto said = table_.nodes ? table_.nodes : logged;
    if (options_.nodes) {
      if (said && *said != *options_.nodes)
        differ(fmt::format("it ran on {}, and {} are simulated", counted(*said, "node"), *options_.nodes));
      return;
    }
    if (!said) return;
    choice_.nodes = *said;
    const bool is_assumed =
        std::ranges::find(setup_.assumed, "nodes", &AssumedKey::key) != setup_.assumed.end();
    if (is_assumed || table_.nodes) return;
    take(log_.nodes ? "nNodes of the library" : counted(table_.hosts.value_or(1), "host"), "nodes",
         fmt::format("{}", *said));
  }

  static std::string counted(std::int64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  }

  void differ(std::string what) { setup_.differences.push_back(std::move(what)); }

  /// Variables of the log come behind those of options, which they must not contradict.
  void place_variables() {
    SortedVariables logged = sorted(log_.variables, options_.table);
    setup_.ignored = std::move(logged.ignored);
    std::erase_if(logged.used, [&](const auto& variable) { return is_given(variable); });
    Variables all = setup_.environment;
    all.insert(all.end(), logged.used.begin(), logged.used.end());
    try {
      setup_.cluster = load(all);
    } catch (const ConfigError&) {
      if (logged.used.empty()) throw;
      all = without_refused(logged.used);
      setup_.cluster = load(all);
    }
    for (const auto& [name, value] : all | std::views::drop(setup_.environment.size()))
      take(fmt::format("{} of its environment", name), "--env", fmt::format("{}={}", name, value));
    setup_.environment = std::move(all);
  }

  bool is_given(const std::pair<std::string, std::string>& variable) {
    const CollectiveOptions usual;
    const auto& [name, value] = variable;
    std::string by;
    if (name == "NCCL_ALGO" && options_.algorithms != usual.algorithms) by = "--algo";
    if (name == "NCCL_PROTO" && options_.protocols != usual.protocols) by = "--proto";
    const auto given =
        std::ranges::find(setup_.environment, name, [](const auto& setting) { return setting.first; });
    if (given != setup_.environment.end() && given->second == value) return true;
    if (given != setup_.environment.end()) by = "--env";
    if (by.empty()) return false;
    setup_.ignored.push_back({.from = name, .why = fmt::format("{} says otherwise than its '{}'", by, value)});
    return true;
  }

  /// The variables of \p logged, one after the other, that can be read with the options.
  Variables without_refused(const Variables& logged) {
    Variables all = setup_.environment;
    for (const auto& variable : logged) {
      all.push_back(variable);
      try {
        (void)load(all);
      } catch (const ConfigError& error) {
        setup_.ignored.push_back({.from = variable.first, .why = error.what()});
        all.pop_back();
      }
    }
    return all;
  }

  ClusterSpec load(const Variables& environment) const {
    SystemChoice choice = choice_;
    choice.environment = environment;
    return load_cluster(choice, options_.sets);
  }

  /// The release whose rules choose: the one of the file, or the nearest that is modelled.
  void choose_release() {
    CollectiveLibrarySpec& library = setup_.cluster.library;
    if (table_.library.empty()) return;
    const auto release = library_release(table_.library, library.rules);
    if (!release) {
      const std::string_view ours = library.rules == TunerRules::nccl ? "NCCL" : "RCCL";
      const bool names_other =
          library_release(table_.library,
                          library.rules == TunerRules::nccl ? TunerRules::rccl : TunerRules::nccl)
              .has_value();
      if (names_other) differ(fmt::format("its library is {}, and {} is simulated", table_.library, ours));
      return;
    }
    const bool is_said = std::ranges::any_of(
        options_.sets, [](const std::string& set) { return set.find("library.version") != std::string::npos; });
    if (is_said) {
      if (library.version != *release)
        differ(fmt::format("its library is {}, and the rules of {} choose", table_.library,
                           name_of(library.version)));
      return;
    }
    library.version = *release;
    take(table_.library, "library.version", fmt::format("\"{}\"", name_of(*release)));
    if (table_.library.find(name_of(*release)) == std::string::npos)
      differ(fmt::format("its library is {}, and the rules of {}, the nearest that is modelled, choose",
                         table_.library, name_of(*release)));
  }

  void choose_launch() {
    const int nodes = std::max(setup_.cluster.nodes, 1);
    if (log_.graph_launches.value_or(false)) {
      setup_.launch = LaunchPath::graph;
    } else if (log_.gpus_per_thread.value_or(1) > 1 && table_.ranks &&
               *log_.gpus_per_thread * nodes == *table_.ranks) {
      setup_.launch = LaunchPath::one_process;
    }
    if (!setup_.launch) return;
    if (!options_.launches.empty()) {
      const bool is_asked =
          std::ranges::find(options_.launches, name_of(*setup_.launch)) != options_.launches.end();
      if (!is_asked) differ(fmt::format("it was launched by {}", name_of(*setup_.launch)));
      return;
    }
    take(*setup_.launch == LaunchPath::graph ? "graph of its options" : "nGpus of its options", "--launch",
         std::string(name_of(*setup_.launch)));
  }

  void compare_gpus() {
    const std::string device = log_.gpu();
    const auto gpu = device.empty() ? std::nullopt : gpu_preset_of(device);
    if (gpu && *gpu != setup_.cluster.gpu.name)
      differ(fmt::format("its GPUs are '{}', and {} is simulated", device, setup_.cluster.gpu.name));
  }

  const CollectiveOptions& options_;
  LibraryLog log_;
  CollectiveTable table_;  ///< what the file says of all its rows
  SystemChoice choice_;
  std::optional<int> found_nodes_;
  LoggedSetup setup_;
};

}  // namespace

LoggedSetup logged_setup(const CollectiveOptions& options, const std::optional<TableFile>& file,
                         std::vector<std::pair<std::string, std::string>> environment) {
  return SetupReader(options, file, std::move(environment)).read();
}

}}  // namespace c3::app
