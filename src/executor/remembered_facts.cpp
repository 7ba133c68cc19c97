#include "executor/remembered_facts.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "executor/gpu_code.hpp"
#include "executor/programs.hpp"
#include "executor/python_survey.hpp"
#include "image/manifest.hpp"
#include "services/registry_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::executor {

namespace {

using nlohmann::json;

constexpr auto* files_key = "files-of-distributions";

/// Returns the facts that the repository remembers now.
std::optional<Record> read_remembered(Services& services,
                                      const Digest& digest,
                                      const std::string& platform) {
  services.repository_facts->read(digest, platform);
  const auto& about = services.repository_facts->about();
  return about ? remembered_facts_from_json(*about) : std::nullopt;
}

bool has_login(const std::string& address) {
  const auto url = Url::parse(address);
  return !url || address.find('@') != std::string::npos;
}

}  // namespace

std::optional<std::string> remembered_text(const image::BaseFacts& base,
                                           const PythonFacts& python) {
  if (!python.pip_files.empty() || (python.default_index && has_login(*python.default_index))) {
    return std::nullopt;
  }
  return print_json(json{{"python", base.python.value_or("")},
                         {"python_version", base.python_version.value_or("")},
                         {"pip", base.pip},
                         {"apt", base.apt},
                         {"facts", to_json_line(python)}});
}

std::optional<Record> remembered_facts_from_json(std::string_view text) {
  const json read = parse_json(text);
  if (!read.is_object()) {
    return std::nullopt;
  }
  try {
    auto python = python_facts_from_json(read.at("facts").get<std::string>());
    if (!python) {
      return std::nullopt;
    }
    return Record{
        .facts = {.python = non_empty(read.at("python").get<std::string>()),
                  .python_version = non_empty(read.at("python_version").get<std::string>()),
                  .pip = read.at("pip").get<bool>(),
                  .apt = read.at("apt").get<bool>()},
        .python = {.facts = std::move(*python)}};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::optional<Record> find_remembered(Services& services,
                                      const image::Reference& reference,
                                      const std::string& platform) {
  auto record = services.repository_facts
                    ? read_remembered(services, reference.digest.value(), platform)
                    : std::nullopt;
  if (!record) {
    return std::nullopt;
  }
  try {
    const auto source = registry_image(services, reference, platform);
    auto facts = configured_facts(source);
    facts.python = record->facts.python;
    facts.python_version = record->facts.python_version;
    facts.pip = record->facts.pip;
    facts.apt = record->facts.apt;
    if (record->python.facts.layers != source.manifest.layers.size() ||
        !platform_fits(facts.platform, platform)) {
      return std::nullopt;
    }
    services.reporter->detail(
        fmt::format("`{}` is {}, according to the facts remembered in the image's repository",
                    reference.text, reference.digest->str()));
    record->facts = std::move(facts);
    return record;
  } catch (const Error& error) {
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

std::optional<PythonFacts> remembered_python(Services& services, const image::BaseFacts& base) {
  if (!services.repository_facts || !base.digest) {
    return std::nullopt;
  }
  if (auto cached = remembered_records(services)->python.load_facts(base)) {
    return cached;
  }
  auto record = read_remembered(services, *base.digest, base.platform);
  return record ? std::optional{std::move(record->python.facts)} : std::nullopt;
}

std::optional<InstalledFiles> remembered_files(Services& services, const image::BaseFacts& base) {
  const auto python = remembered_python(services, base);
  if (!python) {
    return std::nullopt;
  }
  services.repository_facts->read(*base.digest, base.platform);
  const auto texts = services.repository_facts->texts({files_key});
  auto files = texts.empty() ? std::nullopt : installed_files_from_json(texts.begin()->second);
  return files && files->size() == python->installed.size() ? std::move(files) : std::nullopt;
}

NewFacts new_facts_of(const Services& services,
                      const image::BaseFacts& base,
                      const RememberedFacts& remembered) {
  const auto cache = own_records(services).python;
  const auto own = cache.load_facts(base);
  const auto about = own ? remembered_text(base, *own) : std::nullopt;
  if (!about || about == remembered.about) {
    return {};
  }
  NewFacts new_facts{.about = about};
  if (auto code = cached_gpu_libraries(services, base)) {
    new_facts.texts[gpu_libraries_key] = *std::move(code);
  }
  if (const auto survey = cache.load(base)) {
    new_facts.texts[files_key] = to_json(survey->files);
  }
  return new_facts;
}

}  // namespace autopack::executor
