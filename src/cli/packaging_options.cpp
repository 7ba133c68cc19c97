#include "cli/packaging_options.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/named_files.hpp"
#include "job/flag_value.hpp"
#include "job/flag_values.hpp"
#include "pipeline/image_name.hpp"
#include "project/requirements/build_environment.hpp"
#include "source/git_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace autopack::cli {

namespace {

constexpr const char* usual_hint = "`--platform linux/amd64` is what Vertex AI runs";

/// The supported processors, by their names in Go, which are also Docker's.
const std::vector<std::string> architectures{"amd64", "arm64",   "arm",     "386",     "ppc64le",
                                             "s390x", "riscv64", "loong64", "mips64le"};
/// Names of the kernel and others.
const std::map<std::string, std::string> other_names{
    {"x86_64", "amd64"},  {"x86-64", "amd64"}, {"x64", "amd64"}, {"aarch64", "arm64"},
    {"armv7l", "arm/v7"}, {"armhf", "arm/v7"}, {"i386", "386"},  {"i686", "386"}};

/// Returns the platform that `name`, a processor, was meant for; `otherwise` if nothing is similar.
std::string architecture_hint(const std::string& name, std::string otherwise) {
  const auto other = other_names.find(to_lower(name));
  const auto meant =
      other != other_names.end() ? std::optional{other->second} : nearest(name, architectures);
  return meant ? fmt::format("did you mean `linux/{}`?", *meant) : std::move(otherwise);
}

/// Returns the error in `platform`, which comes from `origin`, or nothing if it is
/// `linux/ARCH[/VARIANT]` with a supported processor.
std::optional<Problem> platform_problem(const std::string& platform, const std::string& origin) {
  const auto problem = [&](std::string message, std::string hint) {
    return Problem{.message = std::move(message), .origin = origin, .hints = {std::move(hint)}};
  };
  const auto parts = split(platform, '/');
  const auto shown = printable(platform);
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty() || parts[1].empty()) {
    return problem(fmt::format("platform `{}` is not OS/ARCH", shown),
                   architecture_hint(platform, usual_hint));
  }
  if (parts[0] != "linux") {
    return problem(fmt::format("platform `{}`: autopack makes images for Linux only", shown),
                   usual_hint);
  }
  if (!contains(architectures, parts[1])) {
    return problem(fmt::format("platform `{}` has an unknown processor", shown),
                   architecture_hint(parts[1], fmt::format("the processors are `{}`",
                                                           join(architectures, "`, `"))));
  }
  return std::nullopt;
}

const std::map<std::string, packaging::Engine> engines{{"auto", packaging::Engine::automatic},
                                                       {"docker", packaging::Engine::docker},
                                                       {"direct", packaging::Engine::direct}};

std::optional<std::chrono::seconds> age_of(const BuildOptions& options) {
  const auto& typed = options.max_dependency_age;
  const auto age = typed ? job::api_duration(*typed) : std::nullopt;
  return age ? std::optional{std::chrono::seconds{job::duration_seconds(*age)}} : std::nullopt;
}

/// Returns `path` relative to the project's directory; nothing if it is not below it.
std::optional<std::string> path_in_project(const packaging::Request& request,
                                           const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  const auto directory = fs::absolute(request.project.directory / "").lexically_normal();
  const auto whole = fs::absolute(path / "").lexically_normal().parent_path();
  auto below = whole.lexically_relative(directory.parent_path()).string();
  return below.empty() || below == "." || below.starts_with("..") ? std::nullopt
                                                                  : std::optional{std::move(below)};
}

/// Excludes files that the build itself writes into the project: the images of the next platform
/// and of the next build would contain them. The built-in rules exclude a cache in its usual place.
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
  for (const auto& file : request.sboms) {
    leave_out(path_in_project(request, file.path));
  }
  if (request.environment.get("XDG_CACHE_HOME")) {
    leave_out(path_in_project(request, request.environment.cache_directory()));
  }
}

/// Returns where the setting of a key was given, for findings; nothing if it was not given.
using Places = std::function<std::optional<std::string>(std::string_view key)>;

packaging::Request request_of(const packaging::Settings& given,
                              const Places& place_of,
                              const BuildOptions& build,
                              const Environment& environment,
                              Problems problems) {
  packaging::Request request{
      .project = {.directory = expand_home(given.local_package_path.value_or("."), environment),
                  .dockerfile = build.dockerfile},
      .options = {.platform = build.platform,
                  .compile_bytecode = build.compile_bytecode,
                  .templates = build.templates},
      .build_network = build.build_network,
      .no_cache = build.no_cache,
      .strict = build.strict,
      .max_dependency_age = age_of(build),
      .engine = engine_of(build),
      .resolver =
          build.resolver == "engine" ? packaging::Resolver::engine : packaging::Resolver::uv,
      .source = build.source,
      .label_git = build.label_git,
      .environment = environment};
  packaging::apply(given, request);
  for (const auto& setting : packaging::settings) {
    if (auto place = place_of(setting.key)) {
      request.project.given_at[std::string{setting.key}] = *std::move(place);
    }
  }
  request.options.build_environment = project::read_build_environment(
      given.build_env.value_or(std::vector<std::string>{}), place_of("build-env"), problems);
  throw_if_errors(problems, ErrorKind::usage);
  for (const auto& output : build.outputs) {
    request.outputs.push_back(packaging::Output::parse(output));
  }
  for (const auto& file : build.sboms) {
    request.sboms.push_back(packaging::SbomFile::parse(file));
    require_directory_of("--sbom", file);
    request.reports_git = true;
  }
  leave_out_outputs(request);
  request.attests = build.attest || build.sign_key;
  if (build.sign_key) {
    request.signing_key = expand_home(*build.sign_key, environment);
  }
  return request;
}

/// The user's own Dockerfile determines content and program; only a job can replace its command.
void refuse_beside_dockerfile(const packaging::Settings& given,
                              const Places& place_of,
                              const std::string& dockerfile,
                              Problems& problems) {
  for (const auto& setting : packaging::settings) {
    const bool is_said_there = setting.role == packaging::Setting::Role::entry ||
                               setting.role == packaging::Setting::Role::content;
    if (is_said_there && setting.is_pool_key() && setting.is_given(given)) {
      problems.push_back({.message = fmt::format("`{}` has no effect on the Dockerfile `{}`",
                                                 setting.key, printable(dockerfile)),
                          .origin = place_of(setting.key),
                          .hints = {"write it into the Dockerfile, or leave it out"}});
    }
  }
}

/// Throws Error(usage) for each invalid platform, except the default.
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

/// The last value of `name`.
std::optional<std::string> last_value(const job::Pairs& pairs, std::string_view name) {
  std::optional<std::string> value;
  for (const auto& pair : pairs) {
    value = pair.first == name ? pair.second : value;
  }
  return value;
}

/// PYTHONPATH as `--env` sets it, or as a file does for the commands that have that flag.
std::optional<std::string> python_path_of(const FlagSet& flags) {
  const auto& own = flags.given("--env");
  const auto& all = own.empty() ? flags.given_to_others("--env") : own;
  if (all.empty()) {
    return std::nullopt;
  }
  Problems ignored;  // who uses the values reports them
  return last_value(job::all_pairs(all.front().values, "--env", ignored), "PYTHONPATH");
}

}  // namespace

std::string expand_home(const std::string& path, const Environment& environment) {
  if (path == "~" || path.starts_with("~/")) {
    return environment.home().string() + path.substr(1);
  }
  return path;
}

packaging::Engine engine_of(const BuildOptions& options) {
  return engines.at(options.engine);
}

void add_build_flags(FlagSet& flags, BuildOptions& options) {
  flags.section("Building", false);
  flags.text("--engine", "auto|docker|direct", options.engine,
             "who makes the image, and runs it here");
  flags.text("--resolver", "uv|engine", options.resolver,
             "who chooses open versions: uv, or pip in the engine");
  flags.text("--source", "SOURCE", options.source, "worktree, index, or a commit such as HEAD~1");
  flags.toggle("--label-git", options.label_git, "revision, remote, dirtiness into labels");
  flags.text("--dockerfile", "FILE", options.dockerfile, "build your own Dockerfile instead");
  flags.text("--templates", "DIR", options.templates, "templates that replace the built-in ones");
  flags.text("--platform", "OS/ARCH", options.platform,
             "default: linux/amd64; `build` and `explain` take several");
  flags.text("--build-network", "MODE", options.build_network,
             "network of build steps: host, none");
  flags.toggle("--no-infer", options.no_infer, "infer nothing: every choice must be given");
  flags.toggle("--strict", options.strict,
               "turn warnings into errors, and trust no remembered facts about layers");
  flags.toggle("--no-cache", options.no_cache, "build every step from scratch");
  flags.toggle("--compile-bytecode", options.compile_bytecode,
               "install packages with byte code: slower to make, quicker to start");
  flags.text("--max-dependency-age", "DURATION", options.max_dependency_age,
             "reinstall unpinned packages when older: 1d, 12h");
}

void add_builder_flags(FlagSet& flags, BuildOptions& options) {
  flags.text("--builder", "auto|cloud-build", options.builder,
             "cloud-build: Google builds what needs an engine; it costs money");
  flags.text("--staging-bucket", "BUCKET", options.staging_bucket,
             "where Cloud Build gets the files from; default: PROJECT_cloudbuild");
}

void add_attest_flags(FlagSet& flags, BuildOptions& options) {
  flags.toggle("--attest", options.attest,
               "attach provenance and SBOMs to the image in its registry");
  flags.text("--sign-key", "KEY", options.sign_key,
             "also sign with cosign: a key file, or gcpkms://... and the like");
}

void choose_cloud_build(const BuildOptions& options, packaging::Request& request) {
  request.uses_cloud_build = options.builder == "cloud-build";
  request.staging_bucket = options.staging_bucket;
  if (request.uses_cloud_build && request.engine != packaging::Engine::automatic) {
    throw Error(
        ErrorKind::usage,
        fmt::format("`--engine={}` and `--builder=cloud-build` exclude each other", options.engine))
        .hint("`--engine=auto` leaves to Cloud Build only what needs an engine");
  }
}

void add_sbom_flag(FlagSet& flags, BuildOptions& options) {
  flags.list("--sbom", "FILE", options.sboms,
             "list the image's parts: NAME.spdx.json or NAME.cdx.json");
}

void add_output_flag(FlagSet& flags, BuildOptions& options) {
  flags.list("--output", "WHERE", options.outputs,
             "oci:DIR, tar:FILE, bundle:DIR, squashfs:FILE or docker");
}

packaging::Settings PackagingOptions::settings(Problems& problems) const {
  auto all = texts;
  for (const auto& setting : packaging::settings) {
    const auto* const list =
        std::get_if<packaging::Settings::List packaging::Settings::*>(&setting.member);
    if (list != nullptr && is_given(setting)) {
      auto& into = all.*(*list);
      into = job::all_elements(lists.find(setting.key)->second, fmt::format("--{}", setting.key),
                               problems);
    }
  }
  return all;
}

bool PackagingOptions::is_given(const packaging::Setting& setting) const {
  if (!setting.is_list()) {
    return setting.is_given(texts);
  }
  const auto found = lists.find(setting.key);
  return found != lists.end() && !found->second.empty();
}

bool PackagingOptions::has_entry() const {
  return std::ranges::any_of(packaging::settings, [&](const packaging::Setting& setting) {
    return setting.role == packaging::Setting::Role::entry && is_given(setting);
  });
}

void add_packaging_flag(FlagSet& flags,
                        PackagingOptions& options,
                        const packaging::Setting& setting) {
  using packaging::Settings;
  const auto names = setting.alias.empty() ? fmt::format("--{}", setting.key)
                                           : fmt::format("--{},--{}", setting.key, setting.alias);
  const std::string label{setting.label};
  const std::string help{setting.help};
  if (const auto* const text = std::get_if<Settings::Text Settings::*>(&setting.member)) {
    flags.text(names, label, options.texts.*(*text), help);
  } else {
    flags.list(names, label, options.lists[std::string{setting.key}], help);
  }
}

void add_packaging_flags(FlagSet& flags, PackagingOptions& options) {
  const auto add = [&](bool rare) {
    for (const auto& setting : packaging::settings) {
      if ((setting.use == packaging::Setting::Use::rare) == rare) {
        add_packaging_flag(flags, options, setting);
      }
    }
  };
  flags.section("What goes in");
  add(false);
  flags.text("--display-name", "NAME", options.display_name, "job name; default: the directory's");
  flags.section("How it starts and installs", false);
  add(true);
}

void check_build_options(const BuildOptions& options) {
  if (options.source.empty()) {
    throw Error(ErrorKind::usage, "`--source` is empty")
        .hint("the values are `worktree`, `index`, and what names a commit to git");
  }
  if (options.max_dependency_age && !age_of(options)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` of `--max-dependency-age` is not a duration",
                                              printable(*options.max_dependency_age)))
        .hint("`--max-dependency-age=1d` reuses dependencies that are at most a day old");
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
      if (!contains(platforms, platform)) {
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
  if (!packaging.texts.executor_image_uri && !build.dockerfile && build.no_infer) {
    throw Error(ErrorKind::usage, "`--executor-image-uri` is missing: the image to start from")
        .hint("`--executor-image-uri python:3.11` starts from Docker Hub's Python")
        .hint("`--dockerfile FILE` builds your own Dockerfile instead");
  }
}

packaging::Request package_request(const PackagingOptions& packaging,
                                   const BuildOptions& build,
                                   const FlagSet& flags,
                                   const Environment& environment) {
  const auto place_of = [&](std::string_view key) {
    return to_string(flags.origin(fmt::format("--{}", key)));
  };
  Problems problems;
  const auto given = packaging.settings(problems);
  if (build.dockerfile) {
    refuse_beside_dockerfile(given, place_of, *build.dockerfile, problems);
  }
  auto request = request_of(given, place_of, build, environment, std::move(problems));
  request.infers = !build.no_infer;
  request.project.python_path = python_path_of(flags);
  for (const auto* const key : {"env", "env-file", "volume"}) {
    if (const auto origin = place_of(key)) {
      request.project.given_at[key] = *origin;
    }
  }
  return request;
}

packaging::Request package_request(const job::PoolFlags& pool,
                                   const job::JobFlags& job,
                                   const BuildOptions& build,
                                   const Environment& environment) {
  packaging::Settings given{static_cast<const packaging::Settings&>(pool)};
  if (!given.script && !given.python_module) {
    given.command = job.command;
  }
  const auto place_of = [&](std::string_view key) {
    return key == "command" ? to_string(std::optional{job.origin("--command")})
                            : to_string(pool.origin_of(key));
  };
  auto request = request_of(given, place_of, build, environment, {});
  request.project.python_path = last_value(job.env, "PYTHONPATH");
  return request;
}

packaging::ImageName image_name(const PackagingOptions& packaging,
                                const packaging::Request& request,
                                const job::Location& location) {
  return pipeline::name_image(packaging.texts.output_image_uri,
                              job_name(packaging.display_name, request.project.directory),
                              location);
}

}  // namespace autopack::cli
