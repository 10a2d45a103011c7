#include "app/report/configuration_changes.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace app {

std::vector<TextChange> configuration_changes(const ResultReader& a, const ResultReader& b,
                                              const ConfigDiffOptions& options) {
  const auto tree = [](const ResultReader& file) {
    return parse_toml(file.attribute("config_resolved"), file.path() + "/config_resolved");
  };
  const Node first = tree(a), second = tree(b);
  std::vector<TextChange> changes;
  for (auto& [key, in_a, in_b, relative] : config_diff(*first.table(), *second.table(), options))
    changes.push_back({std::move(key), std::move(in_a), std::move(in_b), relative});
  return changes;
}

std::vector<TextChange> work_changes(const ResultReader& a, const ResultReader& b) {
  std::vector<TextChange> changes = configuration_changes(a, b, {});
  std::erase_if(changes, [](const TextChange& change) {
    constexpr auto kWork = std::to_array<std::string_view>(
        {"stream", "model", "image_network", "recurrent", "recommendation", "workload", "training.sequence",
         "training.micro_batch", "training.micro_batches", "training.global_batch"});
    const std::string_view key = change.name;
    const std::string_view table = key.substr(0, key.find_first_of(".["));
    const auto is_work = [&](std::string_view known) { return known == key || known == table; };
    return std::ranges::none_of(kWork, is_work);
  });
  return changes;
}

}}  // namespace c3::app
