#include "project/requirements/locks.hpp"

#include "base/text.hpp"
#include "project/requirements/own_lock.hpp"
#include "python/archive_name.hpp"
#include "python/marker.hpp"
#include "python/name.hpp"
#include "python/specifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace autopack::project {

namespace {

constexpr std::string_view no_lock{"none"};

/// In the order of LockFormat.
constexpr std::array<std::string_view, 5> lock_names{"pylock.toml", "uv.lock", "poetry.lock",
                                                     "pdm.lock", "Pipfile.lock"};

/// `pylock.NAME.toml`.
bool is_named_pylock(std::string_view name) {
  constexpr std::string_view begin{"pylock."};
  constexpr std::string_view end{".toml"};
  return name.size() > begin.size() + end.size() && name.starts_with(begin) &&
         name.ends_with(end) &&
         name.substr(begin.size(), name.size() - begin.size() - end.size()).find('.') ==
             std::string_view::npos;
}

std::vector<std::string> normalised_names(const std::vector<std::string>& written) {
  std::vector<std::string> result;
  std::ranges::transform(written, std::back_inserter(result),
                         [](const auto& name) { return python::normalise_name(name); });
  sort_unique(result);
  return result;
}

/// Why a lock that nobody named is not used, and how to fix that besides naming it.
struct Unfit {
  std::string reason{};
  std::optional<std::string> remedy{};
};

/// Returns the marks in a lock of a package that does not come from an index.
std::vector<std::string_view> marks_of_sources(LockFormat format) {
  switch (format) {
    case LockFormat::pylock:
      return {"vcs = {", "directory = {", "[packages.vcs]", "[packages.directory]"};
    case LockFormat::uv:
      return {"source = { git = ", "source = { directory = ", "source = { path = ",
              "source = { url = "};
    case LockFormat::poetry:
      return {"type = \"git\"", "type = \"directory\"", "type = \"file\"", "type = \"url\""};
    case LockFormat::pdm: return {"git = \"", "path = \""};
    case LockFormat::pipfile: return {"\"git\": ", "\"path\": ", "\"file\": "};
  }
  return {};
}

/// Returns true for a line with a package's source in `format` that is not an index.
bool is_of_no_index(LockFormat format, std::string_view line) {
  const auto marks = marks_of_sources(format);
  const bool is_marked =
      std::ranges::any_of(marks, [&](const auto mark) { return line.starts_with(mark); });
  const auto is_another = [&](std::string_view kind) {
    return line.starts_with(kind) && !line.substr(kind.size()).starts_with("\".\"");
  };
  return is_marked || (format == LockFormat::uv && (is_another("source = { editable = ") ||
                                                    is_another("source = { virtual = ")));
}

/// Returns the text of the value after `key` at the start of a line; nothing without one.
std::optional<std::string> value_of(const std::vector<std::string>& lines, std::string_view key) {
  for (const auto& line : lines) {
    if (line.starts_with(key)) {
      return std::string{trim(std::string_view{line}.substr(key.size()))};
    }
  }
  return std::nullopt;
}

/// Examines only the text; returns nothing if nothing is against the lock.
std::optional<Unfit> find_unfit(LockFormat format, std::string_view text) {
  const auto lines = split(text, '\n');
  if (format == LockFormat::poetry) {
    const auto version = value_of(lines, "lock-version = ");
    if (version && (version->starts_with("\"1.") || version == "\"2.0\"")) {
      return Unfit{fmt::format("lock-version {} leaves the choice to Poetry", *version),
                   "`poetry lock` of Poetry 2 writes one that is read"};
    }
  }
  if (format == LockFormat::pdm && text.find("inherit_metadata") == std::string_view::npos) {
    return Unfit{"it leaves the choice to PDM", "pdm lock --strategy inherit_metadata"};
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_of_no_index(format, trim(lines[i]))) {
      return Unfit{fmt::format("line {} names a package that no index has", i + 1), {}};
    }
  }
  return std::nullopt;
}

/// Suggests what to do instead of naming the missing lock `path`, given existing `locks`.
std::vector<std::string> other_locks(std::string_view path, const std::vector<std::string>& locks) {
  if (locks.empty()) {
    return {"the working directory has no lock: where none is named, its requirement files count"};
  }
  auto hints = Findings::suggest(path, locks);
  return hints.empty() ? std::vector{fmt::format("the working directory has `{}`",
                                                 printable(join(locks, "`, `")))}
                       : hints;
}

void report_missing_lock(Findings& findings, const std::string& path, const Place& place) {
  const auto name = printable(path);
  if (place.kind == Place::Kind::leaves) {
    findings.error(
        fmt::format("lock `{}` leads out of the working directory by a symbolic link", name),
        "lock");
    return;
  }
  const auto* const what = place.is_directory() ? "is a directory" : "does not exist";
  findings.error(fmt::format("lock `{}` {}", name, what), "lock",
                 other_locks(path, find_locks(findings.tree())));
}

/// Returns the command that adds `missing` to a lock of `format`.
std::string command_to_add(LockFormat format, const std::vector<std::string>& missing) {
  const auto words = join(missing, " ");
  switch (format) {
    case LockFormat::pylock: return "autopack lock --force";
    case LockFormat::uv: return "uv add " + words;
    case LockFormat::poetry: return "poetry add " + words;
    case LockFormat::pdm: return "pdm add " + words;
    case LockFormat::pipfile: return "pipenv install " + words;
  }
  return {};
}

/// Returns the locks of other tools at the root that no rule excludes; nothing if the request wants
/// none.
std::vector<std::string> usable_locks(const Findings& findings, const Request& request) {
  auto locks = request.lock == no_lock ? std::vector<std::string>{} : find_locks(findings.tree());
  std::erase_if(locks, [&](const auto& lock) {
    return findings.is_ignored(lock) || is_own_lock(findings.tree().read(lock));
  });
  return locks;
}

/// Returns the text of `KEY = "TEXT"` (TOML); nothing for another line.
std::optional<std::string_view> text_of_key(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) {
    return std::nullopt;
  }
  line = trim(line.substr(key.size()));
  if (!line.starts_with('=')) {
    return std::nullopt;
  }
  line = trim(line.substr(1));
  if (!line.starts_with('"') && !line.starts_with('\'')) {
    return std::nullopt;
  }
  return line.substr(1, line.find(line.front(), 1) - 1);
}

struct LockedPackage {
  std::string name;     ///< normalised (PEP 503)
  std::string version;  ///< empty without one, and in JSON
};

/// Reads lines instead of TOML, because locks of megabytes are read at each start.
std::vector<LockedPackage> packages_in_lock(std::string_view text) {
  std::vector<LockedPackage> found;
  bool is_package = false;
  for (const auto& whole : split(text, '\n')) {
    const auto line = trim(whole);
    if (const auto name = text_of_key(line, "name")) {
      is_package = !python::is_archive_name(*name);  // else a file of the package
      if (is_package) {
        found.push_back({python::normalise_name(*name), ""});
      }
    } else if (const auto version = text_of_key(line, "version");
               version && is_package && found.back().version.empty()) {
      found.back().version = *version;
    } else if (line.starts_with('"') && line.ends_with('{')) {  // `"numpy": {` in JSON
      found.push_back({python::normalise_name(line.substr(1, line.find('"', 1) - 1)), ""});
    }
  }
  return found;
}

/// What a lock does not offer of the requirements.
struct Unsatisfied {
  std::vector<std::string> missing{};    ///< names
  std::vector<std::string> forbidden{};  ///< `NAME==VERSION` that a requirement does not allow
  bool is_unknown{false};                ///< part of the requirements, as the lock does not show it
};

/// Returns whether `requirement` is for the executor image; nothing if only its Python tells.
std::optional<bool> is_for_image(const python::Requirement& requirement) {
  if (!requirement.marker) {
    return true;
  }
  const auto marker = python::Marker::parse(*requirement.marker);
  return marker ? marker->holds_in(python::environment_on_linux({}, std::nullopt)) : std::nullopt;
}

/// Adds to `result` what `packages` do not offer of `requirement`.
void add_unsatisfied(const std::vector<LockedPackage>& packages,
                     const python::Requirement& requirement,
                     Unsatisfied& result) {
  const auto wanted = python::SpecifierSet::parse(requirement.rest);
  if (requirement.kind != python::Requirement::Kind::named || !requirement.extras.empty() ||
      !wanted) {
    result.is_unknown = true;
  }
  std::vector<std::string> forbidden;
  std::size_t allowed = 0;
  for (const auto& package : packages) {
    if (package.name != requirement.name) {
      continue;
    }
    const auto version = python::Version::parse(package.version);
    if (version && wanted && !wanted->contains(*version, python::Prereleases::allowed)) {
      forbidden.push_back(fmt::format("{}=={}", package.name, package.version));
    } else {
      ++allowed;
      result.is_unknown = result.is_unknown || !version;
    }
  }
  const bool is_missing = requirement.name && allowed == 0;
  if (!is_for_image(requirement).has_value() || (allowed > 0 && !forbidden.empty())) {
    // Another Python may choose another version.
    result.is_unknown = result.is_unknown || is_missing || !forbidden.empty();
  } else if (is_missing && forbidden.empty()) {
    result.missing.push_back(*requirement.name);
  } else {
    result.forbidden.insert(result.forbidden.end(), forbidden.begin(), forbidden.end());
  }
}

Unsatisfied unsatisfied(std::string_view text,
                        const std::vector<python::Requirement>& requirements) {
  const auto packages = packages_in_lock(text);
  Unsatisfied result;
  for (const auto& requirement : requirements) {
    if (is_for_image(requirement) != false) {
      add_unsatisfied(packages, requirement, result);
    }
  }
  return result;
}

/// Returns `, which lacks ...`; empty if nothing is known to be unsatisfied.
std::string description(const Unsatisfied& what) {
  std::vector<std::string> parts;
  if (!what.missing.empty()) {
    parts.push_back(fmt::format("which lacks `{}`", join(what.missing, "`, `")));
  }
  if (!what.forbidden.empty()) {
    parts.push_back(fmt::format("whose `{}` {} not allowed", join(what.forbidden, "`, `"),
                                what.forbidden.size() == 1 ? "is" : "are"));
  }
  return parts.empty() ? "" : ", " + join(parts, " and ");
}

/// Returns how to install what the lock `file` chooses, or to make it do so.
std::string remedy_for(const std::string& file,
                       const Unsatisfied& what,
                       const std::optional<Unfit>& unfit) {
  const auto format = lock_format(file).value();
  if (!what.missing.empty() || (!what.forbidden.empty() && format == LockFormat::pylock)) {
    return command_to_add(format, what.missing);
  }
  return unfit && unfit->remedy ? *unfit->remedy : fmt::format("--lock={}", shell_quote(file));
}

Lock lock_for(const Request& request, std::string file) {
  return {.file = std::move(file),
          .extras = normalised_names(request.package_extras),
          .groups = normalised_names(request.groups)};
}

}  // namespace

std::optional<LockFormat> lock_format(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  if (is_named_pylock(name)) {
    return LockFormat::pylock;
  }
  const auto* const found = std::ranges::find(lock_names, name);
  return found == lock_names.end()
             ? std::nullopt
             : std::optional{static_cast<LockFormat>(found - lock_names.begin())};
}

std::vector<std::string> find_locks(const source::Tree& tree) {
  // `pylock.toml` before named ones.
  std::vector<std::pair<std::pair<LockFormat, bool>, std::string>> found;
  for (const auto& entry : tree.list("")) {
    const auto format = lock_format(entry.path);
    if (format && entry.type == source::EntryType::file) {
      found.push_back({{*format, is_named_pylock(entry.path)}, entry.path});
    }
  }
  std::ranges::sort(found);
  std::vector<std::string> paths;
  std::ranges::transform(found, std::back_inserter(paths),
                         [](const auto& one) { return one.second; });
  return paths;
}

bool names_lock(const Request& request) {
  return request.lock && request.lock != no_lock;
}

std::optional<Lock> named_lock(Findings& findings, const Request& request) {
  const auto& named = request.lock.value();
  const auto path = path_in_tree(request, named);
  if (!path) {
    findings.error(fmt::format("`{}` leads out of the working directory", printable(named)),
                   "lock");
    return std::nullopt;
  }
  const Place place = findings.follow(*path);
  if (!place.is_file()) {
    report_missing_lock(findings, *path, place);
    return std::nullopt;
  }
  if (!lock_format(place.entry.path)) {
    findings.error(
        fmt::format("`{}` is not the name of a lock", printable(place.entry.path)), "lock",
        {fmt::format(
            "`{}` are read",
            join(std::vector<std::string>{lock_names.begin(), lock_names.end()}, "`, `"))});
    return std::nullopt;
  }
  return lock_for(request, place.entry.path);
}

std::optional<Lock> found_lock(Findings& findings, const Request& request, const Project& project) {
  const auto locks = usable_locks(findings, request);
  if (locks.empty()) {
    return std::nullopt;
  }
  if (project.package && !project.package->members.empty()) {
    findings.warn(fmt::format("nothing of `{}` is installed: the packages of the workspace are, "
                              "with their dependencies",
                              locks.front()),
                  "", {fmt::format("--lock={}", shell_quote(locks.front()))});
    return std::nullopt;
  }
  const auto text = findings.tree().read(locks.front());
  if (const auto unfit = find_unfit(lock_format(locks.front()).value(), text)) {
    findings.warn(
        fmt::format("nothing of `{}` is installed: {}", locks.front(), unfit->reason), "",
        {unfit->remedy ? *unfit->remedy : fmt::format("--lock={}", shell_quote(locks.front()))});
    return std::nullopt;
  }
  if (locks.size() > 1) {
    const std::vector<std::string> rest{locks.begin() + 1, locks.end()};
    findings.warn(fmt::format("`{}` determines the installation, `{}` {} not", locks.front(),
                              join(rest, "`, `"), rest.size() == 1 ? "does" : "do"),
                  "", {fmt::format("--lock={}", shell_quote(rest.front()))});
  }
  return lock_for(request, locks.front());
}

std::optional<Lock> lock_beside(Findings& findings,
                                const Request& request,
                                const FoundRequirements& found) {
  const auto locks = usable_locks(findings, request);
  if (locks.empty()) {
    return std::nullopt;
  }
  const auto& lock = locks.front();
  const auto text = findings.tree().read(lock);
  const auto what = unsatisfied(text, found.requirements);
  const auto unfit = find_unfit(lock_format(lock).value(), text);
  const bool is_satisfied = what.missing.empty() && what.forbidden.empty() && !what.is_unknown;
  if (found.may_be_replaced && lock == own_lock_file && is_satisfied && !unfit) {
    return lock_for(request, lock);
  }
  findings.warn(fmt::format("`{}` {} installed instead of `{}`{}", join(found.files, "`, `"),
                            found.files.size() == 1 ? "is" : "are", lock, description(what)),
                "", {remedy_for(lock, what, unfit)});
  return std::nullopt;
}

bool has_packages_of_no_index(const std::string& file, std::string_view text) {
  const auto format = lock_format(file).value();
  const auto lines = split(text, '\n');
  return std::ranges::any_of(lines,
                             [&](const auto& line) { return is_of_no_index(format, trim(line)); });
}

std::vector<std::string> names_in_lock(std::string_view text) {
  std::vector<std::string> found;
  for (auto& package : packages_in_lock(text)) {
    found.push_back(std::move(package.name));
  }
  sort_unique(found);
  return found;
}

}  // namespace autopack::project
