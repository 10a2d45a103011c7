#include "collectives/library/permits.hpp"

#include <algorithm>
#include <ranges>

namespace c3 { inline namespace collectives {

bool Permits::allow(CollectiveKind kind, std::string_view name) const {
  for (const PermitList& list : lists_ | std::views::reverse) {
    if (list.kind && *list.kind != kind) continue;
    const bool is_named = std::ranges::find(list.names, name) != list.names.end();
    return is_named != list.excludes;
  }
  return true;
}

}}  // namespace c3::collectives
