#pragma once
/// Who moves the bytes of a collective: the backends that there are.

#include <span>
#include <string_view>

#include "base/table_entry.hpp"

namespace c3 { inline namespace collectives {

struct BackendEntry;
extern const BackendEntry kCuBackend, kDmaBackend, kFusedBackend;

/// One backend. Those that code asks for by name are listed here; the others of the table (kBackends) need
/// none.
class Backend : public TableEntry<BackendEntry> {
 public:
  using TableEntry::TableEntry;

  static const Backend cu;   ///< channels are work groups that hold CU slots (RCCL, NCCL)
  static const Backend dma;  ///< one copy engine per peer (ConCCL)
  static const Backend
      fused;  ///< the stores of the kernel that makes the data, and copies that they trigger (T3)
};

inline constexpr Backend Backend::cu{kCuBackend};
inline constexpr Backend Backend::dma{kDmaBackend};
inline constexpr Backend Backend::fused{kFusedBackend};

/// All backends that configuration and command offer, in this order (table.cpp).
extern const std::span<const Backend> kBackends;

std::string_view name_of(Backend backend);

}}  // namespace c3::collectives
