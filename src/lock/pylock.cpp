#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "lock/document.hpp"
#include "lock/file_names.hpp"
#include "lock/judge.hpp"
#include "lock/package.hpp"
#include "lock/readers.hpp"
#include "lock/repository.hpp"
#include "project/findings.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace autopack::lock {

namespace {

class PylockReader {
public:
  PylockReader(const Document& document, const Target& target)
      : document_{&document}, judge_{target, target.extras, groups(document, target)} {
    const auto& root = document.root();
    require_known(target.extras, document.texts(root, "extras"), "extra", document.file());
    require_known(target.groups, document.texts(root, "dependency-groups"), "group",
                  document.file());
  }

  LockedSet read() {
    const auto& root = document_->root();
    check_version();
    judge_.require_python(document_->text(root, "requires-python"),
                          fmt::format("`{}`", document_->file()), document_->place(root));
    const auto environments = document_->texts(root, "environments");
    if (!judge_.any_holds(environments, document_->place(root))) {
      refuse(fmt::format("`{}` is not for the executor image: none of its `environments` matches",
                         document_->file()),
             document_->place(root), {fmt::format("it has `{}`", join(environments, "`, `"))});
    }
    for (const auto* const entry : document_->tables(root, "packages")) {
      read_package(*entry);
    }
    read_provided();
    finish(set_);
    set_.origin = document_->file();
    return std::move(set_);
  }

private:
  /// The packages that `autopack lock` left to the executor image.
  void read_provided() {
    const auto* const tool = document_->table(document_->root(), "tool");
    const auto* const own = tool != nullptr ? document_->table(*tool, "autopack") : nullptr;
    for (const auto& text :
         own != nullptr ? document_->texts(*own, "provided") : std::vector<std::string>{}) {
      const auto requirement = python::parse_requirement(text);
      const auto version = python::Version::parse(
          requirement.rest.substr(std::min<std::size_t>(requirement.rest.size(), 2)));
      if (!requirement.name || !version) {
        refuse(fmt::format("`{}` is not a version of a package", printable(text)),
               document_->place(*own));
      }
      set_.provided.emplace(*requirement.name, *version);
    }
  }

  static std::vector<std::string> groups(const Document& document, const Target& target) {
    auto names = document.texts(document.root(), "default-groups");
    names.insert(names.end(), target.groups.begin(), target.groups.end());
    std::ranges::transform(names, names.begin(), python::normalise_name);
    return names;
  }

  void check_version() {
    const auto& root = document_->root();
    const auto version = document_->required(root, "lock-version");
    if (!version.starts_with("1.")) {
      refuse(fmt::format("`{}` has lock-version `{}`, but autopack reads 1", document_->file(),
                         printable(version)),
             document_->place(root));
    }
    if (version != "1.0") {
      set_.warnings.push_back(
          Problem::warning({.message = fmt::format(
                                "`{}` has lock-version `{}`: autopack reads only what 1.0 defines",
                                document_->file(), printable(version)),
                            .origin = document_->place(root)}));
    }
  }

  void read_package(const toml::table& entry) {
    const auto place = document_->place(entry);
    if (!judge_.holds(document_->text(entry, "marker"), place)) {
      return;
    }
    auto package = document_->package(entry);
    judge_.require_python(document_->text(entry, "requires-python"),
                          fmt::format("`{}`", package.name), place);
    check_sources(entry, package);
    if (const auto* const directory = document_->table(entry, "directory")) {
      const auto path = path_beside(document_->file(), document_->required(*directory, "path"));
      if (path == parent_path(document_->file())) {
        return;  // the project itself
      }
      set_directory(package, document_->file(), document_->required(*directory, "path"));
      if (directory->contains("subdirectory")) {
        package.obstacle = "it is in a subdirectory of its sources";
      }
    } else if (const auto* const repository = document_->table(entry, "vcs")) {
      read_repository(*repository, package);
    } else if (const auto* const archive = document_->table(entry, "archive")) {
      package.is_direct = true;
      read_file(*archive, package);
      if (package.files.empty() || archive->contains("subdirectory") ||
          !(is_wheel(package.files[0].name) || parse_source_name(package.files[0].name))) {
        package.obstacle = "it is an archive of sources";
      }
    }
    for (const auto* const wheel : document_->tables(entry, "wheels")) {
      read_file(*wheel, package);
    }
    if (const auto* const source = document_->table(entry, "sdist")) {
      read_file(*source, package);
    }
    if (const auto index = document_->text(entry, "index")) {
      package.index = index_url(*index);
    }
    set_.packages.push_back(std::move(package));
  }

  static void check_sources(const toml::table& entry, const LockedPackage& package) {
    const bool files = entry.contains("wheels") || entry.contains("sdist");
    const int count = (files ? 1 : 0) + (entry.contains("vcs") ? 1 : 0) +
                      (entry.contains("directory") ? 1 : 0) + (entry.contains("archive") ? 1 : 0);
    if (count != 1) {
      refuse(fmt::format("`{}` has {}; it needs files, `vcs`, `directory` or `archive`",
                         package.name, count == 0 ? "no source" : "several sources"),
             package.place);
    }
  }

  void read_repository(const toml::table& entry, LockedPackage& package) const {
    if (document_->text(entry, "type") != "git") {
      package.obstacle = "it comes from a version control system other than git";
      return;
    }
    set_repository(package, {.repository = document_->text(entry, "url").value_or(""),
                             .commit = document_->text(entry, "commit-id").value_or(""),
                             .revision = document_->text(entry, "requested-revision"),
                             .subdirectory = document_->text(entry, "subdirectory").value_or("")});
  }

  void read_file(const toml::table& entry, LockedPackage& package) const {
    const auto name = document_->text(entry, "name");
    const auto url = document_->text(entry, "url");
    const auto path = document_->text(entry, "path");
    if (!url && !path) {
      refuse(fmt::format("a file of `{}` has neither `path` nor `url`", package.name),
             document_->place(entry));
    }
    LockedFile file{.name = name ? *name : file_name_of(path ? *path : *url)};
    if (path) {
      set_path(package, file, document_->file(), *path);
    } else if (url->find(':') == std::string::npos) {
      set_path(package, file, document_->file(), *url);
    } else {
      file.url = url;
    }
    if (const auto size = entry["size"].value<std::int64_t>(); size && *size >= 0) {
      file.size = static_cast<std::uint64_t>(*size);
    }
    if (const auto* const hashes = document_->table(entry, "hashes")) {
      for (const auto& [algorithm, value] : *hashes) {
        if (auto hash = python::Hash::parse(
                fmt::format("{}:{}", algorithm.str(), value.value_or(std::string{})))) {
          file.hashes.push_back(std::move(*hash));
        }
      }
    }
    if (file.hashes.empty()) {
      refuse(fmt::format("`{}` has no hash by sha256, sha384 or sha512", printable(file.name)),
             document_->place(entry));
    }
    add_file(package, std::move(file));
  }

  const Document* document_;
  Judge judge_;
  LockedSet set_{};
};

}  // namespace

LockedSet read_pylock(std::string_view text, const std::string& file, const Target& target) {
  const Document document{text, file};
  return PylockReader{document, target}.read();
}

}  // namespace autopack::lock
