#include "base/contains.hpp"
#include "base/text.hpp"
#include "lock/document.hpp"
#include "lock/file_names.hpp"
#include "lock/freshness.hpp"
#include "lock/grouped.hpp"
#include "lock/judge.hpp"
#include "lock/merge.hpp"
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

/// PDM uses one list of groups for extras and for dependency groups.
std::vector<std::string> all_groups(const Target& target) {
  auto groups = target.groups;
  groups.insert(groups.end(), target.extras.begin(), target.extras.end());
  return groups;
}

std::vector<std::string> with_default(std::vector<std::string> groups) {
  groups.emplace_back("default");
  return groups;
}

class PdmReader {
public:
  PdmReader(const Document& document, const Target& target)
      : document_{&document},
        target_{&target},
        judge_{target, target.extras, with_default(all_groups(target))},
        groups_{with_default(all_groups(target))} {}

  LockedSet read() {
    check_head();
    std::vector<std::string> names;
    for (const auto* const entry : document_->tables(document_->root(), "package")) {
      names.push_back(python::normalise_name(document_->required(*entry, "name")));
      if (is_in_groups(document_->texts(*entry, "groups"), groups_) &&
          judge_.holds(document_->text(*entry, "marker"), document_->place(*entry))) {
        add(*entry);
      }
    }
    for (auto& [name, package] : packages_) {
      set_.packages.push_back(std::move(package));
    }
    report_missing_names(set_, document_->file(), *target_, std::move(names), "pdm lock");
    finish(set_);
    set_.origin = document_->file();
    return std::move(set_);
  }

private:
  void check_head() const {
    const auto& root = document_->root();
    const auto* const metadata = document_->table(root, "metadata");
    if (metadata == nullptr) {
      refuse(fmt::format("`{}` has no `[metadata]`", document_->file()), document_->place(root));
    }
    const auto place = document_->place(*metadata);
    const auto text = document_->text(*metadata, "lock_version").value_or("0");
    const auto version = format_version(text, place);
    const auto strategy = document_->texts(*metadata, "strategy");
    if (version.first > 4) {
      refuse(fmt::format("`{}` has lock_version {}, but autopack reads 4", document_->file(), text),
             place);
    }
    if (!contains(strategy, "inherit_metadata")) {
      refuse(fmt::format("`{}` leaves groups and markers to PDM: it has no strategy "
                         "`inherit_metadata`",
                         document_->file()),
             place, {"pdm lock --strategy inherit_metadata", "pdm export -o requirements.txt"});
    }
    auto known = document_->texts(*metadata, "groups");
    require_known(all_groups(*target_), known, "group", document_->file());
    check_targets(*metadata);
  }

  /// A lock for one platform has no markers for others.
  void check_targets(const toml::table& metadata) const {
    const auto targets = document_->tables(metadata, "targets");
    const auto& machine = target_->interpreter.machine;
    const bool fits =
        targets.empty() || std::ranges::any_of(targets, [&](const auto* one) {
          const auto platform = document_->text(*one, "platform");
          const auto implementation = document_->text(*one, "implementation");
          const bool is_here =
              !platform || platform == "linux" ||
              (platform->find("linux_") != std::string::npos && platform->ends_with("_" + machine));
          return is_here &&
                 (!implementation || implementation == target_->interpreter.implementation) &&
                 judge_.is_python(document_->text(*one, "requires_python"), document_->place(*one));
        });
    if (!fits) {
      refuse(fmt::format("`{}` is not for the executor image: no target has Python {} on Linux {}",
                         document_->file(), target_->interpreter.version.str(), machine),
             document_->place(metadata), {"pdm lock"});
    }
  }

  void add(const toml::table& entry) {
    auto package = document_->package(entry);
    package.extras = document_->texts(entry, "extras");
    std::ranges::transform(package.extras, package.extras.begin(), python::normalise_name);
    project::sort_unique(package.extras);
    const auto url = document_->text(entry, "url");
    const auto path = document_->text(entry, "path");
    package.is_direct = url || path;
    if (entry.contains("git")) {
      set_repository(package,
                     {.repository = document_->text(entry, "git").value_or(""),
                      .commit = document_->text(entry, "revision").value_or(""),
                      .revision = document_->text(entry, "ref"),
                      .subdirectory = document_->text(entry, "subdirectory").value_or("")});
    } else if (entry.contains("hg") || entry.contains("svn")) {
      package.obstacle = "it comes from a version control system other than git";
    } else if (path && !python::is_archive_name(file_name_of(*path))) {
      set_directory(package, document_->file(), *path);
    }
    for (const auto* const item : document_->tables(entry, "files")) {
      read_file(*item, package, url, path);
    }
    if (package.files.empty() && !package.obstacle && !package.source) {
      package.obstacle = "its files are not in the lock";
    }
    const auto [same, is_new] = packages_.try_emplace(package.name, package);
    // With extras, a package is listed a second time.
    if (!is_new && !merge_pins(same->second, package)) {
      refuse(fmt::format("`{}` is chosen twice, at {} and here", package.name, same->second.place),
             package.place);
    }
  }

  void read_file(const toml::table& entry,
                 LockedPackage& package,
                 const std::optional<std::string>& url,
                 const std::optional<std::string>& path) const {
    const auto name = document_->text(entry, "file");
    const auto own_url = document_->text(entry, "url");
    LockedFile file{.url = own_url ? own_url : url};
    if (file.url) {
      file.url->resize(std::min(file.url->find('#'), file.url->size()));
    } else if (path) {
      set_path(package, file, document_->file(), *path);
    }
    file.name = name       ? *name
                : file.url ? file_name_of(*file.url)
                : path     ? file_name_of(*path)
                           : std::string{};
    file.hashes.push_back(read_hash(document_->required(entry, "hash"), document_->place(entry)));
    add_file(package, std::move(file));
  }

  const Document* document_;
  const Target* target_;
  Judge judge_;
  std::vector<std::string> groups_;
  std::map<std::string, LockedPackage> packages_;
  LockedSet set_{};
};

}  // namespace

LockedSet read_pdm_lock(std::string_view text, const std::string& file, const Target& target) {
  const Document document{text, file};
  return PdmReader{document, target}.read();
}

}  // namespace autopack::lock
