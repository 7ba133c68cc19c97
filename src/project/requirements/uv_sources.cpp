#include "project/requirements/uv_sources.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "base/url.hpp"
#include "project/requirements/uv_settings.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace autopack::project {

namespace fs = std::filesystem;

namespace {

using Node = toml::node_view<const toml::node>;

constexpr auto* root_file = "pyproject.toml";
constexpr int most_parents{8};

/// Returns `requirement` with `url` as its source.
std::string from_url(const python::Requirement& requirement, const std::string& url) {
  const std::string extras =
      requirement.extras.empty() ? "" : "[" + join(requirement.extras, ",") + "]";
  const std::string marker = requirement.marker ? " ; " + *requirement.marker : "";
  return fmt::format("{}{} @ {}{}", requirement.name.value_or(""), extras, url, marker);
}

/// Returns the URL for pip of a source; nothing for another kind of source.
std::optional<std::string> url_of(const toml::table& source) {
  if (const auto git = source["git"].value<std::string>()) {
    std::string url = git->starts_with("git+") ? *git : "git+" + *git;
    for (const char* const key : {"rev", "tag", "branch"}) {
      if (const auto revision = source[key].value<std::string>()) {
        url += "@" + *revision;
      }
    }
    const auto below = source["subdirectory"].value<std::string>();
    return below ? url + "#subdirectory=" + *below : url;
  }
  return source["url"].value<std::string>();
}

/// Returns true if uv installs the package of `document`, which `source` names: the default, unless
/// one of them disables it.
bool is_package(const toml::table& source, const toml::table& document) {
  return source["package"].value_or(document["tool"]["uv"]["package"].value_or(true));
}

void add_index(std::vector<NamedIndex>& indexes, const Node& url, const std::string& key) {
  for (const auto& text : strings_of(url)) {
    indexes.push_back({.url = text, .place = fmt::format("{} {}", root_file, key)});
  }
}

/// Normalises the differences between two spellings of one index.
std::string comparable_url(const std::string& text) {
  auto url = redact_credentials(text);
  url = replace_all(url, "***@", "");
  while (url.ends_with('/')) {
    url.pop_back();
  }
  return to_lower(url);
}

/// Returns the workspace above `directory` as a relative path; nothing if there is none.
std::optional<std::string> workspace_above(const fs::path& directory) {
  std::string up = "..";
  auto place = directory.parent_path();
  for (int i = 0; i < most_parents && place.has_relative_path(); ++i) {
    std::error_code code;
    if (fs::is_regular_file(place / root_file, code)) {
      try {
        const auto document = toml::parse_file((place / root_file).string());
        if (document["tool"]["uv"]["workspace"].is_table()) {
          return up;
        }
      } catch (const toml::parse_error&) {
        return std::nullopt;
      }
    }
    up += "/..";
    place = place.parent_path();
  }
  return std::nullopt;
}

}  // namespace

UvSources::UvSources(Findings& findings,
                     const Request& request,
                     const toml::table& document,
                     std::string table)
    : findings_{findings},
      request_{request},
      document_{document},
      table_{std::move(table)},
      root_{.file = root_file, .sources = document["tool"]["uv"]["sources"].as_table()},
      workspace_{strings_of(document["tool"]["uv"]["workspace"]["members"])} {}

void UvSources::apply(const python::WrittenRequirement& written,
                      std::vector<python::WrittenRequirement>& requirements) {
  apply_in(root_, written, requirements);
}

std::vector<std::string> UvSources::members() const {
  std::vector<std::string> members;
  for (const auto& [directory, extras] : members_) {
    members.push_back(
        extras.empty()
            ? directory
            : fmt::format("{}[{}]", directory,
                          join(std::vector<std::string>{extras.begin(), extras.end()}, ",")));
  }
  return members;
}

void UvSources::apply_in(const Scope& scope,
                         const python::WrittenRequirement& written,
                         std::vector<python::WrittenRequirement>& requirements) {
  const auto& parsed = written.parts;
  const bool is_named = parsed.name && parsed.kind == python::Requirement::Kind::named;
  const auto source = is_named ? find(scope, *parsed.name) : Source{};
  const auto* const table = source.node == nullptr ? nullptr : source.node->as_table();
  if (table != nullptr) {
    if (const auto url = url_of(*table)) {
      requirements.emplace_back(from_url(parsed, *url));
      return;
    }
    const bool is_local = (*table)["path"].is_string() || (*table)["workspace"].value_or(false);
    if (is_local && add_member(source, parsed, requirements)) {
      return;
    }
  }
  if (source.node != nullptr) {
    report_unread(source, *parsed.name);
  }
  if (!scope.is_resolved) {
    requirements.push_back(written);
  }
}

/// Returns the source of `name` in the file of `scope`, else in the root's.
UvSources::Source UvSources::find(const Scope& scope, const std::string& name) const {
  for (const auto* const one : {&scope, &root_}) {
    if (one->sources == nullptr) {
      continue;
    }
    for (const auto& [key, value] : *one->sources) {
      if (python::normalise_name(key.str()) == name) {
        return {.node = &value, .scope = one};
      }
    }
  }
  return {};
}

/// Warns about an index, or a list of sources with markers. A lock has resolved them.
void UvSources::report_unread(const Source& source, const std::string& name) {
  std::vector<const toml::table*> tables;
  const bool is_list = source.node->is_array();
  if (is_list) {
    for (const auto& item : *source.node->as_array()) {
      if (const auto* const table = item.as_table();
          table != nullptr && is_source_active(*table, request_)) {
        tables.push_back(table);
      }
    }
  } else if (source.node->is_table()) {
    tables.push_back(source.node->as_table());
  }
  const std::string place = source.scope->file + " " + table_;
  for (const auto* const table : tables) {
    const auto index = (*table)["index"].value<std::string>();
    const auto other = is_list ? url_of(*table) : std::nullopt;
    if (!index && !other) {
      continue;
    }
    const auto from = index ? fmt::format("the index `{}`", printable(*index))
                            : fmt::format("`{}`", printable(redact_credentials(*other)));
    std::string url = "URL";
    std::vector<std::string> names;
    const auto* const all = document_["tool"]["uv"]["index"].as_array();
    for (const auto& item : all == nullptr ? toml::array{} : *all) {
      const auto* const one = item.as_table();
      names.push_back(one == nullptr ? "" : (*one)["name"].value_or(std::string{}));
      if (one != nullptr && index && names.back() == index) {
        url = (*one)["url"].value_or(url);
      }
    }
    const auto near = index && !contains(names, *index) ? nearest(*index, names) : std::nullopt;
    const bool is_known = std::ranges::any_of(request_.pip.indexes, [&](const auto& one) {
      return comparable_url(one) == comparable_url(url);
    });
    if (!index || !is_known) {
      unread_.emplace(
          name,
          Problem::warning(
              {.message = fmt::format("that `{}` comes from {}", name, from),
               .origin = place,
               .hints = {
                   near    ? fmt::format("did you mean `{}`?", printable(*near))
                   : index ? fmt::format("name the index in requirements.txt: "
                                         "`--extra-index-url {}`",
                                         printable(redact_credentials(url)))
                           : fmt::format("write `{} @ URL` into the dependencies, with its marker",
                                         name)}}));
      return;
    }
  }
}

/// Returns false, with an error or because a flag installs it, if it is not a member.
bool UvSources::add_member(const Source& source,
                           const python::Requirement& requirement,
                           std::vector<python::WrittenRequirement>& requirements) {
  const auto& name = requirement.name.value_or("");
  const auto path = (*source.node->as_table())["path"].value<std::string>();
  const auto directory =
      path ? source::normalise(join_path(source.scope->directory, *path)) : find_member(name);
  if (!directory || !findings_.is_directory(*directory)) {
    if (!path || !is_extra_package(join_path(source.scope->directory, *path))) {
      report_missing_member(source, name);
    }
    return false;
  }
  read_member(*directory, *source.node->as_table(),
              {requirement.extras.begin(), requirement.extras.end()}, requirements);
  return true;
}

/// Follows the workspace dependencies of the package in `directory`, which `source` names. If it is
/// not a package, installs only its dependencies.
void UvSources::read_member(const std::string& directory,
                            const toml::table& source,
                            const std::set<std::string>& extras,
                            std::vector<python::WrittenRequirement>& requirements) {
  if (directory.empty()) {
    return;  // the root itself
  }
  const std::string file = join_path(directory, root_file);
  toml::table document;
  if (findings_.is_file(file)) {
    try {
      document = parse_toml(findings_.tree().read(findings_.follow(file).entry.path));
    } catch (const toml::parse_error& error) {
      findings_.error(fmt::format("cannot read `{}`: {}", file, printable(error.description())),
                      fmt::format("{}:{}", file, error.source().begin.line));
      return;
    }
  }
  const bool installs = is_package(source, document);
  if (installs) {
    members_[directory].insert(extras.begin(), extras.end());
  }
  const Scope scope{.directory = directory,
                    .file = file,
                    .sources = document["tool"]["uv"]["sources"].as_table(),
                    .is_resolved = installs};
  const toml::node_view<const toml::node> project{document["project"].node()};
  const auto follow = [&](const std::string& key, const Node& list) {
    if (seen_.insert(key).second) {
      for (const auto& text : strings_of(list)) {
        apply_in(scope, text, requirements);
      }
    }
  };
  follow(directory, project["dependencies"]);
  if (const auto* const optional = project["optional-dependencies"].as_table()) {
    for (const auto& [extra, list] : *optional) {
      if (extras.contains(python::normalise_name(extra.str()))) {
        follow(fmt::format("{}[{}]", directory, python::normalise_name(extra.str())), Node{list});
      }
    }
  }
}

void UvSources::report_missing_member(const Source& source, const std::string& name) {
  const auto path = (*source.node->as_table())["path"].value<std::string>();
  std::vector<std::string> hints;
  const auto outside = path ? join_path(source.scope->directory, *path) : std::string{};
  std::error_code code;
  const auto here = fs::absolute(request_.directory, code).lexically_normal();
  if (path && fs::exists(here / outside, code)) {
    hints.push_back(fmt::format("--extra-packages={}", shell_quote(outside)));
  }
  if (const auto above = path ? std::nullopt : workspace_above(here)) {
    hints.push_back(fmt::format(
        "`-C {}` packages the workspace, with the program by its path from there", *above));
  }
  findings_.error(
      fmt::format("`{}` comes from {}, which is not below the working directory", printable(name),
                  path ? "`" + printable(*path) + "`" : "the workspace"),
      source.scope->file + " " + table_, std::move(hints));
}

/// Returns true if `--extra-packages` names `path`.
bool UvSources::is_extra_package(const std::string& path) const {
  std::error_code code;
  const auto place = [&](const std::string& text) {
    return fs::weakly_canonical(fs::absolute(request_.directory, code) / text, code);
  };
  const auto wanted = place(path);
  return std::ranges::any_of(request_.extra_packages,
                             [&](const auto& one) { return place(one) == wanted; });
}

std::optional<std::string> UvSources::find_member(const std::string& name) const {
  for (const auto& pattern : workspace_) {
    for (const auto& entry : findings_.tree().list(parent_path(pattern))) {
      const std::string file = join_path(entry.path, root_file);
      if (matches_glob(base_name(pattern), base_name(entry.path)) && findings_.is_file(file) &&
          python::normalise_name(name_in(file)) == python::normalise_name(name)) {
        return entry.path;
      }
    }
  }
  return std::nullopt;
}

std::string UvSources::name_in(const std::string& file) const {
  try {
    const toml::table document =
        parse_toml(findings_.tree().read(findings_.follow(file).entry.path));
    return document["project"]["name"].value_or(std::string{});
  } catch (const toml::parse_error&) {
    return {};
  }
}

void report_unread_sources(Findings& findings, const Request& request, Project& project) {
  const bool asks_pip = project.package && !project.lock &&
                        !(project.package->requirements && project.package->requirements->empty() &&
                          project.requirement_files.empty() && project.requirements.empty());
  if (!asks_pip) {
    return;
  }
  const auto& package = *project.package;
  project.uv = package.uv;
  const auto report = [&](bool is_read_by_uv, Problem problem) {
    problem.message =
        fmt::format("{} does not read {}", is_read_by_uv ? "pip" : "autopack", problem.message);
    if (is_read_by_uv) {
      project.unread_by_pip.push_back(std::move(problem));
    } else {
      findings.warn(problem.message, problem.origin.value_or(""), problem.hints);
    }
  };
  for (const auto& [name, problem] : package.unread) {
    report(project.uv.sources.contains(name), problem);
  }
  if (!project.uv.options.empty()) {
    report(true, Problem::warning(
                     {.message = "which versions `[tool.uv]` chooses", .origin = root_file}));
  }
  std::set<std::string> known;
  for (const auto& url : request.pip.indexes) {
    known.insert(comparable_url(url));
  }
  for (const auto& option : project.listed_options) {
    known.insert(comparable_url(option.value));
  }
  std::map<bool, std::vector<std::string>> unread;  // by whether uv reads them
  std::map<bool, std::string> places;
  for (const auto& index : package.indexes) {
    const auto shown = printable(redact_credentials(index.url));
    const bool is_reported = std::ranges::any_of(package.unread, [&](const auto& one) {
      return one.second.hints.front().find(shown) != std::string::npos;
    });
    if (known.insert(comparable_url(index.url)).second && !is_usual_index(index.url) &&
        !is_reported) {
      const bool is_read = std::ranges::find(project.uv.indexes, index.url, &UvIndex::url) !=
                           project.uv.indexes.end();
      unread[is_read].push_back(shown);
      places.emplace(is_read, index.place);
    }
  }
  for (const auto& [is_read, urls] : unread) {
    report(is_read,
           Problem::warning({.message = fmt::format("{} `{}`, so nothing comes from there",
                                                    urls.size() == 1 ? "the index" : "the indexes",
                                                    join(urls, "`, `")),
                             .origin = places.at(is_read),
                             .hints = {fmt::format("export PIP_EXTRA_INDEX_URL={}",
                                                   shell_quote(join(urls, " ")))}}));
  }
}

std::optional<std::string> from_source(const python::Requirement& requirement,
                                       const toml::table& source) {
  const auto url = url_of(source);
  return url ? std::optional{from_url(requirement, *url)} : std::nullopt;
}

std::vector<NamedIndex> indexes_named_in(const toml::table& document) {
  std::vector<NamedIndex> indexes;
  const auto tool = document["tool"];
  for (const char* const key : {"index-url", "extra-index-url", "find-links"}) {
    add_index(indexes, Node{tool["uv"][key].node()}, fmt::format("tool.uv.{}", key));
  }
  const auto add_all = [&](const Node& list, const std::string& key) {
    const auto* const array = list.as_array();
    for (const auto& item : array == nullptr ? toml::array{} : *array) {
      const auto* const table = item.as_table();
      const bool is_for_named = table == nullptr || (*table)["explicit"].value_or(false) ||
                                (*table)["priority"].value_or(std::string{}) == "explicit";
      // A mirror of the default index has another name.
      if (!is_for_named && to_lower((*table)["name"].value_or(std::string{})) != "pypi") {
        add_index(indexes, Node{(*table)["url"].node()}, key);
      }
    }
  };
  add_all(Node{tool["uv"]["index"].node()}, "tool.uv.index");
  add_all(Node{tool["poetry"]["source"].node()}, "tool.poetry.source");
  add_all(Node{tool["pdm"]["source"].node()}, "tool.pdm.source");
  return indexes;
}

}  // namespace autopack::project
