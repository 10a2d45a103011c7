#include "app/new/new_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "base/usage_error.hpp"
#include "configs/foreign/model_file.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/config_error.hpp"
#include "configs/toml/toml_text.hpp"
#include "engine/interrupt.hpp"
#include "files/input_files.hpp"
#include "files/scratch_folder.hpp"
#include "importers/user_files/experiment_draft.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{64} << 20U;
constexpr std::int64_t kMostNodes = 1024;  // node counts that are tried

std::string quoted(const std::string& text) { return write_value(Node{text, {}}); }

std::string_view option_of(FileRole role) {
  return role == FileRole::model ? "--model" : role == FileRole::recipe ? "--recipe" : "--machine";
}

class NewExperimentWriter {
 public:
  explicit NewExperimentWriter(const NewRequest& request) : request_(request) {}

  NewExperiment write() {
    read_files();
    know_presets();
    draft_ = ExperimentDraft(written_.readings);
    add_head();
    add_system();
    add_step();
    if (!draft_.has("training.recompute"))
      choose_recompute();
    else
      written_.fits = fits();
    written_.toml = draft_.toml(written_.readings);
    return std::move(written_);
  }

 private:
  void read_files() {
    const std::int64_t sequence = request_.sequence.value_or(kUsualSequence);
    if (!request_.model.empty())
      written_.readings.push_back(read_user_file(request_.model, FileRole::model, sequence));
    for (const std::string& path : request_.recipes) {
      FileReading recipe = read_user_file(path, FileRole::recipe, sequence);
      if (!request_.model.empty()) leave_model_out(recipe);
      written_.readings.push_back(std::move(recipe));
    }
    for (const std::string& path : request_.machines)
      written_.readings.push_back(read_user_file(path, FileRole::machine, sequence));
    for (const FileReading& reading : written_.readings)
      refuse_unmodelled(reading, request_.leave_out, {std::make_shared<const std::string>(reading.file), 0, 0},
                        "file", "--leave-out ");
  }

  /// When two files describe a model, the model's own file counts.
  void leave_model_out(FileReading& recipe) const {
    const auto is_of_model = [](const std::string& key) {
      return key.starts_with("model.") && key != "model.dtype";
    };
    for (const TakenKey& taken : recipe.taken)
      if (is_of_model(taken.key))
        recipe.ignored.push_back(
            {taken.from, "the model's own file counts, not " + taken.key + " = " + taken.value});
    std::erase_if(recipe.taken, [&](const TakenKey& taken) { return is_of_model(taken.key); });
    std::erase_if(recipe.assumed, [&](const AssumedKey& assumed) { return is_of_model(assumed.key); });
  }

  /// Presets that files describe are known before anybody has written them where c3sim looks.
  void know_presets() {
    const ScratchFolder folder;
    for (const FileReading& reading : written_.readings) {
      for (const PresetFile& preset : reading.presets) {
        const std::filesystem::path file = folder.path() / preset.path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << preset.text;
        const PresetKind kind = preset_kind_of(file).value();
        presets_.put(kind, file.stem().string(), read_preset(kind, file));
      }
    }
  }

  void add_head() {
    for (const FileReading& reading : written_.readings) {
      std::string facts = fmt::format("{}", fmt::join(reading.facts, "; "));
      draft_.head(fmt::format("From {}, {}{}{}.", std::filesystem::path(reading.file).filename().string(),
                              reading.what, facts.empty() ? "" : ": ", facts));
    }
  }

  void add_system() {
    if (!request_.system.empty()) draft_.replace("system", quoted(request_.system), "--system");
    if (!draft_.has("system"))
      throw UsageError("no file says on which machine: --system NAME (c3sim list systems), or --machine FILE");
    if (request_.nodes) draft_.replace("nodes", std::to_string(*request_.nodes), "--nodes");
    if (!request_.fabric.empty()) draft_.replace("fabric", quoted(request_.fabric), "--fabric");
  }

  void add_step() {
    if (!draft_.has("model.hidden") && !draft_.has("model.use"))
      throw UsageError("no file says what is trained: --model FILE, such as a config.json of Hugging Face");
    if (request_.sequence)
      draft_.replace("training.sequence", std::to_string(*request_.sequence), "--sequence");
    draft_.put("training.framework", quoted(is_of_amd() ? "pytorch-rocm" : "torchtitan"),
               "assumed: no file names a framework");
    draft_.put("training.sequence", std::to_string(kUsualSequence), "assumed: --sequence N says another");
    draft_.put("training.micro_batch", "1", "assumed: sequences that a GPU has at once");
    draft_.put("training.sharding", quoted("fsdp"), "assumed: the memory of all GPUs holds the model together");
    draft_.put("measure.loss_split", "false", "assumed: c3sim explain says where time goes");
    draft_.put_table("strategy.default");
  }

  /// Whether the nominal experiment, as it is drafted now, fits in memory.
  bool fits() const {
    checkpoint();
    const auto [file, experiment] =
        ExperimentFile::read_with_outline(parse_toml(draft_.toml(), "the experiment of these files"), "new");
    return !experiment.step || experiment.step->fits();
  }

  /// AMD's GPUs run other kernels, from other libraries.
  bool is_of_amd() const { return load_cluster(draft_.text("system")).library.name.starts_with("rccl"); }

  /// The least that makes the step fit.
  void choose_recompute() {
    for (const auto& [way, comment] :
         {std::pair("none", "assumed: fits without"), std::pair("selective", "assumed: does not fit without"),
          std::pair("full", "assumed: does not fit with less")}) {
      draft_.replace("training.recompute", quoted(way), comment);
      written_.fits = fits();
      if (written_.fits) return;
    }
    draft_.replace("training.recompute", quoted("full"), "assumed: does not fit with less, nor with this");
    look_for_nodes();
  }

  /// How many would do, where what joins them is known.
  void look_for_nodes() {
    const ExperimentDraft of_one = draft_;
    try {
      for (std::int64_t nodes = 2; nodes <= kMostNodes && !written_.fits_on; nodes *= 2) {
        draft_.replace("nodes", std::to_string(nodes), "");
        if (fits()) written_.fits_on = nodes;
      }
    } catch (const ConfigError&) {  // the system has no fabric of its own, or the batch cannot be dealt
    }
    draft_ = of_one;
  }

  const NewRequest& request_;
  NewExperiment written_;
  ExperimentDraft draft_;
  PresetSnapshot presets_;
};

}  // namespace

FileReading read_user_file(const std::string& path, FileRole role, std::int64_t sequence) {
  const std::vector<char> content = read_file(path, kLargestFile);
  const ForeignFile file{
      .name = path, .text = std::string(content.begin(), content.end()), .sequence = sequence};
  const FileFormat* const format = format_of(file.text);
  const Origin whole{std::make_shared<const std::string>(path), 0, 0};
  if (format == nullptr) {
    std::string known;
    for (const FileFormat& file_format : file_formats())
      if (file_format.role == role) known += fmt::format("\n  {}", file_format.what);
    throw ConfigError(whole, "file", fmt::format("is of no format that {} takes:", option_of(role)), known);
  }
  if (format->role != role || format->read == nullptr)
    throw ConfigError(whole, "file",
                      fmt::format("is {}, which {} does not take: {}", format->what, option_of(role),
                                  command_for(format->role)));
  return format->read(file);
}

NewExperiment new_experiment(const NewRequest& request) { return NewExperimentWriter(request).write(); }

}}  // namespace c3::app
