#include "executor/remembered_facts.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "executor/programs.hpp"
#include "executor/python_cache.hpp"
#include "executor/python_survey.hpp"
#include "image/manifest.hpp"
#include "services/registry_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::executor {

namespace {

using nlohmann::json;

constexpr auto* files_key = "files of distributions";

PythonCache remembered_pythons(const Services& services) {
  return PythonCache{services.notes->directory() / "python"};
}

/// Returns the current notes.
std::optional<RememberedFacts> read_remembered(Services& services,
                                               const Digest& digest,
                                               const std::string& platform) {
  services.notes->read(digest, platform);
  const auto& about = services.notes->about();
  return about ? remembered_facts_from_json(*about) : std::nullopt;
}

/// Combines the facts in the configuration of `source` with those of `remembered`.
image::BaseFacts facts_by(const image::Source& source, const image::BaseFacts& programs) {
  auto facts = configured_facts(source);
  facts.python = programs.python;
  facts.python_version = programs.python_version;
  facts.pip = programs.pip;
  facts.apt = programs.apt;
  return facts;
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

std::optional<RememberedFacts> remembered_facts_from_json(std::string_view text) {
  const json read = parse_json(text);
  if (!read.is_object()) {
    return std::nullopt;
  }
  try {
    auto python = python_facts_from_json(read.at("facts").get<std::string>());
    if (!python) {
      return std::nullopt;
    }
    return RememberedFacts{
        .programs = {.python = non_empty(read.at("python").get<std::string>()),
                     .python_version = non_empty(read.at("python_version").get<std::string>()),
                     .pip = read.at("pip").get<bool>(),
                     .apt = read.at("apt").get<bool>()},
        .python = std::move(*python)};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::optional<image::BaseFacts> remembered_base(Services& services,
                                                const image::Reference& reference,
                                                const std::string& platform) {
  if (!services.notes) {
    return std::nullopt;
  }
  const auto remembered = read_remembered(services, reference.digest.value(), platform);
  if (!remembered) {
    return std::nullopt;
  }
  try {
    const auto source = registry_image(services, reference, platform);
    auto facts = facts_by(source, remembered->programs);
    if (remembered->python.layers != source.manifest.layers.size() ||
        !platform_fits(facts.platform, platform)) {
      return std::nullopt;
    }
    services.reporter->detail(
        fmt::format("`{}` is {}, noted in the repository that the image goes to", reference.text,
                    reference.digest->str()));
    remembered_bases(services)->store(facts);
    remembered_pythons(services).store(facts, {.facts = remembered->python});
    return facts;
  } catch (const Error& error) {
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

std::optional<state::BaseCache> remembered_bases(const Services& services) {
  return services.notes ? std::optional{state::BaseCache{services.notes->directory()}}
                        : std::nullopt;
}

std::optional<PythonFacts> remembered_python(Services& services, const image::BaseFacts& base) {
  if (!services.notes || !base.digest) {
    return std::nullopt;
  }
  if (auto known = remembered_pythons(services).load_facts(base)) {
    return known;
  }
  auto remembered = read_remembered(services, *base.digest, base.platform);
  return remembered ? std::optional{std::move(remembered->python)} : std::nullopt;
}

std::optional<InstalledFiles> remembered_files(Services& services,
                                               const image::BaseFacts& base,
                                               const PythonFacts& facts) {
  if (!services.notes || !base.digest) {
    return std::nullopt;
  }
  services.notes->read(*base.digest, base.platform);
  const auto texts = services.notes->texts({files_key});
  auto files = texts.empty() ? std::nullopt : installed_files_from_json(texts.begin()->second);
  return files && files->size() == facts.installed.size() ? std::move(files) : std::nullopt;
}

News news_of(const Services& services, const image::BaseFacts& base, const Notes& noted) {
  const auto cache = PythonCache::of(services);
  const auto own = cache.load_facts(base);
  const auto about = own ? remembered_text(base, *own) : std::nullopt;
  if (!about || about == noted.about) {
    return {};
  }
  News news{.about = about};
  if (const auto survey = cache.load(base)) {
    news.texts[files_key] = to_json(survey->files);
  }
  return news;
}

}  // namespace autopack::executor
