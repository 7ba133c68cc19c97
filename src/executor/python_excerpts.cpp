#include "executor/python_excerpts.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "executor/program_text.hpp"
#include "image/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace autopack::executor {

namespace {

using image::ArchiveEntry;
using image::Reader;

/// Metadata begins with name and version; the rest may be long.
constexpr std::size_t largest_head{std::size_t{64} << 10U};
constexpr std::size_t largest_settings{std::size_t{64} << 10U};
/// A distribution of 100,000 files has a list of 12 MB.
constexpr std::size_t largest_list{std::size_t{32} << 20U};
constexpr std::size_t largest_module{std::size_t{4} << 20U};

/// Calls `take` with each line of `text`, without line feed.
template <class TakeLine>
void each_line(std::string_view text, TakeLine take) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (!take(line)) {
      return;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Returns name and version of a METADATA or PKG-INFO, one a line, then the requirements.
std::string name_and_version(std::string_view text) {
  std::string name;
  std::string version;
  std::string requirements;
  each_line(text, [&](std::string_view line) {
    const auto colon = line.find(':');
    const std::string key = to_lower(line.substr(0, std::min(colon, line.size())));
    if (colon != std::string_view::npos && key == "name") {
      name = trim(line.substr(colon + 1));
    } else if (colon != std::string_view::npos && key == "version") {
      version = trim(line.substr(colon + 1));
    } else if (colon != std::string_view::npos && key == "requires-dist") {
      requirements += fmt::format("\n{}", trim(line.substr(colon + 1)));
    }
    return !line.empty();
  });
  return name + "\n" + version + requirements;
}

/// Returns the first field of a line of CSV.
std::string first_field(std::string_view line) {
  if (!line.starts_with('"')) {
    return std::string{line.substr(0, line.find(','))};
  }
  std::string field;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '"' && (i + 1 == line.size() || line[i + 1] != '"')) {
      break;
    }
    if (line[i] == '"') {
      ++i;
    }
    field += line[i];
  }
  return field;
}

/// Returns the paths of a RECORD, one a line.
std::string recorded_paths(std::string_view text) {
  std::string paths;
  each_line(text, [&](std::string_view line) {
    const std::string path = first_field(line);
    paths += path.empty() ? "" : path + "\n";
    return true;
  });
  return paths;
}

/// Returns the names of the schemes that a distribution added to sysconfig.
std::string changed_schemes(std::string_view text) {
  std::string names;
  for (const std::string_view name : {"posix_local", "rpm_prefix"}) {
    names += text.find(name) == std::string_view::npos ? "" : std::string{name} + "\n";
  }
  return names;
}

/// Returns pip's default index: the first address in the module that defines it.
std::string first_address(std::string_view text) {
  const auto begin = text.find("\"https://");
  const auto end = begin == std::string_view::npos ? begin : text.find('"', begin + 1);
  return end == std::string_view::npos ? std::string{}
                                       : std::string{text.substr(begin + 1, end - begin - 1)};
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string_view directory_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

/// Returns true for the directories above those that an installation writes to.
bool leads_to_packages(std::string_view name) {
  static constexpr std::array names{"bin",   "lib",           "lib64",        "include",
                                    "local", "site-packages", "dist-packages"};
  return name.starts_with("python3") || name == "site" || contains(names, name);
}

/// Matches `libc.so.6` and musl's loader, and their targets: `libc-2.31.so` before glibc 2.34,
/// `libc.so` in an upstream musl.
bool is_c_library(std::string_view name) {
  return name == "libc.so.6" || name == "libc.so" || name.starts_with("ld-musl-") ||
         (name.starts_with("libc-2.") && name.ends_with(".so"));
}

bool is_program(const ArchiveEntry& entry, std::string_view name) {
  const bool interpreter =
      name == "python" || name.starts_with("python3") || name.starts_with("pypy");
  return (interpreter && (entry.mode & 0111U) != 0) || is_c_library(name) ||
         (name.starts_with("libpython3") && name.find(".so") != std::string_view::npos);
}

/// For a file in a directory of metadata, of any distribution.
std::optional<std::string> excerpt_of_metadata(std::string_view name,
                                               std::string_view directory,
                                               const Reader& content) {
  const bool wheel = directory.ends_with(".dist-info");
  const bool egg = directory.ends_with(".egg-info") || directory == "EGG-INFO";
  if ((wheel && name == "METADATA") || (egg && name == "PKG-INFO")) {
    return name_and_version(image::beginning_of(content, largest_head));
  }
  if (wheel && name == "RECORD") {
    return recorded_paths(image::beginning_of(content, largest_list));
  }
  if (wheel && name == "INSTALLER") {
    return std::string{trim(image::beginning_of(content, 100))};
  }
  if (egg && name == "installed-files.txt") {
    return image::beginning_of(content, largest_list);
  }
  return std::nullopt;
}

/// For a file among packages or modules.
std::optional<std::string> excerpt_of_module(std::string_view name,
                                             std::string_view directory,
                                             std::string_view above,
                                             const Reader& content) {
  if (name.ends_with(".egg-info")) {
    return name_and_version(image::beginning_of(content, largest_head));
  }
  if (name.ends_with(".egg-link") || name.ends_with(".pth")) {
    return image::beginning_of(content, largest_settings);
  }
  if ((name == "sysconfig.py" && directory.starts_with("python3")) ||
      (name == "__init__.py" && directory == "sysconfig" && above.starts_with("python3"))) {
    return changed_schemes(image::beginning_of(content, largest_module));
  }
  const bool named = name == "_manylinux.py" || name == "sitecustomize.py" ||
                     name == "usercustomize.py" ||
                     (name == "__init__.py" && directory == "_manylinux");
  const bool variables = name.starts_with("_sysconfigdata_") && name.ends_with(".py");
  return named || variables || (name == "os.py" && directory.starts_with("python3"))
             ? std::optional{std::string{}}
             : std::nullopt;
}

bool is_below_packages(std::string_view path) {
  return path.find("/site-packages/") != std::string_view::npos ||
         path.find("/dist-packages/") != std::string_view::npos;
}

}  // namespace

std::optional<std::string> excerpt_for_python(const ArchiveEntry& entry, const Reader& content) {
  const std::string_view path = entry.path;
  const auto name = last_part(path);
  if (entry.type == ArchiveEntry::Type::directory) {
    const bool is_part = !is_below_packages(path) && leads_to_packages(name);
    return is_part ? std::optional{std::string{}} : std::nullopt;
  }
  if (entry.type != ArchiveEntry::Type::file) {
    return std::nullopt;
  }
  const auto directory = last_part(directory_of(path));
  const auto above = last_part(directory_of(directory_of(path)));
  if (is_program(entry, name)) {
    const auto program = read_program(content);
    return program ? to_text(*program) : "script";
  }
  if (name.ends_with(".pyc")) {
    return is_below_packages(path) ? std::optional{std::string{}} : std::nullopt;
  }
  if (name == "pyvenv.cfg" || name == "pip.conf" || name == "os-release") {
    return image::beginning_of(content, largest_settings);
  }
  if (path.ends_with("/pip/_internal/models/index.py")) {
    return first_address(image::beginning_of(content, largest_head));
  }
  auto excerpt = excerpt_of_metadata(name, directory, content);
  return excerpt ? excerpt : excerpt_of_module(name, directory, above, content);
}

}  // namespace autopack::executor
