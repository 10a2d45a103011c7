#include "collectives/library/permits_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ranges>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/nearest_name.hpp"
#include "collectives/algorithms/algorithm.hpp"

namespace c3 { inline namespace collectives {
namespace {

/// Letters and digits, small: "NVLSTree" and "nvls_tree" are one name.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) letters += static_cast<char>(std::tolower(letter));
  }
  return letters;
}

/// NCCL tells two ways of reducing in the fabric's switches apart; here they are one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kNcclNames = {
    {{"collnetdirect", "collnet"}, {"collnetchain", "collnet"}}};

std::string known_name(std::string_view what, std::string_view written, std::span<const std::string> known) {
  std::string name = plain(written);
  for (const auto& [nccl, here] : kNcclNames) {
    if (name == nccl) name = here;
  }
  const auto found =
      std::ranges::find(known, name, [](const std::string& candidate) { return plain(candidate); });
  if (found == known.end()) throw std::invalid_argument(unknown_name(what, written, known));
  return *found;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(text, at)) {
    std::string_view word(part.begin(), part.end());
    while (!word.empty() && word.front() == ' ')
      word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ')
      word.remove_suffix(1);
    parts.push_back(word);
  }
  if (parts.empty()) parts.emplace_back();  // a view of an empty text has no part
  return parts;
}

PermitList list_of(std::string_view what, std::string_view text, std::span<const std::string> known) {
  PermitList list;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    const std::string_view operation = text.substr(0, colon);
    list.kind = collective_named(operation);
    if (!list.kind)
      throw std::invalid_argument(fmt::format("'{}' before ':' is no collective operation", operation));
    text.remove_prefix(colon + 1);
    while (text.starts_with(' '))
      text.remove_prefix(1);
  }
  list.excludes = text.starts_with('^');
  if (list.excludes) text.remove_prefix(1);
  for (const std::string_view name : split(text, ','))
    list.names.push_back(known_name(what, name, known));
  return list;
}

Permits permits_of(std::string_view what, std::string_view text, std::span<const std::string> known) {
  std::vector<PermitList> lists;
  for (const std::string_view part : split(text, ';')) {
    lists.push_back(list_of(what, part, known));
    if (lists.size() > 1 && !lists.back().kind)
      throw std::invalid_argument(
          "every list after the first names its operation, as in 'ring;all_reduce:tree'");
  }
  return Permits(std::move(lists));
}

template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto& value : values)
    names.emplace_back(name_of(value));
  return names;
}

}  // namespace

Permits permitted_algorithms(std::string_view text) {
  return permits_of("algorithm", text, names_of(kAlgorithms));
}

Permits permitted_protocols(std::string_view text) {
  return permits_of("protocol", text, names_of(kProtocols));
}

}}  // namespace c3::collectives
