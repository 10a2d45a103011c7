#include "workloads/traces/event_categories.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace traces {
namespace {

struct Category {
  std::string_view name;
  EventKind kind;
};

constexpr std::array kCategories{
    Category{"cpu_op", EventKind::op},
    Category{"Operator", EventKind::op},
    Category{"user_annotation", EventKind::annotation},
    Category{"cuda_runtime", EventKind::call},
    Category{"cuda_driver", EventKind::call},
    Category{"hip_runtime", EventKind::call},
    Category{"Runtime", EventKind::call},
    Category{"Driver", EventKind::call},
    Category{"kernel", EventKind::kernel},
    Category{"Kernel", EventKind::kernel},
    Category{"gpu_memcpy", EventKind::copy},
    Category{"Memcpy", EventKind::copy},
    Category{"gpu_memset", EventKind::memset},
    Category{"Memset", EventKind::memset},
    Category{"cuda_sync", EventKind::sync_record},
};

}  // namespace

std::optional<EventKind> kind_of_category(std::string_view category) {
  const auto* const found = std::ranges::find(kCategories, category, &Category::name);
  if (found == kCategories.end()) return std::nullopt;
  return found->kind;
}

}}  // namespace c3::traces
