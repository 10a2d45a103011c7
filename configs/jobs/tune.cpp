#include "configs/jobs/tune.hpp"

#include <utility>

#include "configs/presets/document.hpp"
#include "configs/toml/overrides.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace configs {

TuneFile TuneFile::load(const std::filesystem::path& path, std::span<const std::string> sets) {
  Node document = load_document(path, sets);
  std::string definition = write_toml(*document.table());
  TuneDescription description = take_tune(document);
  const Origin at = document.origin;
  for (const char* key : {"measure.alone", "measure.loss_split"})
    override_value(document, key, Node{false, at});
  if (description.goal.seeds) override_value(document, "measure.seeds", Node{*description.goal.seeds, at});
  return {.goal = description.goal,
          .space = Sweep(std::move(document), std::move(description.space), description.table,
                         path.stem().string(), std::move(definition))};
}

}}  // namespace c3::configs
