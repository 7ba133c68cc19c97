#include "lock/direct_reference.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "lock/file_names.hpp"
#include "lock/repository.hpp"
#include "python/archive_name.hpp"
#include "python/name.hpp"
#include "python/wheel_name.hpp"

#include <fmt/format.h>

namespace autopack::lock {

namespace {

using python::Requirement;

/// Returns the value of `key=` in the fragment of a URL, or nothing if it is absent.
std::optional<std::string> in_fragment(std::string_view url, std::string_view key) {
  const auto mark = url.find('#');
  if (mark == std::string_view::npos) {
    return std::nullopt;
  }
  for (const auto& part : split(url.substr(mark + 1), '&')) {
    if (part.starts_with(key) && part.size() > key.size() && part[key.size()] == '=') {
      return part.substr(key.size() + 1);
    }
  }
  return std::nullopt;
}

void read_hashes(LockedPackage& package, std::string_view url) {
  for (const char* algorithm : {"sha256", "sha384", "sha512"}) {
    const auto hex = in_fragment(url, algorithm);
    const auto hash =
        hex ? python::Hash::parse(fmt::format("{}:{}", algorithm, *hex)) : std::nullopt;
    if (hash) {
      package.hashes.push_back(*hash);
    }
  }
}

}  // namespace

std::optional<std::string> set_direct(LockedPackage& package,
                                      const project::ListedRequirement& listed) {
  const auto& target = listed.requirement.target;
  const bool is_url = listed.requirement.kind == Requirement::Kind::url;
  const bool is_repository =
      is_url && target.substr(0, target.find(':')).find('+') != std::string::npos;
  if (is_url) {
    read_hashes(package, target);
    if (package.name.empty()) {
      package.name = python::normalise_name(in_fragment(target, "egg").value_or(""));
    }
  }
  const std::string file = is_repository ? "" : file_name_of(target);
  const auto wheel = python::WheelName::parse(file);
  const auto source = parse_source_name(file);
  const std::string found = wheel ? wheel->name : source ? source->first : "";
  if (!package.name.empty() && !found.empty() && found != package.name) {
    return fmt::format("`{}` is not a file of `{}`", printable(file), package.name);
  }
  package.name = package.name.empty() ? found : package.name;
  package.version = wheel    ? std::optional{wheel->version}
                    : source ? std::optional{source->second}
                             : std::nullopt;
  package.is_direct = true;
  if (listed.hides_source || !variables_of(target).empty()) {
    package.obstacle = "its URL has a login, a query or a variable";
  } else if (is_repository) {
    set_repository(package, target);
  } else if (is_url && target.starts_with("file:") && package.hashes.empty()) {
    package.obstacle = "its file is outside the project and has no hash";
  } else if (wheel || (source && !in_fragment(target, "subdirectory"))) {
    package.files.push_back({.name = file, .hashes = package.hashes});
    (is_url ? package.files[0].url : package.files[0].path) = target.substr(0, target.find('#'));
  } else if (is_url || python::is_archive_name(file)) {
    package.obstacle = fmt::format("only a build shows the contents of `{}`", printable(file));
  } else {
    package.source = LockedSource{.directory = target};
  }
  return std::nullopt;
}

LockedPackage package_at(const std::string& path, const std::string& place) {
  LockedPackage package{.requested = true, .place = place};
  set_direct(package, {.requirement = {.kind = Requirement::Kind::path, .target = path}});
  return package;
}

}  // namespace autopack::lock
