#include "build/wheels/static_layout.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "project/findings.hpp"
#include "project/tables/python_names.hpp"
#include "python/name.hpp"
#include "python/version.hpp"
#include "source/tree.hpp"
#include "wheel/texts.hpp"
#include "wheel/wheel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

// The files of a wheel are known if its setup.py only calls setup() with literals. The rules are
// those of setuptools (build_py, build_scripts, find_packages). Its versions differ in headers of
// METADATA and in the place of licenses, not in the files that a program imports.

namespace autopack::build {

namespace {

using Strings = std::vector<std::string>;
using Components = Strings::const_iterator;

[[noreturn]] void refuse_layout(const char* reason) {
  throw Error(ErrorKind::project, reason);
}

/// Matches the components of a path like Python's recursive glob.
bool matches_components(Components pattern,
                        Components pattern_end,
                        Components path,
                        Components path_end) {
  if (pattern == pattern_end || path == path_end) {
    return pattern == pattern_end && path == path_end;
  }
  const bool is_any_depth = *pattern == "**";
  if (is_any_depth && matches_components(pattern + 1, pattern_end, path, path_end)) {
    return true;
  }
  if ((path->starts_with('.') && !pattern->starts_with('.')) ||
      !(is_any_depth || project::matches_glob(*pattern, *path))) {
    return false;
  }
  return matches_components(is_any_depth ? pattern : pattern + 1, pattern_end, path + 1, path_end);
}

bool matches_path(const std::string& pattern, const std::string& path) {
  constexpr auto most_recursive{2};  // the time grows with their number
  const auto wanted = split(pattern, '/');
  const auto components = split(path, '/');
  if (std::ranges::count(wanted, "**") > most_recursive) {
    refuse_layout("a glob is too complicated");
  }
  return matches_components(wanted.begin(), wanted.end(), components.begin(), components.end());
}

bool matches_any(const Strings& patterns, const std::string& name) {
  return std::ranges::any_of(
      patterns, [&](const auto& pattern) { return project::matches_glob(pattern, name); });
}

/// Returns the text of a script with the first line that an installer completes.
std::string script_text(const std::string& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const std::string_view line = trim(std::string_view{text}.substr(0, end));
  const auto python = line.rfind("python");
  if (!line.starts_with("#!") || python == std::string_view::npos) {
    return text;
  }
  const auto rest = line.substr(python + std::string_view{"python"}.size());
  const auto arguments = rest.substr(std::min(rest.find_first_not_of("0123456789."), rest.size()));
  return arguments.empty() || arguments.starts_with(' ')
             ? fmt::format("#!python{}{}", arguments, text.substr(end))
             : text;
}

class Layout {
public:
  Layout(const project::SetupPy& setup, const SourceFiles& files)
      : setup_{setup}, says_{setup.certain_files.value()}, files_{files} {}

  StaticWheel run() {
    read_root();
    read_package_info();
    check_imports();
    find_packages();
    for (const auto& package : packages_) {
      add_package(package);
    }
    for (const auto& module : says_.modules) {
      const auto path = replace_all(module, ".", "/") + ".py";
      wheel_[path] = text_of(root_ + path);
    }
    add_scripts();
    add_dist_info();
    return {.name = wheel::wheel_stem(name_, version_) + "-py3-none-any.whl",
            .bytes = wheel::wheel_text(name_, version_, std::move(wheel_))};
  }

private:
  void read_root() {
    const auto root = source::normalise(says_.root);
    if (!root) {
      refuse_layout("its packages are elsewhere");
    }
    root_ = root->empty() ? "" : *root + "/";
  }

  const std::string& text_of(const std::string& path) const {
    const auto found = files_.find(path);
    if (found == files_.end()) {
      refuse_layout("a file is missing");
    }
    return found->second;
  }

  void read_package_info() {
    const auto metadata = wheel::read_metadata(text_of("PKG-INFO"));
    const auto version = python::Version::parse(metadata.version);
    const auto said = says_.version ? python::Version::parse(*says_.version) : version;
    name_ = metadata.name;
    if (!version || said != version || !is_alphanumeric(name_, "-_.") ||
        python::normalise_name(name_).empty() ||
        (says_.name && python::normalise_name(*says_.name) != python::normalise_name(name_))) {
      refuse_layout("setup.py and PKG-INFO differ");
    }
    version_ = version->str();
  }

  void check_imports() const {
    static constexpr std::array<std::string_view, 3> tools{"setuptools", "distutils",
                                                           "pkg_resources"};
    for (const auto& module : setup_.imports) {
      const auto is_own = [&](const auto& file) {
        return file.first == module + ".py" || file.first.starts_with(module + "/");
      };
      if (!contains(tools, module) && !project::is_standard_module(module) &&
          std::ranges::none_of(files_, is_own)) {
        refuse_layout("setup.py imports another module");
      }
    }
  }

  void find_packages() {
    packages_.insert(says_.packages.begin(), says_.packages.end());
    if (!says_.search) {
      return;
    }
    if (source::normalise(says_.search->where) != source::normalise(says_.root)) {
      refuse_layout("its packages are not where it looks for them");
    }
    for (const auto& [path, text] : files_) {
      if (path.starts_with(root_) && path.ends_with("/__init__.py") &&
          path.rfind('/') > root_.size()) {
        add_found(path.substr(root_.size(), path.rfind('/') - root_.size()));
      }
    }
  }

  /// Adds `directory` if find_packages() reaches and wants it.
  void add_found(const std::string& directory) {
    const auto& [where, include, exclude] = *says_.search;
    const auto name = replace_all(directory, "/", ".");
    for (auto end = directory.find('/'); end != std::string::npos;
         end = directory.find('/', end + 1)) {
      const auto parent = replace_all(directory.substr(0, end), "/", ".");
      if (!files_.contains(root_ + directory.substr(0, end) + "/__init__.py") ||
          contains(exclude, parent + "*") || contains(exclude, parent + ".*")) {
        return;
      }
    }
    if (directory.find('.') == std::string::npos && matches_any(include, name) &&
        !matches_any(exclude, name)) {
      packages_.insert(name);
    }
  }

  void add_package(const std::string& package) {
    const auto directory = replace_all(package, ".", "/") + "/";
    bool has_files = false;
    for (auto file = files_.lower_bound(root_ + directory);
         file != files_.end() && file->first.starts_with(root_ + directory); ++file) {
      const auto inner = file->first.substr(root_.size() + directory.size());
      const bool is_module =
          inner.find('/') == std::string::npos && !inner.starts_with('.') && inner.ends_with(".py");
      has_files = true;
      if (is_module || is_data(package, inner) ||
          (says_.has_listed_data && is_listed(file->first) &&
           innermost_package(directory + inner) == package)) {
        wheel_[directory + inner] = file->second;
      }
    }
    if (!has_files) {
      refuse_layout("a package has no directory");
    }
  }

  bool is_data(const std::string& package, const std::string& path) const {
    return std::ranges::any_of(says_.data, [&](const auto& data) {
      return (data.first.empty() || data.first == package) &&
             std::ranges::any_of(data.second,
                                 [&](const auto& pattern) { return matches_path(pattern, path); });
    });
  }

  /// Returns the package to which `path`, a file, belongs; empty if there is none.
  std::string innermost_package(const std::string& path) const {
    for (auto end = path.rfind('/'); end != std::string::npos && end > 0;
         end = path.rfind('/', end - 1)) {
      if (auto name = replace_all(path.substr(0, end), "/", "."); packages_.contains(name)) {
        return name;
      }
    }
    return {};
  }

  /// Returns true if the source's own list of files contains `path`.
  bool is_listed(const std::string& path) {
    if (listed_.empty()) {
      const auto is_list = [&](const auto& file) {
        const auto inner =
            std::string_view{file.first}.substr(std::min(root_.size(), file.first.size()));
        return file.first.starts_with(root_) && inner.ends_with(".egg-info/SOURCES.txt") &&
               std::ranges::count(inner, '/') == 1;
      };
      const auto list = std::ranges::find_if(files_, is_list);
      if (list == files_.end()) {
        refuse_layout("the list of its files is missing");
      }
      for (const auto& line : split(list->second, '\n')) {
        listed_.emplace(trim(line));
      }
    }
    return listed_.contains(path);
  }

  void add_scripts() {
    const auto place = wheel::wheel_stem(name_, version_) + ".data/scripts/";
    for (const auto& script : says_.scripts) {
      const auto path = source::normalise(script).value_or("");
      wheel_[place + path.substr(path.rfind('/') + 1)] = script_text(text_of(path));
    }
  }

  void add_dist_info() {
    static const Strings licenses{"LICEN[CS]E*", "COPYING*", "NOTICE*", "AUTHORS*"};
    const auto info = wheel::wheel_stem(name_, version_) + ".dist-info/";
    wheel_[info + "METADATA"] = metadata_text();
    if (says_.entry_points) {
      wheel_[info + "entry_points.txt"] = *says_.entry_points;
    }
    for (const auto& [path, text] : files_) {
      if (path.find('/') == std::string::npos && matches_any(licenses, path)) {
        wheel_[info + "licenses/" + path] = text;
      }
    }
    std::set<std::string> names;
    for (const auto& package : packages_) {
      names.insert(package.substr(0, package.find('.')));
    }
    for (const auto& module : says_.modules) {
      names.insert(module.substr(0, module.find('.')));
    }
    auto& top_level = wheel_[info + "top_level.txt"];
    for (const auto& name : names) {
      top_level += name + "\n";
    }
  }

  /// Returns PKG-INFO with the requirements of setup.py in place of those of the author's machine.
  std::string metadata_text() const {
    static constexpr std::array<std::string_view, 5> own{
        "Metadata-Version", "Requires-Dist", "Provides-Extra", "License-File", "Dynamic"};
    const auto& info = text_of("PKG-INFO");
    std::string headers{"Metadata-Version: 2.1\n"};
    bool is_kept = true;
    bool says_python = false;
    std::size_t at = 0;
    while (at < info.size()) {
      const auto end = std::min(info.find('\n', at), info.size() - 1) + 1;
      const auto line = info.substr(at, end - at);
      if (line == "\n" || line == "\r\n") {
        break;
      }
      if (!line.starts_with(' ') && !line.starts_with('\t')) {
        const auto header = line.substr(0, line.find(':'));
        is_kept = !contains(own, header);
        says_python = says_python || header == "Requires-Python";
      }
      headers += is_kept ? line : "";
      at = end;
    }
    if (says_.requires_python && !says_python) {
      headers += fmt::format("Requires-Python: {}\n", *says_.requires_python);
    }
    for (const auto& [extra, requirements] : setup_.extras) {
      headers += fmt::format("Provides-Extra: {}\n", extra);
    }
    for (const auto& requirement : setup_.certain_requirements.value()) {
      headers += fmt::format("Requires-Dist: {}\n", requirement);
    }
    return headers + info.substr(std::min(at, info.size()));
  }

  const project::SetupPy& setup_;
  const project::SetupFiles& says_;
  const SourceFiles& files_;
  std::string root_{};  ///< the directory of packages and modules, with a slash; empty for the root
  std::string name_{};
  std::string version_{};
  std::set<std::string> packages_{};  ///< dotted names
  std::set<std::string> listed_{};    ///< paths, once read
  SourceFiles wheel_{};
};

}  // namespace

StaticWheel lay_out(const project::SetupPy& setup, const SourceFiles& files) {
  return Layout{setup, files}.run();
}

}  // namespace autopack::build
