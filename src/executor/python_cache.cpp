#include "executor/python_cache.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "executor/python_survey.hpp"
#include "image/archive_reader.hpp"
#include "image/layer.hpp"
#include "image/reference.hpp"

namespace autopack::executor {

namespace {

using nlohmann::json;

/// Returns the name of the files without its extension; nothing for an image without any digest.
std::optional<std::string> name_of(const image::BaseFacts& base) {
  const auto id = Digest::parse(base.image_id.value_or(""));
  const auto digest = base.digest ? base.digest : id;
  return digest ? std::optional{digest->hex() + "." + image::sanitize_component(base.platform)}
                : std::nullopt;
}

}  // namespace

std::string to_json(const InstalledFiles& files) {
  return print_json(json(files));
}

std::optional<InstalledFiles> installed_files_from_json(std::string_view text) {
  const json document = parse_json(text);
  if (!document.is_array()) {
    return std::nullopt;
  }
  InstalledFiles files;
  for (const auto& list : document) {
    std::vector<std::string> paths;
    if (!list.is_array()) {
      return std::nullopt;
    }
    for (const auto& path : list) {
      if (!path.is_string()) {
        return std::nullopt;
      }
      paths.push_back(path.get<std::string>());
    }
    files.push_back(std::move(paths));
  }
  return files;
}

PythonCache PythonCache::of(const Services& services) {
  return PythonCache{services.environment.cache_directory() / "bases" / "python"};
}

std::optional<PythonFacts> PythonCache::load_facts(const image::BaseFacts& base) const {
  const auto name = name_of(base);
  const auto text = name ? store_.get(*name + ".json") : std::nullopt;
  auto facts = text ? python_facts_from_json(*text) : std::nullopt;
  const json document = facts ? parse_json(*text) : json{};
  try {
    for (const auto& pip : facts ? document.at("pip_files") : document) {
      facts->pip_files.push_back({.path = pip.at("path").get<std::string>(),
                                  .text = Secret{pip.at("text").get<std::string>()}});
    }
  } catch (const json::exception&) {
    return std::nullopt;
  }
  return facts;
}

std::optional<PythonSurvey> PythonCache::load(const image::BaseFacts& base) const {
  auto facts = load_facts(base);
  auto files = facts ? store_.get(*name_of(base) + ".files",
                                  [](const std::string& packed) {
                                    return installed_files_from_json(
                                        image::decompressed(packed, largest_text));
                                  })
                     : std::nullopt;
  return files && files->size() == facts->installed.size()
             ? std::optional{PythonSurvey{.facts = std::move(*facts), .files = std::move(*files)}}
             : std::nullopt;
}

void PythonCache::store(const image::BaseFacts& base, const PythonSurvey& survey) const {
  const auto name = name_of(base);
  if (!name) {
    return;
  }
  json document = parse_json(to_json_line(survey.facts));
  document["pip_files"] = json::array();
  for (const auto& pip : survey.facts.pip_files) {
    document["pip_files"].push_back({{"path", pip.path}, {"text", pip.text.reveal()}});
  }
  // Written last: facts without files count as absent.
  store_.put(*name + ".files", image::compressed(to_json(survey.files)));
  store_.put(*name + ".json", print_json(document) + "\n");
}

}  // namespace autopack::executor
