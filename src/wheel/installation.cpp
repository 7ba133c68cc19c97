#include "wheel/installation.hpp"

#include "base/text.hpp"
#include "python/name.hpp"
#include "python/specifier.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

// Installs a wheel as pip does: the same files, modes, scripts and records, but into a layer
// instead of a directory. tests/integration/wheel_installations.py compares the result with pip's,
// file by file.
namespace autopack::wheel {

namespace {

constexpr std::string_view script_mark{"#!python"};
constexpr std::uint64_t largest_script{std::uint64_t{16} << 20U};

/// Returns a directory of the scheme in the form of an image's paths.
std::string directory_of(const std::string& absolute) {
  std::string path = std::filesystem::path{absolute}.lexically_normal().relative_path().string();
  while (path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

std::string under(const std::string& directory, std::string_view path) {
  return directory.empty() ? std::string{path} : directory + "/" + std::string{path};
}

unsigned mode_of(const Member& member) {
  return S_ISREG(member.mode) && (member.mode & 0111U) != 0 ? 0755U : 0644U;
}

/// Removes the suffixes that setuptools adds to the files it makes for an entry point.
std::string_view program_of(std::string_view file) {
  for (const std::string_view suffix : {".exe", "-script.py", ".pya"}) {
    if (to_lower(file).ends_with(suffix)) {
      return file.substr(0, file.size() - suffix.size());
    }
  }
  return file;
}

class Installer {
public:
  Installer(const Wheel& wheel,
            const python::Interpreter& interpreter,
            const InstallOptions& options)
      : wheel_{wheel}, interpreter_{interpreter}, options_{options} {
    const auto& scheme = interpreter.scheme;
    root_ = directory_of(wheel.format().root_is_purelib ? scheme.purelib : scheme.platlib);
    directories_ = {{"purelib", directory_of(scheme.purelib)},
                    {"platlib", directory_of(scheme.platlib)},
                    {"scripts", directory_of(scheme.scripts)},
                    {"headers", under(directory_of(scheme.headers), header_name())},
                    {"data", directory_of(scheme.data)}};
    for (const auto* entries : {&wheel.entry_points().console, &wheel.entry_points().gui}) {
      for (const auto& entry : *entries) {
        programs_.insert(entry.name);
      }
    }
  }

  std::vector<InstalledFile> run() {
    spread();
    make_launchers();
    make_texts();
    make_record();
    check_parents();
    return in_order();
  }

private:
  std::string header_name() const {
    return options_.header_name.value_or(replace_all(wheel_.distribution(), "_", "-"));
  }

  /// Returns the destination of a member below `.data`, whose first component is already removed.
  std::string data_path(const Member& member, std::string_view path, bool& is_script) const {
    const auto key = path.substr(0, path.find('/'));
    const auto found = directories_.find(std::string{key});
    if (key.size() == path.size() || found == directories_.end()) {
      throw wheel_.zip().fault("`" + member.name + "` is in an unknown category of its `.data`");
    }
    is_script = key == "scripts";
    return under(found->second, path.substr(key.size() + 1));
  }

  /// The order is root, data, scripts: later files replace earlier ones.
  void spread() {
    std::vector<std::pair<const Member*, std::string>> data;
    std::vector<std::pair<const Member*, std::string>> scripts;
    for (const auto& member : wheel_.zip().members()) {
      const std::string_view name{member.name};
      const auto top = name.substr(0, name.find('/'));
      if (!top.ends_with(".data")) {
        put_member(member, under(root_, name), mode_of(member));
        continue;
      }
      if (python::normalise_name(top.substr(0, top.find('-'))) !=
          python::normalise_name(wheel_.distribution())) {
        throw wheel_.zip().fault("`" + member.name + "` is in the `.data` of another distribution");
      }
      bool is_script = false;
      auto path = data_path(member, name.substr(std::min(top.size() + 1, name.size())), is_script);
      (is_script ? scripts : data).emplace_back(&member, std::move(path));
    }
    for (const auto& [member, path] : data) {
      put_member(*member, path, mode_of(*member));
    }
    for (const auto& [member, path] : scripts) {
      put_script(*member, path);
    }
  }

  void put_script(const Member& member, const std::string& path) {
    const auto program = program_of(std::string_view{path}.substr(path.rfind('/') + 1));
    if (programs_.contains(std::string{program})) {
      return;
    }
    if (wheel_.zip().beginning(member, script_mark.size()) != script_mark) {
      put_member(member, path, 0755);
      return;
    }
    if (member.size > largest_script) {
      throw wheel_.zip().fault("the script `" + member.name + "` is too large");
    }
    std::string text;
    wheel_.read(member, [&](std::string_view bytes) { text += bytes; });
    const auto end = std::min(text.find('\n'), text.size() - 1);
    put_made(path, 0755, "#!" + interpreter_.executable + "\n" + text.substr(end + 1));
    places_[member.name] = path;
    changed_.insert(path);
  }

  void put_member(const Member& member, const std::string& path, unsigned mode) {
    files_[path] = {.path = path, .mode = mode, .member = &member};
    places_[member.name] = path;
  }

  void put_made(const std::string& path, unsigned mode, std::string bytes) {
    files_[path] = {.path = path, .mode = mode, .bytes = std::move(bytes)};
  }

  void make(const std::string& path, unsigned mode, std::string bytes) {
    put_made(path, mode, std::move(bytes));
    made_.insert(path);
  }

  void make_launchers() {
    for (const auto& entry : launchers(wheel_.entry_points(), interpreter_.version)) {
      make(under(directories_.at("scripts"), entry.name), 0755,
           launcher_text(entry, interpreter_.executable));
    }
  }

  std::string info(const char* name) const { return under(root_, wheel_.dist_info() + "/" + name); }

  void make_texts() {
    make(info("INSTALLER"), 0644, "autopack\n");
    if (options_.direct_url) {
      make(info("direct_url.json"), 0644, *options_.direct_url);
    }
    if (options_.is_requested) {
      make(info("REQUESTED"), 0644, "");
    }
  }

  /// Returns a path as RECORD writes it: relative to the parent directory of `.dist-info`.
  std::string from_root(const std::string& path) const {
    const bool is_below =
        path.size() > root_.size() && path.starts_with(root_) && path[root_.size()] == '/';
    return is_below ? path.substr(root_.size() + 1)
                    : std::filesystem::path{path}.lexically_relative(root_).string();
  }

  RecordRow hashed_row(const std::string& path) const {
    const auto& bytes = files_.at(path).bytes;
    return {
        .path = from_root(path), .hash = record_hash(bytes), .size = std::to_string(bytes.size())};
  }

  void make_record() {
    std::vector<RecordRow> rows;
    for (const auto& row : wheel_.record()) {
      const auto place = places_.find(row.path);
      if (place == places_.end()) {
        rows.push_back(row);  // pip keeps unknown rows, and rows of files that it did not install
      } else {
        rows.push_back(changed_.contains(place->second)
                           ? hashed_row(place->second)
                           : RecordRow{from_root(place->second), row.hash, row.size});
        places_.erase(place);
      }
    }
    for (const auto& path : made_) {
      rows.push_back(hashed_row(path));
    }
    for (const auto& [name, path] : places_) {
      rows.push_back({.path = from_root(path)});
    }
    put_made(info("RECORD"), 0644, write_record(std::move(rows)));
    made_.insert(info("RECORD"));
  }

  /// A file cannot be where another one needs a directory.
  void check_parents() const {
    for (const auto& [path, file] : files_) {
      const auto below = files_.lower_bound(path + "/");
      if (below != files_.end() && below->first.starts_with(path + "/")) {
        throw wheel_.zip().fault("`" + path + "` is a file and a directory");
      }
    }
  }

  std::vector<InstalledFile> in_order() {
    std::vector<InstalledFile> ordered;
    std::vector<InstalledFile> last;
    for (auto& [path, file] : files_) {
      const bool is_made = made_.contains(path);
      (is_made ? last : ordered).push_back(std::move(file));
    }
    std::ranges::stable_sort(ordered, [](const InstalledFile& a, const InstalledFile& b) {
      const auto place = [](const InstalledFile& file) {
        return file.member == nullptr ? UINT64_MAX : file.member->offset;
      };
      return place(a) < place(b);
    });
    ordered.insert(ordered.end(), std::make_move_iterator(last.begin()),
                   std::make_move_iterator(last.end()));
    return ordered;
  }

  const Wheel& wheel_;
  const python::Interpreter& interpreter_;
  const InstallOptions& options_;
  std::string root_{};
  std::map<std::string, std::string> directories_{};  ///< of the scheme, by their names in `.data`
  std::set<std::string> programs_{};
  std::map<std::string, InstalledFile> files_{};
  std::map<std::string, std::string> places_{};  ///< of members, by their names in the wheel
  std::set<std::string> changed_{};              ///< not as in the wheel any more
  std::set<std::string> made_{};
};

/// As pip does it: ignores an unreadable condition, and counts a prerelease of Python as the
/// release.
void check_python(const Wheel& wheel, const python::Interpreter& interpreter) {
  const auto& required = wheel.metadata().requires_python;
  const auto set = required ? python::SpecifierSet::parse(*required) : std::nullopt;
  const python::Version version{.release = interpreter.version.release};
  if (set && !set->contains(version, python::Prereleases::allowed)) {
    throw wheel.zip()
        .fault(fmt::format("it requires Python `{}`, but the executor image has {}",
                           printable(*required), interpreter.version.str()))
        .hint(fmt::format(
            "use a version of `{}` for that Python, or an executor image with a matching Python",
            wheel.distribution()));
  }
}

}  // namespace

std::vector<InstalledFile> install(const Wheel& wheel,
                                   const python::Interpreter& interpreter,
                                   const InstallOptions& options) {
  check_python(wheel, interpreter);
  return Installer{wheel, interpreter, options}.run();
}

std::uint64_t size_of(const InstalledFile& file) {
  return file.member == nullptr ? file.bytes.size() : file.member->size;
}

namespace {

/// The number of bytes that Linux reads of a script's first line, including the `#!` and the line
/// end.
constexpr std::size_t longest_first_line{127};

std::string first_lines(std::string_view executable) {
  const bool has_blank = executable.find(' ') != std::string_view::npos;
  if (!has_blank && executable.size() + 3 <= longest_first_line) {
    return fmt::format("#!{}\n", executable);
  }
  return fmt::format("#!/bin/sh\n'''exec' {0}{1}{0} \"$0\" \"$@\"\n' '''\n", has_blank ? "\"" : "",
                     executable);
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// True for `3.11`, and for `3` if `may_be_short`.
bool is_short_version(std::string_view text, bool may_be_short) {
  const auto dot = text.find('.');
  return is_digits(text.substr(0, dot)) &&
         (dot == std::string_view::npos ? may_be_short : is_digits(text.substr(dot + 1)));
}

/// True for the names that a wheel of pip or easy_install uses for one version of Python: the one
/// that made the wheel.
bool is_versioned(std::string_view name, std::string_view program) {
  if (!name.starts_with(program)) {
    return false;
  }
  const auto rest = name.substr(program.size());
  if (program == "pip") {
    return rest.empty() || is_short_version(rest, true);
  }
  return rest.empty() || (rest.starts_with('-') && is_short_version(rest.substr(1), false));
}

}  // namespace

std::string launcher_text(const EntryPoint& entry, std::string_view executable) {
  return first_lines(executable) +
         fmt::format(
             "import sys\n"
             "from {} import {}\n"
             "if __name__ == '__main__':\n"
             "    sys.argv[0] = sys.argv[0].removesuffix('.exe')\n"
             "    sys.exit({}())\n",
             entry.module, entry.callable.substr(0, entry.callable.find('.')), entry.callable);
}

std::vector<EntryPoint> launchers(const EntryPoints& entry_points, const python::Version& version) {
  const auto major = version.release.empty() ? 0 : version.release[0];
  const auto minor = version.release.size() < 2 ? 0 : version.release[1];
  const std::string short_version = fmt::format("{}.{}", major, minor);
  auto console = entry_points.console;
  std::vector<EntryPoint> made;
  const auto add_versions = [&](std::string_view program, const std::vector<std::string>& names) {
    const auto found = std::ranges::find_if(
        console, [&](const EntryPoint& entry) { return entry.name == program; });
    if (found == console.end()) {
      return;
    }
    const EntryPoint entry = *found;
    for (const auto& name : names) {
      made.push_back({.name = name, .module = entry.module, .callable = entry.callable});
    }
    std::erase_if(console,
                  [&](const EntryPoint& other) { return is_versioned(other.name, program); });
  };
  add_versions("pip", {"pip", fmt::format("pip{}", major), "pip" + short_version});
  add_versions("easy_install", {"easy_install", "easy_install-" + short_version});
  made.insert(made.end(), console.begin(), console.end());
  made.insert(made.end(), entry_points.gui.begin(), entry_points.gui.end());
  return made;
}

}  // namespace autopack::wheel
