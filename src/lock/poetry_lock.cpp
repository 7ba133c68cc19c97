#include "base/text.hpp"
#include "lock/document.hpp"
#include "lock/freshness.hpp"
#include "lock/grouped.hpp"
#include "lock/judge.hpp"
#include "lock/package.hpp"
#include "lock/readers.hpp"
#include "lock/repository.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace autopack::lock {

namespace {

std::vector<std::string> with_main(std::vector<std::string> groups) {
  groups.emplace_back("main");
  return groups;
}

class PoetryReader {
public:
  PoetryReader(const Document& document, const Target& target)
      : document_{&document},
        target_{&target},
        judge_{target, target.extras},
        groups_{with_main(target.groups)} {}

  LockedSet read() {
    check_head();
    std::vector<std::string> names;
    std::vector<std::string> known_groups;
    for (const auto* const entry : document_->tables(document_->root(), "package")) {
      names.push_back(python::normalise_name(document_->required(*entry, "name")));
      const auto groups = document_->texts(*entry, "groups");
      known_groups.insert(known_groups.end(), groups.begin(), groups.end());
      if (is_taken(*entry, groups)) {
        add(*entry);
      }
    }
    report_empty_groups(known_groups);
    report_missing_names(set_, document_->file(), *target_, std::move(names), "poetry lock");
    finish(set_);
    set_.origin = document_->file();
    return std::move(set_);
  }

private:
  void check_head() {
    const auto& root = document_->root();
    const auto* const metadata = document_->table(root, "metadata");
    if (metadata == nullptr) {
      refuse(fmt::format("`{}` has no `[metadata]`", document_->file()), document_->place(root));
    }
    const auto place = document_->place(*metadata);
    const auto text = document_->text(*metadata, "lock-version").value_or("1.0");
    const auto version = format_version(text, place);
    if (version < std::pair<std::uint64_t, std::uint64_t>{2, 1}) {
      refuse(fmt::format("`{}` has lock-version {}, which leaves groups and markers to Poetry",
                         document_->file(), text),
             place,
             {"`poetry lock` of Poetry 2 writes lock-version 2.1",
              "poetry export -o requirements.txt"});
    }
    if (version.first > 2) {
      refuse(fmt::format("`{}` has lock-version {}, but autopack reads 2", document_->file(), text),
             place);
    }
    judge_.require_python(document_->text(*metadata, "python-versions"),
                          fmt::format("`{}`", document_->file()), place);
    std::vector<std::string> extras;
    if (const auto* const table = document_->table(root, "extras")) {
      for (const auto& [name, value] : *table) {
        extras.emplace_back(name.str());
      }
    }
    require_known(target_->extras, extras, "extra", document_->file());
  }

  /// The lock does not list a group without packages, so such a group looks like a wrong name.
  void report_empty_groups(const std::vector<std::string>& known) {
    for (const auto& group : target_->groups) {
      if (!is_in_groups(known, {group})) {
        set_.warnings.push_back(
            Problem::warning({.message = fmt::format("no package of `{}` is in the group `{}`",
                                                     document_->file(), printable(group)),
                              .origin = document_->file()}));
      }
    }
  }

  bool is_taken(const toml::table& entry, const std::vector<std::string>& groups) const {
    if (!is_in_groups(groups, groups_)) {
      return false;
    }
    const auto place = document_->place(entry);
    const auto* const by_group = entry["markers"].as_table();
    if (by_group == nullptr) {
      return judge_.holds(document_->text(entry, "markers"), place);
    }
    return std::ranges::any_of(groups, [&](const std::string& group) {
      return is_in_groups({group}, groups_) &&
             judge_.holds(document_->text(*by_group, group), place);
    });
  }

  void add(const toml::table& entry) {
    auto package = document_->package(entry);
    std::optional<std::string> url;
    std::optional<std::string> path;
    if (const auto* const source = document_->table(entry, "source")) {
      const auto type = document_->text(*source, "type");
      const auto where = document_->text(*source, "url");
      if (type == "git") {
        set_repository(package,
                       {.repository = where.value_or(""),
                        .commit = document_->text(*source, "resolved_reference").value_or(""),
                        .revision = document_->text(*source, "reference"),
                        .subdirectory = document_->text(*source, "subdirectory").value_or("")});
      } else if (type == "directory") {
        set_directory(package, document_->file(), where.value_or(""));
      } else if (type == "url") {
        url = where;
        package.is_direct = true;
      } else if (type == "file") {
        path = where;
        package.is_direct = true;
      } else {
        package.index = index_url(where.value_or(""));
      }
    }
    for (const auto* const item : document_->tables(entry, "files")) {
      LockedFile file{.name = document_->required(*item, "file")};
      file.hashes.push_back(read_hash(document_->required(*item, "hash"), document_->place(*item)));
      file.url = url;
      if (path) {
        set_path(package, file, document_->file(), *path);
      }
      add_file(package, std::move(file));
    }
    if (package.files.empty() && !package.obstacle && !package.source) {
      package.obstacle = "its files are not in the lock";
    }
    set_.packages.push_back(std::move(package));
  }

  const Document* document_;
  const Target* target_;
  Judge judge_;
  std::vector<std::string> groups_;
  LockedSet set_{};
};

}  // namespace

LockedSet read_poetry_lock(std::string_view text, const std::string& file, const Target& target) {
  const Document document{text, file};
  return PoetryReader{document, target}.read();
}

}  // namespace autopack::lock
