#include "importers/collective_times/json_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "base/json.hpp"
#include "base/small_letters.hpp"
#include "configs/toml/config_error.hpp"
#include "importers/logs/log_lines.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr int kDeepest = 64;
constexpr std::int64_t kMostGpus = 1'000'000;

/// How deep brackets of \p text are nested at most.
int nesting_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted && c == '\\') ++at;
    if (is_quoted) continue;
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return deepest;
}

/// Null where \p object is none, or has no such key.
const Json* member(const Json& object, std::string_view key) {
  return object.is_object() && object.contains(key) ? &object[key] : nullptr;
}

std::string text_of(const Json* value) {
  if (value == nullptr) return {};
  if (value->is_text()) return value->text();
  if (value->is_integer()) return fmt::format("{}", value->integer());
  return value->is_number() ? fmt::format("{}", value->number()) : std::string();
}

std::int64_t whole_of(const Json* value, std::int64_t otherwise) {
  return value != nullptr && value->is_integer() ? value->integer() : otherwise;
}

const Json::Elements& elements_of(const Json* value) {
  static const Json::Elements kNone;
  return value != nullptr && value->is_array() ? value->elements() : kNone;
}

/// A key of a row, or of an object in it, and the column that it fills.
struct KeyColumn {
  std::string_view object;  ///< empty: the row itself
  std::string_view key;
  std::string_view column;
};
constexpr KeyColumn kNcclKeys[] = {{"", "size", "size"},
                                   {"", "count", "count"},
                                   {"", "type", "type"},
                                   {"", "redop", "redop"},
                                   {"", "root", "root"},
                                   {"out_of_place", "time", "oop_time_us"},
                                   {"out_of_place", "cpu_time", "oop_cputime_us"},
                                   {"out_of_place", "nwrong", "oop_wrong"},
                                   {"in_place", "time", "ip_time_us"},
                                   {"in_place", "cpu_time", "ip_cputime_us"},
                                   {"in_place", "nwrong", "ip_wrong"},
                                   {"out_of_place_per_iter", "min_us", "oop_i_min_us"},
                                   {"out_of_place_per_iter", "max_us", "oop_i_max_us"},
                                   {"out_of_place_per_iter", "p99_us", "oop_i_p99_us"},
                                   {"out_of_place_per_iter", "cv_pct", "oop_i_cv_percent"},
                                   {"in_place_per_iter", "min_us", "ip_i_min_us"},
                                   {"in_place_per_iter", "max_us", "ip_i_max_us"},
                                   {"in_place_per_iter", "p99_us", "ip_i_p99_us"},
                                   {"in_place_per_iter", "cv_pct", "ip_i_cv_percent"}};
constexpr KeyColumn kRcclKeys[] = {{"", "numCycle", "numcycle"},
                                   {"", "name", "op"},
                                   {"", "nodes", "nodes"},
                                   {"", "ranks", "ranks"},
                                   {"", "gpusPerRank", "gpusperrank"},
                                   {"", "gpus", "gpus"},
                                   {"", "size", "size"},
                                   {"", "type", "type"},
                                   {"", "redop", "redop"},
                                   {"", "inPlace", "inplace"},
                                   {"", "time", "time"},
                                   {"", "wrong", "wrong"}};

class JsonTestsReader {
 public:
  explicit JsonTestsReader(const std::shared_ptr<const std::string>& file) : file_(file) {}

  TestRows read(const Json& document) {
    if (document.is_object() && document.contains("results") && document.contains("config")) {
      read_job(document);
      add_rows(document["results"], kNcclKeys, "results");
    } else if (const auto& rows = elements_of(&document);
               !rows.empty() && member(rows.front(), "numCycle") != nullptr) {
      add_rows(document, kRcclKeys, "");
    } else {
      throw ConfigError(nowhere(), "file",
                        "is JSON, but neither what nccl-tests -J nor what rccl-tests -Z json writes");
    }
    return std::move(result_);
  }

 private:
  Origin nowhere() const { return {file_, 0, 1}; }

  template <std::size_t N>
  void add_rows(const Json& rows, const KeyColumn (&keys)[N], std::string_view list) {
    std::vector<const KeyColumn*> used;
    for (const KeyColumn& key : keys)
      if (std::ranges::any_of(elements_of(&rows), [&](const Json& row) { return find(row, key) != nullptr; }))
        used.push_back(&key);
    for (const KeyColumn* key : used)
      result_.columns.emplace_back(key->column);
    std::size_t number = 0;
    for (const Json& element : elements_of(&rows)) {
      TableRow row{.line = 0, .text = {}, .cells = {}, .name = fmt::format("{}[{}]", list, number++)};
      for (const KeyColumn* key : used)
        row.cells.emplace_back(result_.words.emplace_back(trimmed_root(text_of(find(element, *key)))));
      result_.rows.push_back(std::move(row));
    }
  }

  /// nccl-tests writes the root with the spaces of its table.
  static std::string trimmed_root(std::string text) {
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    return text;
  }

  static const Json* find(const Json& row, const KeyColumn& key) {
    const Json* const object = key.object.empty() ? &row : member(row, key.object);
    return object == nullptr ? nullptr : member(*object, key.key);
  }

  void read_job(const Json& document) {
    const auto& arguments = elements_of(member(document, "args"));
    if (!arguments.empty()) {
      const std::string path = text_of(&arguments.front());
      const std::string& program = result_.words.emplace_back(path.substr(path.find_last_of("/\\") + 1));
      result_.collective = program;
    }
    for (const Json& variable : elements_of(member(document, "env"))) {
      const std::string text = text_of(&variable);
      const std::size_t equals = std::min(text.find('='), text.size());
      if (equals < text.size() && is_library_variable(text.substr(0, equals)))
        result_.log.variables[text.substr(0, equals)] = {.value = text.substr(equals + 1), .line = 0};
    }
    read_devices(document["config"]);
    const auto version = version_of_number(whole_of(member(document, "nccl_version"), 0));
    const bool is_rccl = in_small_letters(result_.log.gpu()).starts_with("amd");
    if (version) result_.log.library = fmt::format("{} {}", is_rccl ? "RCCL" : "NCCL", *version);
  }

  /// Each entry is the first GPU of a process.
  void read_devices(const Json& config) {
    const std::int64_t threads = whole_of(member(config, "nthreads"), 1);
    const std::int64_t gpus = whole_of(member(config, "ngpus"), 1);
    const auto& devices = elements_of(member(config, "devices"));
    const bool is_sane = threads >= 1 && gpus >= 1 && threads <= kMostGpus && gpus <= kMostGpus &&
                         threads * gpus * static_cast<std::int64_t>(devices.size()) <= kMostGpus;
    if (!is_sane)
      throw ConfigError(nowhere(), "config",
                        fmt::format("{} threads of {} GPUs are no number of them", threads, gpus));
    result_.log.gpus_per_thread = static_cast<int>(gpus);
    if (const Json* graph = member(config, "graph")) result_.log.graph_launches = whole_of(graph, 0) > 0;
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (const Json& device : devices) {
      const std::int64_t first = whole_of(member(device, "rank"), 0),
                         group = whole_of(member(device, "group"), 0);
      for (std::int64_t gpu = 0; gpu < threads * gpus; ++gpu) {
        if (!seen.emplace(group, first + gpu).second) continue;
        result_.log.devices.push_back({.rank = static_cast<int>(first + gpu),
                                       .group = static_cast<int>(group),
                                       .host = text_of(member(device, "hostname")),
                                       .gpu = text_of(member(device, "device_info"))});
      }
    }
    if (!devices.empty()) result_.log.ranks = static_cast<int>(result_.log.listed_ranks());
  }

  std::shared_ptr<const std::string> file_;
  TestRows result_;
};

}  // namespace

bool is_json_text(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (text[first] == '{') return true;
  if (text[first] != '[') return false;
  const std::size_t next = text.find_first_not_of(" \t\r\n", first + 1);
  return next != std::string_view::npos && (text[next] == '{' || text[next] == ']');
}

bool is_json_of_tests(std::string_view text) {
  if (!is_json_text(text)) return false;
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  return (has("\"results\"") && has("\"nccl_version\"")) || has("\"numCycle\"");
}

TestRows read_json_tests(std::string_view text, const std::shared_ptr<const std::string>& file) {
  const Origin nowhere{file, 0, 1};
  if (nesting_of(text) > kDeepest)
    throw ConfigError(nowhere, "file", fmt::format("is nested deeper than {} levels", kDeepest));
  try {
    return JsonTestsReader(file).read(Json::parse(text));
  } catch (const JsonError& error) {
    throw ConfigError(nowhere, "file", fmt::format("is no whole JSON document: {}", error.what()));
  }
}

}}  // namespace c3::importers
