#include "importers/collective_times/printed_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/small_letters.hpp"
#include "base/trimmed.hpp"
#include "configs/toml/config_error.hpp"
#include "importers/collective_times/cell_text.hpp"
#include "importers/logs/log_lines.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kTimestamp = "timestamp";  // a date and a time: two words
constexpr std::string_view kStarting = "# Collective test starting:";
constexpr std::string_view kUsualHeader =
    "size count type redop root time algbw busbw #wrong time algbw busbw #wrong";
constexpr std::string_view kHeaderWithoutRoot =
    "size count type redop time algbw busbw error time algbw busbw error";

/// Columns that are there for each place, and their names here.
constexpr std::pair<std::string_view, std::string_view> kOfPlaces[] = {
    {"time", "time_us"},   {"cputime", "cputime_us"}, {"hipevt", "hipevt_us"},  {"algbw", "algbw"},
    {"busbw", "busbw"},    {"#wrong", "wrong"},       {"error", "wrong"},       {"i_min", "i_min_us"},
    {"i_max", "i_max_us"}, {"i_p99", "i_p99_us"},     {"i_cv%", "i_cv_percent"}};

bool is_header(std::string_view line) {
  if (!line.starts_with('#')) return false;
  const auto words = words_of(line.substr(1));
  return has_word(words, "size") && has_word(words, "count") &&
         (has_word(words, "time") || has_word(words, "cputime"));
}

/// One test of a file: what its header and list of devices say.
struct Test {
  std::string_view program;
  std::set<std::pair<int, int>> devices;  ///< group and rank of each
  std::set<std::string> hosts;            ///< hosts of the first group
  std::vector<std::size_t> columns;       ///< column of the table for each word of a row
  bool only_in_place = false;
  bool has_timestamp = false;

  std::size_t ranks() const {
    const auto is_in_first = [this](const auto& device) { return device.first == devices.begin()->first; };
    return static_cast<std::size_t>(std::ranges::count_if(devices, is_in_first));
  }
};

class PrintedTestsReader {
 public:
  explicit PrintedTestsReader(const std::shared_ptr<const std::string>& file) : file_(file) {}

  TestRows read(std::string_view text) {
    has_header_ = has_printed_header(text);
    for_each_line(text, [this](std::uint32_t number, std::string_view whole) {
      const std::string_view line = without_launcher(whole);
      line.starts_with('#') ? read_remark(number, line) : read_row(number, line);
    });
    for (TableRow& row : result_.rows)
      row.cells.resize(result_.columns.size());
    tell_tests_apart();
    result_.log = read_library_log(text);
    read_ways();
    return std::move(result_);
  }

 private:
  void read_remark(std::uint32_t number, std::string_view line) {
    const auto words = words_of(line.substr(1));
    const bool begins = has_word(words, "nThread") || line.starts_with(kStarting) ||
                        line.find("-tests version ") != std::string_view::npos;
    if (begins && !tests_.back().columns.empty()) tests_.emplace_back();
    Test& test = tests_.back();
    if (line.starts_with(kStarting)) test.program = trimmed(line.substr(kStarting.size()));
    if (const auto rank = logged_rank(line)) {
      test.devices.emplace(rank->group, rank->rank);
      if (rank->group == test.devices.begin()->first) test.hosts.insert(rank->host);
    }
    if (line.find("-place") != std::string_view::npos)
      test.only_in_place = line.find("out-of-place") == std::string_view::npos;
    if (!is_header(line)) return;
    if (result_.columns.empty()) result_.header_line = number;
    name_columns(line.substr(1));
  }

  void name_columns(std::string_view header) {
    Test& test = tests_.back();
    test.columns.clear();
    test.has_timestamp = false;
    std::vector<std::string_view> seen;
    for (const std::string_view word : words_of(header)) {
      test.has_timestamp = test.has_timestamp || word == kTimestamp;
      const auto* const of_place =
          std::ranges::find(kOfPlaces, word, [](const auto& pair) { return pair.first; });
      if (of_place == std::end(kOfPlaces)) {
        test.columns.push_back(column_named(in_small_letters(word)));
      } else {
        const bool is_in_place = has_word(seen, word) || test.only_in_place;
        test.columns.push_back(
            column_named(fmt::format("{}_{}", is_in_place ? "ip" : "oop", of_place->second)));
        seen.push_back(word);
      }
    }
  }

  /// A header may have a name twice that stands for no place: such words have one column.
  std::size_t column_named(const std::string& name) {
    const auto found = std::ranges::find(result_.columns, name);
    if (found != result_.columns.end()) return static_cast<std::size_t>(found - result_.columns.begin());
    result_.columns.push_back(name);
    return result_.columns.size() - 1;
  }

  void read_row(std::uint32_t number, std::string_view line) {
    const auto words = words_of(line);
    if (words.empty() || !number_in(words.front()) || (words.size() > 1 && !number_in(words[1]))) return;
    Test& test = tests_.back();
    if (test.columns.empty() && !name_usual_columns(words.size())) return;
    TableRow row{.line = number, .text = line, .cells = std::vector<std::string_view>(result_.columns.size())};
    const std::size_t expected = test.columns.size() + (test.has_timestamp ? 1 : 0);
    if (words.size() != expected) {
      const std::string reason = fmt::format("has {} words, its header {}", words.size(), expected);
      const Origin at{file_, number, column_in(row, words.front())};
      result_.broken.emplace_back(ConfigError(at, "row", reason).what());
      return;
    }
    for (std::size_t word = 0; word < test.columns.size(); ++word)
      row.cells[test.columns[word]] = words[word];
    result_.rows.push_back(std::move(row));
    test_of_row_.push_back(tests_.size() - 1);
  }

  /// Names the columns of rows without a header, as grep leaves them. \returns whether they can be some of
  /// nccl-tests.
  bool name_usual_columns(std::size_t words) {
    const std::string_view header =
        words == words_of(kHeaderWithoutRoot).size() ? kHeaderWithoutRoot : kUsualHeader;
    if (has_header_ || words != words_of(header).size()) return false;
    name_columns(header);
    return true;
  }

  /// Says of which test each row is, where there are several.
  void tell_tests_apart() {
    const std::set<std::size_t> with_rows(test_of_row_.begin(), test_of_row_.end());
    if (with_rows.size() < 2) {
      if (!with_rows.empty()) result_.collective = tests_[*with_rows.begin()].program;
      return;
    }
    for (const char* name : {"op", "gpus", "hosts"})
      result_.columns.emplace_back(name);
    std::vector<std::array<std::string_view, 3>> said;
    for (const Test& test : tests_) {
      const auto word = [this](std::size_t count) -> std::string_view {
        if (count == 0) return {};
        return result_.words.emplace_back(fmt::format("{}", count));
      };
      said.push_back({test.program, word(test.ranks()), word(test.hosts.size())});
    }
    for (std::size_t row = 0; row < result_.rows.size(); ++row) {
      const auto& of_test = said[test_of_row_[row]];
      result_.rows[row].cells.insert(result_.rows[row].cells.end(), of_test.begin(), of_test.end());
    }
  }

  /// How rccl-tests says that each size was run.
  void read_ways() {
    const auto column = [this](std::string_view name) {
      return static_cast<std::size_t>(std::ranges::find(result_.columns, name) - result_.columns.begin());
    };
    const std::size_t size = column("size"), algo = column("algo"), proto = column("proto");
    const std::size_t channels = column("nchannels"), end = result_.columns.size();
    if (size == end || algo == end || proto == end || channels == end) return;
    for (std::size_t row = 0; row < result_.rows.size(); ++row) {
      const TableRow& from = result_.rows[row];
      const auto bytes = number_in(from.cells[size]);
      if (!bytes || from.cells[algo].empty()) continue;
      result_.log.choices.push_back({.kind = collective_named(tests_[test_of_row_[row]].program),
                                     .bytes = Bytes{*bytes},
                                     .algorithm = logged_algorithm(from.cells[algo]),
                                     .protocol = logged_protocol(from.cells[proto]),
                                     .channels = whole_at(from.cells[channels]),
                                     .calls = 1,
                                     .line = from.line});
    }
  }

  std::shared_ptr<const std::string> file_;
  TestRows result_;
  std::vector<Test> tests_ = std::vector<Test>(1);
  std::vector<std::size_t> test_of_row_;
  bool has_header_ = false;
};

}  // namespace

bool has_printed_header(std::string_view text) {
  bool found = false;
  for_each_line(
      text, [&](std::uint32_t, std::string_view line) { found = found || is_header(without_launcher(line)); });
  return found;
}

TestRows read_printed_tests(std::string_view text, const std::shared_ptr<const std::string>& file) {
  return PrintedTestsReader(file).read(text);
}

}}  // namespace c3::importers
