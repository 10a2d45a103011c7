#pragma once
/// What a GPU's memory holds as its host launches a step.

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "workloads/program/step_facts.hpp"
#include "workloads/training/memory_pool.hpp"

namespace c3 { inline namespace workloads {

/// What a GPU holds in one range of the step, when it holds most there.
struct MemoryMoment {
  std::string name;  ///< "micro-batch 1, forward, layer 3"
  Bytes bytes;       ///< of all tensors
  std::array<Bytes, kMemoryClasses.size()> by_class = {};

  Bytes of(MemoryClass memory_class) const { return by_class[static_cast<std::size_t>(memory_class)]; }
};

/// Tensors are allocated and released in the order in which the host launches what uses them, as PyTorch's
/// caching allocator does it: the peak follows from the program alone. Wrong when: a tensor is kept until
/// another stream has passed.
class MemoryLedger {
 public:
  using Tensor = std::size_t;

  /// \param pool number of the stream that allocates it
  Tensor allocate(std::size_t pool, MemoryClass memory_class, std::string name, Bytes bytes);
  /// What a run has from its first step's optimizer on: it counts from the start, but its place is what the
  /// first step leaves free.
  void allocate_late(std::size_t pool, MemoryClass memory_class, std::string name, Bytes bytes);
  /// Nobody needs \p tensor any more, but another stream may still read it: its place is free at release(),
  /// or as soon as the allocator has no room and waits for the stream (PyTorch: Tensor.record_stream).
  void let_go(Tensor tensor);
  /// \pre \p tensor was not released before.
  void release(Tensor tensor);
  /// What is there now stays for all steps. What comes later goes when the next step begins, if not before.
  void begin_step() { step_begin_ = changes_.size(); }
  /// Names what follows: a peak there is named after \p moment.
  void set_moment(std::string moment);
  /// A period begins: what follows, up to the next one, is what followed the last one.
  void begin_period() { periods_.push_back(changes_.size()); }

  Bytes bytes_of(Tensor tensor) const { return entries_[tensor].bytes; }
  Bytes in_use() const { return in_use_; }
  MemoryPeak peak() const { return account().peak; }
  struct Account {
    MemoryPeak peak;
    /// Whether the later half of the periods, four or more, held no further page and reserved hardly any, in
    /// the first step and in the next. With more of them in the middle tensors are the same, and pages to some
    /// 0.2 %: those that are reserved grow ever more slowly, by pieces that nothing fits in.
    bool is_settled = false;
  };
  Account account() const;
  /// The first step, range by range, in order; the highest of them is peak(), of equal ones the first.
  std::vector<MemoryMoment> moments() const;

 private:
  struct Entry {
    std::string name;
    MemoryClass memory_class;
    Bytes bytes;
    std::size_t pool = 0;
    std::size_t from = 0;    ///< change that allocated it
    std::size_t unused = 0;  ///< that let go of it, or released it; 0: none
    std::size_t to = 0;      ///< that released it; 0: none
    bool is_late = false;
  };
  class Allocator;

  std::vector<Entry> entries_;
  std::vector<Tensor> changes_;  ///< allocated, let go or released
  std::size_t step_begin_ = 0;
  std::vector<std::size_t> periods_;                         ///< changes before each
  std::vector<std::pair<std::size_t, std::string>> ranges_;  ///< changes before each, and its name
  std::string peak_moment_;
  Bytes in_use_, peak_;
  std::size_t peak_change_ = 0;
};

}}  // namespace c3::workloads
