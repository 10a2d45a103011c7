#include "studies/one_gpu/functions.hpp"

#include <map>
#include <sstream>
#include <vector>

#include "base/nearest_name.hpp"
#include "configs/presets/study_card.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/cases/kernel_row.hpp"

namespace c3 { inline namespace studies {
namespace {

std::map<std::string, Operator> named_kernels() {
  const HeadedTable table(study_file("one_gpu", "parts.csv"));
  std::map<std::string, Operator> kernels;
  for (const HeadedTable::Row& table_row : table.rows()) {
    const Cells cells(table, table_row);
    const RowArguments row(cells, {});
    kernels.try_emplace(row.text("kernel"), operator_in(row));
  }
  return kernels;
}

}  // namespace

Operator kernel_called(const RowArguments& row, std::string_view column, const std::string& name) {
  static const std::map<std::string, Operator> kernels = named_kernels();
  std::istringstream words(name);
  std::string op;
  GemmShape product;
  if (words >> op >> product.m >> product.n >> product.k && op == "gemm") return product;
  if (const auto found = kernels.find(name); found != kernels.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [known_name, kernel] : kernels)
    known.push_back(known_name);
  row.fail(column, unknown_name("kernel", name, known));
}

NumberSource slower_board_row(const RowArguments& row) {
  return [gpu = gpu_in(row), op = operator_in(row)] {
    KernelDescription kernel = describe("kernel", op, *gpu);
    const KernelSlice slice{.launch = LaunchCost::device};
    const Seconds usual = time_alone(kernel, *gpu, slice).time;
    slow_down(kernel, 1.0 + gpu->compute.speed_spread);
    return std::map<std::string, double>{
        {"later", 100.0 * (time_alone(kernel, *gpu, slice).time / usual - 1.0)}};
  };
}

}}  // namespace c3::studies
