#include "project/findings.hpp"

#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/project.hpp"
#include "source/walk.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <optional>

namespace autopack::project {

using source::EntryType;

void Findings::error(std::string message, std::string origin, std::vector<std::string> hints) {
  problems_.push_back({Problem::Severity::error, std::move(message), non_empty(std::move(origin)),
                       std::move(hints)});
}

void Findings::warn(std::string message, std::string origin, std::vector<std::string> hints) {
  problems_.push_back({Problem::Severity::warning, std::move(message), non_empty(std::move(origin)),
                       std::move(hints)});
}

Place Findings::follow(std::string_view path) const {
  constexpr int most_links = 40;  // like Linux's MAXSYMLINKS
  Place place;
  std::string rest{path};
  std::string done;
  if (rest.empty()) {
    place.kind = Place::Kind::found;
    place.entry.type = EntryType::directory;
    return place;
  }
  while (!rest.empty()) {
    const auto slash = rest.find('/');
    const std::string here = join_path(done, rest.substr(0, slash));
    rest = slash == std::string::npos ? std::string{} : rest.substr(slash + 1);
    const auto entry = tree_->find(here);
    if (!entry) {
      return place;
    }
    if (entry->type != EntryType::symlink) {
      done = here;
      place.entry = *entry;
      continue;
    }
    place.links.push_back(here);
    const auto target = entry->link_target.starts_with('/')
                            ? std::nullopt
                            : source::normalise(join_path(parent_path(here), entry->link_target));
    if (!target) {
      place.kind = Place::Kind::leaves;
      return place;
    }
    if (place.links.size() > most_links) {
      return place;
    }
    rest = rest.empty() ? *target : join_path(*target, rest);
    done.clear();
    place.entry = {};
    place.entry.type = EntryType::directory;
  }
  place.kind = Place::Kind::found;
  return place;
}

bool Findings::is_ignored(std::string_view path) const {
  return !path.empty() && ignore_.excludes(path).has_value();
}

bool Findings::require_included(std::string_view path, const std::string& why) {
  const auto rule = path.empty() ? std::nullopt : ignore_.excludes(path);
  if (!rule) {
    return true;
  }
  if (ignore_.is_only_ignored_by_git(path)) {
    ignore_.keep(std::string{path}, why);
    return true;
  }
  std::string origin = rule->line > 0 ? fmt::format("{}:{}", rule->file, rule->line) : rule->file;
  error(fmt::format("`{}`, {}, is ignored by the rule `{}`", path, why, rule->pattern),
        std::move(origin), {source::bring_back_command(path, is_directory(path), *rule)});
  return false;
}

std::vector<std::string> Findings::files_below(std::string_view directory,
                                               std::size_t limit) const {
  std::vector<std::string> files;
  source::SelectionWalk selected{ignore_};
  source::walk(
      *tree_, directory,
      [&](const source::Entry& entry) {
        return files.size() < limit &&
               (!selected.excludes(entry) || ignore_.may_hold_exceptions(entry.path));
      },
      [&](std::string_view path, const std::vector<source::Entry>& entries) {
        const auto rule = selected.enter(path, entries);
        return !rule || ignore_.may_hold_exceptions(path);
      },
      [&](const source::Entry& entry) {
        if (entry.type != EntryType::directory && files.size() < limit &&
            !selected.excludes(entry)) {
          files.push_back(entry.path);
        }
      });
  return files;
}

std::vector<std::string> Findings::suggest(std::string_view path,
                                           const std::vector<std::string>& candidates) {
  const std::string name = base_name(path);
  for (const auto& candidate : candidates) {
    if (candidate != path && base_name(candidate) == name) {
      return {fmt::format("did you mean `{}`?", candidate)};
    }
  }
  std::vector<std::string> others = candidates;
  std::erase(others, path);
  const auto near = nearest(path, others);
  return near ? std::vector{fmt::format("did you mean `{}`?", *near)} : std::vector<std::string>{};
}

bool matches_glob(std::string_view pattern, std::string_view name) {
  return ::fnmatch(std::string{pattern}.c_str(), std::string{name}.c_str(),
                   FNM_PATHNAME | FNM_PERIOD) == 0;
}

void sort_unique(std::vector<std::string>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

std::optional<std::string> path_in_tree(const Request& request, const std::string& path) {
  if (!path.starts_with('/')) {
    if (auto inside = source::normalise(path)) {
      return inside;
    }
  }
  // `../project/train.py` leads out and back.
  std::error_code code;
  const auto root =
      std::filesystem::weakly_canonical(std::filesystem::absolute(request.directory, code), code);
  const auto place = std::filesystem::weakly_canonical(
      std::filesystem::absolute(request.directory, code) / path, code);
  const auto relative = place.lexically_relative(root);
  return code || relative.empty() ? std::nullopt : source::normalise(relative.generic_string());
}

}  // namespace autopack::project
