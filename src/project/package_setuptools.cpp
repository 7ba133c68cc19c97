#include "base/text.hpp"
#include "project/ini.hpp"
#include "project/package.hpp"
#include "project/setup_py.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

/// Items of a setup.cfg list: one per line, or separated by commas.
std::vector<std::string> list_items(std::string_view value) {
  const char separator = value.find('\n') == std::string_view::npos ? ',' : '\n';
  std::vector<std::string> items;
  for (const auto& item : split(value, separator)) {
    if (const auto bare = trim(item); !bare.empty()) {
      items.emplace_back(bare);
    }
  }
  return items;
}

/// Follows `file:` and `attr:` values, and takes the packages from `[options]`.
class SetupCfg {
public:
  explicit SetupCfg(PackageDraft& draft)
      : draft_{&draft},
        ini_{parse_ini(
            draft.findings().tree().read(draft.findings().follow("setup.cfg").entry.path))} {}

  void read() {
    if (const auto name = find_option(ini_, "metadata", "name");
        name && draft_->package.name.empty()) {
      draft_->package.name = *name;
    }
    read_layout();
    for (const auto& [section, options] : ini_) {
      if (section != "metadata" && section != "options" && !section.starts_with("options.")) {
        continue;
      }
      for (const auto& [option, value] : options) {
        read_value(section, option, value);
      }
    }
    for (const char* const option : {"license_file", "license_files", "license-file"}) {
      for (const auto& pattern : list_items(find_option(ini_, "metadata", option).value_or(""))) {
        draft_->add_matches(pattern);
      }
    }
    for (const auto& script : list_items(find_option(ini_, "options", "scripts").value_or(""))) {
      draft_->add_file(script, "setup.cfg", true);
    }
    if (ini_.contains("options.data_files")) {
      draft_->install_all("setup.cfg installs data files");
    }
    if (find_option(ini_, "options", "cmdclass")) {
      draft_->install_all("setup.cfg replaces a build command (cmdclass)");
    }
    if (ini_.contains("files") || ini_.contains("pbr")) {
      draft_->pin_version("PBR_VERSION", "setup.cfg");
      draft_->install_all("setup.cfg is read by pbr");
    }
  }

private:
  void read_value(const std::string& section, const std::string& option, const std::string& value) {
    const std::string origin = fmt::format("setup.cfg [{}] {}", section, option);
    if (value.starts_with("file:")) {
      // setuptools reads a missing file as empty.
      for (const auto& file : split(replace_all(value.substr(5), "\n", ","), ',')) {
        draft_->add_file(trim(file), origin, false);
      }
    } else if (value.starts_with("attr:")) {
      draft_->add_attribute(trim(std::string_view{value}.substr(5)), origin);
    }
  }

  void read_layout() {
    Layout& layout = draft_->layout;
    for (const auto& item : list_items(find_option(ini_, "options", "package_dir").value_or(""))) {
      const auto equals = item.find('=');
      const std::string package{trim(std::string_view{item}.substr(0, equals))};
      const std::string directory{
          equals == std::string::npos ? "" : trim(std::string_view{item}.substr(equals + 1))};
      if (package.empty()) {
        layout.root = source::normalise(directory).value_or("");
      } else {
        draft_->install_all(
            fmt::format("setup.cfg maps the package `{}` to `{}`", package, directory));
      }
    }
    const auto packages = find_option(ini_, "options", "packages");
    const auto modules = find_option(ini_, "options", "py_modules");
    if (packages && (packages->starts_with("find:") || packages->starts_with("find_namespace:"))) {
      layout.kind = Layout::Kind::found;
      layout.namespaces = packages->starts_with("find_namespace:");
      const auto where = find_option(ini_, "options.packages.find", "where");
      if (where && where->find('\n') == std::string::npos) {
        layout.root = source::normalise(*where).value_or("");
      } else if (where) {
        draft_->install_all("setup.cfg looks for packages in several directories");
      }
    } else if (packages || modules) {
      layout.kind = Layout::Kind::listed;
      layout.packages = list_items(packages.value_or(""));
    }
    if (modules) {
      layout.modules = list_items(*modules);
    }
    layout.origin = "setup.cfg";
  }

  PackageDraft* draft_;
  Ini ini_;
};

/// A setup.py that does more than describe packages; what is in doubt is installed for real.
class SetupScript {
public:
  explicit SetupScript(PackageDraft& draft)
      : draft_{&draft},
        facts_{read_setup_py(
            draft.findings().tree().read(draft.findings().follow("setup.py").entry.path))} {}

  void read() {
    if (!facts_.name.empty()) {
      draft_->package.name = facts_.name;
    }
    read_words();
    read_imports();
    read_layout();
    read_files();
  }

private:
  bool says(const std::string& word) const {
    return facts_.words.contains(word) ||
           std::find(facts_.literals.begin(), facts_.literals.end(), word) != facts_.literals.end();
  }

  void read_words() {
    struct Sign {
      const char* word;
      const char* reason;
    };

    static constexpr std::array<Sign, 6> signs{
        {{"ext_modules", "setup.py builds extension modules"},
         {"Extension", "setup.py builds extension modules"},
         {"cythonize", "setup.py builds extension modules"},
         {"cmdclass", "setup.py replaces a build command (cmdclass)"},
         {"distclass", "setup.py replaces setuptools' distribution class"},
         {"data_files", "setup.py installs data files"}}};
    for (const auto& sign : signs) {
      if (says(sign.word)) {
        draft_->install_all(sign.reason);
      }
    }
    if (facts_.computes_file_name) {
      draft_->install_for_metadata("setup.py computes the name of a file");
    }
    if (says("use_scm_version")) {
      draft_->pin_version("SETUPTOOLS_SCM_PRETEND_VERSION", "setup.py");
    }
    if (facts_.words.contains("pbr")) {
      draft_->pin_version("PBR_VERSION", "setup.py");
      draft_->install_all("setup.py is read by pbr");
    }
  }

  void read_imports() {
    for (const auto& module : facts_.imports) {
      for (const char* const root : {"", "src"}) {
        const std::string path = join_path(root, module);
        if (draft_->findings().is_file(path + ".py") || is_package(path)) {
          draft_->install_for_metadata(
              fmt::format("setup.py imports the project's own `{}`", module));
          // Reached as a script only: setup.py stands beside it.
          draft_->add_file(path + ".py", "setup.py", false);
        }
      }
    }
  }

  bool is_package(const std::string& directory) {
    const auto entries = draft_->findings().tree().list(directory);
    return std::any_of(entries.begin(), entries.end(),
                       [](const auto& entry) { return entry.path.ends_with(".py"); });
  }

  void read_layout() {
    Layout& layout = draft_->layout;
    for (const auto& [package, directory] : facts_.package_directory) {
      const auto normal = source::normalise(directory);
      if (package.empty() && normal) {
        layout.root = *normal;
      } else {
        draft_->install_all(
            fmt::format("setup.py maps the package `{}` to `{}`", package, directory));
      }
    }
    if (facts_.package_directory_computed) {
      draft_->install_all("setup.py computes where its packages are");
    }
    if (facts_.packages) {
      read_packages(*facts_.packages, layout);
    }
    if (facts_.modules_computed) {
      draft_->install_all("setup.py computes which modules it has");
    } else if (facts_.modules) {
      layout.modules = *facts_.modules;
      layout.kind = layout.kind == Layout::Kind::automatic ? Layout::Kind::listed : layout.kind;
      layout.origin = "setup.py";
    }
  }

  void read_packages(const SetupPy::Packages& packages, Layout& layout) {
    if (packages.computed || (packages.find && !packages.listed.empty())) {
      draft_->install_all("setup.py computes which packages it has");
      return;
    }
    layout.kind = packages.find ? Layout::Kind::found : Layout::Kind::listed;
    layout.namespaces = packages.namespaces;
    layout.packages = packages.listed;
    layout.origin = "setup.py";
    const auto where = source::normalise(packages.where);
    if (packages.find && where && !where->empty()) {
      if (layout.root.empty()) {
        draft_->install_all(
            fmt::format("setup.py looks for packages in `{}` without package_dir", *where));
      }
      layout.root = *where;
    }
  }

  /// Files whose names setup.py holds: it may open them.
  void read_files() {
    std::vector<std::string> names = facts_.literals;
    names.insert(names.end(), facts_.paths.begin(), facts_.paths.end());
    const bool lists =
        says("glob") || says("listdir") || says("iterdir") || says("scandir") || says("walk");
    for (const auto& name : names) {
      const auto path = name.size() < 256 && name.find_first_of("\n:") == std::string::npos
                            ? source::normalise(name)
                            : std::nullopt;
      if (!path || path->empty()) {
        continue;
      }
      if (draft_->findings().is_file(*path)) {
        draft_->add_file(*path, "setup.py", false);
      } else if (path->ends_with(".py") && path->find('/') == std::string::npos) {
        add_from_packages(*path);
      } else if (lists && path->find('*') != std::string::npos) {
        draft_->add_matches(*path);
      } else if (lists && draft_->findings().is_directory(*path) && !is_package(*path)) {
        draft_->add_matches(*path + "/*");
      }
    }
  }

  /// `os.path.join(here, name, "__version__.py")`: the package's directory may be a variable.
  void add_from_packages(const std::string& file) {
    for (const auto& directory : draft_->findings().tree().list(draft_->layout.root)) {
      draft_->add_file(directory.path + "/" + file, "setup.py", false);
    }
  }

  PackageDraft* draft_;
  SetupPy facts_;
};

}  // namespace

void read_setuptools(PackageDraft& draft, bool has_setup_py, bool has_setup_cfg) {
  if (has_setup_cfg) {
    SetupCfg{draft}.read();
  }
  if (has_setup_py) {
    SetupScript{draft}.read();
  }
}

}  // namespace autopack::project
