// The functions that rows may call: a line each.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/nearest_name.hpp"
#include "studies/cases/row_functions.hpp"
#include "studies/dlrm/functions.hpp"
#include "studies/one_gpu/functions.hpp"

namespace c3 { inline namespace studies {
namespace {

/// Functions by name.
const std::map<std::string, RowFunction*, std::less<>>& row_functions() {
  static const std::map<std::string, RowFunction*, std::less<>> kFunctions = {
      {"bert.profile", bert_profile_row},
      {"camping.convolution", convolution_row},
      {"dlrm.exchange", exchange_row},
      {"dlrm.placements", placements_row},
      {"dlrm.ranks", ranks_row},
      {"kernel", kernel_row},
      {"one_gpu.blocks_beside", blocks_beside_row},
      {"one_gpu.host_copies", host_copies_row},
      {"one_gpu.kernels_at_once", kernels_at_once_row},
      {"one_gpu.slower_board", slower_board_row}};
  return kFunctions;
}

}  // namespace

RowFunction& row_function(std::string_view name, const Cells& cells) {
  if (const auto found = row_functions().find(name); found != row_functions().end()) return *found->second;
  std::vector<std::string> known;
  for (const auto& [known_name, function] : row_functions())
    known.push_back(known_name);
  cells.fail("call", unknown_name("function", name, known));
}

}}  // namespace c3::studies
