#include "importers/collective_times/library_release.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/small_letters.hpp"
#include "importers/collective_times/headed_table.hpp"

namespace c3 { inline namespace importers {
namespace {

/// The number behind \p name in \p text, which is in lower case.
std::optional<LibraryVersion> number_after(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t begin = text.find_first_not_of(" -v", at + name.size());
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
    std::string number(text.substr(begin, end - begin));
    if (number.find('.') == std::string::npos) number += ".0";
    const auto version = version_named(number);
    if (version && version->major > 1) return version;  // a plug-in's, as of "aws-ofi-nccl 1.7", is below
  }
  return std::nullopt;
}

/// RCCL's change log.
struct RocmRelease {
  LibraryVersion first;  ///< ROCm that contains it
  LibraryVersion rccl;
};
constexpr std::array kRocm = {RocmRelease{{6, 3, 0}, {2, 21, 5}}, RocmRelease{{6, 4, 0}, {2, 22, 3}},
                              RocmRelease{{7, 0, 0}, {2, 26, 6}}, RocmRelease{{7, 1, 0}, {2, 27, 7}},
                              RocmRelease{{7, 11, 0}, {2, 28, 3}}};

LibraryVersion rccl_of(const LibraryVersion& rocm) {
  LibraryVersion rccl = kOldestRccl;
  for (const RocmRelease& release : kRocm) {
    if (rocm >= release.first) rccl = release.rccl;
  }
  return rccl;
}

}  // namespace

std::optional<LibraryVersion> library_release(std::string_view software, TunerRules rules) {
  const std::string text = in_small_letters(software);
  if (rules == TunerRules::nccl) {
    const auto nccl = number_after(text, "nccl");
    return nccl ? std::optional(std::clamp(*nccl, kOldestNccl, kNewestNccl)) : std::nullopt;
  }
  if (const auto rccl = number_after(text, "rccl")) return std::clamp(*rccl, kOldestRccl, kNewestRccl);
  const auto rocm = number_after(text, "rocm");
  return rocm ? std::optional(rccl_of(*rocm)) : std::nullopt;
}

}}  // namespace c3::importers
