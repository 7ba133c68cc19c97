#include "cli/command.hpp"
#include "google/project.hpp"

#include <array>
#include <initializer_list>

namespace autopack::cli {

namespace {

const auto table = std::to_array<CommandEntry>({
    {.name = "submit",
     .summary = "package, build, push, and create a job",
     .usage = "--worker-pool-spec=KEY=VALUE,... [--worker-pool-spec=...] [FLAGS]",
     .example = "  autopack submit --region=us-central1 \\\n"
                "    --worker-pool-spec=machine-type=n1-standard-4,local-package-path=.,\\\n"
                "executor-image-uri=python:3.11,script=train.py\n\n"
                "keys of a pool: machine-type replica-count accelerator-type accelerator-count\n"
                "  container-image-uri executor-image-uri local-package-path script launcher\n"
                "  python-module output-image-uri; split at `;`: requirements requirements-file\n"
                "  extra-packages extra-dirs system-packages extra group build-env include\n"
                "  exclude\n",
     .make = make_submit_command,
     .asks_servers = true},
    {.name = "tune",
     .summary = "the same for a tuning job, which searches hyperparameters",
     .usage = "--metric=NAME:GOAL --parameter=NAME:VALUES --worker-pool-spec=KEY=VALUE,... [FLAGS]",
     .example = "  autopack tune --region=us-central1 --metric=accuracy:maximize \\\n"
                "    --parameter=lr:double:1e-5..1e-1:log --max-trial-count=20 \\\n"
                "    --worker-pool-spec=machine-type=n1-standard-4,local-package-path=.,\\\n"
                "executor-image-uri=python:3.11,script=train.py\n",
     .make = make_tune_command,
     .asks_servers = true},
    {.name = "run",
     .summary = "package, build, and run on this machine",
     .usage =
         "--executor-image-uri=IMAGE [--script=FILE | --python-module=MODULE] [FLAGS] [-- ARGS]",
     .example = "  autopack run --executor-image-uri=python:3.11 --script=train.py -- --epochs=1\n",
     .make = make_run_command,
     .takes_program_arguments = true,
     .asks_servers = true,
     .own_failure = 125},
    {.name = "build",
     .summary = "package and build; push when the image's name has a registry",
     .usage = "--executor-image-uri=IMAGE --script=FILE | --python-module=MODULE [FLAGS]",
     .example = "  autopack build --executor-image-uri=python:3.11 --script=train.py \\\n"
                "    --output-image-uri=us-docker.pkg.dev/PROJECT/REPOSITORY/train\n",
     .make = make_build_command,
     .asks_servers = true},
    {.name = "dockerfile",
     .summary = "print the Dockerfile; -o writes it, --check compares it",
     .usage = "--executor-image-uri=IMAGE --script=FILE | --python-module=MODULE [FLAGS]",
     .example = "  autopack dockerfile --executor-image-uri=python:3.11 --script=train.py \\\n"
                "    -o Dockerfile\n",
     .make = make_dockerfile_command},
    {.name = "explain",
     .summary = "tell what goes into the image, what is left out, and why",
     .usage = "--executor-image-uri=IMAGE --script=FILE | --python-module=MODULE [FLAGS]",
     .example = "  autopack explain --executor-image-uri=python:3.11 --script=train.py\n",
     .make = make_explain_command},
    {.name = "doctor",
     .summary = "tell what would fail, and the command that mends it",
     .usage = "[FLAGS OF submit]",
     .example = "  autopack doctor --region=us-central1\n"
                "  autopack doctor --config=job.yaml --format=json\n\n"
                "Looks at engine, logins, credentials, APIs and rights, and at the job that the\n"
                "flags of `submit` describe. Nothing is built or sent. Status 1 when it found\n"
                "an error.\n",
     .make = make_doctor_command,
     .asks_servers = true},
    {.name = "jobs",
     .summary = "list, describe, cancel and follow jobs of every kind",
     .usage = "list | describe NAME | cancel NAME | stream-logs NAME  [FLAGS]",
     .example = "  autopack jobs list --region=us-central1 --state=running --limit=10\n"
                "  autopack jobs stream-logs projects/p/locations/us-central1/customJobs/123\n\n"
                "NAME is a resource name, or an id with --region and --project. `stream-logs`\n"
                "ends with the job; its status is 0 when the job succeeded.\n",
     .make = make_jobs_command,
     .asks_servers = true,
     .most_arguments = 2,
     .first_argument = "list|describe|cancel|stream-logs"},
    {.name = "completion",
     .summary = "print the completion script of a shell",
     .usage = "bash|zsh|fish",
     .example =
         "  autopack completion bash > ~/.local/share/bash-completion/completions/autopack\n",
     .make = make_completion_command,
     .takes_program_arguments = true,
     .most_arguments = 1,
     .first_argument = "bash|zsh|fish"},
    {.name = "translate",
     .summary = "turn a legacy AI Platform Training job into one that submit takes",
     .usage = "[JOB] [--config=FILE] [FLAGS of jobs submit training] [-- ARGS]",
     .example = "  autopack translate census --config=config.yaml | \\\n"
                "    autopack submit --region=us-central1 --config=-\n",
     .make = make_translate_command,
     .takes_program_arguments = true,
     .most_arguments = 1},
});

/// Empty when there are no credentials, or they name none.
std::string project_of_credentials(const Session& session) {
  try {
    return session.services.google().project();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) {
      throw;
    }
    return {};
  }
}

}  // namespace

void tell_result(const Session& session, const nlohmann::json& object, const std::string& text) {
  const auto rendered = render(session.format, object, text);
  if (session.format.kind == OutputFormat::Kind::text) {
    session.console.result_for_people(rendered);
  } else {
    session.console.result(rendered);
  }
}

std::span<const CommandEntry> commands() {
  return table;
}

std::string job_name(const std::string& typed, const std::filesystem::path& directory) {
  return typed.empty() ? directory_name(directory) : typed;
}

std::string directory_name(const std::filesystem::path& directory) {
  std::error_code failure;
  const auto whole = std::filesystem::weakly_canonical(directory, failure);
  return failure ? directory.filename().string() : whole.filename().string();
}

job::Location find_location(const Session& session) {
  const auto& environment = session.services.environment;
  const auto& flag = session.global.project;
  const auto configuration =
      google::read_gcloud_configuration(environment, session.global.configuration);
  auto project = google::find_project(flag, environment, configuration, {});
  const auto region = google::find_region(session.global.region, environment, configuration);
  // without a region a project is of no use, and looking for one may take the network
  if (project.value.empty() && !region.value.empty()) {
    project =
        google::find_project(flag, environment, configuration, project_of_credentials(session));
  }
  // A flag's value may come from its variable or from a file.
  const auto origin = [&](const google::Setting& setting, const std::string& value,
                          const std::string& name) -> std::optional<job::Origin> {
    if (!value.empty()) {
      return session.flags.origin(name).value_or(job::Origin::flag(name));
    }
    return setting.origin.empty() ? std::nullopt
                                  : std::optional{job::Origin::setting(setting.origin)};
  };
  return {.project = project.value,
          .region = region.value,
          .project_origin = origin(project, flag, "--project"),
          .region_origin = origin(region, session.global.region, "--region")};
}

}  // namespace autopack::cli
