#include "state/build_record.hpp"

#include "base/digest.hpp"
#include "base/json.hpp"
#include "image/reference.hpp"

#include <system_error>

namespace autopack::state {

namespace {

using nlohmann::json;

/// Returns the common prefix of the names of a project's files.
std::string stem_of(const std::filesystem::path& project) {
  std::error_code code;
  const auto whole = std::filesystem::weakly_canonical(project, code);
  return sha256((code ? project : whole).string()).hex() + ".";
}

}  // namespace

std::string BuildRecords::name_of(const std::filesystem::path& project,
                                  const std::string& platform) {
  return stem_of(project) + image::sanitize_component(platform);
}

std::vector<std::filesystem::path> BuildRecords::files_of(
    const std::filesystem::path& project) const {
  std::vector<std::filesystem::path> files;
  const auto stem = stem_of(project);
  std::error_code code;
  for (std::filesystem::directory_iterator at{store_.directory(), code}, end; !code && at != end;
       at.increment(code)) {
    if (at->path().filename().string().starts_with(stem)) {
      files.push_back(at->path());
    }
  }
  return files;
}

std::optional<BuildRecord> BuildRecords::get(const std::filesystem::path& project,
                                             const std::string& platform) const {
  return store_.document(name_of(project, platform), [](const json& all) {
    BuildRecord record;
    all.at("dependencyKey").get_to(record.dependency_key);
    all.at("imageKey").get_to(record.image_key);
    all.at("dependencyFacts").get_to(record.dependency_facts);
    all.at("imageFacts").get_to(record.image_facts);
    all.at("requirements").get_to(record.requirements);
    all.at("asked").get_to(record.asked);
    all.at("requirementFiles").get_to(record.requirement_files);
    all.at("installed").get_to(record.installed);
    all.at("code").get_to(record.code);
    return std::optional{std::move(record)};
  });
}

void BuildRecords::put(const std::filesystem::path& project,
                       const std::string& platform,
                       const BuildRecord& record) const {
  store_.put_document(name_of(project, platform), {{"dependencyKey", record.dependency_key},
                                                   {"imageKey", record.image_key},
                                                   {"dependencyFacts", record.dependency_facts},
                                                   {"imageFacts", record.image_facts},
                                                   {"requirements", record.requirements},
                                                   {"asked", record.asked},
                                                   {"requirementFiles", record.requirement_files},
                                                   {"installed", record.installed},
                                                   {"code", record.code}});
}

}  // namespace autopack::state
