#include "importers/machines/nvidia_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "importers/machines/nearness.hpp"
#include "importers/machines/node_preset.hpp"
#include "importers/machines/preset_values.hpp"
#include "importers/machines/text_lines.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr int kMostLinks = 64;
constexpr std::string_view kSelf = "X";

/// Words of the matrix. Source: the legend that nvidia-smi prints below it.
struct Word {
  std::string_view text;
  Nearness nearness;
};
constexpr auto kWords = std::to_array<Word>({{"PIX", Nearness::one_switch},
                                             {"PXB", Nearness::switches},
                                             {"PHB", Nearness::processor},
                                             {"NODE", Nearness::processor},
                                             {"SYS", Nearness::far},
                                             {"SOC", Nearness::far}});

/// A GPU that a number of links tells, where the file does not name it.
struct LikelyGpu {
  int gpus;
  int links;  ///< between each pair, as the matrix has them
  std::string_view preset;
  std::string_view others;
};
constexpr auto kLikelyGpus = std::to_array<LikelyGpu>({
    {8, 12, "a100-sxm-80gb", "A100 of 40 GB has as many"},
    {8, 18, "h100-sxm", "H200, H20 and B200 have as many"},
    {4, 6, "h100-sxm", "H200 and GH200 have as many"},
    {4, 4, "a100-sxm-40gb", "A100 of 80 GB has as many"},
});

bool is_header(const std::vector<std::string_view>& words) { return !words.empty() && words.front() == "GPU0"; }

/// Columns of GPUs and NICs; behind them come those of processors.
std::vector<std::string> columns_of(const std::vector<std::string_view>& words) {
  const auto end = std::ranges::find_if(
      words, [](std::string_view word) { return word == "CPU" || word == "NUMA" || word == "GPU"; });
  return {words.begin(), end};
}

class MatrixReader {
 public:
  MatrixReader(const ForeignFile& file, FileReading& reading)
      : lines_(file.text, file.name), reading_(reading) {}

  Machine read() && {
    while (lines_.next()) {
      const auto& words = lines_.words();
      if (columns_.empty() && is_header(words))
        read_header();
      else if (columns_.empty())
        read_name();
      else if (const std::optional<std::size_t> row = row_of())
        read_row(*row);
      else
        read_legend();
    }
    check_rows();
    make_machine();
    guess_gpu();
    return std::move(machine_);
  }

 private:
  [[noreturn]] void fail(std::string_view part, std::string_view key, std::string_view message) const {
    throw ConfigError(lines_.place(part), key, message);
  }

  /// "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-..)"
  void read_name() {
    const std::string_view line = lines_.line();
    const std::size_t colon = line.find(": ");
    const std::size_t end = line.find(" (UUID");
    if (!line.starts_with("GPU ") || colon == std::string_view::npos || end == std::string_view::npos ||
        end < colon)
      return;
    const std::string name(line.substr(colon + 2, end - colon - 2));
    if (!machine_.gpu.product.empty() && machine_.gpu.product != name)
      fail(line.substr(colon + 2), "GPU", "is another one than the first; a node's GPUs are alike");
    machine_.gpu.product = name;
  }

  void read_header() {
    if (lines_.words().size() > 2 * kMostDevices) fail(lines_.line(), "matrix", "has more than 512 columns");
    columns_ = columns_of(lines_.words());
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (!row_at_.try_emplace(columns_[column], column).second)
        fail(lines_.words()[column], columns_[column], "is a column already");
      const int gpu = numbered(columns_[column], "GPU");
      if (gpu == static_cast<int>(gpus_) && gpus_ == column)
        ++gpus_;
      else if (gpu >= 0)
        fail(lines_.words()[column], columns_[column], fmt::format("comes out of order: GPU{} is next", gpus_));
    }
    cells_.assign(columns_.size(), {});
    if (lines_.words().size() > columns_.size())
      reading_.ignored.push_back({.from = "CPU Affinity", .why = "not modelled: on which cores processes run"});
  }

  std::optional<std::size_t> row_of() const {
    if (lines_.words().empty()) return std::nullopt;
    const auto found = row_at_.find(lines_.words().front());
    if (found == row_at_.end() || lines_.words().size() < 2) return std::nullopt;
    return found->second;
  }

  void read_row(std::size_t row) {
    const auto& words = lines_.words();
    if (!cells_[row].empty()) fail(words.front(), columns_[row], "has a row already");
    if (words.size() <= columns_.size())
      fail(lines_.line().substr(lines_.line().size()), columns_[row],
           fmt::format("has {} values, and there are {} columns", words.size() - 1, columns_.size()));
    for (std::size_t column = 0; column < columns_.size(); ++column)
      cells_[row].push_back(read_cell(row, column, words[column + 1]));
  }

  /// Links between two GPUs, or how near two devices are.
  struct Cell {
    int links = 0;
    std::optional<Nearness> nearness = std::nullopt;

    bool operator==(const Cell&) const = default;
  };

  Cell read_cell(std::size_t row, std::size_t column, std::string_view word) const {
    const std::string key = fmt::format("{} to {}", columns_[row], columns_[column]);
    if ((word == kSelf) != (row == column))
      fail(word, key,
           row == column ? "must be X, for it is the same device" : "is X, but they are two devices");
    if (word == kSelf) return {};
    Cell cell;
    const int links = numbered(word, "NV");
    const auto* const known = std::ranges::find(kWords, word, &Word::text);
    if (links > 0 && links <= kMostLinks && row < gpus_ && column < gpus_)
      cell.links = links;
    else if (known != kWords.end())
      cell.nearness = known->nearness;
    else
      fail(word, key,
           fmt::format("'{}' is not one of NV1 to NV{} (of GPUs), PIX, PXB, PHB, NODE, SYS", word, kMostLinks));
    if (column < row && !cells_[column].empty() && cells_[column][row] != cell)
      fail(word, key, "is not what the other direction has");
    return cell;
  }

  /// "NIC0: mlx5_0"
  void read_legend() {
    const auto& words = lines_.words();
    if (words.size() != 2 || !words[0].ends_with(':') || legend_.size() > columns_.size()) return;
    legend_[std::string(words[0].substr(0, words[0].size() - 1))] = std::string(words[1]);
  }

  void check_rows() const {
    for (std::size_t row = 0; row < cells_.size(); ++row) {
      if (cells_[row].empty())
        throw ConfigError({lines_.begin().file, lines_.number(), 1}, columns_[row], "has a column and no row");
    }
  }

  void make_machine() {
    machine_.lists_links = true;
    for (std::size_t device = 0; device < columns_.size(); ++device) {
      if (device < gpus_)
        machine_.gpus.push_back({.name = columns_[device]});
      else
        machine_.nics.push_back(
            {.name = legend_.contains(columns_[device]) ? legend_[columns_[device]] : columns_[device]});
    }
    std::vector<NearPair> pairs;
    for (std::size_t a = 0; a < cells_.size(); ++a) {
      for (std::size_t b = a + 1; b < cells_.size(); ++b) {
        const Cell& cell = cells_[a][b];
        const auto [from, to] = std::pair(static_cast<int>(a), static_cast<int>(b));
        if (cell.links > 0)
          pair_links_.push_back({from, to, cell.links});
        else if (cell.nearness != Nearness::far)
          pairs.push_back({from, to, *cell.nearness});
      }
    }
    plug_in(machine_, pairs);
    machine_.links = pair_links_;
    if (!machine_.nics.empty())
      reading_.ignored.push_back({.from = "NICs", .why = "the matrix does not say how fast they are"});
  }

  /// Links between each pair, all the same; 0: it is not so.
  int links_of_all() const {
    const std::size_t pairs = gpus_ * (gpus_ - 1) / 2;
    if (pair_links_.empty() || pair_links_.size() != pairs) return 0;
    const int links = pair_links_.front().count;
    const bool are_alike =
        std::ranges::all_of(pair_links_, [&](const GpuLink& link) { return link.count == links; });
    return are_alike ? links : 0;
  }

  void guess_gpu() {
    if (!machine_.gpu.product.empty()) return;
    const int links = links_of_all();
    const auto* const likely = std::ranges::find_if(kLikelyGpus, [&](const LikelyGpu& gpu) {
      return gpu.gpus == static_cast<int>(gpus_) && gpu.links == links;
    });
    if (likely == kLikelyGpus.end()) {
      throw ConfigError(lines_.begin(), "gpu",
                        "the matrix does not name the GPUs; put what nvidia-smi -L prints above it");
    }
    machine_.gpu.product = likely->preset;
    reading_.assumed.push_back(
        {.key = "node.gpu",
         .value = fmt::format("\"{}\"", likely->preset),
         .why =
             fmt::format("the matrix does not name the GPUs, and {} GPUs with NV{} are usually these; {}; put "
                         "what nvidia-smi -L prints above it",
                         likely->gpus, likely->links, likely->others)});
  }

  TextLines lines_;
  FileReading& reading_;
  Machine machine_;
  std::size_t gpus_ = 0;
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t, std::less<>> row_at_;
  std::vector<std::vector<Cell>> cells_;
  std::map<std::string, std::string> legend_;
  std::vector<GpuLink> pair_links_;
};

}  // namespace

bool is_nvidia_matrix(std::string_view text) {
  const std::size_t found = text.find("GPU0");
  if (found == std::string_view::npos) return false;
  const std::string none;
  const std::size_t begin = text.rfind('\n', found);
  TextLines lines(text.substr(begin == std::string_view::npos ? 0 : begin + 1), none);
  if (!lines.next() || !is_header(lines.words())) return false;
  while (lines.next()) {
    if (!lines.words().empty())
      return lines.words().size() > 1 && lines.words()[0] == "GPU0" && lines.words()[1] == kSelf;
  }
  return false;
}

Machine read_nvidia_machine(const ForeignFile& file, FileReading& reading) {
  return MatrixReader(file, reading).read();
}

FileReading read_nvidia_matrix(const ForeignFile& file) {
  FileReading reading{.file = file.name, .what = std::string(kNvidiaMatrixFile)};
  Machine machine = read_nvidia_machine(file, reading);
  add_node(reading, std::move(machine), "matrix", begin_of(file.name));
  return reading;
}

}}  // namespace c3::importers
