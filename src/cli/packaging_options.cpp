#include "cli/packaging_options.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/platform_name.hpp"
#include "job/flag_value.hpp"
#include "job/flag_values.hpp"
#include "pipeline/image_name.hpp"
#include "project/build_environment.hpp"
#include "source/git_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

namespace autopack::cli {

namespace {

const std::map<std::string, packaging::Engine> engines{{"auto", packaging::Engine::automatic},
                                                       {"docker", packaging::Engine::docker},
                                                       {"direct", packaging::Engine::direct}};

/// A `;` in a value is no end of it: `ARCHS=8.0;9.0`.
std::vector<std::string> joined_values(const std::vector<std::string>& pairs) {
  std::vector<std::string> joined;
  for (const auto& pair : pairs) {
    if (joined.empty() || pair.find('=') != std::string::npos) {
      joined.push_back(pair);
    } else {
      joined.back() += ";" + pair;
    }
  }
  return joined;
}

std::optional<std::chrono::seconds> age_of(const BuildOptions& options) {
  const auto& typed = options.max_dependency_age;
  const auto age = typed ? job::api_duration(*typed) : std::nullopt;
  return age ? std::optional{std::chrono::seconds{job::duration_seconds(*age)}} : std::nullopt;
}

/// `path` from the directory of the project; nothing when it is not below it.
std::optional<std::string> path_in_project(const packaging::Request& request,
                                           const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  const auto directory = fs::absolute(request.project.directory / "").lexically_normal();
  const auto whole = fs::absolute(path / "").lexically_normal().parent_path();
  auto below = whole.lexically_relative(directory.parent_path()).string();
  return below.empty() || below == "." || below.starts_with("..") ? std::nullopt
                                                                  : std::optional{std::move(below)};
}

/// Leaves out what the build itself writes into the project: the image of the next platform, and of
/// the next build, would hold it. A cache in its usual place is among the built-in rules.
void leave_out_outputs(packaging::Request& request) {
  if (request.project.dockerfile) {
    return;
  }
  const auto leave_out = [&](const std::optional<std::string>& path) {
    if (path) {
      request.project.exclude.push_back(source::literal_pattern(*path));
    }
  };
  for (const auto& output : request.outputs) {
    if (output.kind != packaging::Output::Kind::docker) {
      leave_out(path_in_project(request, output.path));
    }
  }
  if (request.environment.get("XDG_CACHE_HOME")) {
    leave_out(path_in_project(request, request.environment.cache_directory()));
  }
}

packaging::Request base_request(const std::string& directory,
                                const BuildOptions& build,
                                const Environment& environment) {
  packaging::Request request{
      .project = {.directory = expand_home(directory, environment), .dockerfile = build.dockerfile},
      .options = {.platform = build.platform,
                  .compile_bytecode = build.compile_bytecode,
                  .templates = build.templates},
      .build_network = build.build_network,
      .no_cache = build.no_cache,
      .strict = build.strict,
      .max_dependency_age = age_of(build),
      .engine = engines.at(build.engine),
      .source = build.source,
      .label_git = build.label_git,
      .environment = environment};
  for (const auto& output : build.outputs) {
    request.outputs.push_back(packaging::Output::parse(output));
  }
  return request;
}

/// Settings of a pool that a finding of the scan may come from.
constexpr std::array settings_of_scan{
    "script",         "python-module", "command", "launcher", "requirements", "requirements-file",
    "extra-packages", "extra-dirs",    "include", "exclude",  "lock",         "extra",
    "group"};

/// Throws Error(usage) for each platform that no image can have. The default is none of them.
void check_platforms(const std::vector<std::string>& platforms, const FlagSet& flags) {
  const auto& given = flags.given("--platform");
  if (given.empty()) {
    return;
  }
  Problems problems;
  for (const auto& platform : platforms) {
    if (auto problem = platform_problem(platform, to_string(given.front().origin))) {
      problems.push_back(*std::move(problem));
    }
  }
  throw_if_errors(problems, ErrorKind::usage);
}

}  // namespace

std::string expand_home(const std::string& path, const Environment& environment) {
  if (path == "~" || path.starts_with("~/")) {
    return environment.home().string() + path.substr(1);
  }
  return path;
}

void add_build_flags(FlagSet& flags, BuildOptions& options) {
  flags.section("Building", false);
  flags.text("--engine", "auto|docker|direct", options.engine, "who makes the image");
  flags.text("--source", "SOURCE", options.source, "worktree, index, or a commit such as HEAD~1");
  flags.toggle("--label-git", options.label_git, "revision, remote, dirtiness into labels");
  flags.text("--dockerfile", "FILE", options.dockerfile, "build your own Dockerfile instead");
  flags.text("--templates", "DIR", options.templates, "templates that replace the built-in ones");
  flags.text("--platform", "OS/ARCH", options.platform,
             "default: linux/amd64; `build` and `explain` take several");
  flags.text("--build-network", "MODE", options.build_network,
             "network of build steps: host, none");
  flags.toggle("--no-infer", options.no_infer, "take nothing that the flags leave open by itself");
  flags.toggle("--strict", options.strict,
               "refuse what is only warned of, and trust no notes on layers");
  flags.toggle("--no-cache", options.no_cache, "build every step anew");
  flags.toggle("--compile-bytecode", options.compile_bytecode,
               "packages bring their byte code: slower to make, quicker to start");
  flags.text("--max-dependency-age", "DURATION", options.max_dependency_age,
             "install unpinned packages anew when older: 1d, 12h");
}

void add_output_flag(FlagSet& flags, BuildOptions& options) {
  flags.list("--output", "WHERE", options.outputs,
             "oci:DIR, tar:FILE or docker; no registry is needed then");
}

void add_packaging_flags(FlagSet& flags, PackagingOptions& options) {
  flags.section("What goes in");
  flags.text("--executor-image-uri,--base-image", "IMAGE", options.executor_image,
             "image to start from");
  flags.text("--local-package-path,--work-dir", "DIR", options.local_package_path,
             "project directory; default: this one");
  flags.text("--script", "FILE", options.script, "entry point: a .py file, or one that bash runs");
  flags.text("--python-module", "MODULE", options.python_module, "entry point: python -m MODULE");
  flags.list("--requirements", "REQ,...", options.requirements, "further packages for pip");
  flags.list("--extra-packages", "FILE,...", options.extra_packages, "local packages for pip");
  flags.list("--extra-dirs", "PATH,...", options.extra_dirs,
             "further directories or files to copy");
  flags.list("--include", "PATTERN,...", options.include, "take in what rules leave out");
  flags.list("--exclude", "PATTERN,...", options.exclude, "leave out: data, '*.ckpt'");
  flags.list("--system-packages", "NAME,...", options.system_packages, "Debian packages for apt");
  flags.text("--output-image-uri", "IMAGE", options.output_image, "name of the image that is made");
  flags.text("--display-name", "NAME", options.display_name, "job name; default: the directory's");
  flags.section("How it starts and installs", false);
  flags.text("--launcher", "COMMAND", options.launcher,
             "starts the entry point: torchrun, accelerate, deepspeed, mpirun, with arguments");
  flags.list("--command", "WORD,...", options.command, "entry point: a command and its arguments");
  flags.list("--requirements-file", "FILE,...", options.requirement_files,
             "instead of the requirements files that are found");
  flags.text("--lock", "FILE", options.lock,
             "lock to install instead of the one that is found; none: no lock");
  flags.list("--extra", "NAME,...", options.package_extras, "extras of the project's own package");
  flags.list("--group", "NAME,...", options.groups,
             "dependency groups of pyproject.toml or the lock");
  flags.list("--build-env", "NAME=VALUE,...", options.build_environment,
             "environment variables while packages are installed");
}

void check_build_options(const BuildOptions& options) {
  if (options.source.empty()) {
    throw Error(ErrorKind::usage, "`--source` is empty")
        .hint("the values are `worktree`, `index`, and what names a commit to git");
  }
  if (options.max_dependency_age && !age_of(options)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` of `--max-dependency-age` is no duration",
                                              printable(*options.max_dependency_age)))
        .hint("`--max-dependency-age=1d` takes dependencies that are at most a day old");
  }
}

std::vector<std::string> platforms_of(const FlagSet& flags, const BuildOptions& options) {
  const auto& given = flags.given("--platform");
  if (given.empty()) {
    return {options.platform};
  }
  std::vector<std::string> platforms;
  for (const auto& value : given.front().values) {
    for (auto& platform : split(value.text(), ',')) {
      if (std::find(platforms.begin(), platforms.end(), platform) == platforms.end()) {
        platforms.push_back(std::move(platform));
      }
    }
  }
  check_platforms(platforms, flags);
  return platforms;
}

void check_build_options(const BuildOptions& options, const FlagSet& flags) {
  const auto& given = flags.given("--platform");
  if (!given.empty() &&
      (given.front().values.size() > 1 || options.platform.find(',') != std::string::npos)) {
    throw Error(
        ErrorKind::usage,
        Problems{{.message = "several platforms are named, and this command makes one image",
                  .origin = to_string(given.front().origin),
                  .hints = {"`autopack build` makes an index of the images of several"}}});
  }
  check_platforms({options.platform}, flags);
  check_build_options(options);
}

void require_executor(const PackagingOptions& packaging, const BuildOptions& build) {
  if (!packaging.executor_image && !build.dockerfile && build.no_infer) {
    throw Error(ErrorKind::usage, "`--executor-image-uri` is missing: the image to start from")
        .hint("`--executor-image-uri python:3.11` starts from Docker Hub's Python")
        .hint("`--dockerfile FILE` builds your own Dockerfile instead");
  }
}

packaging::Request package_request(const PackagingOptions& packaging,
                                   const BuildOptions& build,
                                   const FlagSet& flags,
                                   const Environment& environment) {
  auto request = base_request(packaging.local_package_path, build, environment);
  request.infers = !build.no_infer;
  request.executor_image = packaging.executor_image.value_or("");
  request.project.script = packaging.script;
  request.project.module = packaging.python_module;
  for (const auto* const key : settings_of_scan) {
    if (const auto origin = to_string(flags.origin(fmt::format("--{}", key)))) {
      request.project.given_at[key] = *origin;
    }
  }
  for (const auto* const key : {"env", "env-file"}) {
    if (const auto origin = to_string(flags.origin(fmt::format("--{}", key)))) {
      request.project.given_at[key] = *origin;
    }
  }
  request.project.launcher = packaging.launcher;
  request.project.lock = packaging.lock;
  Problems problems;
  request.project.command = job::all_elements(packaging.command, "--command", problems);
  request.project.requirement_files =
      job::all_elements(packaging.requirement_files, "--requirements-file", problems);
  request.project.package_extras = job::all_elements(packaging.package_extras, "--extra", problems);
  request.project.groups = job::all_elements(packaging.groups, "--group", problems);
  request.options.build_environment = project::read_build_environment(
      job::all_elements(packaging.build_environment, "--build-env", problems),
      to_string(flags.origin("--build-env")), problems);
  request.project.requirements =
      job::all_elements(packaging.requirements, "--requirements", problems);
  request.project.extra_packages =
      job::all_elements(packaging.extra_packages, "--extra-packages", problems);
  request.project.extra_dirs = job::all_elements(packaging.extra_dirs, "--extra-dirs", problems);
  request.project.include = job::all_elements(packaging.include, "--include", problems);
  request.project.exclude = job::all_elements(packaging.exclude, "--exclude", problems);
  request.options.system_packages =
      job::all_elements(packaging.system_packages, "--system-packages", problems);
  throw_if_errors(problems, ErrorKind::usage);
  leave_out_outputs(request);
  return request;
}

packaging::Request package_request(const job::PoolFlags& pool,
                                   const std::optional<std::vector<std::string>>& command,
                                   const BuildOptions& build,
                                   const Environment& environment) {
  using Strings = std::vector<std::string>;
  auto request = base_request(pool.local_package_path.value_or("."), build, environment);
  request.executor_image = pool.executor_image_uri.value_or("");
  request.project.script = non_empty(pool.script.value_or(""));
  request.project.module = non_empty(pool.python_module.value_or(""));
  request.project.requirements = pool.requirements.value_or(Strings{});
  request.project.extra_packages = pool.extra_packages.value_or(Strings{});
  request.project.extra_dirs = pool.extra_dirs.value_or(Strings{});
  request.project.include = pool.include.value_or(Strings{});
  request.project.exclude = pool.exclude.value_or(Strings{});
  request.options.system_packages = pool.system_packages.value_or(Strings{});
  request.project.launcher = non_empty(pool.launcher.value_or(""));
  request.project.lock = non_empty(pool.lock.value_or(""));
  if (!pool.script && !pool.python_module) {
    request.project.command = command.value_or(Strings{});
  }
  request.project.requirement_files = pool.requirements_file.value_or(Strings{});
  request.project.package_extras = pool.extra.value_or(Strings{});
  request.project.groups = pool.group.value_or(Strings{});
  for (const auto* const key : settings_of_scan) {
    if (const auto origin = to_string(pool.origin_of(key))) {
      request.project.given_at[key] = *origin;
    }
  }
  request.project.given_at["command"] = "`--command`";
  Problems problems;
  request.options.build_environment =
      project::read_build_environment(joined_values(pool.build_env.value_or(Strings{})),
                                      to_string(pool.origin_of("build-env")), problems);
  throw_if_errors(problems, ErrorKind::usage);
  leave_out_outputs(request);
  return request;
}

packaging::ImageName image_name(const PackagingOptions& packaging,
                                const packaging::Request& request,
                                const job::Location& location) {
  return pipeline::name_image(packaging.output_image,
                              job_name(packaging.display_name, request.project.directory),
                              location);
}

}  // namespace autopack::cli
