#include "verify/trust.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <variant>

namespace autopack::verify {

namespace {

using packaging::Settings;
using python::Requirement;

constexpr std::string_view git_prefix{"git+"};

std::string shown(const Settings::Text& text) {
  return text.value_or("");
}

std::string shown(const Settings::List& list) {
  return join(list.value_or(std::vector<std::string>{}), ",");
}

/// Returns true for a name with versions: whichever index the user has chosen supplies it.
bool is_plain(const std::string& requirement) {
  return python::parse_requirement(requirement).kind == Requirement::Kind::named &&
         requirement.find("${") == std::string::npos;
}

std::string normal(const std::string& path) {
  return std::filesystem::path{path}.lexically_normal().string();
}

/// The parts of `git+https://host/x.git@main#egg=x` that say where the code is.
struct Place {
  std::string url{};
  std::string revision{};  ///< empty: that of the default branch
};

Place place_in(std::string target) {
  target = target.substr(0, target.find('#'));
  if (!target.starts_with(git_prefix)) {
    return {.url = std::move(target)};
  }
  target.erase(0, git_prefix.size());
  const auto scheme = target.find("://");
  const auto path = target.find('/', scheme == std::string::npos ? 0 : scheme + 3);
  const auto at = target.rfind('@');
  if (path == std::string::npos || at == std::string::npos || at < path) {
    return {.url = std::move(target)};
  }
  return {.url = target.substr(0, at), .revision = target.substr(at + 1)};
}

bool is_full_hash(const std::string& revision) {
  constexpr std::size_t digits{40};
  return revision.size() >= digits &&
         revision.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool names_repository(const Requirement& requirement, const lock::LockedSource& source) {
  if (requirement.kind != Requirement::Kind::url || !requirement.target.starts_with(git_prefix)) {
    return false;
  }
  const auto place = place_in(requirement.target);
  return place.url == source.repository &&
         (!is_full_hash(place.revision) || place.revision == source.commit);
}

bool names_path(const Requirement& requirement, const std::string& path) {
  return requirement.kind == Requirement::Kind::path && normal(requirement.target) == normal(path);
}

bool names_url(const Requirement& requirement, const std::string& url) {
  return requirement.kind == Requirement::Kind::url && place_in(requirement.target).url == url;
}

/// Returns where `package` comes from if `named` does not say so; nothing for one of an index.
std::optional<std::string> foreign_place(const lock::LockedPackage& package,
                                         const std::vector<Requirement>& named) {
  const auto is_named = [&](const auto& names, const auto& place) {
    return std::ranges::any_of(
        named, [&](const Requirement& requirement) { return names(requirement, place); });
  };
  if (package.source && package.source->directory) {
    const auto& directory = *package.source->directory;
    return is_named(names_path, directory) ? std::nullopt : std::optional{directory};
  }
  if (package.source) {
    return is_named(names_repository, *package.source)
               ? std::nullopt
               : std::optional{std::string{git_prefix} + package.source->repository};
  }
  for (const auto& file : package.files) {
    if (file.path && !is_named(names_path, *file.path)) {
      return file.path;
    }
    if (file.url && (package.is_direct || file.url->starts_with("file:")) &&
        !is_named(names_url, *file.url)) {
      return file.url;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> foreign_settings(const Settings& recorded, const Settings& own) {
  std::vector<std::string> found;
  for (const auto& setting : packaging::settings) {
    using Role = packaging::Setting::Role;
    if (setting.role == Role::base || setting.role == Role::place || setting.role == Role::name) {
      continue;
    }
    std::visit(
        [&](const auto member) {
          const auto& value = recorded.*member;
          if (!value && own.*member) {
            found.push_back(fmt::format("no --{}", setting.key));
          } else if (value && value != own.*member) {
            found.push_back(
                fmt::format("--{}={}", setting.key, redact_credentials(printable(shown(value)))));
          }
        },
        setting.member);
  }
  return found;
}

std::vector<std::string> foreign_sources(const Settings& recorded, const Settings& own) {
  std::vector<std::string> found;
  for (const auto* key : {"requirements", "extra-packages", "build-env"}) {
    const auto* const setting =
        std::ranges::find(packaging::settings, std::string_view{key}, &packaging::Setting::key);
    const auto member = std::get<Settings::List Settings::*>(setting->member);
    const auto ours = (own.*member).value_or(std::vector<std::string>{});
    for (const auto& value : (recorded.*member).value_or(std::vector<std::string>{})) {
      const bool is_harmless = member == &Settings::requirements && is_plain(value);
      if (!is_harmless && !contains(ours, value)) {
        found.push_back(fmt::format("--{}={}", key, redact_credentials(printable(value))));
      }
    }
  }
  return found;
}

std::vector<std::string> foreign_packages(const lock::LockedSet& set,
                                          const std::vector<Requirement>& named,
                                          Asked asked) {
  std::vector<std::string> found;
  for (const auto& package : set.packages) {
    const bool is_local_repository =
        package.source && package.source->repository.starts_with("file:");
    if (asked == Asked::local_repositories && !is_local_repository) {
      continue;
    }
    if (const auto place = foreign_place(package, named)) {
      found.push_back(fmt::format("`{}` from `{}`", printable(package.name),
                                  redact_credentials(printable(*place))));
    }
  }
  return found;
}

}  // namespace autopack::verify
