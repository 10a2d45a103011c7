#include "studies/cases/row_functions.hpp"

#include <utility>

#include "studies/cell_numbers.hpp"

namespace c3 { inline namespace studies {
RowArguments::RowArguments(const Cells& cells, std::vector<std::string> sets)
    : cells_(cells), sets_(std::move(sets)) {}

std::string_view RowArguments::find(std::string_view key) const {
  for (const std::string_view set : sets_)
    if (set.substr(0, set.find('=')) == key) return set.substr(key.size() + 1);
  return cells_.find(key);
}

std::string RowArguments::text(std::string_view key) const {
  if (find(key).empty()) fail(key, "is missing");
  return std::string(find(key));
}

double RowArguments::above_0(std::string_view key) const {
  return number_above_0(find(key), [&](const std::string& reason) { fail(key, reason); });
}

std::int64_t RowArguments::whole(std::string_view key, std::int64_t largest) const {
  return whole_number(find(key), largest, [&](const std::string& reason) { fail(key, reason); });
}

std::vector<std::string> RowArguments::sets(std::string_view prefix) const {
  std::vector<std::string> found;
  for (const std::string& set : sets_)
    if (set.starts_with(prefix)) found.push_back(set);
  return found;
}

}}  // namespace c3::studies
