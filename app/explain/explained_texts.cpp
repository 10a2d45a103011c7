#include "app/explain/explained_texts.hpp"

#include <cstddef>
#include <utility>

#include "base/json.hpp"

namespace c3 { inline namespace app {
namespace {

Json json_of(const ExplainedRun& run) {
  Json classes = Json::array();
  for (const ClassTime& class_time : run.classes)
    classes.push_back(
        {{"name", class_time.name}, {"time", class_time.time.value}, {"count", class_time.count}});
  Json exposed = Json::array();
  for (const ExposedTime& exposed_time : run.exposed)
    exposed.push_back({{"kind", exposed_time.kind},
                       {"time", exposed_time.time.value},
                       {"waiting", exposed_time.waiting.value}});
  return Json{{"time", run.time.value},
              {"kernels", run.kernels.value},
              {"bubble", run.bubble.value},
              {"classes", std::move(classes)},
              {"exposed", std::move(exposed)}};
}

ExplainedRun run_of(const Json& json) {
  const auto seconds = [&](const char* key) { return Seconds{json[key].number()}; };
  ExplainedRun run{.time = seconds("time"), .kernels = seconds("kernels"), .bubble = seconds("bubble")};
  for (const Json& class_json : json["classes"].elements())
    run.classes.push_back(
        {class_json["name"].text(), Seconds{class_json["time"].number()}, class_json["count"].number()});
  for (const Json& exposed_json : json["exposed"].elements())
    run.exposed.push_back({exposed_json["kind"].text(), Seconds{exposed_json["time"].number()},
                           Seconds{exposed_json["waiting"].number()}});
  return run;
}

Json json_of(const Sizes& sizes) { return Json{{"sizes", sizes.of}, {"whole", sizes.whole}}; }

Sizes sizes_of(const Json& json) {
  Sizes sizes{.of = {}, .whole = json["whole"].integer()};
  std::size_t place = 0;
  for (const Json& size : json["sizes"].elements())
    sizes.of.at(place++) = size.integer();
  return sizes;
}

}  // namespace

std::string text_of(const ExplainedRun& run) { return json_of(run).dump(); }

ExplainedRun run_of(const std::string& text) { return run_of(Json::parse(text)); }

std::string text_of(const ComparedRun& compared) {
  Json json{{"run", json_of(compared.run)}, {"over_variant", compared.over_variant}};
  if (compared.sizes) {
    json["layers"] = json_of(compared.sizes->layers);
    json["micro_batches"] = json_of(compared.sizes->micro_batches);
  }
  return json.dump();
}

ComparedRun compared_of(const std::string& text) {
  const Json json = Json::parse(text);
  ComparedRun compared{.run = run_of(json["run"]), .over_variant = json["over_variant"].number()};
  if (json.contains("layers"))
    compared.sizes = SteadySizes{sizes_of(json["layers"]), sizes_of(json["micro_batches"])};
  return compared;
}

std::string text_of(const CriticalPath& path) {
  Json classes = Json::array();
  for (const PathClass& path_class : path.classes)
    classes.push_back({{"name", path_class.name},
                       {"on_path", path_class.on_path.value},
                       {"on", path_class.on},
                       {"off", path_class.off},
                       {"off_path", path_class.off_path.value},
                       {"least", path_class.least_slack.value},
                       {"median", path_class.median_slack.value}});
  return Json{{"time", path.time.value}, {"classes", std::move(classes)}}.dump();
}

CriticalPath path_of(const std::string& text) {
  const Json json = Json::parse(text);
  CriticalPath path{.time = Seconds{json["time"].number()}, .classes = {}};
  for (const Json& class_json : json["classes"].elements()) {
    const auto seconds = [&](const char* key) { return Seconds{class_json[key].number()}; };
    const auto count = [&](const char* key) { return static_cast<std::size_t>(class_json[key].integer()); };
    path.classes.push_back({class_json["name"].text(), seconds("on_path"), count("on"), count("off"),
                            seconds("off_path"), seconds("least"), seconds("median")});
  }
  return path;
}

}}  // namespace c3::app
