#include "workloads/program/communication_kind.hpp"

#include <string_view>

namespace c3 { inline namespace workloads {

std::string communication_kind(const std::string& stream) {
  struct Served {
    std::string_view begins, kind;
  };
  constexpr Served kServed[] = {{"tensor", "tensor parallel"},
                                {"vocabulary", "tensor parallel"},
                                {"dispatch", "expert parallel"},
                                {"context", "context parallel"},
                                {"pipeline_gather", "data parallel"},
                                {"pipeline", "pipeline"},
                                {"opposite", "pipeline"},
                                {"all_gather", "data parallel"},
                                {"reduce_scatter", "data parallel"},
                                {"gradients", "data parallel"},
                                {"replicas", "data parallel"},
                                {"norm", "data parallel"},
                                {"offload", "host copies"},
                                {"reload", "host copies"},
                                {"host", "host copies"}};
  for (const Served& its : kServed)
    if (stream.starts_with(its.begins)) return std::string(its.kind);
  return stream;
}

}}  // namespace c3::workloads
