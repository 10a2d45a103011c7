#include "results/program_file.hpp"

#include <array>

#include "files/io_error.hpp"
#include "files/temporary_file.hpp"
#include "results/build_info.hpp"
#include "results/file_seal.hpp"
#include "results/hdf5_column.hpp"
#include "results/hdf5_handle.hpp"
#include "results/hdf5_open.hpp"
#include "results/program_columns.hpp"
#include "results/program_operators.hpp"
#include "results/schema.hpp"

namespace c3 { inline namespace results {
namespace {

/// Columns for the rows of all ranks, beside which "rank" is a row of /ranks.
template <class Row, std::size_t N>
class TableWriter {
 public:
  TableWriter(const H5Id& file, const char* name, const std::array<ProgramColumn<Row>, N>& fields)
      : group_(h5_create_group(file, name)), fields_(fields) {
    texts_.reserve(N);
    numbers_.reserve(N);
    for (const ProgramColumn<Row>& field : fields) {
      const ColumnSpec spec{.name = field.name, .units = field.units, .long_name = field.long_name};
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
  const std::array<ProgramColumn<Row>, N>& fields_;
  std::vector<Column<NameIndex>> texts_;
  std::vector<Column<std::int64_t>> numbers_;
  Column<std::int64_t> rank_{group_, {.name = "rank", .units = "1", .long_name = "row of /ranks"}};
};

template <class Row, std::size_t N, class RowsOf>
void write_table(const H5Id& file, const char* name, const std::array<ProgramColumn<Row>, N>& fields,
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
  std::vector<std::int64_t> numbers, rank_of_thread, names;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    numbers.push_back(run.ranks[rank].number);
    for (const TextRow name : run.ranks[rank].threads) {
      rank_of_thread.push_back(static_cast<std::int64_t>(rank));
      names.push_back(name);
    }
  }
  write_columns(file, "ranks", {{.name = "number", .units = "1", .long_name = "of the rank in its job"}},
                {numbers});
  write_columns(file, "threads",
                {{.name = "rank", .units = "1", .long_name = "row of /ranks"},
                 {.name = "name", .units = "1", .long_name = "as the trace has it", .indexes = kNames}},
                {rank_of_thread, names});
}

/// A table of what each collective has several of.
template <class ValuesOf>
void write_of_collectives(const H5Id& file, const char* name, const ColumnSpec& spec, const RecordedRun& run,
                          ValuesOf values_of) {
  std::vector<std::int64_t> rows, values;
  for (std::size_t i = 0; i < run.collectives.size(); ++i) {
    for (const auto value : values_of(run.collectives[i])) {
      rows.push_back(static_cast<std::int64_t>(i));
      values.push_back(value);
    }
  }
  write_columns(file, name, {{.name = "collective", .units = "1", .long_name = "row of /collectives"}, spec},
                {rows, values});
}

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
  h5_set_attribute(file, "starts", run.starts_at_release ? kStartsAtRelease : kStartsOnDevice);
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
  write_of_collectives(file, "members", {.name = "rank", .units = "1", .long_name = "number of a rank"}, run,
                       [](const RecordedCollective& collective) -> auto& { return collective.members; });
  write_of_collectives(file, kSends, {.name = "bytes", .units = "B", .long_name = "by sender, then receiver"},
                       run, [](const RecordedCollective& collective) -> auto& { return collective.sends; });
  h5_flush(file);
  if (!file.close()) throw IoError(target.string(), "write", "HDF5 could not close the file");
  seal_file(temporary);
  temporary.rename_to_target();
}

bool is_program_file(const std::filesystem::path& path) {
  const H5Id file = h5_open_file(path.string());
  return h5_has_attribute(file, "schema") && h5_attribute(file, "schema") == kProgramFileSchema;
}

}}  // namespace c3::results
