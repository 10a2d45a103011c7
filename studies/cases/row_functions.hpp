#pragma once
/// Functions of the studies' code that rows of cases call, by the name under `call` of a table: where a row's
/// numbers come neither from one experiment nor from one command.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "studies/cases/cells.hpp"

namespace c3 { inline namespace studies {

/// What a row tells the function: the cells of its columns and, before them, what the table's `set` has.
/// The row's cells must outlive it. What is wrong is a ConfigError at the row's place.
class RowArguments {
 public:
  /// \param sets as in "key=value"
  RowArguments(const Cells& cells, std::vector<std::string> sets);

  /// Empty where neither has \p key.
  std::string_view find(std::string_view key) const;
  /// Not empty.
  std::string text(std::string_view key) const;
  double above_0(std::string_view key) const;
  /// A whole number from 1 to \p largest.
  std::int64_t whole(std::string_view key, std::int64_t largest) const;
  /// Overrides in `set` whose key begins with \p prefix.
  std::vector<std::string> sets(std::string_view prefix) const;

  Origin origin() const { return cells_.origin(); }
  [[noreturn]] void fail(std::string_view key, const std::string& reason) const { cells_.fail(key, reason); }

 private:
  const Cells& cells_;
  std::vector<std::string> sets_;
};

/// Reads the row at once, and finds its numbers when it is called. \throws ConfigError
using RowFunction = NumberSource(const RowArguments& row);

/// A kernel alone on a GPU, without what launches it. Columns: gpu, sms (all of them without) and those of
/// `c3sim kernel --csv`; `gpu.` keys of `set` are overrides. Gives time_us in the GPU's clock state and
/// launch_us, a part of it; burst_us and sustained_us of a stream of it where `as` is stream.
RowFunction kernel_row;

/// A step of BERT-Large, kernel by kernel, see bert_study.cpp. Columns gpu, sequence, predictions, batch,
/// precision.
RowFunction bert_profile_row;

/// A convolution alone on an MI100 with 32 channels. Columns of operator_in. Gives its time [us] with memory as
/// a `whole`, and with each address mapping by name.
RowFunction convolution_row;

/// The function called \p name. \throws ConfigError at the place of \p cells
RowFunction& row_function(std::string_view name, const Cells& cells);

}}  // namespace c3::studies
