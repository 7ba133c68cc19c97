#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/ini.hpp"
#include "base/netrc.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "project/code/python_file.hpp"
#include "project/code/python_tokens.hpp"
#include "project/code/python_uses.hpp"
#include "project/code/setup_py.hpp"
#include "project/package/static_installation.hpp"
#include "project/package/version_control.hpp"
#include "project/program/remembered_python.hpp"
#include "project/project.hpp"
#include "project/requirements/requirement_lines.hpp"
#include "project/toml.hpp"
#include "project/tool_settings.hpp"
#include "python/requirement.hpp"
#include "source/ignore.hpp"
#include "source/secrets.hpp"
#include "support/memory_tree.hpp"
#include "target.hpp"
#include "wheel/texts.hpp"

#include <algorithm>
#include <optional>

namespace autopack::fuzz {

namespace {

void requirements(std::string_view bytes) {
  const auto decoded = project::decode_requirements(bytes);
  for (const auto& line : project::split_requirements(decoded.text)) {
    if (line.first > line.last || line.first < 1) {
      fail("a line that ends before it begins");
    }
    const auto requirement = python::parse_requirement(line.requirement.value_or(""));
    if (requirement.kind == python::Requirement::Kind::malformed) {
      continue;
    }
    // What names the same dependencies must have the same key, however often it is written anew.
    const auto text = python::normalised(requirement);
    const auto again = python::parse_requirement(text);
    if (requirement.kind == python::Requirement::Kind::named && !requirement.marker &&
        again.kind == requirement.kind && python::normalised(again) != text) {
      fail("`" + text + "` is not normal: `" + python::normalised(again) + "`");
    }
  }
}

/// Byte 0 parts the rules from the path.
void ignore_rules(std::string_view bytes) {
  const auto parted = std::min(bytes.find('\0'), bytes.size());
  source::IgnoreRules rules;
  rules.add(bytes.substr(0, parted), ".dockerignore");
  const auto path = source::normalise(bytes.substr(std::min(parted + 1, bytes.size())));
  if (!path || path->empty() || path->size() > 500) {
    return;
  }
  source::IgnoreWalk walk{rules};
  const auto once = rules.excludes(*path);
  walk.excludes(path->substr(0, path->find('/')));
  const auto walked = walk.excludes(*path);
  if (once.has_value() != walked.has_value()) {
    fail("a walk decides otherwise about `" + *path + "`");
  }
  source::IgnoreRules again;
  again.add(rules.text(), "again");
  if (again.excludes(*path).has_value() != once.has_value()) {
    fail("the rules written out decide otherwise about `" + *path + "`");
  }
}

void secret_scan(std::string_view bytes) {
  source::SecretScan whole{"a.py", source::SecretScan::Detail::all};
  source::SecretScan parts{"a.py", source::SecretScan::Detail::all};
  whole.feed(bytes);
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    parts.feed(bytes.substr(at, 7));
  }
  const auto found = whole.finish();
  const auto of_parts = parts.finish();
  const bool same = std::equal(found.begin(), found.end(), of_parts.begin(), of_parts.end(),
                               [](const auto& a, const auto& b) {
                                 return a.kind == b.kind && a.fingerprint == b.fingerprint;
                               });
  if (!same) {
    fail("the pieces in which a file is read decide what is found");
  }
}

void allowed_secrets(std::string_view bytes) {
  source::read_allowed_secrets(bytes);
}

void python(std::string_view bytes) {
  project::tokenize_python(bytes);
  project::read_setup_py(bytes);
  project::read_python_file(bytes);
  project::read_python_uses(bytes);
  project::surely_mentions(bytes, "f");
}

void remembered_python(std::string_view bytes) {
  const project::RememberedPython remembered{std::string{bytes}};
  if (const auto file = project::python_file_of(bytes)) {
    if (project::python_file_of(project::to_bytes(*file)) != file) {
      fail("facts of a Python file do not come back from their bytes");
    }
  }
}

void ini(std::string_view bytes) {
  find_option(parse_ini(bytes), "metadata", "name");
}

void netrc(std::string_view bytes) {
  const auto kept = netrc_entries(bytes, {"host", "example.com"});
  if (netrc_entries(kept, {"host", "example.com"}) != kept) {
    fail("what is kept of a netrc is read otherwise");
  }
  if (netrc_login(bytes, "host").has_value() != !netrc_entries(bytes, {"host"}).empty()) {
    fail("an entry of a netrc has no login, or a login no entry");
  }
}

void tool_settings(std::string_view bytes) {
  project::read_tool_settings(bytes, "pyproject.toml");
  project::read_tool_settings("autopack.x = 1\n" + std::string{bytes}, "pyproject.toml");
}

void whole_project(std::string_view bytes) {
  const auto parted = std::min(bytes.find('\0'), bytes.size());
  source::MemoryTree tree;
  const std::string first{bytes.substr(0, parted)};
  const std::string second{bytes.substr(std::min(parted + 1, bytes.size()))};
  tree.file("train.py", "import a\n").file("pyproject.toml", first).file("setup.cfg", second);
  tree.file("setup.py", second).file("requirements.txt", first).file("a/__init__.py", second);
  project::scan(tree, {.script = "train.py"});
}

/// A tag, then the pyproject.toml whose settings read it.
void git_tag(std::string_view bytes) {
  const auto parted = std::min(bytes.find('\n'), bytes.size());
  const std::string tag{bytes.substr(0, parted)};
  const std::string settings{bytes.substr(std::min(parted + 1, bytes.size()))};
  if (const auto pattern = project::TagPattern::from_regexp(settings)) {
    pattern->version_of(tag);
  }
  std::optional<project::VersionControl> tool;
  try {
    tool = project::version_control_in(project::parse_toml(settings));
  } catch (const toml::parse_error&) {
    return;
  }
  const auto said = project::TagPattern::any_name().version_of(tag);
  for (const bool at_tag : {true, false}) {
    const auto version = project::version_from(tool.value_or(project::setuptools_scm("setup.py")),
                                               {.tag = tag, .at_tag = at_tag});
    if (version && !python::Version::parse(version->str())) {
      fail("a version from a tag is no version");
    }
    if (!tool && at_tag && version != said) {
      fail("a tag's version is not what the tag says");
    }
  }
}

void texts(std::string_view bytes) {
  const auto shown = printable(bytes);
  if (printable(shown) != shown && bytes.find('\\') == std::string_view::npos) {
    fail("what is printable is not printed as it is");
  }
  if (percent_decode(percent_encode(bytes)) != bytes) {
    fail("percent signs do not come back");
  }
  if (base64_decode(base64_encode(bytes)) != std::string{bytes}) {
    fail("base64 does not come back");
  }
  base64_decode(bytes);
  percent_decode(bytes);
  redact_url(bytes);
  redact_credentials(std::string{bytes});
  Url::parse(bytes);
  Digest::parse(bytes);
}

/// A pyproject.toml of a project with a package.
void static_package(std::string_view bytes) {
  source::MemoryTree tree;
  tree.file("run.sh", "").file("a/__init__.py", "").file("README.md", "Text.\n");
  tree.file("pyproject.toml", std::string{bytes});
  const auto found = project::static_installation(tree, project::scan(tree, {.script = "run.sh"}));
  if (found.reason) {
    return;
  }
  const auto metadata = wheel::read_metadata(found.metadata);
  if (metadata.name != found.name || metadata.version != found.version) {
    fail("metadata that names something else");
  }
  wheel::read_entry_points(found.entry_points.value_or(""));
}

}  // namespace

std::vector<Target> project_targets() {
  return {{"requirements", requirements},
          {"ignore", ignore_rules},
          {"secrets", secret_scan},
          {"allowed_secrets", allowed_secrets},
          {"python", python},
          {"remembered_python", remembered_python},
          {"ini", ini},
          {"netrc", netrc},
          {"static_package", static_package},
          {"toml_settings", tool_settings},
          {"project", whole_project},
          {"git_tag", git_tag},
          {"texts", texts}};
}

}  // namespace autopack::fuzz
