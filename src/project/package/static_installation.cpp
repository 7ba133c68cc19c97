#include "project/package/static_installation.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "project/findings.hpp"
#include "project/package/looking_tree.hpp"
#include "project/package/module_layout.hpp"
#include "project/package/version_control.hpp"
#include "project/package/version_in_file.hpp"
#include "project/toml.hpp"
#include "python/marker.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"
#include "python/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

// Values of `[project]` that METADATA and entry_points.txt can contain. All functions throw
// Error(project) with the reason why only the build can determine them; `key` is that of the table.

/// Leaves it to the build, because of `reason`.
[[noreturn]] void leave_to_build(const std::string& reason);

void leave_to_build(const std::string& reason) {
  throw Error(ErrorKind::project, reason);
}

/// Returns a line of printable text.
std::string line_of(const toml::node& node, std::string_view key) {
  const auto text = node.value<std::string>();
  if (!node.is_string() || printable(*text) != *text || trim(*text) != *text) {
    leave_to_build(fmt::format("`project.{}` is not plain text", key));
  }
  return *text;
}

/// Returns the lines of an array.
std::vector<std::string> lines_of(const toml::node& node, std::string_view key) {
  const auto* const array = node.as_array();
  if (array == nullptr) {
    leave_to_build(fmt::format("`project.{}` is not an array", key));
  }
  std::vector<std::string> lines;
  for (const auto& item : *array) {
    lines.push_back(line_of(item, key));
  }
  return lines;
}

const toml::table& table_of(const toml::node& node, std::string_view key) {
  const auto* const table = node.as_table();
  if (table == nullptr) {
    leave_to_build(fmt::format("`project.{}` is not a table", key));
  }
  return *table;
}

// The project's files that its metadata includes. All functions throw as described in
// project_fields.hpp.

struct Readme {
  std::string type{};  ///< `text/markdown`
  std::string text{};
};

constexpr std::size_t largest_text{std::size_t{1} << 20U};
constexpr std::size_t most_licenses{50};

class Licenses {
public:
  explicit Licenses(LookingTree& tree) : tree_{tree} {}

  void keep(const std::string& path) {
    if (texts_.size() == most_licenses || printable(path) != path) {
      leave_to_build("it has too many files of licenses");
    }
    auto text = tree_.read(path, largest_text);
    if (!text) {
      leave_to_build(
          fmt::format("the license `{}` is not a small file of the image", printable(path)));
    }
    texts_[path] = std::move(*text);
  }

  void keep_those_of(const std::vector<std::string>& patterns) {
    const auto files = tree_.files_at_root();
    for (const auto& pattern : patterns) {
      if (pattern.find('/') != std::string::npos) {
        if (pattern.find_first_of("*?[") != std::string::npos) {
          leave_to_build(fmt::format("`project.license-files` names `{}`", pattern));
        }
        keep(source::normalise(pattern).value_or(""));
        continue;
      }
      for (const auto& file : files) {
        if (matches_glob(pattern, file)) {
          keep(file);
        }
      }
    }
  }

  std::map<std::string, std::string> take() { return std::move(texts_); }

private:
  LookingTree& tree_;
  std::map<std::string, std::string> texts_{};
};

std::string type_of(const std::string& file) {
  static const std::map<std::string, std::string> types{
      {".md", "text/markdown"}, {".rst", "text/x-rst"}, {".txt", "text/plain"}};
  const auto found = types.find(to_lower(file.substr(std::min(file.rfind('.'), file.size()))));
  if (found == types.end()) {
    leave_to_build(fmt::format("the kind of text in `{}` is unknown", file));
  }
  return found->second;
}

/// Returns the text of the file that `[project]` names at `key`.
std::string read_named_text(LookingTree& tree, const std::string& file, std::string_view key) {
  const auto path = source::normalise(file);
  auto text = path ? tree.read(*path, largest_text) : std::nullopt;
  if (!text || !is_utf8(*text) || text->find('\0') != std::string::npos) {
    leave_to_build(
        fmt::format("`project.{}`: `{}` is not a text file of the image", key, printable(file)));
  }
  return std::move(*text);
}

/// Returns the texts of licenses by their paths: the file in `license`, those in `license-files`,
/// else those that build backends look for.
std::map<std::string, std::string> read_licenses(const toml::table& project, LookingTree& tree) {
  Licenses licenses{tree};
  if (const auto file = project["license"]["file"].value<std::string>()) {
    licenses.keep(source::normalise(*file).value_or(""));
  }
  const auto* const named = project.get("license-files");
  licenses.keep_those_of(
      named != nullptr
          ? lines_of(*named, "license-files")
          : std::vector<std::string>{"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "AUTHORS*"});
  return licenses.take();
}

/// Returns nothing if `[project]` names none.
std::optional<Readme> read_readme(const toml::table& project, LookingTree& tree) {
  const auto* const node = project.get("readme");
  if (node == nullptr) {
    return std::nullopt;
  }
  if (node->is_string()) {
    const auto file = line_of(*node, "readme");
    return Readme{.type = type_of(file), .text = read_named_text(tree, file, "readme")};
  }
  const auto& table = table_of(*node, "readme");
  const auto* const file = table.get("file");
  const auto* const text = table.get("text");
  const auto* const type = table.get("content-type");
  if (table.size() != 2 || type == nullptr || (file == nullptr) == (text == nullptr)) {
    leave_to_build("`project.readme` has more than a text and its type");
  }
  return Readme{.type = line_of(*type, "readme"),
                .text = file != nullptr ? read_named_text(tree, line_of(*file, "readme"), "readme")
                                        : text->value_or(std::string{})};
}

/// Returns one group with its heading; empty without entries.
std::string group_text(std::string_view group, const toml::table& entries, bool is_program) {
  std::string lines;
  for (const auto& [name, value] : entries) {
    const auto object = line_of(value, "entry-points");
    // Only on these do pip and Python agree.
    const bool is_plain = is_alphanumeric(name.str(), is_program ? "-_." : "-_. ") &&
                          is_alphanumeric(object, "_.:") && !name.empty() && !object.empty() &&
                          (!is_program || object.find(':') != std::string::npos);
    if (!is_plain || trim(name.str()) != name.str()) {
      leave_to_build(fmt::format("the entry point `{}` is not plain", printable(name.str())));
    }
    lines += fmt::format("{} = {}\n", name.str(), object);
  }
  return lines.empty() ? "" : fmt::format("[{}]\n{}", group, lines);
}

/// Returns the text of entry_points.txt for `[project]` in `project`; nothing if there are no entry
/// points. Throws as described in project_fields.hpp.
std::optional<std::string> entry_points_text(const toml::table& project) {
  std::string text;
  const auto add = [&](std::string_view group, const toml::table& entries, bool is_program) {
    const auto more = group_text(group, entries, is_program);
    text += text.empty() || more.empty() ? more : "\n" + more;
  };
  if (const auto* const node = project.get("scripts"); node != nullptr) {
    add("console_scripts", table_of(*node, "scripts"), true);
  }
  if (const auto* const node = project.get("gui-scripts"); node != nullptr) {
    add("gui_scripts", table_of(*node, "gui-scripts"), true);
  }
  const auto* const node = project.get("entry-points");
  if (node == nullptr) {
    return non_empty(std::move(text));
  }
  for (const auto& [group, entries] : table_of(*node, "entry-points")) {
    if (group == "console_scripts" || group == "gui_scripts" ||
        !is_alphanumeric(group.str(), "-_.")) {
      leave_to_build("`project.entry-points` has something else than a group");
    }
    add(group.str(), table_of(entries, "entry-points"), false);
  }
  return non_empty(std::move(text));
}

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
      leave_to_build("`project.name` is not the name of a package");
    }
    const auto parsed =
        python::Version::parse(version != nullptr ? line_of(*version, "version") : *version_);
    if (!parsed) {
      leave_to_build("`project.version` is not a version");
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
        leave_to_build("`project.requires-python` is not a condition");
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
        leave_to_build("`project.optional-dependencies` has a malformed name");
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

/// Sets names, versions and texts of `installation` from `[project]` of `document` (PEP 621 and its
/// successors). Returns why only the build can determine them, or nothing if they are complete.
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

const std::string settings_file = "pyproject.toml";

/// Returns why the known facts of `package` already require its build; nothing if none do.
std::optional<std::string> reason_of(const Package& package) {
  if (package.version_control) {
    return "its version comes from " + package.version_control->tool;
  }
  if (!package.members.empty()) {
    return "packages of its workspace are installed along";
  }
  if (!package.isolated || package.needs_pyproject) {
    return "setup.py or setup.cfg describes it";
  }
  return std::nullopt;
}

/// Build requirements other than build backends may change the build.
std::optional<std::string> refuse_plugins(const toml::table& document) {
  static constexpr std::array<std::string_view, 8> backends{
      "setuptools", "wheel",       "hatchling",   "editables",
      "flit-core",  "poetry-core", "pdm-backend", "uv-build"};
  const auto* const system = document["build-system"].as_table();
  if (system == nullptr) {
    return std::nullopt;
  }
  for (const auto& [key, value] : *system) {
    if (key != "requires" && key != "build-backend") {
      return fmt::format("`build-system.{}` may say otherwise", printable(key.str()));
    }
  }
  const auto* const requires_list = (*system)["requires"].as_array();
  if (requires_list == nullptr) {
    return "`build-system.requires` is missing";
  }
  for (const auto& item : *requires_list) {
    const auto text = item.value_or(std::string{});
    const auto name = python::parse_requirement(text).name;
    if (!contains(backends, name)) {
      return fmt::format("its build asks for `{}`", printable(text));
    }
  }
  return std::nullopt;
}

std::optional<std::string> read_all(const Package& package,
                                    LookingTree& tree,
                                    StaticInstallation& installation) {
  const auto text = tree.read(settings_file, largest_toml);
  if (!text) {
    return "it has no pyproject.toml";
  }
  try {
    const auto document = parse_toml(*text);
    if (auto reason = refuse_plugins(document)) {
      return reason;
    }
    if (auto reason = read_core_metadata(document, tree, installation)) {
      return reason;
    }
    return read_module_layout(document, package, tree, installation);
  } catch (const toml::parse_error&) {
    return "pyproject.toml cannot be read";
  }
}

}  // namespace

StaticInstallation static_installation(const source::Tree& tree, const Project& project) {
  if (!project.package || (!project.package->installs && project.package->members.empty())) {
    return {.reason = "there is no package to install"};
  }
  const auto& package = *project.package;
  if (auto reason = reason_of(package)) {
    return {.reason = std::move(reason)};
  }
  LookingTree looking{Findings{tree, project.ignore}};
  StaticInstallation installation;
  if (auto reason = read_all(package, looking, installation)) {
    return {.reason = std::move(reason)};
  }
  installation.looked = looking.looked();
  return installation;
}

}  // namespace autopack::project
