#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "lock/document.hpp"
#include "lock/file_names.hpp"
#include "lock/judge.hpp"
#include "lock/package.hpp"
#include "lock/readers.hpp"
#include "lock/repository.hpp"
#include "project/findings.hpp"
#include "python/archive_name.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace autopack::lock {

namespace {

using nlohmann::json;

constexpr std::int64_t known_format{6};

/// Returns a string of an object, or nothing if it is absent or empty.
std::optional<std::string> text_of(const json& object, const char* key, const std::string& place) {
  const auto found = object.find(key);
  if (found == object.end()) {
    return std::nullopt;
  }
  if (!found->is_string()) {
    refuse(fmt::format("`{}` is not a string", key), place);
  }
  return non_empty(found->get<std::string>());
}

/// Returns the strings of an array in an object.
std::vector<std::string> texts_of(const json& object, const char* key, const std::string& place) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end()) {
    return texts;
  }
  const bool good = found->is_array() &&
                    std::ranges::all_of(*found, [](const auto& one) { return one.is_string(); });
  if (!good) {
    refuse(fmt::format("`{}` is not an array of strings", key), place);
  }
  for (const auto& one : *found) {
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

/// Returns a condition for the version; if `version` has no patch, any patch matches.
std::string any_patch_of(const std::string& version) {
  const bool is_short = std::ranges::count(version, '.') < 2;
  return "==" + version + (is_short ? ".*" : "");
}

class PipfileReader {
public:
  PipfileReader(const json& root, std::string file, const Target& target)
      : root_{&root}, file_{std::move(file)}, target_{&target}, judge_{target} {}

  LockedSet read() {
    read_head();
    read_section("default");
    if (!target_->extras.empty()) {
      require_known(target_->extras, {}, "extra", file_);
    }
    std::vector<std::string> known;
    for (const auto& [key, value] : root_->items()) {
      if (key != "_meta" && key != "default") {
        known.push_back(key == "develop" ? "dev" : key);
      }
    }
    require_known(target_->groups, known, "group", file_);
    for (const auto& [key, value] : root_->items()) {
      const auto group = python::normalise_name(key == "develop" ? "dev" : key);
      if (key != "default" && key != "_meta" && contains(target_->groups, group)) {
        read_section(key);
      }
    }
    for (auto& [name, package] : packages_) {
      set_.packages.push_back(std::move(package));
    }
    finish(set_);
    set_.origin = file_;
    return std::move(set_);
  }

private:
  void read_head() {
    const auto meta = root_->find("_meta");
    const auto place = file_ + ": _meta";
    if (meta == root_->end() || !meta->is_object()) {
      refuse(fmt::format("`{}` has no `_meta`: it is not Pipenv's", file_), file_);
    }
    const auto format = meta->find("pipfile-spec");
    if (format == meta->end() || *format != known_format) {
      refuse(fmt::format("`{}` does not have the format {}, which autopack reads", file_,
                         known_format),
             place, {"pipenv lock"});
    }
    if (const auto sources = meta->find("sources"); sources != meta->end() && sources->is_array()) {
      for (const auto& source : *sources) {
        if (source.is_object()) {
          // Pipenv uses the first source for packages that name no index.
          const auto url = text_of(source, "url", place).value_or("");
          indexes_.try_emplace(std::nullopt, url);
          indexes_[text_of(source, "name", place)] = url;
        }
      }
    }
    const auto required = meta->find("requires");
    if (required == meta->end() || !required->is_object()) {
      return;
    }
    for (const char* const key : {"python_version", "python_full_version"}) {
      const auto version = text_of(*required, key, place);
      if (version && !judge_.is_python(any_patch_of(*version), place)) {
        set_.warnings.push_back(Problem::warning(
            {.message = fmt::format("`{}` was made for Python {}, but the executor image has {}",
                                    file_, printable(*version), target_->interpreter.version.str()),
             .origin = place}));
      }
    }
  }

  void read_section(const std::string& section) {
    const auto found = root_->find(section);
    if (found == root_->end() || !found->is_object()) {
      refuse(fmt::format("`{}` has no packages `{}`", file_, printable(section)), file_);
    }
    for (const auto& [name, entry] : found->items()) {
      const auto place = fmt::format("{}: {}.{}", file_, printable(section), printable(name));
      if (!entry.is_object()) {
        refuse("it is not an object", place);
      }
      if (judge_.holds(text_of(entry, "markers", place), place)) {
        add(name, entry, place);
      }
    }
  }

  void add(const std::string& name, const json& entry, const std::string& place) {
    const auto pin = text_of(entry, "version", place).value_or("");
    const bool is_pinned = pin.size() > 2 && pin.starts_with("==") && !pin.starts_with("===");
    auto package = start_package(
        name, is_pinned ? std::optional{std::string_view{pin}.substr(2)} : std::nullopt, place);
    package.extras = texts_of(entry, "extras", place);
    std::ranges::transform(package.extras, package.extras.begin(), python::normalise_name);
    project::sort_unique(package.extras);
    for (const auto& hash : texts_of(entry, "hashes", place)) {
      package.hashes.push_back(read_hash(hash, place));
    }
    if (const auto index = indexes_.find(text_of(entry, "index", place)); index != indexes_.end()) {
      package.index = index_url(index->second);
    }
    const auto path = text_of(entry, entry.contains("file") ? "file" : "path", place);
    if (entry.contains("git")) {
      set_repository(package, {.repository = text_of(entry, "git", place).value_or(""),
                               .commit = text_of(entry, "ref", place).value_or(""),
                               .revision = text_of(entry, "ref", place),
                               .subdirectory = text_of(entry, "subdirectory", place).value_or("")});
    } else if (entry.contains("hg") || entry.contains("svn")) {
      package.obstacle = "it comes from a version control system other than git";
    } else if (path && path_beside(file_, *path) == parent_path(file_)) {
      return;  // the project itself
    } else if (path && python::is_archive_name(file_name_of(*path))) {
      package.is_direct = true;
      add_path(package, *path);
    } else if (path) {
      set_directory(package, file_, *path);
    } else if (!package.version) {
      refuse(fmt::format("`{}` is not pinned by `==`", package.name), place,
             {entry.contains("markers") ? "Pipenv pins a package only on a machine where its "
                                          "markers hold: run `pipenv lock` there"
                                        : "pipenv lock"});
    }
    // The package may be both in `default` and in `develop`.
    const auto [same, is_new] = packages_.try_emplace(package.name, package);
    if (!is_new && same->second.version != package.version) {
      refuse(fmt::format("`{}` is chosen twice, at {} and here", package.name, same->second.place),
             place);
    }
  }

  void add_path(LockedPackage& package, const std::string& path) const {
    LockedFile file{.name = file_name_of(path), .hashes = package.hashes};
    if (path.find("://") != std::string::npos) {
      file.url = path.substr(0, path.find('#'));
    } else {
      set_path(package, file, file_, path);
    }
    add_file(package, std::move(file));
  }

  const json* root_;
  std::string file_;
  const Target* target_;
  Judge judge_;
  /// By name. The empty key is for packages that name no index.
  std::map<std::optional<std::string>, std::string> indexes_;
  std::map<std::string, LockedPackage> packages_;
  LockedSet set_{};
};

}  // namespace

LockedSet read_pipfile_lock(std::string_view text, const std::string& file, const Target& target) {
  if (text.size() > largest_lock) {
    refuse(fmt::format("`{}` is larger than 32 MiB", file), file);
  }
  const auto root = parse_json(text);
  if (!root.is_object()) {
    refuse(fmt::format("`{}` is not a JSON object", file), file);
  }
  return PipfileReader{root, file, target}.read();
}

}  // namespace autopack::lock
