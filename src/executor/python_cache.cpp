#include "executor/python_cache.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "executor/python_survey.hpp"
#include "image/archive_reader.hpp"
#include "image/layer.hpp"
#include "image/reference.hpp"
#include "state/cache_files.hpp"

namespace autopack::executor {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t largest_directory{std::uint64_t{256} << 20U};

std::string with_ending(const fs::path& file, const char* ending) {
  return file.string() + ending;
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

std::optional<fs::path> PythonCache::file_of(const image::BaseFacts& base) const {
  const auto id = Digest::parse(base.image_id.value_or(""));
  const auto digest = base.digest ? base.digest : id;
  return digest ? std::optional{directory_ /
                                (digest->hex() + "." + image::sanitize_component(base.platform))}
                : std::nullopt;
}

std::optional<PythonFacts> PythonCache::load_facts(const image::BaseFacts& base) const {
  const auto file = file_of(base);
  const auto text = file ? state::read_quietly(with_ending(*file, ".json")) : std::nullopt;
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
  const auto file = file_of(base);
  const auto packed = facts ? state::read_quietly(with_ending(*file, ".files")) : std::nullopt;
  if (!packed) {
    return std::nullopt;
  }
  try {
    auto files = installed_files_from_json(image::decompressed(*packed, largest_text));
    if (files && files->size() == facts->installed.size()) {
      return PythonSurvey{.facts = std::move(*facts), .files = std::move(*files)};
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

void PythonCache::store(const image::BaseFacts& base, const PythonSurvey& survey) const {
  const auto file = file_of(base);
  if (!file) {
    return;
  }
  json document = parse_json(to_json_line(survey.facts));
  document["pip_files"] = json::array();
  for (const auto& pip : survey.facts.pip_files) {
    document["pip_files"].push_back({{"path", pip.path}, {"text", pip.text.reveal()}});
  }
  // Written last: facts without files count as absent.
  state::write_quietly(with_ending(*file, ".files"), image::compressed(to_json(survey.files)),
                       largest_directory);
  state::write_quietly(with_ending(*file, ".json"), print_json(document) + "\n", largest_directory);
}

}  // namespace autopack::executor
