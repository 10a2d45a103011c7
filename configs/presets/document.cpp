#include "configs/presets/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "configs/presets/preset_folders.hpp"
#include "configs/presets/preset_override.hpp"
#include "configs/toml/overrides.hpp"
#include "configs/toml/toml_text.hpp"
#include "files/input_files.hpp"
#include "files/io_error.hpp"

namespace c3 { inline namespace configs {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = 16U << 20U;  // a configuration is a few KiB; this stops a mistaken path
constexpr std::size_t kDeepestExtends = 16;
constexpr std::size_t kMostFiles = 256;
constexpr std::size_t kMostMerged = 1'000'000;  // keys

Origin start_of(const fs::path& path) { return {std::make_shared<const std::string>(path.string()), 1, 1}; }

/// The parser reads a folder as an empty document and a binary file as a syntax error somewhere: look first.
std::string read_text(const fs::path& path, const Origin& at, std::string_view key) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  const auto refuse = [&](std::string_view why) {
    const bool named_by_file = key != "file";
    throw ConfigError(at, key, named_by_file ? fmt::format("'{}' {}", path.string(), why) : std::string(why));
  };
  if (failed == std::errc::too_many_symbolic_link_levels) refuse("is a loop of symbolic links");
  if (!fs::status_known(status)) refuse("cannot be read: " + failed.message());
  if (!fs::exists(status)) refuse("does not exist");
  if (fs::is_directory(status)) refuse("is a folder, not a TOML file");
  if (!fs::is_regular_file(status)) refuse("is not a regular file");
  const std::uintmax_t size = fs::file_size(path, failed);
  if (failed || size > kLargestFile) refuse("is larger than 16 MiB, which no configuration is");

  const std::string text = [&] {
    try {
      const std::vector<char> content = read_file(path, kLargestFile);
      return std::string(content.begin(), content.end());
    } catch (const IoError& error) {
      refuse("cannot be read: " + error.reason());
      throw;
    }
  }();
  if (text.find('\0') != std::string::npos) refuse("is a binary file, not TOML");
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) refuse("is empty");
  return text;
}

std::vector<Node> extended_files(const Node& extends) {
  const auto is_text = [](const Node& node) { return node.text() != nullptr; };
  if (is_text(extends)) return {extends};
  if (extends.array() == nullptr || !std::ranges::all_of(*extends.array(), is_text)) {
    throw ConfigError(extends.origin, "extends", "must be a path or a list of paths");
  }
  return *extends.array();
}

/// \p path below \p folder, as "kernels/ampere.toml"; empty where it is not below.
fs::path below(const fs::path& folder, const fs::path& path) {
  std::error_code ignored;
  const fs::path rest = fs::weakly_canonical(fs::absolute(path, ignored), ignored)
                            .lexically_relative(fs::weakly_canonical(fs::absolute(folder, ignored), ignored));
  return rest.empty() || *rest.begin() == ".." ? fs::path() : rest;
}

/// The file that \p name means. Names are relative to the file that names them. When there is no such file, the
/// preset folders are searched, so that a folder of one's own can extend what is shipped: "gpus/h100-sxm",
/// "gpus/h100-sxm.toml", and what would lie in the preset folder of the file, such as "../kernels/hopper.toml"
/// for a file in gpus/.
fs::path extended_file(const fs::path& from, const std::string& name) {
  const fs::path near = (from.parent_path() / name).lexically_normal();
  std::error_code ignored;
  if (fs::exists(near, ignored) || fs::path(name).is_absolute()) return near;
  const std::vector<fs::path> folders = preset_folders();
  std::vector<fs::path> written{name, name + ".toml"};
  for (const fs::path& folder : folders)
    if (const fs::path rest = below(folder, near); !rest.empty()) written.push_back(rest);
  for (const fs::path& folder : folders) {
    for (const fs::path& path : written) {
      const fs::path file = (folder / path).lexically_normal();
      if (fs::is_regular_file(file, ignored)) return file;
    }
  }
  return near;
}

class Loader {
 public:
  Node load(const fs::path& path) { return load(path, start_of(path), "file"); }

 private:
  Node load(const fs::path& path, const Origin& named_at, std::string_view key) {
    const auto known = loaded_.find(path);
    if (known != loaded_.end()) return known->second;
    Node whole = read(path, named_at, key);
    merged_ += whole.table()->members().size();
    if (merged_ > kMostMerged || loaded_.size() > kMostFiles)
      throw ConfigError(named_at, "extends",
                        fmt::format("more than {} files or {} keys", kMostFiles, kMostMerged));
    return loaded_.emplace(path, std::move(whole)).first->second;
  }

  Node read(const fs::path& path, const Origin& named_at, std::string_view key) {
    const std::string text = read_text(path, named_at, key);
    Node document = parse_toml(text, path.string());
    const Node* found = document.table()->find("extends");
    if (found == nullptr) return document;

    chain_.push_back(path);
    Node merged{Table{}, document.origin};
    for (const Node& base : extended_files(*found)) {
      const fs::path file = extended_file(path, *base.text());
      refuse_cycle(file, base.origin);
      merge(*merged.table(), *load(file, base.origin, "extends").table());
    }
    chain_.pop_back();

    document.table()->erase("extends");
    follow_stated_peaks(*merged.table(), *document.table());
    merge(*merged.table(), *document.table());
    return merged;
  }

  void refuse_cycle(const fs::path& file, const Origin& at) const {
    std::error_code missing;
    std::string chain;
    for (const fs::path& earlier : chain_) {
      if (chain.empty() && !fs::equivalent(earlier, file, missing)) continue;
      chain += earlier.string() + " -> ";
    }
    if (!chain.empty()) throw ConfigError(at, "extends", fmt::format("cycle: {}{}", chain, file.string()));
    if (chain_.size() >= kDeepestExtends) {
      throw ConfigError(at, "extends", fmt::format("nested deeper than {} files", kDeepestExtends));
    }
  }

  std::vector<fs::path> chain_;      ///< files whose `extends` is being followed
  std::map<fs::path, Node> loaded_;  ///< files with all that they extend
  std::size_t merged_ = 0;           ///< keys of those at their roots
};

}  // namespace

void place_path(Node& node) {
  if (node.text() == nullptr || fs::path(*node.text()).is_absolute()) return;
  std::error_code ignored;
  const fs::path written_in = node.origin.file ? fs::path(*node.origin.file) : fs::path();
  const fs::path folder = fs::is_regular_file(written_in, ignored) ? written_in.parent_path() : fs::path();
  node.value = fs::absolute(folder / *node.text(), ignored).lexically_normal().string();
}

Rule extends_rule() {
  return {AnyOfRule{{{TextRule{}}, {ListRule{std::make_shared<Rule>(Rule{TextRule{}})}}}}};
}

Node load_document(const fs::path& path, std::span<const std::string> sets) {
  Node document = Loader().load(path);
  std::uint32_t number = 0;
  for (const std::string& set : sets)
    apply_override(document, set, ++number);
  return document;
}

}}  // namespace c3::configs
