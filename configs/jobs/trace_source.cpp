#include "configs/jobs/trace_source.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.hpp"
#include "configs/presets/document.hpp"
#include "configs/toml/config_error.hpp"
#include "files/unpacked_file.hpp"
#include "results/program_file.hpp"
#include "workloads/traces/benchmark/benchmark_run.hpp"
#include "workloads/traces/execution/operator_list_changes.hpp"
#include "workloads/traces/execution/operator_list_file.hpp"
#include "workloads/traces/replay/replay_model.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace configs {
namespace {

namespace fs = std::filesystem;

Rule list_of(Rule element) { return {ListRule{std::make_shared<Rule>(std::move(element))}}; }

std::vector<PlacedText> read_files(Section& section) {
  const Node& written = section.node("use", Rule{AnyOfRule{{Rule{TextRule{}}, list_of(Rule{TextRule{}})}}});
  std::vector<PlacedText> files;
  const auto add = [&](const Node& node) {
    if (node.text() == nullptr || node.text()->empty())
      throw ConfigError(node.origin, "trace.use", "must be the path of a file, or a list of paths");
    files.push_back({*node.text(), node.origin});
  };
  if (const Array* list = written.array()) {
    for (const Node& file : *list)
      add(file);
    if (files.empty()) section.fail("use", "must not be empty");
  } else {
    add(written);
  }
  return files;
}

/// JSON, plain or gzip. A program file has a text and HDF5.
bool is_operator_list(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const int first = (file >> std::ws).peek();
  return first == '{' || first == 0x1F;
}

OperatorList read_list(const std::string& path) {
  UnpackedFile file(path);
  return read_operator_list(path, [&file](std::span<char> part) { return file.read(part); });
}

/// Before a list becomes longer than memory is.
void refuse_too_long(const OperatorList& list, const TraceSource& source, Section& section) {
  const double operators = operators_of(list, source.scale_to, source.repeat);
  if (operators > kMostListed)
    section.fail(source.repeat > 1 ? "repeat" : "use",
                 fmt::format("makes a list of {:.0f} million operators; at most {:.0f} million are run",
                             operators * 1e-6, kMostListed * 1e-6));
}

OperatorList changed(OperatorList list, const TraceSource& source, Section& section) {
  for (const WorkClass work : source.drop)
    list = dropped(std::move(list), work);
  refuse_too_long(list, source, section);
  if (source.scale_to > 0) list = scaled(list, source.scale_to);
  return source.repeat > 1 ? repeated(list, source.repeat) : list;
}

RecordedRun load_lists(const TraceSource& source, Section& section) {
  const char* key = "use";
  try {
    OperatorList list;
    for (const PlacedText& file : source.files) {
      OperatorList next = read_list(file.name);
      list = list.ranks.empty() ? std::move(next) : concatenated(std::move(list), next);
    }
    key = source.scale_to > 0 ? "scale_to" : "use";
    RecordedRun run = benchmark_run(changed(std::move(list), source, section));
    if (run.events() == 0)
      section.fail(source.drop.empty() ? "use" : "drop", "leaves no operators that do GPU work: nothing runs");
    return run;
  } catch (const TraceSetError& error) {
    section.fail(key, error.what());
  }
}

}  // namespace

void place_trace(Table& root) {
  Node* trace = root.find("trace");
  Node* use = trace == nullptr || trace->table() == nullptr ? nullptr : trace->table()->find("use");
  if (use == nullptr) return;
  place_path(*use);
  if (Array* list = use->array()) std::ranges::for_each(*list, place_path);
}

std::vector<WorkClass> read_work_classes(Section& section, std::string_view key,
                                         const std::vector<WorkClass>& known) {
  std::vector<std::string> names;
  for (const WorkClass work_class : known)
    names.emplace_back(name_of(work_class));
  const Node& written = section.node(key, list_of(Rule{ChoiceRule{names}}));
  const Array* list = written.array();
  if (list == nullptr || list->empty())
    section.fail(key, fmt::format("must be a list of some of {}", fmt::join(names, ", ")));
  std::vector<WorkClass> classes;
  for (const Node& element : *list) {
    const auto match = element.text() == nullptr ? names.end() : std::ranges::find(names, *element.text());
    if (match == names.end())
      throw ConfigError(element.origin, fmt::format("trace.{}", key),
                        element.text() == nullptr ? fmt::format("must be one of {}", fmt::join(names, ", "))
                                                  : unknown_name("class", *element.text(), names));
    classes.push_back(known[static_cast<std::size_t>(match - names.begin())]);
  }
  return classes;
}

TraceSource read_source(Section& section) {
  TraceSource source{.files = read_files(section), .drop = {}};
  if (section.has("drop")) source.drop = read_work_classes(section, "drop", all_work_classes());
  if (section.has("repeat")) source.repeat = static_cast<int>(section.integer("repeat", 1, 1000));
  if (section.has("scale_to")) source.scale_to = static_cast<int>(section.integer("scale_to", 1, 100'000));
  return source;
}

bool is_of_lists(const TraceSource& source) {
  return std::ranges::all_of(source.files, [](const PlacedText& file) { return is_operator_list(file.name); });
}

RecordedRun load(const TraceSource& source, Section& section) {
  for (const PlacedText& file : source.files) {
    std::error_code ignored;
    if (!fs::is_regular_file(file.name, ignored))
      throw ConfigError(
          file.origin, "trace.use",
          fmt::format("{} is not there or not a file; c3sim import TRACES -o FOLDER writes one", file.name));
    if (is_operator_list(file.name)) continue;
    if (source.files.size() > 1)
      throw ConfigError(file.origin, "trace.use",
                        fmt::format("{} is a program file, which runs alone: only operator lists can be put "
                                    "behind each other",
                                    file.name));
    for (const char* const key : {"drop", "repeat", "scale_to"}) {
      if (section.has(key))
        section.refuse(key, fmt::format("requires an operator list (c3sim import --benchmark); {} is a program "
                                        "file",
                                        file.name));
    }
    return read_program_file(file.name);
  }
  if (section.has("data_parallel"))
    section.refuse("data_parallel",
                   "requires a program file; of operator lists scale_to says for how many ranks");
  return load_lists(source, section);
}

}}  // namespace c3::configs
