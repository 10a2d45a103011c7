#include "importers/machines/ib_ports_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "importers/machines/text_lines.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr int kMostPorts = 4096;

/// `SW 5 1 0x0002c9.. 4x NDR - CA 7 1 0x0002c9.. ( 'leaf1' - 'node01 mlx5_0' )`
struct Line {
  enum Word : std::size_t { kind, lid, port, guid, lanes, speed, dash, peer_kind, peer_lid, peer_port, peer };
  static constexpr std::size_t kWords = peer + 1;
};

bool is_kind(std::string_view word) { return word == "CA" || word == "SW" || word == "RT"; }

bool is_end(const std::vector<std::string_view>& words, std::size_t first) {
  return words.size() > first + 3 && is_kind(words[first]) && whole_number(words[first + 2], kMostPorts) >= 0 &&
         words[first + 3].starts_with("0x");
}

/// Between the last quotes of \p line.
std::string_view last_name(std::string_view line) {
  constexpr std::string_view kBetween = "' - '";
  const std::size_t at = line.rfind(kBetween);
  if (at == std::string_view::npos) return {};
  const std::string_view name = line.substr(at + kBetween.size());
  return name.substr(0, name.rfind('\''));
}

class ReportReader {
 public:
  explicit ReportReader(const ForeignFile& file) : lines_(file.text, file.name) {}

  std::vector<IbSwitch> read() && {
    while (lines_.next())
      if (!lines_.words().empty() && !lines_.words().front().starts_with('#')) read_line();
    add_unknown_peers(switches_, lines_.begin(), mistakes_);
    if (!mistakes_.empty()) throw ConfigError(mistakes_);
    return std::move(switches_);
  }

 private:
  void fail(std::string_view part, std::string_view key, std::string_view message) {
    if (mistakes_.size() < kMostIbMistakes) mistakes_.emplace_back(lines_.place(part), key, message);
  }

  void read_line() {
    const auto& words = lines_.words();
    const bool is_joined = words.size() > Line::dash && words[Line::dash] == "-";
    const std::optional<double> rate =
        words.size() > Line::speed ? ib_rate(fmt::format("{}{}", words[Line::lanes], words[Line::speed]))
                                   : std::nullopt;
    if (!is_end(words, Line::kind) || !rate || (is_joined && !is_end(words, Line::peer_kind))) {
      fail(words.front(), "port",
           "must read as: SW 5 1 0x0002c903.. 4x NDR - CA 7 1 0x0002c903.. ( 'leaf1' - 'node01 mlx5_0' ); the "
           "file "
           "may end too early");
      return;
    }
    if (words[Line::kind] != "SW") return;
    IbSwitch& one = switch_of(words[Line::guid]);
    const int number = whole_number(words[Line::port], kMostPorts);
    if (!ports_.emplace(words[Line::guid], number).second)
      fail(words[Line::port], "port", fmt::format("{} is listed already", number));
    if (is_joined) one.ports.push_back(port_to(words, *rate));
  }

  IbPort port_to(const std::vector<std::string_view>& words, double rate) const {
    const std::string_view name = last_name(lines_.line());
    return {.peer = words[Line::peer],
            .host = name.substr(0, name.find(' ')),
            .gigabits = rate,
            .is_switch = words[Line::peer_kind] == "SW",
            .reduces = name.find("Aggregation Node") != std::string_view::npos};
  }

  IbSwitch& switch_of(std::string_view guid) {
    const auto [found, is_new] = numbers_.try_emplace(guid, switches_.size());
    if (is_new) switches_.push_back({.id = guid, .origin = lines_.place(guid)});
    return switches_[found->second];
  }

  TextLines lines_;
  std::vector<IbSwitch> switches_;
  std::unordered_map<std::string_view, std::size_t> numbers_;
  std::set<std::pair<std::string_view, int>> ports_;
  std::vector<ConfigError> mistakes_;
};

}  // namespace

bool is_ib_ports_report(std::string_view text) {
  const std::string name;
  TextLines lines(text, name);
  while (lines.next()) {
    const auto& words = lines.words();
    if (words.empty() || words.front().starts_with('#')) continue;
    return is_end(words, Line::kind) && words.size() > Line::lanes && words[Line::lanes].ends_with('x');
  }
  return false;
}

std::vector<IbSwitch> read_ib_ports_report(const ForeignFile& file) { return ReportReader(file).read(); }

}}  // namespace c3::importers
