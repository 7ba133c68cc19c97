#include "project/requirements/requirements.hpp"

#include "base/contains.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "base/url.hpp"
#include "project/requirements/requirements_reader.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace autopack::project {

void RequirementsReader::read(const std::string& path, bool constraint, const std::string& origin) {
  if (const auto open = std::ranges::find(stack_, path); open != stack_.end()) {
    std::vector<std::string> cycle{open, stack_.end()};
    cycle.push_back(path);
    findings_->error(fmt::format("`{}` names itself: {}", path, join(cycle, " -> ")), origin);
    return;
  }
  const Place place = findings_->follow(path);
  if (!read_.emplace(path, constraint).second || !inputs_.take(path, place, origin)) {
    return;
  }
  if (place.is_directory()) {
    findings_->error(fmt::format("`{}` is a directory, not a requirements file", path), origin);
    return;
  }
  const auto decoded = decode_requirements(findings_->tree().read(place.entry.path));
  if (decoded.problem) {
    findings_->error(fmt::format("cannot read `{}`: {}", path, *decoded.problem),
                     fmt::format("{}:{}", path, decoded.problem_line),
                     {fmt::format("iconv -f latin1 -t utf8 {0} > {0}.new && mv {0}.new {0}",
                                  shell_quote(path))});
    return;
  }
  stack_.push_back(path);
  for (const auto& line : split_requirements(decoded.text)) {
    read_line(line, {path, line.first, line.last, constraint, line.is_alone});
  }
  stack_.pop_back();
}

void RequirementsReader::read_line(const RequirementLine& line,
                                   const RequirementPosition& position) {
  note_text(line.requirement.value_or(""));
  for (const auto& [name, value] : line.options) {
    note_text(value);
  }
  if (line.problem) {
    findings_->error(*line.problem, position.str());
    return;
  }
  for (const auto& name : line.unknown) {
    const auto similar = similar_option(name);
    findings_->warn(
        fmt::format("autopack does not know pip's option `{}`: it is passed on as it is",
                    printable(name)),
        position.str(), similar ? std::vector{*similar} : std::vector<std::string>{});
  }
  if (line.requirement) {
    auto& lines = project_->normalised_requirements;
    const auto count = lines.size();
    const auto listed = project_->listed_requirements.size();
    read_requirement(python::parse_requirement(*line.requirement), false, position);
    for (const auto& [name, value] : line.options) {
      if (name == "--hash") {
        read_hash(value, position);
      }
      if (project_->listed_requirements.size() > listed) {
        auto& requirement = project_->listed_requirements.back();
        (name == "--hash" ? requirement.hashes : requirement.options)
            .push_back(name == "--hash" ? value : name);
      }
      if (lines.size() > count) {
        lines.back() += fmt::format(" {}={}", name, shown_source(value));
      }
    }
    return;
  }
  // pip uses the first editable, nested file and find-links of a line and ignores the others.
  std::set<std::string> seen;
  for (const auto& [name, value] : line.options) {
    if (seen.insert(name).second || name == "--extra-index-url" || name == "--trusted-host") {
      read_option(name, value, position);
    }
  }
}

void RequirementsReader::read_option(const std::string& name,
                                     const std::string& value,
                                     const RequirementPosition& position) {
  if (name == "--requirement" || name == "--constraint") {
    read_nested(value, name == "--constraint", position);
  } else if (name == "--editable") {
    read_requirement(parse_editable(value), true, position);
  } else {
    project_->normalised_requirements.push_back(
        value.empty() ? name : fmt::format("{} {}", name, shown_source(value)));
    // A login of variables is not secret, and the index needs it.
    const bool has_variables = value.find("${") != std::string::npos &&
                               value.find('?') == std::string::npos && !holds_credentials(value);
    project_->listed_options.push_back(
        {name, has_variables ? value : shown_source(value), position.str()});
    if (name == "--find-links") {
      read_find_links(value, position);
    }
    project_->hashed = project_->hashed || name == "--require-hashes";
  }
}

/// pip treats a name as a directory if one exists.
python::Requirement RequirementsReader::parse_editable(const std::string& value) const {
  python::Requirement requirement = python::parse_requirement(value);
  const auto plain = trim(std::string_view{value}.substr(0, value.find('[')));
  if (requirement.kind == python::Requirement::Kind::named && source::normalise(plain) &&
      findings_->follow(plain).is_directory()) {
    return python::parse_requirement(fmt::format("./{}", value));
  }
  return requirement;
}

/// Converts an absolute path that leads into the tree to one of the tree; returns false for other
/// paths.
bool RequirementsReader::move_inside(python::Requirement& requirement) const {
  if (requirement.kind != python::Requirement::Kind::path || !requirement.target.starts_with('/')) {
    return false;
  }
  const auto inside = path_in_tree(*request_, requirement.target);
  if (inside) {
    requirement.target = inside->empty() ? "." : "./" + *inside;
  }
  return inside.has_value();
}

void RequirementsReader::read_requirement(python::Requirement requirement,
                                          bool editable,
                                          const RequirementPosition& position) {
  if (requirement.kind == python::Requirement::Kind::malformed) {
    findings_->error(
        requirement.problem, position.str(),
        requirement.hint ? std::vector{*requirement.hint} : std::vector<std::string>{});
    return;
  }
  if (editable && requirement.kind == python::Requirement::Kind::named &&
      !is_project(requirement)) {
    const auto name = requirement.name.value_or("");
    findings_->error(fmt::format("`-e {}` is neither a directory nor a version control URL", name),
                     position.str(), {fmt::format("did you mean `{0}` or `-e ./{0}`?", name)});
    return;
  }
  if (is_project(requirement) && !position.constraint) {
    read_self(requirement, position);
    return;
  }
  const bool is_moved = move_inside(requirement);
  python::Requirement shown = requirement;
  shown.target = shown_source(shown.target);
  project_->normalised_requirements.push_back((position.constraint ? "-c " : "") +
                                              normalised(shown));
  project_->listed_requirements.push_back({.requirement = shown,
                                           .editable = editable,
                                           .constraint = position.constraint,
                                           .hides_source = shown.target != requirement.target,
                                           .origin = position.str()});
  if (requirement.kind == python::Requirement::Kind::path) {
    read_path(requirement, editable, is_moved, position);
  } else if (editable) {
    edit(position, requirement.target);
  }
}

/// The image has `text` instead of the line.
void RequirementsReader::edit(const RequirementPosition& position, std::string text) {
  if (!position.is_alone) {
    findings_->error("another requirement is on the same line, which autopack has to replace",
                     position.str(), {"end each line with a line feed"});
  }
  project_->requirement_edits.push_back(
      {position.file, position.first, position.last, std::move(text)});
}

void RequirementsReader::read_hash(const std::string& value, const RequirementPosition& position) {
  project_->hashed = true;
  const auto colon = value.find(':');
  const auto algorithm = value.substr(0, colon);
  const std::size_t digits = algorithm == "sha256"   ? 64
                             : algorithm == "sha384" ? 96
                             : algorithm == "sha512" ? 128
                                                     : 0;
  const std::string hex = colon == std::string::npos ? "" : value.substr(colon + 1);
  if (digits == 0 || hex.size() != digits ||
      hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    findings_->error(
        fmt::format("`--hash={}` is not a hash: pip wants `sha256:` and 64 hexadecimal "
                    "digits, or sha384, sha512",
                    printable(value)),
        position.str());
  }
}

void RequirementsReader::note_text(const std::string& text) {
  const auto names = variables_of(text);
  project_->environment_variables.insert(project_->environment_variables.end(), names.begin(),
                                         names.end());
  project_->has_index_credentials = project_->has_index_credentials || holds_credentials(text);
  const auto begin = text.rfind(' ', text.find("://"));
  const auto url =
      Url::parse(begin == std::string::npos ? text : std::string_view{text}.substr(begin + 1));
  if (url && !url->host.empty() && url->host.find('$') == std::string::npos) {
    project_->index_hosts.push_back(url->host);
  }
}

void RequirementsReader::read_pip_line(const std::string& text,
                                       const RequirementPosition& position) {
  for (const auto& line : split_requirements(text)) {
    if (line.problem) {
      findings_->error(*line.problem, position.str());
    }
    for (const auto& [name, value] : line.options) {
      note_text(value);
      if (holds_credentials(value) || !variables_of(value).empty()) {
        findings_->error(fmt::format("`{}` holds {}, which would be written into the Dockerfile",
                                     name, holds_credentials(value) ? "credentials" : "a variable"),
                         position.str(),
                         {"write it into requirements.txt, or into PIP_EXTRA_INDEX_URL"});
        continue;
      }
      const bool is_url = value.find("://") != std::string::npos;
      if (name == "--requirement" && !is_url) {
        if (const auto path = inputs_.inside(value, parent_path(position.file), position)) {
          read(*path, false, position.str());
          if (!contains(project_->requirement_files, *path)) {
            project_->requirement_files.push_back(*path);
          }
        }
        continue;
      }
      read_option(name, value, position);
      project_->pip_options.push_back(name);
      if (!value.empty()) {
        project_->pip_options.push_back(value);
      }
    }
  }
}

void RequirementsReader::read_user_constraint(const std::string& named) {
  const std::string origin = "PIP_CONSTRAINT";
  if (named.find("://") != std::string::npos) {
    read_nested(named, true, {.file = origin, .constraint = true});
    project_->constraints.push_back({.name = named, .is_url = true});
    return;
  }
  auto text = read_file_if_exists(named);
  if (!text) {
    findings_->error(fmt::format("pip's settings name the constraints `{}`, which do not exist",
                                 printable(named)),
                     origin, {"`unset PIP_CONSTRAINT`, or `pip config unset global.constraint`"});
    return;
  }
  const auto decoded = decode_requirements(*text);
  if (decoded.problem) {
    findings_->error(fmt::format("cannot read `{}`: {}", printable(named), *decoded.problem),
                     fmt::format("{}:{}", named, decoded.problem_line));
    return;
  }
  for (const auto& line : split_requirements(decoded.text)) {
    const RequirementPosition position{
        .file = named, .first = line.first, .last = line.last, .constraint = true};
    for (const auto& option : line.options) {
      if (option.first == "--requirement" || option.first == "--constraint") {
        findings_->error(fmt::format("the constraints `{}` name another file", printable(named)),
                         position.str(),
                         {"name both files in PIP_CONSTRAINT, with a blank between them"});
      }
    }
    if (line.requirement) {
      read_requirement(python::parse_requirement(*line.requirement), false, position);
    }
  }
  project_->constraints.push_back({.name = named, .text = std::move(*text)});
}

void read_requirements(Findings& findings,
                       const Request& request,
                       const RequirementSources& sources,
                       Project& project) {
  RequirementsReader reader{findings, request, project};
  for (const auto& file : sources.files) {
    reader.read(file, false, "");
    project.requirement_files.push_back(file);
  }
  for (const auto& [text, file, line] : sources.pip_lines) {
    reader.read_pip_line(text, {.file = file, .first = line, .last = line});
  }
  drop_covered_inputs(findings, project);
  sort_unique(project.environment_variables);
  sort_unique(project.index_hosts);
}

void read_user_constraints(Findings& findings, const Request& request, Project& project) {
  const bool installs_package =
      project.package && (project.package->installs || !project.package->members.empty() ||
                          project.package->requirements);
  const bool chooses = !project.requirement_files.empty() || !project.requirements.empty() ||
                       !project.extra_packages.empty() || !project.outside_packages.empty() ||
                       installs_package;
  if (!chooses || project.lock) {
    return;
  }
  RequirementsReader reader{findings, request, project};
  for (const auto& named : request.pip.constraints) {
    reader.read_user_constraint(named);
  }
}

}  // namespace autopack::project
