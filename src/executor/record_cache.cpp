#include "executor/record_cache.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "executor/python_survey.hpp"
#include "image/archive_reader.hpp"
#include "image/layer.hpp"

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
  try {
    return parse_json(text).get<InstalledFiles>();
  } catch (const json::exception&) {
    return std::nullopt;
  }
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

std::optional<InstalledRequirements> PythonCache::load_requirements(
    const image::BaseFacts& base) const {
  const auto facts = load_facts(base);
  auto found = facts ? store_.get(*name_of(base) + ".requirements",
                                  [](const std::string& packed) {
                                    return installed_files_from_json(
                                        image::decompressed(packed, largest_text));
                                  })
                     : std::nullopt;
  return found && found->size() == facts->installed.size() ? found : std::nullopt;
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
  store_.put(*name + ".requirements", image::compressed(to_json(survey.requirements)));
  store_.put(*name + ".json", print_json(document) + "\n");
}

std::optional<image::BaseFacts> RecordCache::find(const image::Reference& reference,
                                                  const std::string& platform) const {
  auto found = reference.digest ? facts.by_digest(*reference.digest, platform)
                                : facts.by_reference(reference.text, platform);
  return found ? std::optional{under_name(std::move(*found), reference.text)} : std::nullopt;
}

void RecordCache::store(const Record& record) const {
  facts.store(record.facts);
  python.store(record.facts, record.python);
}

RecordCache own_records(const Services& services) {
  return RecordCache{services.environment.cache_directory() / "bases"};
}

std::optional<RecordCache> remembered_records(const Services& services) {
  return services.repository_facts
             ? std::optional{RecordCache{services.repository_facts->directory()}}
             : std::nullopt;
}

std::vector<RecordCache> record_caches(const Services& services) {
  std::vector caches{own_records(services)};
  if (auto remembered = remembered_records(services)) {
    caches.push_back(std::move(*remembered));
  }
  return caches;
}

image::BaseFacts under_name(image::BaseFacts facts, const std::string& reference) {
  facts.reference = reference;
  facts.vertex_prebuilt = image::is_vertex_prebuilt(reference);
  return facts;
}

}  // namespace autopack::executor
