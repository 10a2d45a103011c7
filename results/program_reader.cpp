#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "files/io_error.hpp"
#include "results/hdf5_column.hpp"
#include "results/hdf5_handle.hpp"
#include "results/hdf5_open.hpp"
#include "results/program_columns.hpp"
#include "results/program_file.hpp"
#include "results/program_operators.hpp"
#include "results/schema.hpp"

namespace c3 { inline namespace results {
namespace {

/// Reads tables whose rows point to each other.
class ProgramReader {
 public:
  explicit ProgramReader(const std::filesystem::path& path) : path_(path.string()), file_(h5_open_file(path_)) {
    if (!h5_has_attribute(file_, "schema") || h5_attribute(file_, "schema") != kProgramFileSchema)
      throw IoError(path_, "read", "not a program file of c3sim import");
    const std::string version = h5_attribute(file_, "schema_version");
    const auto major_of = [](std::string_view text) { return text.substr(0, text.find('.')); };
    if (major_of(version) != major_of(kProgramFileSchemaVersion))
      throw IoError(path_, "read",
                    fmt::format("schema version {}, this c3sim reads {}", version, kProgramFileSchemaVersion));
  }

  RecordedRun read() {
    run_.names = texts("names");
    if (run_.names.empty() || !run_.names.front().empty()) refuse("names", "does not begin with an empty text");
    run_.streams = texts("streams");
    run_.gpu = h5_attribute(file_, "gpu");
    run_.starts_at_release =
        h5_has_attribute(file_, "starts") && h5_attribute(file_, "starts") == kStartsAtRelease;
    run_.world_size = static_cast<int>(std::min<std::uint64_t>(h5_number(file_, "world_size"), 1U << 24U));
    int before = -1;
    for (const std::int64_t number : numbers("ranks", "number")) {
      run_.ranks.emplace_back().number = static_cast<int>(checked("ranks", number, before + 1, 1 << 24));
      before = run_.ranks.back().number;
    }
    if (run_.ranks.empty()) refuse("ranks", "is empty");
    read_threads();
    read_table("work", kWork, &RecordedRank::work);
    read_table("edges", kEdges, &RecordedRank::edges);
    read_table("points", kPoints, &RecordedRank::points);
    read_table("waits", kWaits, &RecordedRank::waits);
    read_table("steps", kSteps, &RecordedRank::steps);
    read_collectives();
    run_.operators = read_operators(file_, path_, run_.names.size());
    check();
    return std::move(run_);
  }

 private:
  [[noreturn]] void refuse(const std::string& table, const std::string& why) const {
    throw IoError(path_, "read", fmt::format("table '{}' {}; import the traces again", table, why));
  }

  std::int64_t checked(const std::string& table, std::int64_t value, std::int64_t least,
                       std::int64_t end) const {
    if (value < least || value >= end) refuse(table, "points to what is not there");
    return value;
  }

  std::vector<std::string> texts(const std::string& name) const {
    ColumnData column = read_column(file_, name);
    auto* values = std::get_if<std::vector<std::string>>(&column.values);
    if (values == nullptr) refuse(name, "holds no texts");
    return std::move(*values);
  }

  /// Files before 1.1.0 say of no work what it computes.
  bool has_column(const std::string& table, std::string_view name) const {
    return table != "work" || name != "operator" || h5_has(file_, kOperators);
  }

  std::vector<std::int64_t> numbers(const std::string& table, const std::string& name) const {
    const H5Id group = h5_open_group(file_, table);
    ColumnData column = read_column(group, name);
    auto* values = std::get_if<std::vector<std::int64_t>>(&column.values);
    if (values == nullptr) refuse(table, "has no numbers in column '" + name + "'");
    return std::move(*values);
  }

  void read_threads() {
    const std::vector<std::int64_t> ranks = numbers("threads", "rank"), names = numbers("threads", "name");
    if (ranks.size() != names.size()) refuse("threads", "has columns of unlike length");
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto rank = checked("threads", ranks[i], 0, std::ssize(run_.ranks));
      run_.ranks[static_cast<std::size_t>(rank)].threads.push_back(
          static_cast<TextRow>(checked("threads", names[i], 0, std::ssize(run_.names))));
    }
  }

  template <class Row, std::size_t N>
  std::vector<Row> rows_of(const std::string& table, const std::array<ProgramColumn<Row>, N>& fields) const {
    std::vector<Row> rows;
    bool is_first = true;
    for (const ProgramColumn<Row>& field : fields) {
      if (!has_column(table, field.name)) continue;
      const std::vector<std::int64_t> values = numbers(table, field.name);
      if (is_first) rows.resize(values.size());
      if (rows.size() != values.size()) refuse(table, "has columns of unlike length");
      is_first = false;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (field.is_text) checked(table, values[i], 0, std::ssize(run_.names));
        field.set(rows[i], values[i]);
      }
    }
    return rows;
  }

  template <class Row, std::size_t N>
  void read_table(const std::string& table, const std::array<ProgramColumn<Row>, N>& fields,
                  std::vector<Row> RecordedRank::*member) {
    const std::vector<std::int64_t> ranks = numbers(table, "rank");
    std::vector<Row> rows = rows_of(table, fields);
    if (rows.size() != ranks.size()) refuse(table, "has columns of unlike length");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto rank = checked(table, ranks[i], 0, std::ssize(run_.ranks));
      (run_.ranks[static_cast<std::size_t>(rank)].*member).push_back(std::move(rows[i]));
    }
  }

  void read_collectives() {
    run_.collectives = rows_of("collectives", kCollectives);
    of_collectives("members", "rank", [&](RecordedCollective& collective, std::int64_t rank) {
      collective.members.push_back(static_cast<std::int32_t>(checked("members", rank, 0, 1 << 24)));
    });
    if (!h5_has(file_, kSends)) return;
    of_collectives(kSends, "bytes", [&](RecordedCollective& collective, std::int64_t bytes) {
      if (bytes < 0) refuse(kSends, "has a negative size");
      collective.sends.push_back(bytes);
    });
  }

  /// Calls \p add with each row of a table of what collectives have several of.
  template <class Add>
  void of_collectives(const std::string& table, const std::string& column, Add add) {
    const std::vector<std::int64_t> calls = numbers(table, "collective"), values = numbers(table, column);
    if (calls.size() != values.size()) refuse(table, "has columns of unlike length");
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const auto row = checked(table, calls[i], 0, std::ssize(run_.collectives));
      add(run_.collectives[static_cast<std::size_t>(row)], values[i]);
    }
  }

  void check() const {
    for (const RecordedCollective& collective : run_.collectives) {
      if (collective.members.size() < 2 && !run_.is_of_one_rank())
        refuse("members", "has a collective of fewer than two ranks");
      if (collective.bytes < 0) refuse("collectives", "has a negative size");
      const std::size_t members = collective.members.size();
      if (!collective.sends.empty() && collective.sends.size() != members * members)
        refuse(kSends, "does not have one size for each pair of members");
      for (const std::int32_t member : collective.members) {
        if (std::ranges::find(run_.ranks, member, &RecordedRank::number) == run_.ranks.end() ||
            std::ranges::count(collective.members, member) > 1)
          refuse("members", "points to what is not there");
      }
    }
    std::vector<std::vector<int>> joins(run_.collectives.size());
    for (const RecordedRank& rank : run_.ranks)
      check(rank, joins);
    for (std::size_t i = 0; i < joins.size(); ++i) {
      const std::vector<std::int32_t>& members = run_.collectives[i].members;
      if (!std::ranges::is_permutation(joins[i], members)) refuse("work", "lacks members of a collective");
    }
  }

  void check(const RecordedRank& rank, std::vector<std::vector<int>>& joins) const {
    const auto works = std::ssize(rank.work), points = std::ssize(rank.points);
    for (const RecordedWork& work : rank.work) {
      checked("work", work.stream, 0, std::ssize(run_.streams));
      checked("work", work.launch, 0, points);
      checked("work", static_cast<std::int64_t>(work.work_class), 0, std::ssize(kWorkClassNames));
      if (work.op != kNoIndex) checked("work", work.op, 0, std::ssize(run_.operators));
      if (work.duration < Picoseconds{}) refuse("work", "has a negative duration");
      if (work.collective == kNoIndex) continue;
      checked("work", work.collective, 0, std::ssize(run_.collectives));
      joins[work.collective].push_back(rank.number);
    }
    for (const RecordedEdge& edge : rank.edges) {
      checked("edges", edge.source, 0, works);
      checked("edges", edge.destination, 0, works);
    }
    for (const HostPoint& point : rank.points) {
      checked("points", point.thread, 0, std::ssize(rank.threads));
      if (point.cost < Picoseconds{}) refuse("points", "has a negative cost");
    }
    for (const PointWait& wait : rank.waits) {
      checked("waits", wait.point, 0, points);
      checked("waits", wait.source, 0, wait.for_work ? works : points);
    }
    for (const StepSpan& step : rank.steps) {
      checked("steps", step.begin, 0, points);
      checked("steps", step.end, step.begin, points);
    }
  }

  std::string path_;
  H5Id file_;
  RecordedRun run_;
};

}  // namespace

RecordedRun read_program_file(const std::filesystem::path& path) { return ProgramReader(path).read(); }

}}  // namespace c3::results
