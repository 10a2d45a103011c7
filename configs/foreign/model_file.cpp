#include "configs/foreign/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/percent.hpp"
#include "configs/foreign/hugging_face.hpp"
#include "configs/presets/document.hpp"
#include "configs/toml/config_error.hpp"
#include "configs/toml/toml_text.hpp"
#include "files/input_files.hpp"
#include "files/io_error.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{16} << 20U;
constexpr std::string_view kFrom = "from", kLeaveOut = "leave_out";

std::string text_of(const Node& from) {
  try {
    const std::vector<char> content = read_file(*from.text(), kLargestFile);
    return {content.begin(), content.end()};
  } catch (const IoError& error) {
    throw ConfigError(from.origin, "model.from",
                      fmt::format("'{}' cannot be read: {}", *from.text(), error.reason()));
  }
}

double leave_out_of(const Table& model) {
  const Node* const said = model.find(kLeaveOut);
  if (said == nullptr) return kUsualLeaveOut;
  const auto* const share = std::get_if<double>(&said->value);
  const auto* const whole = std::get_if<std::int64_t>(&said->value);
  const double value = share != nullptr ? *share : whole != nullptr ? static_cast<double>(*whole) : -1.0;
  if (value < 0.0 || value > 1.0)
    throw ConfigError(said->origin, "model.leave_out", "must be a share of a model, from 0 to 1");
  return value;
}

/// Tokens for which shares of flops are counted.
std::int64_t sequence_of(const Table& root) {
  const Node* const training = root.find("training");
  const Node* const sequence =
      training == nullptr || training->table() == nullptr ? nullptr : training->table()->find("sequence");
  const auto* const tokens = sequence == nullptr ? nullptr : std::get_if<std::int64_t>(&sequence->value);
  return tokens == nullptr || *tokens < 1 ? kUsualSequence : *tokens;
}

/// Puts \p value, as TOML writes it, where \p dotted says below \p root.
void put(Table& root, std::string_view dotted, const std::string& value, const Origin& at) {
  Table* table = &root;
  for (std::size_t dot = dotted.find('.'); dot != std::string_view::npos; dot = dotted.find('.')) {
    Node* inner = table->find(dotted.substr(0, dot));
    if (inner == nullptr) inner = &table->put(dotted.substr(0, dot), at, Node{Table{}, at});
    table = inner->table();
    dotted.remove_prefix(dot + 1);
  }
  Node parsed = *parse_toml("value = " + value, "model.from").table()->find("value");
  parsed.origin = at;
  table->put(dotted, at, std::move(parsed));
}

}  // namespace

void refuse_unmodelled(const FileReading& reading, double leave_out, const Origin& at, std::string_view key,
                       std::string_view option) {
  double most = 0.0;
  std::string parts;
  for (const UnmodelledPart& part : reading.unmodelled) {
    most = std::max({most, part.parameters, part.flops});
    parts += fmt::format("\n  {}: {:.1f} % of the parameters, {:.1f} % of the flops", part.what,
                         kPercent * part.parameters, kPercent * part.flops);
  }
  if (most <= leave_out) return;
  throw ConfigError(
      at, key,
      fmt::format("describes what c3sim does not model, above the {:g} % that may be left out; {}{:.2f} "
                  "takes the rest",
                  kPercent * leave_out, option, std::ceil(kPercent * most) / kPercent),
      parts);
}

void place_model(Table& root) {
  Node* const model = root.find("model");
  if (model == nullptr || model->table() == nullptr) return;
  Table& written = *model->table();
  Node* const from = written.find(kFrom);
  if (from == nullptr) {
    if (const Node* const share = written.find(kLeaveOut))
      throw ConfigError(share->origin, "model.leave_out",
                        "requires model.from, a file that says what the model is");
    return;
  }
  if (from->text() == nullptr) throw ConfigError(from->origin, "model.from", "must be the path of a file");
  if (written.find("use") != nullptr)
    throw ConfigError(from->origin, "model.from",
                      "cannot be combined with use: either one says what the model is");
  place_path(*from);
  const FileReading reading =
      read_hugging_face({.name = *from->text(), .text = text_of(*from), .sequence = sequence_of(root)});
  refuse_unmodelled(reading, leave_out_of(written), from->origin, "model.from", "leave_out = ");
  Table given;
  for (const AssumedKey& assumed : reading.assumed)
    put(given, assumed.key, assumed.value, from->origin);
  for (const TakenKey& taken : reading.taken)
    put(given, taken.key, taken.value, from->origin);
  written.erase(kFrom);
  written.erase(kLeaveOut);
  Table& whole = *given.find("model")->table();
  merge(whole, written);
  model->value = std::move(whole);
}

std::vector<KeyRule> model_file_rules() {
  return {{.key = std::string(kFrom),
           .presence = Presence::optional,
           .rule = Rule{TextRule{}},
           .meaning = "a config.json of Hugging Face, relative to this file, whose keys those below replace"},
          {.key = std::string(kLeaveOut),
           .presence = Presence::optional,
           .rule = Rule{FractionRule{}},
           .with = {std::string(kFrom)},
           .meaning = "share of its parameters or flops that need not be modelled",
           .otherwise = kUsualLeaveOut}};
}

}}  // namespace c3::configs
