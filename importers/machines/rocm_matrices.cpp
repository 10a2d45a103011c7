#include "importers/machines/rocm_matrices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/small_letters.hpp"
#include "base/trimmed.hpp"
#include "importers/machines/known_gpus.hpp"
#include "importers/machines/node_preset.hpp"
#include "importers/machines/preset_values.hpp"
#include "importers/machines/text_lines.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kWeights = "Weight between two GPUs";
constexpr std::string_view kHops = "Hops between two GPUs";
constexpr std::string_view kTypes = "Link Type between two GPUs";
constexpr int kMostWeight = 1'000'000;

/// One matrix, row by row, as words.
using Matrix = std::vector<std::vector<std::string>>;

class MatricesReader {
 public:
  MatricesReader(const ForeignFile& file, FileReading& reading)
      : lines_(file.text, file.name), reading_(reading) {}

  Machine read() && {
    while (lines_.next()) {
      const std::string_view line = lines_.line();
      if (line.starts_with("=="))
        begin_section(line);
      else if (line.starts_with("GPU["))
        read_property(line);
      else if (open_ != nullptr)
        read_matrix_line();
    }
    check_complete();
    make_machine();
    return std::move(machine_);
  }

 private:
  [[noreturn]] void fail(std::string_view part, std::string_view key, std::string_view message) const {
    throw ConfigError(lines_.place(part), key, message);
  }

  void begin_section(std::string_view line) {
    open_ = nullptr;
    columns_ = 0;
    for (const auto& [title, matrix] : {std::pair(kWeights, &weights_), {kHops, &hops_}, {kTypes, &types_}}) {
      if (line.find(title) != std::string_view::npos) open_ = matrix;
    }
    if (open_ != nullptr && !open_->empty()) fail(line, "section", "comes a second time");
  }

  /// "GPU[3] : (Topology) Numa Node: 1", "GPU[0] : Card Series: AMD Instinct MI300X"
  void read_property(std::string_view line) {
    const std::size_t bracket = line.find(']');
    const int gpu = whole_number(line.substr(4, std::max<std::size_t>(bracket, 4) - 4), kMostWeight);
    if (bracket == std::string_view::npos || gpu < 0) fail(line, "GPU", "must read GPU[0], GPU[1] and so on");
    const auto value = [&](std::string_view key) {
      const std::size_t found = line.find(key);
      if (found == std::string_view::npos) return std::string_view();
      return trimmed(line.substr(found + key.size()));
    };
    if (const std::string_view node = value("Numa Node:"); !node.empty() && numa_.size() <= kMostDevices)
      numa_[gpu] = std::max(0, whole_number(node, kMostWeight));  // -1: there is one only
    for (const std::string_view key : {"Card Series:", "Card series:"})
      take_series(value(key));
    for (const std::string_view key : {"Device ID:", "Card Model:", "Card model:"})
      take_id(value(key));
    take(value("GFX Version:"), machine_.gpu.chip);
  }

  /// "AMD Instinct MI300X OAM"; older releases "Arcturus GL-XL [AMD Instinct MI100]", or the PCI id.
  void take_series(std::string_view series) {
    if (series.starts_with("0x")) {
      take_id(series);
      return;
    }
    const std::size_t open = series.find('[');
    if (open != std::string_view::npos && series.ends_with(']'))
      series = series.substr(open + 1, series.size() - open - 2);
    take(series, machine_.gpu.product);
  }

  /// Older releases print the subsystem's id as the card's model: what is no GPU's id says nothing.
  void take_id(std::string_view id) {
    if (!id.starts_with("0x")) return;
    const std::string pci = fmt::format("1002:{}", in_small_letters(id.substr(2)));
    const std::optional<FoundGpu> gpu = gpu_named({.pci = pci});
    if (gpu && !gpu->preset.empty()) take(pci, machine_.gpu.pci);
  }

  /// The first GPU says what all are.
  void take(std::string_view said, std::string& name) const {
    if (said.empty() || said == "N/A") return;
    if (name.empty()) name = said;
    if (name != said) fail(lines_.line(), "GPU", "is another one than the first; a node's GPUs are alike");
  }

  void read_matrix_line() {
    const auto& words = lines_.words();
    if (words.empty()) return;
    if (columns_ == 0) {
      read_header();
      return;
    }
    const int row = numbered(words.front(), "GPU");
    if (row != static_cast<int>(open_->size()) || open_->size() == columns_)
      fail(words.front(), "row", fmt::format("'{}' is not the row of GPU{}", words.front(), open_->size()));
    if (words.size() != columns_ + 1) {
      fail(lines_.line().substr(lines_.line().size()), words.front(),
           fmt::format("has {} values, and there are {} columns", words.size() - 1, columns_));
    }
    open_->emplace_back(words.begin() + 1, words.end());
    for (std::size_t column = 0; column < columns_; ++column)
      check_value(words[column + 1], open_->size() - 1, column);
  }

  void read_header() {
    const auto& words = lines_.words();
    if (words.size() > kMostDevices) fail(lines_.line(), "columns", "are more than the 256 GPUs of a node");
    for (std::size_t column = 0; column < words.size(); ++column) {
      if (numbered(words[column], "GPU") != static_cast<int>(column))
        fail(words[column], "column", fmt::format("must be GPU{}", column));
    }
    columns_ = words.size();
    if (gpus_ != 0 && columns_ != gpus_)
      fail(lines_.line(), "columns", fmt::format("are {}, and another matrix has {}", columns_, gpus_));
    gpus_ = columns_;
  }

  void check_value(std::string_view word, std::size_t row, std::size_t column) const {
    const std::string key = fmt::format("GPU{} to GPU{}", row, column);
    if (open_ == &types_) {
      constexpr std::array<std::string_view, 3> kKnown = {"XGMI", "PCIE", "0"};
      if (std::ranges::find(kKnown, word) == kKnown.end() || (word == "0") != (row == column))
        fail(word, key, fmt::format("'{}' is not XGMI or PCIE, or 0 for a GPU with itself", word));
    } else if (whole_number(word, kMostWeight) < 0) {
      fail(word, key, fmt::format("'{}' is not a whole number", word));
    }
    if (column < row && (*open_)[column][row] != word) fail(word, key, "is not what the other direction has");
  }

  void check_complete() const {
    const Origin end{lines_.begin().file, lines_.number(), 1};
    for (const auto& [title, matrix] : {std::pair(kTypes, &types_), {kHops, &hops_}, {kWeights, &weights_}}) {
      const bool is_needed = title == kTypes || !matrix->empty();
      if (is_needed && matrix->size() != gpus_)
        throw ConfigError(end, title, fmt::format("has {} rows, and there are {} GPUs", matrix->size(), gpus_));
    }
  }

  void make_machine() {
    std::map<int, int> hub_of;
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      const auto node = numa_.find(static_cast<int>(gpu));
      const int number = node == numa_.end() ? 0 : node->second;
      const auto [hub, is_new] = hub_of.try_emplace(number, static_cast<int>(machine_.hubs.size()));
      if (is_new) machine_.hubs.push_back({});
      machine_.gpus.push_back({.name = fmt::format("GPU{}", gpu), .hub = hub->second});
    }
    machine_.processor = "AuthenticAMD";
    reading_.ignored.push_back(
        {.from = kWeights.data(), .why = "weights tell direct links from ways over other GPUs"});
    reading_.ignored.push_back({.from = "NICs", .why = "the file has none; name a fabric for several nodes"});
    join_gpus();
    name_gpus();
  }

  /// A direct link has one hop and the least weight.
  bool is_direct(std::size_t a, std::size_t b, int least) const {
    const bool one_hop = hops_.empty() || hops_[a][b] == "1";
    const bool is_light = weights_.empty() || whole_number(weights_[a][b], kMostWeight) == least;
    return types_[a][b] == "XGMI" && one_hop && is_light;
  }

  void join_gpus() {
    int least = kMostWeight;
    for (std::size_t a = 0; a < gpus_ && !weights_.empty(); ++a) {
      for (std::size_t b = 0; b < gpus_; ++b) {
        if (types_[a][b] == "XGMI") least = std::min(least, whole_number(weights_[a][b], kMostWeight));
      }
    }
    for (std::size_t a = 0; a < gpus_; ++a) {
      for (std::size_t b = a + 1; b < gpus_; ++b) {
        if (is_direct(a, b, least)) machine_.links.push_back({static_cast<int>(a), static_cast<int>(b), 1});
      }
    }
    machine_.lists_links = true;
  }

  void name_gpus() {
    constexpr std::size_t kMesh = 8;
    const bool is_mesh = gpus_ == kMesh && machine_.links.size() == kMesh * (kMesh - 1) / 2;
    if (machine_.gpu == GpuNames{} && is_mesh) {
      machine_.gpu.product = "mi300x";
      reading_.assumed.push_back(
          {.key = "node.gpu",
           .value = "\"mi300x\"",
           .why = "the file does not name the GPUs, and eight that all have a link to each "
                  "other are usually these; MI325X, MI350X and MI355X are joined like that, "
                  "too; add --showproductname"});
    }
    if (machine_.gpu == GpuNames{}) {
      throw ConfigError(lines_.begin(), "gpu",
                        "the file does not name the GPUs; rocm-smi --showtopo --showproductname does");
    }
    count_links();
  }

  /// The matrices show which GPUs have links, not how many: dies of one MI250X have four.
  void count_links() {
    const std::optional<FoundGpu> gpu = gpu_named(machine_.gpu);
    constexpr std::array<std::string_view, 2> kSeveral = {"mi250x-gcd", "mi210"};
    if (!gpu || std::ranges::find(kSeveral, gpu->preset) == kSeveral.end()) return;
    constexpr std::array<std::size_t, 2> kShipped = {8, 16};  // mi250x-4 and mi250x-8
    if (gpu->preset == kSeveral.front() && std::ranges::find(kShipped, gpus_) != kShipped.end()) {
      machine_.links.clear();
      machine_.lists_links = false;
      return;
    }
    reading_.assumed.push_back({.key = "node.topology",
                                .value = "\"wired\"",
                                .why = "the file does not say how many links join two GPUs: one is taken"});
  }

  TextLines lines_;
  FileReading& reading_;
  Machine machine_;
  Matrix weights_, hops_, types_;
  Matrix* open_ = nullptr;
  std::size_t columns_ = 0;  ///< columns of the open matrix
  std::size_t gpus_ = 0;
  std::map<int, int> numa_;  ///< NUMA node of each GPU
};

}  // namespace

bool is_rocm_matrices(std::string_view text) { return text.find(kTypes) != std::string_view::npos; }

Machine read_rocm_machine(const ForeignFile& file, FileReading& reading) {
  return MatricesReader(file, reading).read();
}

FileReading read_rocm_matrices(const ForeignFile& file) {
  FileReading reading{.file = file.name, .what = std::string(kRocmMatricesFile)};
  Machine machine = read_rocm_machine(file, reading);
  add_node(reading, std::move(machine), "rocm-smi", begin_of(file.name));
  return reading;
}

}}  // namespace c3::importers
