#include "results/program_file.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "files/io_error.hpp"
#include "files/temporary_file.hpp"
#include "results/build_info.hpp"
#include "results/file_seal.hpp"
#include "results/hdf5_column.hpp"
#include "results/hdf5_handle.hpp"
#include "results/hdf5_open.hpp"
#include "results/program_operators.hpp"
#include "results/schema.hpp"

namespace c3::inline results {
namespace {

/// A column of a table, and what it is of each row.
template <class Row>
struct Field {
  const char* name;
  const char* units;
  const char* long_name;
  bool is_text;
  std::int64_t (*get)(const Row&);
  void (*set)(Row&, std::int64_t);
};

template <auto Member, class Row>
std::int64_t get_member(const Row& row) {
  if constexpr (requires { (row.*Member).count; }) {
    return (row.*Member).count;
  } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row.*Member)>, std::uint32_t>) {
    return row.*Member == kNoIndex ? -1 : static_cast<std::int64_t>(row.*Member);
  } else {
    return static_cast<std::int64_t>(row.*Member);
  }
}

template <auto Member, class Row>
void set_member(Row& row, std::int64_t value) {
  if constexpr (requires { (row.*Member).count; }) {
    (row.*Member).count = value;
  } else {
    row.*Member = static_cast<std::remove_cvref_t<decltype(row.*Member)>>(value);
  }
}

template <auto Member, class Row>
constexpr Field<Row> field(const char* name, const char* units, const char* long_name, bool is_text = false) {
  return {name, units, long_name, is_text, &get_member<Member, Row>, &set_member<Member, Row>};
}

constexpr std::array kWork{
    field<&RecordedWork::name, RecordedWork>("name", "1", "kernel, copy or memset", true),
    field<&RecordedWork::stream, RecordedWork>("stream", "1", "row of /streams"),
    field<&RecordedWork::work_class, RecordedWork>(
        "class", "1", "0 GEMM, 1 convolution, 2 attention, 3 vector, 4 collective, 5 copy, 6 memset, 7 other"),
    field<&RecordedWork::start, RecordedWork>("start", "ps", "recorded date of its start"),
    field<&RecordedWork::duration, RecordedWork>(
        "duration", "ps", "of a matched collective from the start of its last member to the end here"),
    field<&RecordedWork::launch, RecordedWork>("launch", "1", "row of points: what launches it"),
    field<&RecordedWork::after_launch, RecordedWork>("after_launch", "ps", "from there to the start, at least"),
    field<&RecordedWork::after_stream, RecordedWork>(
        "after_stream", "ps", "from the end of what was before it on its stream, at least"),
    field<&RecordedWork::collective, RecordedWork>("collective", "1", "row of /collectives, -1 for none"),
    field<&RecordedWork::op, RecordedWork>("operator", "1", "row of /operators, -1 for none"),
};
constexpr std::array kEdges{
    field<&RecordedEdge::source, RecordedEdge>("source", "1", "row of work that must end first"),
    field<&RecordedEdge::destination, RecordedEdge>("destination", "1", "row of work on another stream"),
    field<&RecordedEdge::lag, RecordedEdge>("lag", "ps", "from that end to the start, at least"),
};
constexpr std::array kPoints{
    field<&HostPoint::thread, HostPoint>("thread", "1", "row of threads"),
    field<&HostPoint::date, HostPoint>("date", "ps", "recorded date"),
    field<&HostPoint::cost, HostPoint>("cost", "ps", "time of the host since the thread's previous point"),
};
constexpr std::array kWaits{
    field<&PointWait::point, PointWait>("point", "1", "row of points that waits"),
    field<&PointWait::for_work, PointWait>("for_work", "1", "1: for the end of work, 0: for another point"),
    field<&PointWait::source, PointWait>("source", "1", "row of work or of points"),
    field<&PointWait::lag, PointWait>("lag", "ps", "from there to the point, at least"),
};
constexpr std::array kSteps{
    field<&StepSpan::name, StepSpan>("name", "1", "as the profiler calls the step", true),
    field<&StepSpan::begin, StepSpan>("begin", "1", "row of points"),
    field<&StepSpan::end, StepSpan>("end", "1", "row of points"),
};
constexpr std::array kCollectives{
    field<&RecordedCollective::name, RecordedCollective>("name", "1", "kernel", true),
    field<&RecordedCollective::kind, RecordedCollective>("kind", "1", "all_reduce, ..; empty: not known", true),
    field<&RecordedCollective::dtype, RecordedCollective>("dtype", "1", "as PyTorch calls it", true),
    field<&RecordedCollective::bytes, RecordedCollective>("bytes", "B",
                                                          "of the larger side of a rank; 0: unknown"),
    field<&RecordedCollective::group_size, RecordedCollective>("group_size", "1", "ranks; 0: unknown"),
};

/// Columns for the rows of all ranks, beside which "rank" is a row of /ranks.
template <class Row, std::size_t N>
class TableWriter {
 public:
  TableWriter(const H5Id& file, const char* name, const std::array<Field<Row>, N>& fields)
      : group_(h5_create_group(file, name)), fields_(fields) {
    texts_.reserve(N);
    numbers_.reserve(N);
    for (const Field<Row>& its : fields) {
      const ColumnSpec spec{.name = its.name, .units = its.units, .long_name = its.long_name};
      texts_.emplace_back(group_, spec);
      numbers_.emplace_back(group_, spec);
    }
  }

  void add(const Row& row) {
    for (std::size_t i = 0; i < N; ++i) {
      if (fields_[i].is_text) {
        texts_[i].push(static_cast<NameIndex>(fields_[i].get(row)));
      } else {
        numbers_[i].push(fields_[i].get(row));
      }
    }
  }
  void add(std::int64_t rank, const Row& row) {
    rank_.push(rank);
    add(row);
  }

  void finish(bool of_ranks = true) {
    if (of_ranks) rank_.flush();
    for (std::size_t i = 0; i < N; ++i) {
      if (fields_[i].is_text) {
        texts_[i].flush();
      } else {
        numbers_[i].flush();
      }
    }
  }

 private:
  H5Id group_;
  const std::array<Field<Row>, N>& fields_;
  std::vector<Column<NameIndex>> texts_;
  std::vector<Column<std::int64_t>> numbers_;
  Column<std::int64_t> rank_{group_, {.name = "rank", .units = "1", .long_name = "row of /ranks"}};
};

template <class Row, std::size_t N, class RowsOf>
void write_table(const H5Id& file, const char* name, const std::array<Field<Row>, N>& fields,
                 const RecordedRun& run, RowsOf rows_of) {
  TableWriter<Row, N> table(file, name, fields);
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    for (const Row& row : rows_of(run.ranks[rank]))
      table.add(static_cast<std::int64_t>(rank), row);
  }
  table.finish();
}

/// A table of one or two columns.
void write_columns(const H5Id& file, const char* name, const std::vector<ColumnSpec>& specs,
                   const std::vector<std::vector<std::int64_t>>& columns) {
  const H5Id group = h5_create_group(file, name);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Column<std::int64_t> column(group, specs[i]);
    for (const std::int64_t value : columns[i])
      column.push(value);
    column.flush();
  }
}

void write_ranks(const H5Id& file, const RecordedRun& run) {
  std::vector<std::int64_t> numbers, rank_of_thread, names, collectives, members;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    numbers.push_back(run.ranks[rank].number);
    for (const TextRow name : run.ranks[rank].threads) {
      rank_of_thread.push_back(static_cast<std::int64_t>(rank));
      names.push_back(name);
    }
  }
  for (std::size_t i = 0; i < run.collectives.size(); ++i) {
    for (const std::int32_t member : run.collectives[i].members) {
      collectives.push_back(static_cast<std::int64_t>(i));
      members.push_back(member);
    }
  }
  write_columns(file, "ranks", {{.name = "number", .units = "1", .long_name = "of the rank in its job"}},
                {numbers});
  write_columns(file, "threads",
                {{.name = "rank", .units = "1", .long_name = "row of /ranks"},
                 {.name = "name", .units = "1", .long_name = "as the trace has it", .indexes = kNames}},
                {rank_of_thread, names});
  write_columns(file, "members",
                {{.name = "collective", .units = "1", .long_name = "row of /collectives"},
                 {.name = "rank", .units = "1", .long_name = "number of a rank"}},
                {collectives, members});
}

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
  std::vector<Row> rows_of(const std::string& table, const std::array<Field<Row>, N>& fields) const {
    std::vector<Row> rows;
    bool is_first = true;
    for (const Field<Row>& its : fields) {
      if (!has_column(table, its.name)) continue;
      const std::vector<std::int64_t> values = numbers(table, its.name);
      if (is_first) rows.resize(values.size());
      if (rows.size() != values.size()) refuse(table, "has columns of unlike length");
      is_first = false;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (its.is_text) checked(table, values[i], 0, std::ssize(run_.names));
        its.set(rows[i], values[i]);
      }
    }
    return rows;
  }

  template <class Row, std::size_t N>
  void read_table(const std::string& table, const std::array<Field<Row>, N>& fields,
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
    const std::vector<std::int64_t> of = numbers("members", "collective"), ranks = numbers("members", "rank");
    if (of.size() != ranks.size()) refuse("members", "has columns of unlike length");
    for (std::size_t i = 0; i < of.size(); ++i) {
      const auto row = checked("members", of[i], 0, std::ssize(run_.collectives));
      run_.collectives[static_cast<std::size_t>(row)].members.push_back(
          static_cast<std::int32_t>(checked("members", ranks[i], 0, 1 << 24)));
    }
  }

  void check() const {
    for (const RecordedCollective& collective : run_.collectives) {
      if (collective.members.size() < 2) refuse("members", "has a collective of fewer than two ranks");
      if (collective.bytes < 0) refuse("collectives", "has a negative size");
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

void write_program_file(const std::filesystem::path& target, const RecordedRun& run,
                        const std::string& command_line) {
  TemporaryFile temporary(target);
  H5Id file = h5_create_file(temporary.path().string());
  h5_set_attribute(file, "schema", kProgramFileSchema);
  h5_set_attribute(file, "schema_version", kProgramFileSchemaVersion);
  h5_set_attribute(file, "software", "c3sim");
  h5_set_attribute(file, "software_version", build_info().version);
  h5_set_attribute(file, "command_line", command_line);
  h5_set_attribute(file, "gpu", run.gpu);
  h5_set_attribute(file, "world_size", static_cast<std::uint64_t>(run.world_size));
  write_texts(file, {kNames, "1", "texts that columns with an attribute 'indexes' point to"}, run.names);
  write_texts(file, {kStreams, "1", "names of the streams"}, run.streams);
  write_ranks(file, run);
  write_table(file, "work", kWork, run, [](const RecordedRank& rank) -> auto& { return rank.work; });
  write_operators(file, run);
  write_table(file, "edges", kEdges, run, [](const RecordedRank& rank) -> auto& { return rank.edges; });
  write_table(file, "points", kPoints, run, [](const RecordedRank& rank) -> auto& { return rank.points; });
  write_table(file, "waits", kWaits, run, [](const RecordedRank& rank) -> auto& { return rank.waits; });
  write_table(file, "steps", kSteps, run, [](const RecordedRank& rank) -> auto& { return rank.steps; });
  {
    TableWriter<RecordedCollective, kCollectives.size()> table(file, "collectives", kCollectives);
    for (const RecordedCollective& collective : run.collectives)
      table.add(collective);
    table.finish(/*of_ranks=*/false);
  }
  h5_flush(file);
  if (!file.close()) throw IoError(target.string(), "write", "HDF5 could not close the file");
  seal_file(temporary);
  temporary.rename_to_target();
}

RecordedRun read_program_file(const std::filesystem::path& path) { return ProgramReader(path).read(); }

bool is_program_file(const std::filesystem::path& path) {
  const H5Id file = h5_open_file(path.string());
  return h5_has_attribute(file, "schema") && h5_attribute(file, "schema") == kProgramFileSchema;
}

}  // namespace c3::results
