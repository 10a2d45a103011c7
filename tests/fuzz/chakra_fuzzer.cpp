/// Any bytes as a Chakra trace, in protobuf or JSON or in a tar archive: reported on, or refused with a
/// TraceError or, of the archive, an IoError.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "files/io_error.hpp"
#include "files/tar_members.hpp"
#include "tests/fuzz/source_of.hpp"
#include "workloads/traces/chakra/chakra_reader.hpp"
#include "workloads/traces/chakra/chakra_report.hpp"
#include "workloads/traces/trace_error.hpp"
#include "workloads/traces/trace_format.hpp"

namespace {

void read(c3::ByteSource bytes, bool is_member, std::vector<c3::ChakraTrace>& traces) {
  c3::PeekedSource source(std::move(bytes));
  const c3::TraceFormat format = c3::format_of("trace", source);
  const c3::ByteSource all = [&source](std::span<char> part) { return source.read(part); };
  if (format == c3::TraceFormat::chakra) traces.push_back(c3::read_chakra("trace", all));
  if (format == c3::TraceFormat::chakra_json) traces.push_back(c3::read_chakra_json("trace", all));
  if (format != c3::TraceFormat::tar || is_member) return;
  c3::TarMembers members(all, "archive");
  while (members.next())
    read([&members](std::span<char> part) { return members.read(part); }, true, traces);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    std::vector<c3::ChakraTrace> traces;
    read(c3::source_of(std::string_view(reinterpret_cast<const char*>(data), size)), false, traces);
    c3::make_report(traces);
  } catch (const c3::TraceError&) {
    return 0;
  } catch (const c3::IoError&) {
    return 0;
  }
  return 0;
}
