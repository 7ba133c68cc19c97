#include "build/docker/docker_build.hpp"

#include "base/elapsed.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "build/docker/build_context.hpp"
#include "build/wheels/locked_requirements.hpp"
#include "engine/dockerfile_steps.hpp"
#include "executor/probe.hpp"
#include "image/tar.hpp"
#include "plan/install_record.hpp"
#include "project/requirements/pip_settings.hpp"
#include "publish/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>

namespace autopack::build {

namespace {

namespace fs = std::filesystem;
using packaging::Freshness;
using packaging::Packaging;

/// Names in the sent context that must not collide with the user's files.
constexpr auto* project_directory = "project";
constexpr auto* observer_directory = ".autopack/observe";

void add_observer(std::vector<ContextFile>& files, const plan::Plan& plan) {
  const auto add = [&](const char* name, const std::string& text) {
    files.push_back({.path = fmt::format("{}/{}", observer_directory, name), .text = Secret{text}});
  };
  add("observe.py", plan::observer_text());
  add("tree", plan::code_digest(plan));
}

/// Returns the arguments of COPY or ADD after its flags, the last one being the destination; empty
/// if the sources are not in the context.
std::vector<std::string> words_of(const engine::Instruction& instruction) {
  std::vector<std::string> words;
  for (auto& word : split(instruction.text.substr(instruction.keyword.size()), ' ')) {
    if (word.starts_with("--from=") || word.starts_with("<<")) {
      return {};
    }
    if (!trim(word).empty() && !(words.empty() && word.starts_with("--"))) {
      words.emplace_back(trim(word));
    }
  }
  const std::string all = join(words, " ");
  const auto list = all.starts_with('[') ? parse_json(all) : nlohmann::json{};
  if (!list.is_array()) {
    return words;
  }
  words.clear();
  for (const auto& word : list) {
    words.push_back(word.is_string() ? word.get<std::string>() : std::string{});
  }
  return words;
}

/// Returns a source as a path of the context; nothing if autopack cannot resolve it.
std::optional<std::string> path_of(std::string_view word) {
  if (word.find_first_of("$*?[\\\"'") != std::string_view::npos ||
      word.find("://") != std::string_view::npos || word.starts_with("git@")) {
    return std::nullopt;
  }
  word.remove_prefix(std::min(word.find_first_not_of('/'), word.size()));
  return source::normalise(word);
}

class DockerfileCheck {
public:
  DockerfileCheck(const plan::ReadablePlan& plan, const source::Selection& ignore)
      : plan_{plan}, ignore_{ignore}, context_{plan::context(plan)} {}

  Problems take() { return std::move(problems_); }

  void look_at_copies(const std::string& place);
  void look_at_modes(const fs::path& directory);

private:
  void look_at(const std::string& path, int line);

  bool is_in_context(const std::string& path) const {
    return std::ranges::any_of(context_, [&](const auto* entry) {
      return entry->path == path || entry->path.starts_with(path + "/");
    });
  }

  const plan::ReadablePlan& plan_;
  const source::Selection& ignore_;
  std::vector<const plan::ContextEntry*> context_;
  Problems problems_{};
};

void DockerfileCheck::look_at(const std::string& path, int line) {
  const auto entry = plan_.working_directory().find(path);
  const auto rule = entry ? ignore_.excludes(path) : std::nullopt;
  if (!rule || is_in_context(path)) {
    return;
  }
  const std::string file =
      rule->line > 0 ? fmt::format("{}:{}", printable(rule->file), rule->line) : rule->file;
  problems_.push_back(
      {.message = fmt::format("`{}` line {} copies `{}`, but the rule `{}` leaves it out",
                              printable(*plan_.user_dockerfile), line, printable(path),
                              printable(rule->pattern)),
       .origin = file,
       .hints = {
           source::bring_back_command(path, entry->type == source::EntryType::directory, *rule)}});
}

void DockerfileCheck::look_at_copies(const std::string& place) {
  for (const auto& instruction : engine::instructions_of(plan_.dockerfile)) {
    if (instruction.keyword != "COPY" && instruction.keyword != "ADD") {
      continue;
    }
    auto words = words_of(instruction);
    if (!words.empty()) {
      words.pop_back();
    }
    for (const auto& word : words) {
      const auto path = path_of(word);
      if (path && !path->empty()) {
        look_at(*path, instruction.line);
      } else if (path && place != plan_.user_dockerfile) {
        problems_.push_back(Problem::warning(
            {.message = fmt::format("`{}` line {} copies the whole context, and with it the "
                                    "Dockerfile as `{}`: the engine reads it there",
                                    printable(*plan_.user_dockerfile), instruction.line, place),
             .hints = {"a Dockerfile that no rule leaves out stays where it is"}}));
      }
    }
  }
}

void DockerfileCheck::look_at_modes(const fs::path& directory) {
  std::string first;
  std::size_t count = 0;
  for (const auto* entry : context_) {
    std::error_code code;
    if (entry->type != source::EntryType::file || entry->tree != 0) {
      continue;
    }
    const auto mode = fs::symlink_status(directory / entry->path, code).permissions();
    if (!code && (mode & fs::perms::others_read) == fs::perms::none) {
      first = first.empty() ? entry->path : first;
      ++count;
    }
  }
  if (count == 0) {
    return;
  }
  const std::string others = count == 1 ? "" : fmt::format(" and {} other files", count - 1);
  problems_.push_back(Problem::warning(
      {.message = fmt::format("`{}`{}, which not everybody may read here, can be read by everybody "
                              "in the image: modes are made 0644 or 0755",
                              printable(first), others),
       .hints = {
           "`COPY --chmod=600` makes a file readable for its owner only; `RUN --mount=type=secret` "
           "keeps it out of the image"}}));
}

void check_own_dockerfile(Services& services, const Packaging& work, const std::string& place) {
  const auto& request = work.request();
  const auto problems =
      own_dockerfile_findings(work.plan(), work.scanned().project.ignore, place,
                              request.is_from_git() ? fs::path{} : request.project.directory);
  for (const auto& problem : problems) {
    if (problem.severity == Problem::Severity::warning) {
      services.reporter->warn(problem);
    }
  }
  throw_if_errors(problems, ErrorKind::project);
}

/// Returns `plan` without the requirements.
plan::ReadablePlan own_package_alone(plan::ReadablePlan plan) {
  auto& dependencies = plan.dependencies;
  dependencies.lock.reset();
  dependencies.requirement_files.clear();
  dependencies.requirement_edits.clear();
  dependencies.requirements.clear();
  dependencies.packages.clear();
  dependencies.requirement_copies.clear();
  dependencies.package_requirements.clear();
  dependencies.build_requirements.clear();
  dependencies.hashed = false;
  dependencies.resolves = false;
  return plan;
}

/// Returns the labels of `goal`. An image that lacks requirements must not pass for a dependency
/// image.
std::map<std::string, std::string> labels_of(const Packaging& work, const BuildGoal& goal) {
  if (!goal.stage) {
    return work.labels();
  }
  if (goal.is_own_alone) {
    return unique_label();
  }
  return {{packaging::dependency_key_label, work.plan().keys.value().dependencies}};
}

}  // namespace

std::vector<ContextFile> pip_files(Services& services,
                                   const project::Project& project,
                                   const std::vector<std::string>& hosts,
                                   const std::optional<Error>& login_refusal) {
  auto settings =
      project::find_pip_settings(services.environment, hosts, project.environment_variables);
  project::add_constraints(settings, project.constraints);
  if ((settings.has_credentials || project.has_index_credentials) && login_refusal) {
    throw *login_refusal;
  }
  if (settings.description) {
    services.reporter->detail(*settings.description);
  }
  std::vector<ContextFile> files;
  for (const auto& [name, text] : settings.files) {
    files.push_back({.path = fmt::format("{}/{}", pip_directory, name), .text = text});
  }
  return files;
}

std::optional<Error> login_refusal(const engine::EngineInfo& engine) {
  if (engine.buildkit) {
    return std::nullopt;
  }
  return Error(ErrorKind::environment,
               fmt::format("the package index wants a login, which this {} would keep in the "
                           "image: it has no BuildKit",
                           engine.podman ? "Podman" : "Docker Engine"))
      .hint("use a Docker Engine 18.09 or newer, or an index without a login");
}

std::map<std::string, std::string> unique_label() {
  std::random_device random;
  return {{"autopack.build", fmt::format("{:08x}{:08x}", random(), random())}};
}

PreparedBuild prepare_build(Services& services,
                            const Packaging& work,
                            const BuildGoal& goal,
                            const BuilderTraits& traits) {
  PreparedBuild build{
      .plan =
          goal.is_own_alone
              ? std::make_shared<const plan::ReadablePlan>(own_package_alone(work.plan()))
              : std::shared_ptr<const plan::ReadablePlan>{std::shared_ptr<void>{}, &work.plan()},
      .labels = labels_of(work, goal),
      .no_cache = work.request().no_cache || goal.freshness == Freshness::anew};
  const auto& plan = *build.plan;
  auto& parts = build.parts;
  parts = {.plan = &plan,
           .dockerfile = plan.dockerfile,
           .left_out = goal.left_out,
           .file_time = image::file_time(services.environment)};
  if (plan.user_dockerfile) {
    check_own_dockerfile(services, work, PlannedContext{parts}.dockerfile_path());
    return build;
  }
  plan::Dialect dialect{
      .buildkit = traits.buildkit, .root = project_directory, .parent = goal.parent};
  if (plan.dependencies.needs_pip() && !goal.parent) {
    const auto& project = work.scanned().project;
    const auto locked =
        plan.dependencies.lock ? locked_requirements(services, work) : LockedRequirements{};
    auto hosts = project.index_hosts;
    hosts.insert(hosts.end(), locked.hosts.begin(), locked.hosts.end());
    parts.files = pip_files(services, project, hosts, traits.login_refusal);
    if (!parts.files.empty()) {
      dialect.pip_settings = pip_directory;
    }
    if (plan.dependencies.lock) {
      parts.files.push_back({.path = std::string{plan::locked_file}, .text = Secret{locked.text}});
    }
  }
  if (goal.stage == installed_stage || goal.is_own_alone) {
    dialect.observer = observer_directory;
    add_observer(parts.files, plan);
  }
  parts.root = dialect.root;
  dialect.base = traits.base();
  parts.dockerfile = plan::render_dockerfile(plan, dialect, work.request().options);
  return build;
}

engine::BuildResult build(Services& services, const Packaging& work, const BuildGoal& goal) {
  auto& docker = services.docker();
  std::optional<executor::BuildBase> base;
  const auto prepared = prepare_build(services, work, goal,
                                      {.buildkit = docker.info().buildkit,
                                       .login_refusal = login_refusal(docker.info()),
                                       .base = [&] {
                                         publish::load_executor_image(services, work.plan());
                                         return base.emplace(docker, work.plan().base).from();
                                       }});
  const PlannedContext context{prepared.parts};
  return docker.build(
      {.context = &context,
       .tags = goal.tag.empty() ? std::vector<std::string>{} : std::vector{goal.tag},
       .labels = prepared.labels,
       .target = goal.stage,
       .network_mode = work.request().build_network,
       .platform = prepared.plan->platform,
       .no_cache = prepared.no_cache,
       .buildkit = docker.info().buildkit});
}

Problems own_dockerfile_findings(const plan::ReadablePlan& plan,
                                 const source::Selection& ignore,
                                 const std::string& place,
                                 const fs::path& directory) {
  DockerfileCheck findings{plan, ignore};
  findings.look_at_copies(place);
  if (!directory.empty()) {
    findings.look_at_modes(directory);
  }
  return findings.take();
}

std::string built_text(const engine::BuildResult& result,
                       std::chrono::steady_clock::duration time) {
  return fmt::format("{} in {}, {} of {} steps cached", result.image_id, elapsed_text(time),
                     result.cached_steps, result.steps);
}

}  // namespace autopack::build
