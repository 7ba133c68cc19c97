#include "base/text.hpp"
#include "base/url.hpp"
#include "lock/document.hpp"
#include "lock/file_names.hpp"
#include "lock/freshness.hpp"
#include "lock/judge.hpp"
#include "lock/package.hpp"
#include "lock/readers.hpp"
#include "lock/repository.hpp"
#include "lock/uv_graph.hpp"
#include "project/findings.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace autopack::lock {

namespace {

/// From this revision on, the lock does not list the project's extras and groups.
constexpr std::int64_t revision_without_metadata{4};

std::vector<std::string> keys_of(const toml::table* table) {
  std::vector<std::string> keys;
  if (table != nullptr) {
    for (const auto& [key, value] : *table) {
      keys.emplace_back(key.str());
    }
  }
  return keys;
}

void append(std::vector<std::string>& list, std::vector<std::string> more) {
  list.insert(list.end(), more.begin(), more.end());
}

class UvReader {
public:
  UvReader(const Document& document, const Target& target)
      : document_{&document}, target_{&target}, graph_{document} {}

  LockedSet read() {
    check_head();
    const auto roots = find_roots();
    for (const auto& [package, extras] : reach(graph_, roots, target_->groups, *target_)) {
      add(*package, extras);
    }
    finish(set_);
    set_.origin = document_->file();
    return std::move(set_);
  }

private:
  void check_head() const {
    const auto& root = document_->root();
    const auto version = root["version"].value<std::int64_t>();
    if (version != 1) {
      refuse(version ? fmt::format("`{}` has version {}, but autopack reads 1", document_->file(),
                                   *version)
                     : fmt::format("`{}` has no version: it is not uv's", document_->file()),
             document_->place(root));
    }
    const Judge judge{*target_};
    judge.require_python(document_->text(root, "requires-python"),
                         fmt::format("`{}`", document_->file()), document_->place(root));
    const auto supported = document_->texts(root, "supported-markers");
    if (!judge.any_holds(supported, document_->place(root))) {
      refuse(fmt::format("`{}` is not for the executor image: none of its `supported-markers` "
                         "holds",
                         document_->file()),
             document_->place(root), {fmt::format("it has `{}`", join(supported, "`, `"))});
    }
  }

  /// Returns the project with its extras and groups; without a project, all members of the
  /// workspace.
  std::vector<UvNode> find_roots() {
    std::vector<UvNode> roots;
    std::vector<std::string> extras;
    std::vector<std::string> groups;
    const auto* const manifest = document_->table(document_->root(), "manifest");
    if (manifest != nullptr) {
      append(groups, keys_of(document_->table(*manifest, "dependency-groups")));
    }
    const auto* const project = graph_.project(target_->project);
    const auto members = project != nullptr ? std::vector{project} : graph_.members();
    if (members.empty() && manifest == nullptr) {
      refuse(fmt::format("`{}` has no package for the project", document_->file()),
             document_->place(document_->root()), {"uv lock"});
    }
    for (const auto* const member : members) {
      roots.push_back({.package = member});
      note_provided(*member, extras, groups);
      for (const auto& extra : target_->extras) {
        roots.push_back({.package = member, .extra = extra});
      }
      for (const auto& group : target_->groups) {
        roots.push_back({.package = member, .group = group});
      }
    }
    if (document_->root()["revision"].value_or(std::int64_t{0}) < revision_without_metadata) {
      require_known(target_->extras, extras, "extra", document_->file());
      require_known(target_->groups, groups, "group", document_->file());
    }
    if (project != nullptr) {
      report_older(*project);
    }
    return roots;
  }

  void note_provided(const UvPackage& member,
                     std::vector<std::string>& extras,
                     std::vector<std::string>& groups) const {
    const auto& table = *member.table;
    append(extras, keys_of(document_->table(table, "optional-dependencies")));
    append(groups, keys_of(document_->table(table, "dev-dependencies")));
    if (const auto* const metadata = document_->table(table, "metadata")) {
      append(extras, document_->texts(*metadata, "provides-extras"));
      append(groups, keys_of(document_->table(*metadata, "requires-dev")));
    }
  }

  /// Ignores markers, because uv rewrites them.
  void report_older(const UvPackage& project) {
    const auto* const metadata = document_->table(*project.table, "metadata");
    const auto asked = asked_by_project(target_->pyproject);
    if (metadata == nullptr || !asked) {
      return;
    }
    std::vector<std::string> locked;
    std::vector<std::string> from_elsewhere;
    for (const auto* const entry : document_->tables(*metadata, "requires-dist")) {
      const auto name = python::normalise_name(document_->required(*entry, "name"));
      const bool elsewhere = std::ranges::any_of(*entry, [](const auto& pair) {
        const auto key = pair.first.str();
        return key != "name" && key != "specifier" && key != "marker" && key != "extras";
      });
      (elsewhere ? from_elsewhere : locked)
          .push_back(elsewhere ? name
                               : plain_requirement(
                                     name, document_->text(*entry, "specifier").value_or("")));
    }
    project::sort_unique(locked);
    project::sort_unique(from_elsewhere);
    for (const auto& requirement : *asked) {
      const auto name = requirement.substr(0, requirement.find_first_of("=<>!~"));
      if (!std::binary_search(locked.begin(), locked.end(), requirement) &&
          !std::binary_search(from_elsewhere.begin(), from_elsewhere.end(), name)) {
        set_.warnings.push_back(older_than_project(document_->file(), requirement, "uv lock"));
        return;
      }
    }
    for (const auto& requirement : locked) {
      if (!std::binary_search(asked->begin(), asked->end(), requirement)) {
        set_.warnings.push_back(Problem::warning(
            {.message = fmt::format("`{}` is older than `pyproject.toml`, which no longer asks for "
                                    "`{}`",
                                    document_->file(), printable(requirement)),
             .origin = document_->file(),
             .hints = {"uv lock"}}));
        return;
      }
    }
  }

  void add(const UvPackage& found, const std::set<std::string>& extras) {
    auto package = document_->package(*found.table);
    package.extras.assign(extras.begin(), extras.end());
    const auto* const source = document_->table(*found.table, "source");
    if (source == nullptr) {
      refuse(fmt::format("`{}` has no source", package.name), package.place);
    }
    const auto in_source = [&](const char* key) { return document_->text(*source, key); };
    if (found.source.ends_with("=.\n") || source->contains("virtual")) {
      return;  // the project itself, or a member that is not a package
    }
    const auto directory =
        source->contains("directory") ? in_source("directory") : in_source("editable");
    if (directory) {
      set_directory(package, document_->file(), *directory);
    } else if (source->contains("git")) {
      read_repository(in_source("git").value_or(""), package);
    }
    package.is_direct = package.is_direct || source->contains("path") || source->contains("url");
    const auto registry = in_source("registry");
    const bool is_remote = registry && registry->find("://") != std::string::npos;
    if (is_remote) {
      package.index = index_url(*registry);
    }
    const auto base = is_remote ? std::nullopt : registry;
    for (const auto* const wheel : document_->tables(*found.table, "wheels")) {
      read_file(*wheel, package, base, in_source("path"), in_source("url"));
    }
    if (const auto* const sdist = document_->table(*found.table, "sdist")) {
      read_file(*sdist, package, base, in_source("path"), in_source("url"));
    }
    if (source->contains("subdirectory")) {
      package.obstacle = "it is in a subdirectory of its archive";
    }
    const bool nothing = package.files.empty() && !package.obstacle && !package.source;
    if (nothing) {
      package.obstacle = "its files are not in the lock";
    }
    set_.packages.push_back(std::move(package));
  }

  /// The text has the form `https://host/x.git?subdirectory=y&rev=main#COMMIT`.
  static void read_repository(const std::string& text, LockedPackage& package) {
    const auto mark = std::min(text.find('#'), text.size());
    const auto query = std::min(text.find('?'), mark);
    LockedSource source{.repository = text.substr(0, query),
                        .commit = text.substr(std::min(mark + 1, text.size()))};
    for (const auto& part : split(text.substr(query, mark - query), '&')) {
      const std::string_view word{part};
      const auto pair = word.substr(word.starts_with('?') ? 1 : 0);
      const auto value = percent_decode(pair.substr(std::min(pair.find('=') + 1, pair.size())));
      if (pair.starts_with("subdirectory=")) {
        source.subdirectory = value;
      } else if (pair.starts_with("rev=") || pair.starts_with("tag=") ||
                 pair.starts_with("branch=")) {
        source.revision = non_empty(value);
      }
    }
    set_repository(package, std::move(source));
  }

  /// `base` is the directory of a local registry; `path` or `url` names the file of a package that
  /// is one file.
  void read_file(const toml::table& entry,
                 LockedPackage& package,
                 const std::optional<std::string>& base,
                 const std::optional<std::string>& path,
                 const std::optional<std::string>& url) const {
    LockedFile file;
    const auto own_path = document_->text(entry, "path");
    const auto own_url = document_->text(entry, "url");
    if (own_path || (!own_url && path)) {
      const auto where = !own_path ? *path : base ? *base + "/" + *own_path : *own_path;
      file.name = file_name_of(where);
      set_path(package, file, document_->file(), where);
    } else if (own_url || url) {
      file.url = own_url ? own_url : url;
      file.name = file_name_of(*file.url);
    }
    if (const auto name = document_->text(entry, "filename")) {
      file.name = *name;
    }
    if (const auto hash = document_->text(entry, "hash")) {
      file.hashes.push_back(read_hash(*hash, document_->place(entry)));
    }
    if (const auto size = entry["size"].value<std::int64_t>(); size && *size >= 0) {
      file.size = static_cast<std::uint64_t>(*size);
    }
    add_file(package, std::move(file));
  }

  const Document* document_;
  const Target* target_;
  UvGraph graph_;
  LockedSet set_{};
};

}  // namespace

LockedSet read_uv_lock(std::string_view text, const std::string& file, const Target& target) {
  const Document document{text, file};
  return UvReader{document, target}.read();
}

}  // namespace autopack::lock
