#include "executor/python_scheme.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::executor {

namespace {

using python::Scheme;

/// Returns sysconfig's posix_prefix.
Scheme prefix_scheme(const std::string& prefix,
                     const PythonLibrary& library,
                     const PythonBuild& build) {
  return {
      .purelib = fmt::format("{}/lib/{}/site-packages", prefix, library.name),
      .platlib = fmt::format("{}/{}/{}/site-packages", prefix, build.library_name, library.name),
      .scripts = prefix + "/bin",
      .headers = fmt::format("{}/include/python{}{}", prefix, library.version, build.abi_flags),
      .data = prefix};
}

/// Returns true for Debian interpreters whose pip uses distutils (up to 3.9): then headers are
/// below /usr/local too.
bool asks_distutils(const PythonLibrary& library) {
  constexpr std::array names{"3.5", "3.6", "3.7", "3.8", "3.9"};
  return contains(names, library.version);
}

/// Returns Debian's and Ubuntu's scheme for /usr, as root: sysconfig's posix_local.
Scheme debian_scheme(const PythonLibrary& library) {
  const std::string packages = fmt::format("/usr/local/lib/{}/dist-packages", library.name);
  return {.purelib = packages,
          .platlib = packages,
          .scripts = "/usr/local/bin",
          .headers = fmt::format("{}/include/{}", asks_distutils(library) ? "/usr/local" : "/usr",
                                 library.name),
          .data = "/usr/local"};
}

bool is_debian(ImageView& view, const PythonLibrary& library, const std::string& schemes) {
  return schemes.find("posix_local") != std::string::npos ||
         (asks_distutils(library) && !view.look({"/usr/lib/python3/dist-packages"}).empty());
}

/// Returns true for systems whose own Python installs below /usr, like upstream.
bool is_unchanged_system(ImageView& view) {
  const auto release = view.note("/etc/os-release");
  for (const auto& line : split(release.value_or(""), '\n')) {
    for (const char* id : {"alpine", "wolfi", "chainguard", "arch"}) {
      if (line == fmt::format("ID={}", id) || line == fmt::format("ID=\"{}\"", id)) {
        return true;
      }
    }
  }
  return false;
}

void add_once(std::vector<std::string>& directories, const std::string& directory) {
  if (!contains(directories, directory)) {
    directories.push_back(directory);
  }
}

/// Returns the places of the interpreter itself, outside of a virtual environment.
PythonPlaces system_places(ImageView& view,
                           const PythonLibrary& library,
                           const PythonBuild& build) {
  PythonPlaces places{.scheme = prefix_scheme(library.prefix, library, build)};
  if (library.prefix == "/usr") {
    const std::string schemes =
        view.note(library.directory + "/sysconfig.py")
            .value_or(view.note(library.directory + "/sysconfig/__init__.py").value_or(""));
    if (is_debian(view, library, schemes)) {
      places.scheme = debian_scheme(library);
      places.site_directories = {places.scheme.purelib, "/usr/lib/python3/dist-packages",
                                 fmt::format("/usr/lib/{}/dist-packages", library.name)};
      return places;
    }
    if (schemes.find("rpm_prefix") != std::string::npos || !is_unchanged_system(view)) {
      places.obstacle =
          fmt::format("where `{}` installs to is its system's own rule, which is not known here",
                      library.program);
    }
  }
  add_once(places.site_directories, places.scheme.purelib);
  add_once(places.site_directories, places.scheme.platlib);
  return places;
}

void follow_links(ImageView& view, PythonPlaces& places) {
  auto& scheme = places.scheme;
  for (auto* directory :
       {&scheme.purelib, &scheme.platlib, &scheme.scripts, &scheme.headers, &scheme.data}) {
    *directory = without_links(view, *directory);
  }
  std::vector<std::string> directories;
  for (const auto& directory : places.site_directories) {
    add_once(directories, without_links(view, directory));
  }
  places.site_directories = std::move(directories);
}

}  // namespace

PythonPlaces find_scheme(ImageView& view,
                         const PythonLibrary& library,
                         const PythonBuild& build,
                         const std::optional<VirtualEnvironment>& environment) {
  auto places = system_places(view, library, build);
  if (environment) {
    const auto system = std::move(places.site_directories);
    places = {.scheme = prefix_scheme(environment->prefix, library, build)};
    // The same as in pip: locations/_sysconfig.py.
    places.scheme.headers =
        fmt::format("{}/include/site/python{}", environment->prefix, library.version);
    add_once(places.site_directories, places.scheme.purelib);
    add_once(places.site_directories, places.scheme.platlib);
    if (environment->sees_system) {
      for (const auto& directory : system) {
        add_once(places.site_directories, directory);
      }
    }
  }
  follow_links(view, places);
  return places;
}

}  // namespace autopack::executor
