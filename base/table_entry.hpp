#pragma once
/// Open sets (algorithms, backends, styles of kernels) are tables with one entry a file.

namespace c3 { inline namespace base {

/// A member of a set that a table lists: a name for its entry, copied as a pointer and compared by which entry
/// it is. A set derives its class from this one and lists, as static members, those that code asks for by name.
template <class Entry>
class TableEntry {
 public:
  /// \param entry outlives every copy, as entries of a table do.
  constexpr explicit TableEntry(const Entry& entry) : entry_(&entry) {}
  explicit TableEntry(const Entry&&) = delete;

  constexpr const Entry* operator->() const { return entry_; }
  bool operator==(const TableEntry&) const = default;

 private:
  const Entry* entry_;  ///< never null
};

}}  // namespace c3::base
