#include "project/package/core_metadata.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "project/package/entry_points.hpp"
#include "project/package/metadata_texts.hpp"
#include "project/package/project_fields.hpp"
#include "project/package/version_in_file.hpp"
#include "python/marker.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"
#include "python/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

using Strings = std::vector<std::string>;

/// Puts a name in quotes if it contains separators of addresses, like Python's email package.
std::string display_name(const std::string& name) {
  if (name.find_first_of(R"(()<>@,:;.\"[])") == std::string::npos) {
    return name;
  }
  return double_quoted(name);
}

/// Returns a requirement of METADATA, conditional on `extra`, if given.
std::string requires_dist(const std::string& text, const std::optional<std::string>& extra) {
  const auto parsed = python::parse_requirement(text);
  const bool is_url = parsed.kind == python::Requirement::Kind::url;
  const bool is_read = parsed.name &&
                       (is_url || (parsed.kind == python::Requirement::Kind::named &&
                                   python::SpecifierSet::parse(parsed.rest))) &&
                       (!parsed.marker || python::Marker::parse(*parsed.marker)) &&
                       text.find("${") == std::string::npos;
  if (!is_read) {
    leave_to_build(
        fmt::format("`{}` is not a requirement that METADATA can hold", printable(text)));
  }
  std::string_view head{text};
  if (parsed.marker) {
    head = trim(head.substr(0, text.rfind(*parsed.marker)));
    head.remove_suffix(1);
  }
  auto marker = parsed.marker;
  if (extra) {
    marker = (marker ? "(" + *marker + ") and " : "") + fmt::format("extra == '{}'", *extra);
  }
  return std::string{trim(head)} + (marker ? " ; " + *marker : "");
}

class CoreMetadata {
public:
  CoreMetadata(const toml::table& project,
               std::optional<std::string> version,
               LookingTree& tree,
               StaticInstallation& installation)
      : project_{project}, version_{std::move(version)}, tree_{tree}, installation_{installation} {}

  void run() {
    refuse_unknown();
    read_name();
    add_line("Summary", "description");
    add_people("Author", "authors");
    add_people("Maintainer", "maintainers");
    add_license();
    add_keywords();
    add_all("Classifier", "classifiers");
    add_requires_python();
    add_urls();
    add_requirements();
    const auto readme = read_readme(project_, tree_);
    if (readme) {
      add("Description-Content-Type", readme->type);
    }
    installation_.metadata =
        fmt::format("Metadata-Version: {}\nName: {}\nVersion: {}\n{}", is_newest_ ? "2.4" : "2.1",
                    installation_.name, installation_.version, headers_);
    if (readme && !readme->text.empty()) {
      installation_.metadata += "\n" + readme->text;
    }
    installation_.entry_points = entry_points_text(project_);
  }

private:
  void refuse_unknown() const {
    static constexpr std::array<std::string_view, 18> known{
        "name",    "version",       "description",          "readme",       "requires-python",
        "license", "authors",       "maintainers",          "keywords",     "classifiers",
        "urls",    "scripts",       "gui-scripts",          "entry-points", "dependencies",
        "dynamic", "license-files", "optional-dependencies"};
    for (const auto& [key, value] : project_) {
      if (!contains(known, key.str())) {
        leave_to_build(fmt::format("`project.{}` is not known", printable(key.str())));
      }
    }
    if (const auto* const dynamic = find("dynamic"); dynamic != nullptr) {
      auto fields = lines_of(*dynamic, "dynamic");
      if (version_) {
        std::erase(fields, "version");
      }
      if (!fields.empty()) {
        leave_to_build(fmt::format("`project.dynamic` leaves `{}` to it", join(fields, "`, `")));
      }
    }
  }

  const toml::node* find(std::string_view key) const { return project_.get(key); }

  void add(std::string_view header, std::string_view value) {
    headers_ += fmt::format("{}: {}\n", header, value);
  }

  void add_line(std::string_view header, std::string_view key) {
    if (const auto* const node = find(key); node != nullptr) {
      add(header, line_of(*node, key));
    }
  }

  void add_all(std::string_view header, std::string_view key) {
    if (const auto* const node = find(key); node != nullptr) {
      for (const auto& line : lines_of(*node, key)) {
        add(header, line);
      }
    }
  }

  void read_name() {
    const auto* const name = find("name");
    const auto* const version = find("version");
    if (name == nullptr || (version == nullptr && !version_)) {
      leave_to_build(fmt::format("`project.{}` is missing", name == nullptr ? "name" : "version"));
    }
    installation_.name = line_of(*name, "name");
    if (!is_alphanumeric(installation_.name, "-_.") ||
        python::normalise_name(installation_.name).empty()) {
      leave_to_build("`project.name` is no name of a package");
    }
    const auto parsed =
        python::Version::parse(version != nullptr ? line_of(*version, "version") : *version_);
    if (!parsed) {
      leave_to_build("`project.version` is no version");
    }
    installation_.version = parsed->str();
  }

  /// Separates people with an address from those without.
  void add_people(const std::string& header, std::string_view key) {
    const auto* const node = find(key);
    if (node == nullptr) {
      return;
    }
    const auto* const people = node->as_array();
    if (people == nullptr) {
      leave_to_build(fmt::format("`project.{}` is not an array", key));
    }
    Strings names;
    Strings addresses;
    for (const auto& item : *people) {
      const auto& person = table_of(item, key);
      const auto* const name = person.get("name");
      const auto* const email = person.get("email");
      if (person.size() != (name == nullptr ? 0U : 1U) + (email == nullptr ? 0U : 1U)) {
        leave_to_build(fmt::format("`project.{}` holds more than names and addresses", key));
      }
      if (email != nullptr) {
        const auto address = line_of(*email, key);
        addresses.push_back(
            name == nullptr ? address
                            : fmt::format("{} <{}>", display_name(line_of(*name, key)), address));
      } else if (name != nullptr) {
        names.push_back(line_of(*name, key));
      }
    }
    if (!names.empty()) {
      add(header, join(names, ", "));
    }
    if (!addresses.empty()) {
      add(header + "-email", join(addresses, ", "));
    }
  }

  /// Folds a text of several lines into one header (RFC 822).
  static std::string folded(const std::string& text) {
    return replace_all(std::string{trim(replace_all(text, "\r", ""))}, "\n", "\n        ");
  }

  void add_license() {
    if (const auto* const license = find("license"); license != nullptr && license->is_string()) {
      add("License-Expression", line_of(*license, "license"));
      is_newest_ = true;
    } else if (license != nullptr) {
      const auto& table = table_of(*license, "license");
      const auto text = table["text"].value<std::string>();
      const auto file = table["file"].value<std::string>();
      if (table.size() != 1 || (!text && !file)) {
        leave_to_build("`project.license` is neither a text nor a file");
      }
      if (text && !text->empty()) {
        add("License", folded(*text));
      }
      if (file) {
        add("License", folded(read_named_text(tree_, *file, "license")));
      }
    }
    installation_.licenses = read_licenses(project_, tree_);
    for (const auto& [path, text] : installation_.licenses) {
      add("License-File", path);
      is_newest_ = true;
    }
  }

  void add_keywords() {
    if (const auto* const node = find("keywords"); node != nullptr) {
      const auto words = lines_of(*node, "keywords");
      if (!words.empty()) {
        add("Keywords", join(words, ","));
      }
    }
  }

  void add_requires_python() {
    if (const auto* const node = find("requires-python"); node != nullptr) {
      const auto conditions = line_of(*node, "requires-python");
      if (!python::SpecifierSet::parse(conditions)) {
        leave_to_build("`project.requires-python` is no condition");
      }
      add("Requires-Python", conditions);
    }
  }

  void add_urls() {
    if (const auto* const node = find("urls"); node != nullptr) {
      for (const auto& [label, url] : table_of(*node, "urls")) {
        if (label.str().find(',') != std::string_view::npos) {
          leave_to_build("`project.urls` has a label with a comma");
        }
        add("Project-URL", fmt::format("{}, {}", printable(label.str()), line_of(url, "urls")));
      }
    }
  }

  void add_requirements() {
    if (const auto* const node = find("dependencies"); node != nullptr) {
      for (const auto& text : lines_of(*node, "dependencies")) {
        add("Requires-Dist", requires_dist(text, std::nullopt));
      }
    }
    const auto* const node = find("optional-dependencies");
    if (node == nullptr) {
      return;
    }
    for (const auto& [key, list] : table_of(*node, "optional-dependencies")) {
      const auto extra = python::normalise_name(key.str());
      if (extra.empty() || !is_alphanumeric(extra, "-")) {
        leave_to_build("`project.optional-dependencies` has a name that is none");
      }
      add("Provides-Extra", extra);
      for (const auto& text : lines_of(list, "optional-dependencies")) {
        add("Requires-Dist", requires_dist(text, extra));
      }
    }
  }

  const toml::table& project_;
  std::optional<std::string> version_;  ///< from a file; absent if `[project]` contains it
  LookingTree& tree_;
  StaticInstallation& installation_;
  std::string headers_{};
  bool is_newest_{false};  ///< it uses fields of PEP 639
};

}  // namespace

std::optional<std::string> read_core_metadata(const toml::table& document,
                                              LookingTree& tree,
                                              StaticInstallation& installation) {
  const auto* const project = document["project"].as_table();
  if (project == nullptr) {
    return "pyproject.toml has no `[project]`";
  }
  try {
    auto version = project->contains("version") ? std::nullopt : version_in_file(document, tree);
    CoreMetadata{*project, std::move(version), tree, installation}.run();
    return std::nullopt;
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace autopack::project
