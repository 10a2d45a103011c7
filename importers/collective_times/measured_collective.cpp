#include "importers/collective_times/measured_collective.hpp"

namespace c3 { inline namespace importers {
namespace {

bool has_size(CollectiveKind kind) {
  return kind != CollectiveKind::all_to_all_v && kind != CollectiveKind::barrier;
}

}  // namespace

std::vector<std::string> offered_operations() {
  std::vector<std::string> names;
  for (const CollectiveKind kind : kCollectiveKinds) {
    if (has_size(kind)) names.emplace_back(name_of(kind));
  }
  return names;
}

std::optional<CollectiveKind> operation_named(std::string_view written) {
  const auto kind = collective_named(written);
  return kind && has_size(*kind) ? kind : std::nullopt;
}

}}  // namespace c3::importers
