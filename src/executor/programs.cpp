#include "executor/programs.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace autopack::executor {

namespace {

/// A container's PATH if its image sets none.
constexpr std::string_view default_path{
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
constexpr std::size_t most_path_directories{200};

using Found = std::map<std::string, std::optional<std::string>>;

std::string parent(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

using Interpreter = PythonProgram;

/// Returns `name` in the first directory of PATH that contains it and whose links lead to an
/// existing file.
std::optional<Interpreter> find_interpreter(const std::string& name,
                                            const std::vector<std::string>& directories,
                                            const Found& found,
                                            const Found& targets) {
  for (const auto& directory : directories) {
    const std::string path = directory + "/" + name;
    const auto at = found.find(path);
    if (at == found.end()) {
      continue;
    }
    const std::string file = at->second.value_or(path);
    if (!at->second || targets.contains(file)) {
      return Interpreter{.name = name, .path = path, .file = file};
    }
  }
  return std::nullopt;
}

/// Returns `3.11` for `python3.11`, a file or a directory of libraries; nothing for `python3`.
std::optional<std::string> version_in_name(std::string_view path) {
  constexpr std::string_view start{"python3."};
  const auto name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(start)) {
    return std::nullopt;
  }
  const auto end = std::min(name.find_first_not_of("0123456789", start.size()), name.size());
  if (end == start.size()) {
    return std::nullopt;
  }
  return "3." + std::string{name.substr(start.size(), end - start.size())};
}

/// Returns the possible package directories of an interpreter, for all known layouts.
std::vector<std::string> package_directories(const Interpreter& interpreter, bool is_virtual) {
  std::vector<std::string> prefixes{parent(parent(interpreter.path))};
  if (!is_virtual) {
    prefixes.push_back(parent(parent(interpreter.file)));
  }
  std::vector<std::string> versions;
  const std::string base = interpreter.file.substr(interpreter.file.rfind('/') + 1);
  if (version_in_name(base)) {
    versions.push_back(base);
  } else {
    for (int minor = oldest_minor; minor <= newest_minor; ++minor) {
      versions.push_back(fmt::format("python3.{}", minor));
    }
  }
  versions.emplace_back("python3");
  std::vector<std::string> directories;
  for (const auto& prefix : prefixes) {
    for (const auto& version : versions) {
      for (const char* kind : {"lib/{}/site-packages", "lib/{}/dist-packages",
                               "local/lib/{}/dist-packages", "lib64/{}/site-packages"}) {
        directories.push_back(prefix + "/" + fmt::format(fmt::runtime(kind), version));
      }
    }
  }
  return directories;
}

std::vector<std::string> path_directories(const std::vector<std::string>& environment) {
  const auto path = variable(environment, "PATH");
  std::vector<std::string> directories;
  for (auto directory : split(path ? std::string_view{*path} : default_path, ':')) {
    while (directory.size() > 1 && directory.ends_with('/')) {
      directory.pop_back();
    }
    if (directory.starts_with('/') && directories.size() < most_path_directories) {
      directories.push_back(std::move(directory));
    }
  }
  return directories;
}

std::vector<std::string> library_directories(const std::vector<std::string>& environment) {
  std::vector<std::string> directories{"/usr/lib/x86_64-linux-gnu",
                                       "/usr/lib/aarch64-linux-gnu",
                                       "/lib/x86_64-linux-gnu",
                                       "/lib/aarch64-linux-gnu",
                                       "/usr/lib64",
                                       "/lib64",
                                       "/usr/lib",
                                       "/lib",
                                       "/usr/local/lib",
                                       "/opt/conda/lib"};
  for (const auto& directory : split(variable(environment, "LD_LIBRARY_PATH").value_or(""), ':')) {
    if (directory.starts_with('/')) {
      directories.push_back(directory);
    }
  }
  return directories;
}

/// Returns the targets of links that exist. A target may be the link's own, or the file behind all
/// links.
Found follow(const Look& look, const Found& found) {
  std::vector<std::string> links;
  for (const auto& [path, target] : found) {
    if (target) {
      links.push_back(*target);
    }
  }
  return links.empty() ? Found{} : look(links);
}

std::vector<std::string> package_directories(const Look& look, const Interpreter& interpreter) {
  const std::string marker = parent(parent(interpreter.path)) + "/pyvenv.cfg";
  return package_directories(interpreter, look({marker}).contains(marker));
}

bool has_pip(const Look& look, const Interpreter& interpreter) {
  auto paths = package_directories(look, interpreter);
  for (auto& path : paths) {
    path += "/pip/__init__.py";
  }
  return !look(paths).empty();
}

/// Returns the version of a `python3` whose file has no other name, from the library beside it.
/// Returns nothing if there is no library or more than one.
std::optional<std::string> version_beside(const Look& look, const Interpreter& interpreter) {
  std::vector<std::string> paths;
  for (int minor = oldest_minor; minor <= newest_minor; ++minor) {
    paths.push_back(fmt::format("{}/lib/python3.{}", parent(parent(interpreter.file)), minor));
  }
  const Found found = look(paths);
  return found.size() == 1 ? version_in_name(found.begin()->first) : std::nullopt;
}

/// Official images state the whole version in a variable. It is used only if it matches this
/// interpreter.
std::optional<std::string> version_of(const Look& look,
                                      const Interpreter& interpreter,
                                      const std::vector<std::string>& environment) {
  auto version = version_in_name(interpreter.file);
  if (!version) {
    version = version_beside(look, interpreter);
  }
  const auto announced = variable(environment, "PYTHON_VERSION");
  return announced && version && announced->starts_with(*version + ".") ? announced : version;
}

/// The interpreter and apt-get, as found on PATH.
struct OnPath {
  std::optional<Interpreter> interpreter{};
  bool apt{false};
};

OnPath look_on_path(const std::vector<std::string>& environment, const Look& look) {
  const auto directories = path_directories(environment);
  std::vector<std::string> paths{"/usr/bin/apt-get"};
  for (const auto& directory : directories) {
    paths.push_back(directory + "/python3");
    paths.push_back(directory + "/python");
  }
  const Found found = look(paths);
  const Found targets = follow(look, found);
  auto interpreter = find_interpreter("python3", directories, found, targets);
  if (!interpreter) {
    interpreter = find_interpreter("python", directories, found, targets);
  }
  return {.interpreter = std::move(interpreter), .apt = found.contains("/usr/bin/apt-get")};
}

}  // namespace

std::optional<std::string> variable(const std::vector<std::string>& environment,
                                    std::string_view name) {
  std::optional<std::string> value;
  for (const auto& entry : environment) {
    if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
      value = non_empty(entry.substr(name.size() + 1));
    }
  }
  return value;
}

std::optional<PythonProgram> find_python(const std::vector<std::string>& environment,
                                         const Look& look) {
  return look_on_path(environment, look).interpreter;
}

bool platform_fits(const std::string& have, const std::string& wanted) {
  return wanted.empty() || have == wanted || have.starts_with(wanted + "/") ||
         wanted.starts_with(have + "/");
}

void check_platform(const std::string& have,
                    const std::string& reference,
                    const std::string& wanted) {
  if (!platform_fits(have, wanted)) {
    throw Error(ErrorKind::usage, fmt::format("base image `{}` is for {}, not {}",
                                              printable(reference), have, wanted))
        .hint(fmt::format("--platform {}", have));
  }
}

void find_programs(image::BaseFacts& facts, const Look& look) {
  const auto on_path = look_on_path(facts.environment, look);
  facts.apt = on_path.apt;
  facts.cuda_version = variable(facts.environment, "CUDA_VERSION");
  if (on_path.interpreter) {
    facts.python = on_path.interpreter->name;
    facts.pip = has_pip(look, *on_path.interpreter);
    facts.python_version = version_of(look, *on_path.interpreter, facts.environment);
  }
}

std::vector<std::string> find_modules(const std::vector<std::string>& environment,
                                      const std::vector<std::string>& modules,
                                      const Look& look) {
  const auto interpreter = look_on_path(environment, look).interpreter;
  const Found directories = interpreter ? look(package_directories(look, *interpreter)) : Found{};
  const auto paths_of = [&](const std::string& module) {
    std::vector<std::string> paths;
    for (const auto& [directory, target] : directories) {
      paths.push_back(directory + "/" + replace_all(module, ".", "/"));
      paths.push_back(paths.back() + ".py");
    }
    return paths;
  };
  std::vector<std::string> paths;
  for (const auto& module : modules) {
    const auto more = paths_of(module);
    paths.insert(paths.end(), more.begin(), more.end());
  }
  const Found found = paths.empty() ? Found{} : look(paths);
  std::vector<std::string> there;
  std::ranges::copy_if(modules, std::back_inserter(there), [&](const auto& module) {
    const auto own = paths_of(module);
    return std::ranges::any_of(own, [&](const auto& path) { return found.contains(path); });
  });
  return there;
}

std::vector<std::string> find_contents(const std::vector<std::string>& environment,
                                       const std::vector<std::string>& names,
                                       const Look& look) {
  std::vector<std::string> modules;
  std::map<std::string, std::vector<std::string>> places;
  for (const auto& name : names) {
    const auto colon = name.find(':');
    if (colon == std::string::npos) {
      modules.push_back(name);
      continue;
    }
    const auto rest = name.substr(colon + 1);
    if (name.starts_with("user:")) {
      continue;
    }
    if (name.starts_with("file:")) {
      places[name].push_back(rest);
      continue;
    }
    const bool is_program = name.starts_with("program:");
    for (const auto& directory :
         is_program ? path_directories(environment) : library_directories(environment)) {
      places[name].push_back(directory + "/" + rest);
    }
  }
  auto there =
      modules.empty() ? std::vector<std::string>{} : find_modules(environment, modules, look);
  std::vector<std::string> paths;
  for (const auto& [name, own] : places) {
    paths.insert(paths.end(), own.begin(), own.end());
  }
  const Found found = paths.empty() ? Found{} : look(paths);
  for (const auto& [name, own] : places) {
    if (std::ranges::any_of(own, [&](const auto& path) { return found.contains(path); })) {
      there.push_back(name);
    }
  }
  return there;
}

image::BaseFacts read_facts(const image::Source& source) {
  return facts_of(source, read_layers(source));
}

image::BaseFacts configured_facts(const image::Source& source) {
  const std::string what = fmt::format("`{}`", printable(source.name));
  const auto configuration =
      image::Configuration::parse(source.configuration, "the configuration of " + what);
  image::BaseFacts facts{.reference = source.name,
                         .digest = source.digest,
                         .image_id = source.manifest.config.digest.str(),
                         .platform = configuration.platform(),
                         .user = configuration.user(),
                         .entrypoint = configuration.entrypoint(),
                         .environment = configuration.environment(),
                         .vertex_prebuilt = image::is_vertex_prebuilt(source.name)};
  facts.cuda_version = variable(facts.environment, "CUDA_VERSION");
  return facts;
}

image::BaseFacts facts_of(const image::Source& source, const image::LayerTree& tree) {
  auto facts = configured_facts(source);
  find_programs(facts, [&](const std::vector<std::string>& paths) { return tree.look(paths); });
  return facts;
}

}  // namespace autopack::executor
