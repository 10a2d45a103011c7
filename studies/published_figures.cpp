#include "studies/published_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <stdexcept>

#include "base/csv_text.hpp"
#include "configs/toml/config_error.hpp"
#include "files/input_files.hpp"

namespace c3 { inline namespace studies {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader = "id,unit,published,low,high,gate,known_miss,source";
constexpr std::size_t kColumns = 8;

/// One line, cell by cell.
class RowReader {
 public:
  RowReader(std::shared_ptr<const std::string> file, const CsvLines& lines)
      : file_(std::move(file)), at_(lines) {
    if (!cut_cells(lines.line(), cells_) || cells_.size() != kColumns)
      fail(lines.line(), "row", fmt::format("must have {} cells", kColumns));
  }

  PublishedFigure read() const {
    return {.id = text(0, "id"),
            .unit = text(1, "unit"),
            .published = number(2, "published"),
            .low = number(3, "low"),
            .high = number(4, "high"),
            .gate = gate(),
            .known_miss = std::string(cells_[6]),
            .source = text(7, "source")};
  }

  [[noreturn]] void fail(std::string_view cell, std::string_view key, const std::string& reason) const {
    throw ConfigError({file_, at_.number(), column_of(at_.line(), cell)}, std::string(key), reason);
  }

 private:
  std::string text(std::size_t cell, std::string_view key) const {
    if (cells_[cell].empty()) fail(cells_[cell], key, "is missing");
    return std::string(cells_[cell]);
  }

  std::optional<double> number(std::size_t cell, std::string_view key) const {
    const std::string_view text = cells_[cell];
    if (text.empty()) return std::nullopt;
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      fail(text, key, fmt::format("'{}' is not a number", text));
    return value;
  }

  Gate gate() const {
    const auto* const found = std::ranges::find(kGateNames, cells_[5]);
    if (found == kGateNames.end()) fail(cells_[5], "gate", "must be band, range, order, exact or none");
    return static_cast<Gate>(found - kGateNames.begin());
  }

  std::shared_ptr<const std::string> file_;
  const CsvLines& at_;
  std::vector<std::string_view> cells_;
};

}  // namespace

PublishedFigures::PublishedFigures(const fs::path& file) {
  const auto name = std::make_shared<const std::string>(file.string());
  const std::vector<char> text = read_file(file);
  CsvLines lines({text.data(), text.size()});
  if (!lines.next() || lines.line() != kHeader)
    throw ConfigError({name, 1, 1}, "header", fmt::format("must be {}", kHeader));
  while (lines.next()) {
    const RowReader reader(name, lines);
    PublishedFigure figure = reader.read();
    if (std::ranges::find(rows_, figure.id, &PublishedFigure::id) != rows_.end())
      reader.fail(lines.line(), "id", fmt::format("'{}' is there twice", figure.id));
    rows_.push_back(std::move(figure));
  }
}

PublishedFigure PublishedFigures::find(std::string_view id) const {
  std::string_view above = id;
  while (true) {
    const auto found = std::ranges::find(rows_, above, &PublishedFigure::id);
    if (found != rows_.end()) {
      if (above.size() == id.size()) return *found;
      return {
          .id = std::string(id), .unit = found->unit, .known_miss = found->known_miss, .source = found->source};
    }
    const std::size_t dot = above.rfind('.');
    if (dot == std::string_view::npos) throw std::logic_error(fmt::format("no published figure '{}'", id));
    above = above.substr(0, dot);
  }
}

PublishedFigures PublishedFigures::without_gates() const {
  PublishedFigures figures = *this;
  for (PublishedFigure& figure : figures.rows_) {
    figure.gate = Gate::none;
    figure.low = figure.high = std::nullopt;
    figure.known_miss.clear();
  }
  return figures;
}

}}  // namespace c3::studies
