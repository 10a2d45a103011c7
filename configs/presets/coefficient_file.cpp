#include "configs/presets/coefficient_file.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "configs/presets/document.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace configs {
namespace {

/// The entry of \p key: as \p written where its value is still the same, derived from \p source otherwise.
std::string line(const std::string& key, double value, const Node* written, std::string_view source) {
  if (written != nullptr && is_sourced_value(*written)) {
    const Table& table = *written->table();
    const Node* old = table.find("value") != nullptr ? table.find("value") : table.find("nominal");
    const double* before = old == nullptr ? nullptr : std::get_if<double>(&old->value);
    if (before != nullptr && *before == value) {
      Table one;
      one.put(key, written->origin, *written);
      return write_toml(one);
    }
  }
  return sourced_line(key, value, "derived", source);
}

}  // namespace

std::string sourced_line(std::string_view key, double value, std::string_view kind, std::string_view source) {
  const Origin nowhere{std::make_shared<const std::string>(), 1, 1};
  const auto put = [&](Table& table, std::string_view name, auto what) {
    table.put(name, nowhere, Node{std::move(what), nowhere});
  };
  Table entry;
  put(entry, "value", std::stod(fmt::format("{:.6g}", value)));
  put(entry, "kind", std::string(kind));
  put(entry, "source", std::string(source));
  Table line;
  put(line, key, std::move(entry));
  return write_toml(line);
}

CoefficientTable load_coefficients(std::string_view kernel_class, const std::filesystem::path& file) {
  const Node root = load_document(file);
  Section section(root, "", {}, Provenance::required);
  Section kernels = section.table("kernels");
  return read_coefficient_table(kernels.table(kernel_class), kernel_class);
}

std::filesystem::path shipped_coefficients(std::string_view kernel_class) {
  for (const std::filesystem::path& folder : preset_folders()) {
    std::filesystem::path file = folder / "kernels" / fmt::format("{}.toml", kernel_class);
    if (std::filesystem::exists(file)) return file;
  }
  const Origin nowhere{std::make_shared<const std::string>("kernels"), 1, 1};
  throw ConfigError(nowhere, std::string(kernel_class), "no folder of presets has its coefficients");
}

std::vector<std::string> unfitted_coefficients(std::string_view kernel_class,
                                               const std::filesystem::path& file) {
  const CoefficientTable table = load_coefficients(kernel_class, file);
  const Node root = load_document(file);
  const Table& written = *root.table()->find("kernels")->table()->find(kernel_class)->table();
  std::vector<std::string> keys;
  for (const auto& [key, value] : table.values) {
    if (*written.find(key)->table()->find("kind")->text() != "derived") keys.push_back(key);
  }
  return keys;
}

std::string coefficient_text(const CoefficientTable& fitted, const std::filesystem::path& start,
                             std::string_view comment, std::string_view source) {
  const Node root = load_document(start);
  const Node* kernels = root.table()->find("kernels");
  const Table& written = *kernels->table()->find(fitted.kernel_class)->table();
  std::string text;
  for (std::size_t begin = 0; begin < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', begin), comment.size());
    text += fmt::format("# {}\n", comment.substr(begin, end - begin));
    begin = end + 1;
  }
  text += fmt::format("\n[kernels.{}]\n", fitted.kernel_class);
  for (const auto& [key, value] : fitted.values)
    text += line(key, value, written.find(key), source);
  return text;
}

}}  // namespace c3::configs
