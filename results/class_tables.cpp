#include "results/class_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "files/io_error.hpp"
#include "results/hdf5_column.hpp"
#include "results/picoseconds.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr const char* kClasses = "classes";
constexpr const char* kRanks = "ranks";

/// The number of each rank's class.
std::vector<std::int32_t> numbers_of(const std::vector<SimulatedClass>& classes) {
  std::vector<std::int32_t> numbers;
  for (std::size_t number = 0; number < classes.size(); ++number) {
    for (const auto& [begin, end] : classes[number].ranks) {
      numbers.resize(std::max(numbers.size(), static_cast<std::size_t>(end)));
      std::fill(numbers.begin() + begin, numbers.begin() + end, static_cast<std::int32_t>(number));
    }
  }
  return numbers;
}

RankPartition partition_in(const ResultReader& file, const std::string& strategy) {
  const ResultTable table = file.table(strategy, kRanks);
  std::vector<std::uint32_t> numbers;
  for (const std::int64_t number : table.values<std::int64_t>("class"))
    numbers.push_back(static_cast<std::uint32_t>(number));
  try {
    return RankPartition(std::move(numbers));
  } catch (const std::logic_error&) {
    throw IoError(file.path(), "read",
                  "table 'ranks' does not number classes in the order of their lowest ranks");
  }
}

bool has_messages(const SimulatedClass& ranks) {
  return std::ranges::any_of(ranks.times.classes, [](const ClassTime& time) {
    return time.name == name_of(CollectiveKind::send_receive);
  });
}

}  // namespace

void write_classes(const H5Id& strategy, const std::vector<SimulatedClass>& classes, NameTable& names) {
  const H5Id group = h5_create_group(strategy, kClasses);
  Column<NameIndex> name(group, {"name", "1", "of its [[ranks]]; empty: none"});
  Column<NameIndex> ranks(group, {"ranks", "1", "which they are, shortened; the table 'ranks' has all"});
  Column<std::int32_t> representative(group,
                                      {"representative", "1", "rank that was simulated for all of them"});
  Column<std::int32_t> multiplicity(group, {"multiplicity", "1", "how many ranks they are"});
  Column<std::int64_t> kernels(group, {"kernels", "ps", "in which a kernel runs"});
  Column<std::int64_t> communication(group,
                                     {"communication", "ps", "in which a collective or message is in flight"});
  Column<std::int64_t> exposed(group, {"exposed", "ps", "of that, in which no kernel runs"});
  Column<std::int64_t> idle(group, {"idle", "ps", "in which there is neither"});
  std::optional<Column<std::int64_t>> bubble;
  if (std::ranges::any_of(classes, has_messages))
    bubble.emplace(
        group, ColumnSpec{"bubble", "ps", "in which there is neither a kernel nor a collective but messages"});
  std::optional<Column<double>> memory;
  if (std::ranges::all_of(classes, [](const auto& rank_class) { return rank_class.memory.has_value(); }))
    memory.emplace(group, ColumnSpec{"memory", "B", "that the operations of each of them hold"});
  for (const SimulatedClass& rank_class : classes) {
    name.push(names.index(rank_class.name));
    ranks.push(names.index(text_of(rank_class.ranks)));
    representative.push(rank_class.representative());
    multiplicity.push(rank_class.multiplicity());
    kernels.push(picoseconds(rank_class.times.kernels));
    communication.push(picoseconds(rank_class.times.communication));
    exposed.push(picoseconds(rank_class.times.exposed));
    idle.push(picoseconds(rank_class.times.idle));
    if (bubble) bubble->push(picoseconds(rank_class.times.bubble));
    if (memory) memory->push(rank_class.memory->value);
  }
  if (bubble) bubble->flush();
  if (memory) memory->flush();
  flush_all(name, ranks, representative, multiplicity, kernels, communication, exposed, idle);
  const H5Id by_rank = h5_create_group(strategy, kRanks);
  Column<std::int32_t> number(by_rank, {"class", "1", "of each rank: row of 'classes'"});
  for (const std::int32_t class_number : numbers_of(classes))
    number.push(class_number);
  number.flush();
}

std::vector<SimulatedClass> read_classes(const ResultReader& file, const std::string& strategy) {
  if (!file.has_table(strategy, kClasses)) return {};
  const ResultTable table = file.table(strategy, kClasses);
  std::vector<RankRanges> ranges = partition_in(file, strategy).ranges();
  if (ranges.size() != table.rows())
    throw IoError(file.path(), "read", "tables 'classes' and 'ranks' have unlike numbers of classes");
  const auto time = [&](const char* column, std::size_t row) {
    return seconds(table.values<std::int64_t>(column)[row]);
  };
  const auto memory = [&](std::size_t row) {
    return table.has("memory") ? std::optional(Bytes{table.values<double>("memory")[row]}) : std::nullopt;
  };
  std::vector<SimulatedClass> classes;
  for (std::size_t i = 0; i < table.rows(); ++i)
    classes.push_back({.name = table.values<std::string>("name")[i],
                       .ranks = std::move(ranges[i]),
                       .times = {.kernels = time("kernels", i),
                                 .communication = time("communication", i),
                                 .exposed = time("exposed", i),
                                 .idle = time("idle", i),
                                 .bubble = table.has("bubble") ? time("bubble", i) : Seconds{}},
                       .memory = memory(i)});
  return classes;
}

}}  // namespace c3::results
