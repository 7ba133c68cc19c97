#include "executor/find_interpreter.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "executor/program_text.hpp"
#include "executor/programs.hpp"
#include "executor/python_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace autopack::executor {

namespace {

/// Go's names of architectures in a platform, and those of the kernel and of Debian's multiarch.
struct Architecture {
  std::string_view platform;
  std::string_view machine;
  std::string_view multiarch;
};

constexpr std::array architectures{
    Architecture{"linux/amd64", "x86_64", "x86_64-linux"},
    Architecture{"linux/arm64", "aarch64", "aarch64-linux"},
    Architecture{"linux/386", "i686", "i386-linux"},
    Architecture{"linux/arm", "armv7l", "arm-linux"},
    Architecture{"linux/ppc64le", "ppc64le", "powerpc64le-linux"},
    Architecture{"linux/s390x", "s390x", "s390x-linux"},
    Architecture{"linux/riscv64", "riscv64", "riscv64-linux"},
    Architecture{"linux/loong64", "loongarch64", "loongarch64-linux"},
};

const Architecture* architecture_of(const std::string& platform) {
  const auto found = std::ranges::find_if(architectures, [&](const auto& known) {
    return platform == known.platform || platform.starts_with(std::string{known.platform} + "/");
  });
  return found == architectures.end() ? nullptr : &*found;
}

std::string base_name(std::string_view path) {
  return std::string{path.substr(path.rfind('/') + 1)};
}

/// One search. Each step needs the results of the previous ones, and sets the obstacle if it fails.
class Search {
public:
  Search(ImageView& view, const std::vector<std::string>& environment, const std::string& platform)
      : view_{view}, environment_{environment}, platform_{platform} {}

  FoundInterpreter run() {
    if (find_variables() && find_program() && find_library() && find_version() && find_libc() &&
        find_places() && find_veto()) {
      found_.interpreter = std::move(interpreter_);
    }
    return std::move(found_);
  }

private:
  bool fail(std::string obstacle) {
    found_.obstacle = std::move(obstacle);
    return false;
  }

  /// Finds variables that make an interpreter search for itself elsewhere.
  bool find_variables() {
    for (const char* name : {"PYTHONHOME", "PYTHONPLATLIBDIR"}) {
      if (variable(environment_, name)) {
        return fail(fmt::format("the image sets `{}`", name));
      }
    }
    return true;
  }

  bool find_program() {
    const auto program = find_python(
        environment_, [&](const std::vector<std::string>& paths) { return view_.look(paths); });
    if (!program) {
      return fail("the image has no `python3` or `python` on its PATH");
    }
    program_ = *program;
    if (!base_name(program_.file).starts_with("python")) {
      return fail(fmt::format("`{}` is `{}`, which may be another Python than CPython",
                              printable(program_.path), printable(program_.file)));
    }
    if (program_.file.starts_with("/nix/")) {
      return fail(
          fmt::format("`{}` is in a store that nothing is installed to", printable(program_.file)));
    }
    const auto* architecture = architecture_of(platform_);
    if (architecture != nullptr) {
      expect_usual_places(*architecture);
    }
    const auto text = program_from_text(view_.excerpt(program_.file).value_or(""));
    if (!text) {
      return fail(
          fmt::format("`{}` is a script: the program that it starts is known only when it runs",
                      printable(program_.file)));
    }
    if (architecture == nullptr || text->machine != architecture->machine) {
      return fail(fmt::format("`{}` is a program for {}, the image for {}",
                              printable(program_.file),
                              text->machine.value_or("an unknown machine"), printable(platform_)));
    }
    text_ = *text;
    multiarch_ = architecture->multiarch;
    interpreter_.executable = program_.path;
    interpreter_.machine = *text->machine;
    return true;
  }

  /// Announces the directories first: they take longer than all the files.
  void expect_usual_places(const Architecture& architecture) {
    environment_file_ = find_virtual_environment(view_, program_.path);
    if (!environment_file_) {
      view_.expect(usual_site_directories(program_.file));
    }
    view_.expect(usual_files(program_.file, std::string{architecture.multiarch}));
  }

  bool find_library() {
    auto library =
        find_python_library(view_, program_.file, text_.versions,
                            environment_file_ ? environment_file_->home : parent(program_.file));
    if (!library) {
      return fail(fmt::format("the standard library of `{}` is not in a known place",
                              printable(program_.file)));
    }
    library_ = std::move(*library);
    return true;
  }

  bool find_version() {
    auto version = version_in(text_.versions);
    if (!version) {
      version = version_in(versions_of_shared_library());
    }
    const auto announced = variable(environment_, "PYTHON_VERSION");
    if (!version && announced) {
      version = version_in({*announced});
    }
    if (!version) {
      return fail(fmt::format("`{}` does not say which {} it is", printable(program_.file),
                              library_.version));
    }
    interpreter_.version = *version;
    return true;
  }

  /// Returns the only one of `texts` that is a version of this library; nothing if there are
  /// several.
  std::optional<python::Version> version_in(const std::vector<std::string>& texts) const {
    std::optional<python::Version> found;
    for (auto text : texts) {
      if (!text.starts_with(library_.version + ".")) {
        continue;
      }
      if (text.ends_with('+')) {  // a build between two releases
        text.pop_back();
      }
      const auto version = python::Version::parse(text);
      if (found && version != found) {
        return std::nullopt;
      }
      found = version;
    }
    return found;
  }

  std::vector<std::string> versions_of_shared_library() {
    const std::string debian = fmt::format("/usr/lib/{}-gnu", multiarch_);
    for (const auto& directory :
         {library_.prefix + "/lib", library_.prefix + "/lib64", debian, std::string{"/usr/lib64"},
          std::string{"/usr/lib"}, std::string{"/lib"}}) {
      for (const char* flags : {"", "t", "m", "d"}) {
        const auto path =
            fmt::format("{}/libpython{}{}.so.1.0", directory, library_.version, flags);
        if (const auto text = program_from_text(view_.excerpt(path).value_or(""))) {
          return text->versions;
        }
      }
    }
    return {};
  }

  bool find_libc() {
    const std::string name = base_name(text_.loader.value_or(""));
    const bool is_musl = name.starts_with("ld-musl-");
    if (!is_musl && !name.starts_with("ld-linux") && !name.starts_with("ld64.so") &&
        !name.starts_with("ld.so")) {
      return fail(fmt::format("the C library of `{}` is not known", printable(program_.file)));
    }
    const auto version = is_musl ? musl_version() : glibc_version();
    const auto parsed = version ? python::Version::parse(*version) : std::nullopt;
    if (!parsed || parsed->release.size() < 2) {
      return fail(fmt::format("the C library of `{}` does not contain its version",
                              printable(program_.file)));
    }
    interpreter_.libc = {.kind = is_musl ? python::Libc::Kind::musl : python::Libc::Kind::glibc,
                         .major = static_cast<int>(parsed->release[0]),
                         .minor = static_cast<int>(parsed->release[1])};
    return true;
  }

  std::optional<std::string> musl_version() {
    const auto text = program_from_text(view_.excerpt(text_.loader.value()).value_or(""));
    return text && text->versions.size() == 1 ? std::optional{text->versions.front()}
                                              : std::nullopt;
  }

  std::optional<std::string> glibc_version() {
    std::vector<std::string> directories{parent(text_.loader.value())};
    for (const char* above : {"/lib", "/usr/lib"}) {
      directories.push_back(fmt::format("{}/{}-gnu", above, multiarch_));
      directories.push_back(fmt::format("{}/{}-gnueabihf", above, multiarch_));
      directories.push_back(fmt::format("{}64", above));
      directories.emplace_back(above);
    }
    for (const auto& directory : directories) {
      const auto text = program_from_text(view_.excerpt(directory + "/libc.so.6").value_or(""));
      if (text && text->glibc) {
        return text->glibc;
      }
    }
    return std::nullopt;
  }

  bool find_places() {
    const auto build = find_build(view_, library_, multiarch_);
    interpreter_.abi_flags = build.abi_flags;
    auto places = find_scheme(view_, library_, build, environment_file_);
    if (places.obstacle) {
      return fail(*places.obstacle);
    }
    interpreter_.scheme = std::move(places.scheme);
    found_.prefix = environment_file_ ? environment_file_->prefix : library_.prefix;
    const auto path = split(variable(environment_, "PYTHONPATH").value_or(""), ':');
    constexpr std::size_t most_directories = 50;
    for (const auto& directory : path) {
      if (directory.starts_with('/') && found_.search_path.size() < most_directories) {
        found_.search_path.push_back(without_links(view_, directory));
      }
    }
    found_.site_directories = std::move(places.site_directories);
    found_.search_path.insert(found_.search_path.end(), found_.site_directories.begin(),
                              found_.site_directories.end());
    return true;
  }

  /// PEP 600: a module that may reject any wheel for glibc.
  bool find_veto() {
    std::vector<std::string> paths;
    for (const auto& directory : found_.search_path) {
      paths.push_back(directory + "/_manylinux.py");
      paths.push_back(directory + "/_manylinux/__init__.py");
    }
    paths.push_back(library_.directory + "/_manylinux.py");
    const auto found = view_.look(paths);
    return found.empty() ||
           fail(fmt::format("`{}` decides which wheels fit", printable(found.begin()->first)));
  }

  ImageView& view_;
  const std::vector<std::string>& environment_;
  const std::string& platform_;
  FoundInterpreter found_;
  python::Interpreter interpreter_;
  PythonProgram program_;
  ProgramText text_;
  std::string multiarch_;
  std::optional<VirtualEnvironment> environment_file_;
  PythonLibrary library_;
};

}  // namespace

FoundInterpreter find_interpreter(ImageView& view,
                                  const std::vector<std::string>& environment,
                                  const std::string& platform) {
  return Search{view, environment, platform}.run();
}

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
  const auto release = view.excerpt("/etc/os-release");
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
        view.excerpt(library.directory + "/sysconfig.py")
            .value_or(view.excerpt(library.directory + "/sysconfig/__init__.py").value_or(""));
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
