#include "executor/told_facts.hpp"

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

PythonCache told_pythons(const Services& services) {
  return PythonCache{services.notes->directory() / "python"};
}

/// Returns the current notes.
std::optional<Told> told_now(Services& services,
                             const Digest& digest,
                             const std::string& platform) {
  services.notes->read(digest, platform);
  const auto& about = services.notes->about();
  return about ? read_told(*about) : std::nullopt;
}

/// Combines the facts in the configuration of `source` with those of `told`.
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

std::optional<std::string> told_text(const image::BaseFacts& base, const PythonFacts& python) {
  if (!python.pip_files.empty() || (python.default_index && has_login(*python.default_index))) {
    return std::nullopt;
  }
  return print_json(json{{"python", base.python.value_or("")},
                         {"python_version", base.python_version.value_or("")},
                         {"pip", base.pip},
                         {"apt", base.apt},
                         {"facts", to_json_line(python)}});
}

std::optional<Told> read_told(std::string_view text) {
  const json read = parse_json(text);
  if (!read.is_object()) {
    return std::nullopt;
  }
  try {
    auto python = python_facts_from_json(read.at("facts").get<std::string>());
    if (!python) {
      return std::nullopt;
    }
    return Told{
        .programs = {.python = non_empty(read.at("python").get<std::string>()),
                     .python_version = non_empty(read.at("python_version").get<std::string>()),
                     .pip = read.at("pip").get<bool>(),
                     .apt = read.at("apt").get<bool>()},
        .python = std::move(*python)};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::optional<image::BaseFacts> told_base(Services& services,
                                          const image::Reference& reference,
                                          const std::string& platform) {
  if (!services.notes) {
    return std::nullopt;
  }
  const auto told = told_now(services, reference.digest.value(), platform);
  if (!told) {
    return std::nullopt;
  }
  try {
    const auto source = registry_image(services, reference, platform);
    auto facts = facts_by(source, told->programs);
    if (told->python.layers != source.manifest.layers.size() ||
        !platform_fits(facts.platform, platform)) {
      return std::nullopt;
    }
    services.reporter->detail(
        fmt::format("`{}` is {}, noted in the repository that the image goes to", reference.text,
                    reference.digest->str()));
    told_bases(services)->store(facts);
    told_pythons(services).store(facts, {.facts = told->python});
    return facts;
  } catch (const Error& error) {
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

std::optional<state::BaseCache> told_bases(const Services& services) {
  return services.notes ? std::optional{state::BaseCache{services.notes->directory()}}
                        : std::nullopt;
}

std::optional<PythonFacts> told_python(Services& services, const image::BaseFacts& base) {
  if (!services.notes || !base.digest) {
    return std::nullopt;
  }
  if (auto known = told_pythons(services).load_facts(base)) {
    return known;
  }
  auto told = told_now(services, *base.digest, base.platform);
  return told ? std::optional{std::move(told->python)} : std::nullopt;
}

std::optional<InstalledFiles> told_files(Services& services,
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
  const auto about = own ? told_text(base, *own) : std::nullopt;
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
