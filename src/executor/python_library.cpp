#include "executor/python_library.hpp"

#include "base/text.hpp"
#include "executor/programs.hpp"
#include "python/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace autopack::executor {

namespace {

/// The first version with PEP 703.
constexpr int first_without_lock = 13;
/// The last version with the flag `m`.
constexpr int last_with_memory_flag = 7;

/// Returns the text after `python3.` in a program's name: `11`, `13t`; empty if there is none.
std::string minor_in_name(std::string_view file) {
  constexpr std::string_view begin{"python3."};
  const auto name = file.substr(file.rfind('/') + 1);
  return name.starts_with(begin) ? std::string{name.substr(begin.size())} : "";
}

std::string_view digits_of(std::string_view text) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
}

/// Adds `python3.13`, and its name without the global lock.
void add_names(int minor, std::vector<std::string>& names) {
  names.push_back(fmt::format("python3.{}", minor));
  if (minor >= first_without_lock) {
    names.push_back(names.back() + "t");
  }
}

/// Returns possible library names of the interpreter `file` with `versions`.
std::vector<std::string> library_names(const std::string& file,
                                       const std::vector<std::string>& versions) {
  const std::string minor = minor_in_name(file);
  const auto digits = digits_of(minor);
  if (!digits.empty()) {
    const std::string name = fmt::format("python3.{}", digits);
    const bool is_free_threaded = minor.substr(digits.size()).starts_with('t');
    return {is_free_threaded ? name + "t" : name};
  }
  std::vector<std::string> names;
  for (int number = oldest_minor; number <= newest_minor; ++number) {
    const std::string begin = fmt::format("3.{}.", number);
    if (std::ranges::any_of(
            versions, [&](const std::string& version) { return version.starts_with(begin); })) {
      add_names(number, names);
    }
  }
  if (names.empty()) {  // the versions are in a library beside it
    for (int number = oldest_minor; number <= newest_minor; ++number) {
      add_names(number, names);
    }
  }
  return names;
}

/// Returns the value of `key` in lines of `key = value`; empty if there is none.
std::string setting(const std::string& text, std::string_view key) {
  for (const auto& line : split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals != std::string::npos &&
        to_lower(trim(std::string_view{line}.substr(0, equals))) == to_lower(key)) {
      return std::string{trim(std::string_view{line}.substr(equals + 1))};
    }
  }
  return {};
}

}  // namespace

std::optional<VirtualEnvironment> find_virtual_environment(ImageView& view,
                                                           const std::string& program) {
  const std::string prefix = parent(parent(program));
  for (const auto& directory : {parent(program), prefix}) {
    const auto text = view.excerpt(directory + "/pyvenv.cfg");
    if (text && setting(*text, "home").starts_with('/')) {
      return VirtualEnvironment{
          .prefix = without_links(view, prefix),
          .home = setting(*text, "home"),
          .sees_system = to_lower(setting(*text, "include-system-site-packages")) == "true"};
    }
  }
  return std::nullopt;
}

std::optional<PythonLibrary> find_python_library(ImageView& view,
                                                 const std::string& file,
                                                 const std::vector<std::string>& versions,
                                                 const std::string& directory) {
  const auto names = library_names(file, versions);
  for (std::string prefix = without_links(view, directory); !prefix.empty();) {
    prefix = parent(prefix);
    std::vector<std::string> landmarks;
    for (const auto& name : names) {
      landmarks.push_back(fmt::format("{}/lib/{}/os.py", prefix, name));
      landmarks.push_back(fmt::format("{}/lib64/{}/os.py", prefix, name));
    }
    const auto found = view.look(landmarks);
    std::vector<std::string> libraries;
    for (const auto& [landmark, target] : found) {
      libraries.push_back(without_links(view, parent(landmark)));
    }
    std::ranges::sort(libraries);
    libraries.erase(std::unique(libraries.begin(), libraries.end()), libraries.end());
    if (libraries.size() == 1) {
      const std::string name = libraries.front().substr(libraries.front().rfind('/') + 1);
      return PythonLibrary{.prefix = prefix,
                           .name = name,
                           .version = fmt::format("3.{}", digits_of(minor_in_name(name))),
                           .directory = libraries.front(),
                           .program = file.substr(file.rfind('/') + 1)};
    }
    if (libraries.size() > 1) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::vector<std::string> usual_files(const std::string& file, const std::string& multiarch) {
  if (digits_of(minor_in_name(file)).empty()) {
    return {};
  }
  const std::string prefix = parent(parent(file));
  const std::string name = library_names(file, {}).front();
  std::vector<std::string> files{file, fmt::format("/lib/{}-gnu/libc.so.6", multiarch)};
  if (prefix == "/usr") {
    files.push_back(fmt::format("{}/lib/{}/sysconfig.py", prefix, name));
  } else if (prefix == "/usr/local") {
    files.push_back(fmt::format("{}/lib/lib{}.so.1.0", prefix, name));
  }
  return files;
}

std::vector<std::string> usual_site_directories(const std::string& file) {
  if (digits_of(minor_in_name(file)).empty()) {
    return {};
  }
  const std::string prefix = parent(parent(file));
  const std::string name = library_names(file, {}).front();
  if (prefix == "/usr") {
    return {fmt::format("/usr/local/lib/{}/dist-packages", name), "/usr/lib/python3/dist-packages",
            fmt::format("/usr/lib/{}/dist-packages", name)};
  }
  return {fmt::format("{}/lib/{}/site-packages", prefix, name)};
}

PythonBuild find_build(ImageView& view,
                       const PythonLibrary& library,
                       const std::string& multiarch) {
  const std::string rest = minor_in_name(library.program);
  const bool is_debug = rest.ends_with("d") || rest.ends_with("-dbg");
  std::string flags = library.name.ends_with('t') ? "t" : "";
  const auto version = python::Version::parse(library.version);
  if (version && version->release.size() > 1 && version->release[1] <= last_with_memory_flag) {
    flags = "m";
  }
  flags = is_debug ? "d" + flags : flags;
  PythonBuild build{.abi_flags = flags};
  if (parent(library.directory).ends_with("/lib64")) {  // it contains the standard library
    build.library_name = "lib64";
  }
  // The name of a build's variables contains its flags. Tries the interpreter's own flags first:
  // Debian's debug build adds its variables beside the regular ones.
  for (const auto& each : {flags, std::string{}, std::string{"t"}, std::string{"d"}}) {
    std::vector<std::string> names;
    for (const char* libc : {"gnu", "musl", "gnueabihf", "musleabihf"}) {
      names.push_back(fmt::format("{}/_sysconfigdata_{}_linux_{}-{}.py", library.directory, each,
                                  multiarch, libc));
    }
    if (!view.look(names).empty()) {
      build.abi_flags = each;
      return build;
    }
  }
  return build;
}

}  // namespace autopack::executor
