#include "results/buffer_tables.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "results/hdf5_column.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr const char* kBuffers = "buffers";
constexpr const char* kMapping = "channel_mapping";

std::string column_of(ChannelMapping mapping) { return fmt::format("reach_{}", name_of(mapping)); }

}  // namespace

void write_buffers(const H5Id& strategy, const Experiment& experiment, NameTable& names) {
  if (experiment.measure.memory_grain != MemoryGrain::channels) return;
  const GpuSpec& gpu = experiment.cluster.gpu;
  const std::vector<BufferReach> buffers = buffer_reaches(gpu, experiment.program);
  const H5Id group = h5_create_group(strategy, kBuffers);
  h5_set_attribute(group, kMapping, name_of(gpu.hbm.channels.mapping));
  Column<NameIndex> name(group, {"name", "1", "operation, and which of its tensors"});
  Column<NameIndex> phase(group, {"phase", "1", "of a call that touches it; empty: the kernel or collective"});
  Column<double> bytes(group, {"bytes", "B", "of the tensor"});
  Column<std::int32_t> written(group, {"is_written", "1", "1: written, 0: read"});
  Column<std::int64_t> address(group, {"address", "B", "of its first byte"});
  std::deque<Column<double>> reaches;
  for (std::size_t i = 0; i < kReachMappings.size(); ++i)
    if (!buffers.empty() && buffers.front().reach[i])
      reaches.emplace_back(group, ColumnSpec{column_of(kReachMappings[i]), "1",
                                             "share of the bandwidth that a stream of it alone reaches"});
  for (const BufferReach& buffer : buffers) {
    name.push(names.index(buffer.name));
    phase.push(names.index(buffer.phase));
    bytes.push(buffer.bytes.value);
    written.push(buffer.is_written ? 1 : 0);
    address.push(buffer.address);
    auto column = reaches.begin();
    for (const std::optional<double>& reach : buffer.reach)
      if (reach) (column++)->push(*reach);
  }
  flush_all(name, phase, bytes, written, address);
  for (Column<double>& column : reaches)
    column.flush();
}

RecordedBuffers read_buffers(const ResultReader& file, const std::string& strategy) {
  RecordedBuffers recorded;
  if (!file.has_table(strategy, kBuffers)) return recorded;
  recorded.mapping = file.attribute(strategy, kBuffers, kMapping).value_or("");
  const ResultTable table = file.table(strategy, kBuffers);
  const auto& names = table.values<std::string>("name");
  const auto& phases = table.values<std::string>("phase");
  const auto& bytes = table.values<double>("bytes");
  const auto& written = table.values<std::int64_t>("is_written");
  const auto& addresses = table.values<std::int64_t>("address");
  for (std::size_t i = 0; i < table.rows(); ++i) {
    BufferReach buffer{names[i], phases[i], Bytes{bytes[i]}, written[i] != 0, addresses[i], {}};
    for (const ChannelMapping mapping : kReachMappings) {
      const std::string column = column_of(mapping);
      buffer.reach.push_back(table.has(column) ? std::optional(table.values<double>(column)[i]) : std::nullopt);
    }
    recorded.buffers.push_back(std::move(buffer));
  }
  return recorded;
}

}}  // namespace c3::results
