#include "lock/package.hpp"

#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "base/url.hpp"
#include "lock/document.hpp"
#include "lock/file_names.hpp"
#include "lock/merge.hpp"
#include "project/findings.hpp"
#include "python/archive_name.hpp"
#include "python/name.hpp"
#include "python/wheel_name.hpp"
#include "source/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace autopack::lock {

namespace {

constexpr auto* outside = "its file is outside the working directory";

bool has_hash(const LockedPackage& package) {
  if (package.obstacle || package.source || package.files.empty()) {
    return package.obstacle || package.source || !package.hashes.empty();
  }
  return std::ranges::none_of(package.files,
                              [](const LockedFile& file) { return file.hashes.empty(); });
}

}  // namespace

LockedPackage start_package(std::string_view name,
                            std::optional<std::string_view> version,
                            const std::string& place) {
  const bool good = !name.empty() && is_alphanumeric(name, "-_.") &&
                    is_alphanumeric(name.substr(0, 1)) &&
                    is_alphanumeric(name.substr(name.size() - 1));
  if (!good) {
    refuse(fmt::format("`{}` is not the name of a package", printable(name)), place);
  }
  LockedPackage package{.name = python::normalise_name(name), .requested = true, .place = place};
  if (version) {
    package.version = python::Version::parse(*version);
    if (!package.version) {
      refuse(fmt::format("`{}` of `{}` is not a version", printable(*version), package.name),
             place);
    }
  }
  return package;
}

void add_file(LockedPackage& package, LockedFile file) {
  if (!python::is_archive_name(file.name) || file.name.find('/') != std::string::npos) {
    return;
  }
  if (const auto wheel = python::WheelName::parse(file.name)) {
    const auto& version = package.version;
    const bool same = !version || wheel->version == *version ||
                      (version->local.empty() && wheel->version.without_local() == *version);
    if (wheel->name != package.name || !same) {
      refuse(fmt::format("`{}` is not a wheel of `{}`{}", printable(file.name), package.name,
                         version ? " " + version->str() : ""),
             package.place);
    }
  }
  if (file.url && !is_remote_url(*file.url)) {
    package.obstacle = outside;
    file.url.reset();
  }
  if (file.url && holds_credentials(*file.url)) {
    package.obstacle = "the URL of its file has a login";
    file.url.reset();
  }
  package.files.push_back(std::move(file));
}

bool is_remote_url(std::string_view url) {
  const auto parsed = Url::parse(url);
  return parsed && (parsed->scheme == "https" || parsed->scheme == "http");
}

std::optional<std::string> path_beside(const std::string& lock, std::string_view path) {
  return path.starts_with('/') ? std::nullopt
                               : source::normalise(join_path(parent_path(lock), path));
}

void set_path(LockedPackage& package,
              LockedFile& file,
              const std::string& lock,
              std::string_view path) {
  file.path = path_beside(lock, path);
  if (!file.path) {
    package.obstacle = outside;
  }
}

void set_directory(LockedPackage& package, const std::string& lock, std::string_view path) {
  auto place = path.find("://") == std::string_view::npos ? path_beside(lock, path) : std::nullopt;
  if (!place || place->empty() || *place == parent_path(lock)) {
    package.obstacle = "its directory is the project's own, or outside it";
    return;
  }
  package.source = LockedSource{.directory = std::move(*place)};
  package.is_direct = true;
  package.version.reset();  // the current version of the sources counts
}

python::Hash read_hash(std::string_view text, const std::string& place) {
  auto hash = python::Hash::parse(text);
  if (!hash) {
    refuse(fmt::format("`{}` is not a hash: `sha256:` and 64 hexadecimal digits, or sha384, sha512",
                       printable(text)),
           place);
  }
  return std::move(*hash);
}

std::optional<std::string> index_url(std::string_view url) {
  if (!variables_of(url).empty()) {
    return std::nullopt;
  }
  std::string bare{url};
  const auto begin = bare.find("://");
  if (begin != std::string::npos) {
    const auto end = std::min(bare.find('/', begin + 3), bare.size());
    const auto login = bare.rfind('@', end);
    if (login != std::string::npos && login > begin) {
      bare.erase(begin + 3, login + 1 - (begin + 3));
    }
  }
  return bare;
}

void finish(LockedSet& set) {
  sort_packages(set);
  const auto twice = std::ranges::adjacent_find(
      set.packages, [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != set.packages.end()) {
    refuse(fmt::format("`{}` is chosen twice, at {} and here", twice->name, twice->place),
           std::next(twice)->place,
           {"extras or groups that exclude each other may have been requested together"});
  }
  set.is_complete = true;
  set.hashed = std::ranges::all_of(set.packages, has_hash);
}

}  // namespace autopack::lock
