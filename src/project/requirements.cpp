#include "project/requirements.hpp"

#include "base/digest.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "project/package_names.hpp"
#include "project/requirement.hpp"
#include "project/requirement_inputs.hpp"
#include "project/requirement_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace autopack::project {

namespace {

bool is_remote(std::string_view text) {
  const auto url = Url::parse(text);
  return url && url->scheme != "file";
}

/// A URL or path that may stand in a plan: no credentials, query values hashed.
std::string safe(std::string_view text) {
  std::string result = redact_credentials(std::string{text});
  const auto question = result.find('?');
  if (result.find("://") == std::string::npos || question == std::string::npos) {
    return result;
  }
  const auto end = std::min(result.find('#', question), result.size());
  const std::string query = result.substr(question + 1, end - question - 1);
  return result.replace(question + 1, end - question - 1, sha256(query).hex().substr(0, 16));
}

class RequirementsReader {
public:
  RequirementsReader(Findings& findings, Project& project)
      : findings_{&findings}, project_{&project}, inputs_{findings, project} {}

  /// `origin` is where it is named; empty for the first file.
  void read(const std::string& path, bool constraint, const std::string& origin);

private:
  void read_line(const RequirementLine& line, const RequirementPosition& position);
  void read_option(const std::string& name,
                   const std::string& value,
                   const RequirementPosition& position);
  void read_nested(std::string_view value, bool constraint, const RequirementPosition& position);
  void read_find_links(std::string_view value, const RequirementPosition& position);
  void read_requirement(const Requirement& requirement,
                        bool editable,
                        const RequirementPosition& position);
  Requirement parse_editable(const std::string& value) const;
  void read_path(const Requirement& requirement,
                 bool editable,
                 const RequirementPosition& position);

  /// The project's own name means the project, never a distribution of an index.
  bool is_project(const Requirement& requirement) const {
    return project_->package && requirement.kind == Requirement::Kind::named &&
           requirement.name == normalise_name(project_->package->name);
  }

  void read_self(const Requirement& requirement, const RequirementPosition& position);
  void edit(const RequirementPosition& position, std::string text);
  void read_hash(const std::string& value, const RequirementPosition& position);
  void note_text(const std::string& text);

  Findings* findings_;
  Project* project_;
  RequirementInputs inputs_;
  std::vector<std::string> stack_;
  std::set<std::pair<std::string, bool>> read_;
};

void RequirementsReader::read(const std::string& path, bool constraint, const std::string& origin) {
  if (const auto open = std::find(stack_.begin(), stack_.end(), path); open != stack_.end()) {
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
  if (decoded.problem_line > 0) {
    findings_->error(fmt::format("cannot read `{}`: {}", path, decoded.problem),
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
  note_text(line.requirement);
  for (const auto& [name, value] : line.options) {
    note_text(value);
  }
  if (!line.problem.empty()) {
    findings_->error(line.problem, position.str(),
                     line.hint.empty() ? std::vector<std::string>{} : std::vector{line.hint});
    return;
  }
  for (const auto& name : line.unknown) {
    const auto similar = similar_option(name);
    findings_->warn(
        fmt::format("autopack does not know pip's option `{}`: it is passed on as it is",
                    printable(name)),
        position.str(), similar.empty() ? std::vector<std::string>{} : std::vector{similar});
  }
  if (!line.requirement.empty()) {
    auto& lines = project_->normalised_requirements;
    const auto count = lines.size();
    read_requirement(parse_requirement(line.requirement), false, position);
    for (const auto& [name, value] : line.options) {
      if (name == "--hash") {
        read_hash(value, position);
      }
      if (lines.size() > count) {
        lines.back() += fmt::format(" {}={}", name, safe(value));
      }
    }
    return;
  }
  // pip takes the first editable, nested file and find-links of a line and forgets the others.
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
        value.empty() ? name : fmt::format("{} {}", name, safe(value)));
    if (name == "--find-links") {
      read_find_links(value, position);
    }
    project_->hashed = project_->hashed || name == "--require-hashes";
  }
}

/// A name is a directory to pip when there is one.
Requirement RequirementsReader::parse_editable(const std::string& value) const {
  Requirement requirement = parse_requirement(value);
  const auto plain = trim(std::string_view{value}.substr(0, value.find('[')));
  if (requirement.kind == Requirement::Kind::named && source::normalise(plain) &&
      findings_->follow(plain).is_directory()) {
    return parse_requirement(fmt::format("./{}", value));
  }
  return requirement;
}

void RequirementsReader::read_nested(std::string_view value,
                                     bool constraint,
                                     const RequirementPosition& position) {
  if (is_remote(value)) {
    project_->normalised_requirements.push_back(
        fmt::format("{} {}", constraint ? "-c" : "-r", safe(value)));
    findings_->warn(
        fmt::format("`{}` is read by pip when the image is built: autopack cannot tell when it "
                    "changes",
                    redact_url(value)),
        position.str());
    return;
  }
  const bool url = to_lower(value).starts_with("file:");
  const std::string target = url ? parse_requirement(value).target : std::string{value};
  const auto path = inputs_.inside(target, url ? "" : parent_path(position.file), position);
  if (path) {
    read(*path, constraint, position.str());
  }
}

void RequirementsReader::read_find_links(std::string_view value,
                                         const RequirementPosition& position) {
  if (is_remote(value)) {
    return;
  }
  const bool url = to_lower(value).starts_with("file:");
  const std::string target = url ? parse_requirement(value).target : std::string{value};
  const auto beside = source::normalise(join_path(parent_path(position.file), target));
  const bool is_beside = !url && !target.starts_with('/') && beside &&
                         findings_->follow(*beside).kind == Place::Kind::found;
  const auto path = inputs_.inside(target, is_beside ? parent_path(position.file) : "", position);
  if (!path) {
    return;
  }
  if (!path->empty()) {
    inputs_.take(*path, findings_->follow(*path), position.str());
    return;
  }
  // The whole tree would make every code edit a new installation: pip looks at archives only.
  for (const auto& entry : findings_->tree().list("")) {
    if (is_archive_name(entry.path) && !findings_->is_ignored(entry.path)) {
      inputs_.take(entry.path, findings_->follow(entry.path), position.str());
    }
  }
}

void RequirementsReader::read_requirement(const Requirement& requirement,
                                          bool editable,
                                          const RequirementPosition& position) {
  if (requirement.kind == Requirement::Kind::malformed) {
    findings_->error(
        requirement.problem, position.str(),
        requirement.hint.empty() ? std::vector<std::string>{} : std::vector{requirement.hint});
    return;
  }
  if (editable && requirement.kind == Requirement::Kind::named && !is_project(requirement)) {
    findings_->error(
        fmt::format("`-e {}` is neither a directory nor a version control URL", requirement.name),
        position.str(),
        {fmt::format("did you mean `{}` or `-e ./{}`?", requirement.name, requirement.name)});
    return;
  }
  if (is_project(requirement) && !position.constraint) {
    read_self(requirement, position);
    return;
  }
  Requirement shown = requirement;
  shown.target = safe(shown.target);
  project_->normalised_requirements.push_back((position.constraint ? "-c " : "") +
                                              normalised(shown));
  if (requirement.kind == Requirement::Kind::path) {
    read_path(requirement, editable, position);
  } else if (editable) {
    edit(position, requirement.target);
  }
}

void RequirementsReader::read_path(const Requirement& requirement,
                                   bool editable,
                                   const RequirementPosition& position) {
  const auto path = inputs_.inside(requirement.target, "", position);
  if (!path) {
    return;
  }
  const Place place = findings_->follow(*path);
  if (place.is_directory() && place.entry.path.empty()) {
    read_self(requirement, position);
    return;
  }
  if (!inputs_.take(*path, place, position.str())) {
    return;
  }
  if (place.is_directory()) {
    if (!findings_->is_file(join_path(*path, "setup.py")) &&
        !findings_->is_file(join_path(*path, "pyproject.toml"))) {
      findings_->error(
          fmt::format("`{}` cannot be installed: it has no setup.py and no pyproject.toml", *path),
          position.str());
    } else if (editable) {
      const std::string extras =
          requirement.extras.empty() ? "" : "[" + join(requirement.extras, ",") + "]";
      edit(position, "./" + *path + extras);
    }
    return;
  }
  if (editable) {
    findings_->error(fmt::format("`-e {}` is a file: only a directory can be editable", *path),
                     position.str(), {fmt::format("write `./{}` without `-e`", *path)});
  } else if (!is_archive_name(*path)) {
    findings_->error(fmt::format("`{}` is neither a wheel, an sdist nor a directory", *path),
                     position.str(),
                     {fmt::format("write `-r {}` when it holds requirements", *path)});
  } else if (const auto wrong =
                 path->ends_with(".whl") ? check_wheel_name(base_name(*path)) : std::nullopt) {
    findings_->error(*wrong, position.str());
  }
}

void RequirementsReader::read_self(const Requirement& requirement,
                                   const RequirementPosition& position) {
  if (!project_->package) {
    findings_->error("`.` cannot be installed: it has no setup.py and no pyproject.toml",
                     position.str());
    return;
  }
  auto& extras = project_->package->extras;
  extras.insert(extras.end(), requirement.extras.begin(), requirement.extras.end());
  sort_unique(extras);
  edit(position, "");
}

/// The image has `text` in place of the line.
void RequirementsReader::edit(const RequirementPosition& position, std::string text) {
  if (!position.is_alone) {
    findings_->error("another requirement stands on the same line, which autopack has to replace",
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
    findings_->error(fmt::format("`--hash={}` is no hash: pip wants `sha256:` and 64 hexadecimal "
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

}  // namespace

void read_requirements(Findings& findings,
                       const std::vector<std::string>& files,
                       Project& project) {
  if (files.empty()) {
    return;
  }
  RequirementsReader reader{findings, project};
  for (const auto& file : files) {
    reader.read(file, false, "");
    project.requirement_files.push_back(file);
  }
  drop_covered_inputs(findings, project);
  sort_unique(project.environment_variables);
  sort_unique(project.index_hosts);
}

}  // namespace autopack::project
