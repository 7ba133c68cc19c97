#include "base/text.hpp"
#include "cli/command.hpp"
#include "google/project.hpp"

#include <fmt/format.h>

#include <array>
#include <initializer_list>

namespace autopack::cli {

namespace {

const auto table = std::to_array<CommandEntry>({
    {.name = "submit",
     .summary = "package, build, push, and create a job",
     .usage = "[FLAGS] [--worker-pool-spec=KEY=VALUE,... ...] [-- ARGS]",
     .example =
         "  autopack submit\n"
         "  autopack submit --machine-type=n1-standard-8 --script=train.py -- --epochs=50\n"
         "  autopack submit --worker-pool-spec=machine-type=n1-standard-4,script=train.py\\\n"
         ",executor-image-uri=python:3.11,local-package-path=.\n\n"
         "What no flag sets comes from the project and from gcloud, and is printed. A list\n"
         "is split at `,` in a flag, and at `;` in a KEY.\n",
     .make = make_submit_command,
     .takes_program_arguments = true,
     .asks_servers = true},
    {.name = "tune",
     .summary = "package, build, push, and create a tuning job",
     .usage = "--metric=NAME:GOAL --parameter=NAME:VALUES [FLAGS] [-- ARGS]",
     .example = "  autopack tune --metric=accuracy:maximize --max-trial-count=20 \\\n"
                "    --parameter=lr:double:1e-5..1e-1:log --script=train.py --with-hypertune\n",
     .make = make_tune_command,
     .takes_program_arguments = true,
     .asks_servers = true},
    {.name = "run",
     .summary = "package, build, and run on this machine",
     .usage =
         "[--executor-image-uri=IMAGE] [--script=FILE | --python-module=MODULE] [FLAGS] [-- ARGS]",
     .example =
         "  autopack run\n"
         "  autopack run --executor-image-uri=python:3.11 --script=train.py -- --epochs=1\n\n"
         "The first infers the program and the image from the project, and prints\n"
         "them.\n",
     .make = make_run_command,
     .takes_program_arguments = true,
     .asks_servers = true,
     .own_failure = 125},
    {.name = "init",
     .summary = "write autopack.yaml and an ignore file that fit the project",
     .usage = "[--executor-image-uri=IMAGE] [--script=FILE | --python-module=MODULE] [FLAGS]",
     .example = "  autopack init\n"
                "  autopack init --script=train.py --region=us-central1\n\n"
                "Files that are there stay as they are.\n",
     .make = make_init_command},
    {.name = "build",
     .summary = "package and build; push when the image's name has a registry",
     .usage = "[--executor-image-uri=IMAGE] [--script=FILE | --python-module=MODULE] [FLAGS]",
     .example = "  autopack build --executor-image-uri=python:3.11 --script=train.py \\\n"
                "    --output-image-uri=us-docker.pkg.dev/PROJECT/REPOSITORY/train\n",
     .make = make_build_command,
     .asks_servers = true},
    {.name = "dockerfile",
     .summary = "print the Dockerfile; -o writes it, --check compares it",
     .usage = "[--executor-image-uri=IMAGE] [--script=FILE | --python-module=MODULE] [FLAGS]",
     .example = "  autopack dockerfile --executor-image-uri=python:3.11 --script=train.py \\\n"
                "    -o Dockerfile\n",
     .make = make_dockerfile_command},
    {.name = "lock",
     .summary = "resolve the requirements for the executor image; write pylock.toml",
     .usage = "[--executor-image-uri=IMAGE] [--check | --upgrade[=PACKAGE]] [FLAGS]",
     .example = "  autopack lock\n"
                "  autopack lock --upgrade=transformers\n"
                "  autopack lock --check\n\n"
                "The same versions are installed from then on, from wheels and without an engine.\n"
                "Versions of an earlier lock, and packages of the image, stay where they can.\n",
     .make = make_lock_command,
     .asks_servers = true},
    {.name = "explain",
     .summary = "print what goes into the image, what stays out, and why",
     .usage =
         "[--executor-image-uri=IMAGE] [--script=FILE | --python-module=MODULE] [FLAGS] [-- ARGS]",
     .example = "  autopack explain --executor-image-uri=python:3.11 --script=train.py\n",
     .make = make_explain_command,
     .takes_program_arguments = true},
    {.name = "images",
     .summary = "list what engine, registry and cache hold of this project",
     .usage = "[FLAGS OF build]",
     .example = "  autopack images\n"
                "  autopack images --format=json\n\n"
                "The one marked `current` is the image of the files as they are.\n",
     .make = make_images_command,
     .asks_servers = true},
    {.name = "diff",
     .summary = "print how two images, commits or the files as they are differ",
     .usage = "BEFORE [AFTER] [FLAGS OF build]",
     .example = "  autopack diff HEAD\n"
                "  autopack diff HEAD~3 HEAD\n"
                "  autopack diff registry.example/team/train:v1 registry.example/team/train:v2\n\n"
                "A side is an image of a registry or the engine, `oci:DIR`, `tar:FILE`, a commit,\n"
                "`index`, or `.`, the files as they are, the default of AFTER.\n",
     .make = make_diff_command,
     .most_arguments = 2},
    {.name = "verify",
     .summary = "rebuild an image from what it says of itself, and compare",
     .usage = "IMAGE [FLAGS OF build]",
     .example =
         "  autopack verify us-docker.pkg.dev/PROJECT/REPOSITORY/train:v1\n"
         "  autopack verify oci:DIR --source=v1.2 --format=json\n\n"
         "Run it in the project's directory. Status 0: equal; 3: it differs, and the first\n"
         "files that do are named; 1: it cannot be determined, and why. Nothing is pushed.\n",
     .make = make_verify_command,
     .asks_servers = true,
     .most_arguments = 1},
    {.name = "rebase",
     .summary = "move a pushed image to a patched base, without a build",
     .usage = "IMAGE --onto=BASE [FLAGS]",
     .example =
         "  autopack rebase us-docker.pkg.dev/PROJECT/REPOSITORY/train:v1 \\\n"
         "    --onto=python:3.11-slim --tag=us-docker.pkg.dev/PROJECT/REPOSITORY/train:v1\n\n"
         "Only manifests are read and written, and layers of the base that the registry\n"
         "lacks. A base that does not fit is refused, with all reasons. IMAGE and BASE are\n"
         "images of a registry, `oci:DIR` or `tar:FILE`.\n",
     .make = make_rebase_command,
     .asks_servers = true,
     .most_arguments = 1},
    {.name = "clean",
     .summary = "remove what autopack left of this project on this machine",
     .usage = "[--all] [--old] [--dry-run] [FLAGS OF build]",
     .example = "  autopack clean --dry-run\n"
                "  autopack clean --old\n\n"
                "Only images with autopack's own names are removed, and none of a registry.\n",
     .make = make_clean_command,
     .asks_servers = true},
    {.name = "doctor",
     .summary = "print what would fail, and the command that fixes it",
     .usage = "[FLAGS OF submit]",
     .example = "  autopack doctor --region=us-central1\n"
                "  autopack doctor --config=job.yaml --format=json\n\n"
                "Checks engine, logins, credentials, APIs and permissions, and the job that the\n"
                "flags of `submit` describe. Nothing is built or sent. Status 1 when it found\n"
                "an error.\n",
     .make = make_doctor_command,
     .takes_program_arguments = true,
     .asks_servers = true},
    {.name = "jobs",
     .summary = "list, describe, open, cancel and follow jobs of every kind",
     .usage = "list | describe NAME | open NAME | logs NAME | wait NAME | cancel NAME | retry NAME "
              "[FLAGS]",
     .example = "  autopack jobs list --region=us-central1 --state=running --limit=10\n"
                "  autopack jobs logs -f --latest\n\n"
                "NAME is a display name, an id, or a whole resource name. `logs -f`, which is\n"
                "also `stream-logs`, and `wait` end with the job; their status is 0 if the job\n"
                "succeeded. `open` prints where the console shows the job, and opens a browser\n"
                "there. `retry` sends a job that found no capacity to its next place.\n",
     .make = make_jobs_command,
     .asks_servers = true,
     .most_arguments = 2,
     .first_argument = "list|describe|cancel|logs|stream-logs|wait|open|retry"},
    {.name = "prices",
     .summary = "read what machines cost, for explain and submit --dry-run",
     .usage = "[--from=FILE ...]",
     .example = "  autopack prices --from=vertex.json --from=compute.json\n\n"
                "FILE is the answer of the Cloud Billing Catalog API for a service, Vertex AI or\n"
                "Compute Engine: pages of SKUs, one after the other or in a list. autopack has no\n"
                "prices of its own.\n",
     .make = make_prices_command},
    {.name = "trust",
     .summary = "allow the settings of this project to use this machine",
     .usage = "[--list | --remove]",
     .example = "  autopack trust\n"
                "  autopack trust --list\n\n"
                "A project's own settings may not read or mount anything outside the project, or\n"
                "choose where its program runs. This command allows their present values in this\n"
                "directory; another value must be allowed again.\n",
     .make = make_trust_command},
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
     .summary = "convert a legacy AI Platform Training job for submit",
     .usage = "[JOB] [--config=FILE] [FLAGS of jobs submit training] [-- ARGS]",
     .example = "  autopack translate census --config=config.yaml | \\\n"
                "    autopack submit --region=us-central1 --config=-\n",
     .make = make_translate_command,
     .takes_program_arguments = true,
     .most_arguments = 1},
});

/// Returns nothing if there are no credentials, or they name none.
std::optional<std::string> project_of_credentials(const Session& session) {
  try {
    return session.services.google().project();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string render(const Session& session, const nlohmann::json& object, const std::string& text) {
  for (const auto& problem : absent_keys(session.format, object)) {
    session.console.warn(problem);
  }
  return render(session.format, object, text);
}

void report_result(const Session& session, const nlohmann::json& object, const std::string& text) {
  const auto rendered = render(session, object, text);
  if (session.format.kind == OutputFormat::Kind::text) {
    session.console.result_for_people(rendered);
  } else {
    session.console.result(rendered);
  }
}

std::span<const CommandEntry> commands() {
  return table;
}

std::string job_name(const std::optional<std::string>& typed,
                     const std::filesystem::path& directory) {
  return typed ? *typed : directory_name(directory);
}

std::string directory_name(const std::filesystem::path& directory) {
  std::error_code failure;
  const auto whole = std::filesystem::weakly_canonical(directory, failure);
  return failure ? directory.filename().string() : whole.filename().string();
}

namespace {

/// Returns the regions of a list; empty if there is one, or none.
std::vector<std::string> several_regions(const Session& session, Regions regions) {
  auto names = session.flags.listed("--region");
  const auto origin = session.flags.origin("--region");
  if (names.size() < 2 || !origin) {
    return {};
  }
  if (regions == Regions::one && origin->kind != job::Origin::Kind::file) {
    throw Error(ErrorKind::usage, fmt::format("{} names {} regions, and this command works in one",
                                              to_string(*origin), names.size()))
        .hint("`--region=" + printable(names.front()) + "`");
  }
  return names;
}

}  // namespace

job::Location find_location(const Session& session, bool infers, Regions regions) {
  const auto& environment = session.services.environment;
  const auto& flag = session.global.project;
  const auto configuration =
      google::read_gcloud_configuration(environment, session.global.configuration);
  auto project = google::find_project(flag, environment, configuration, {});
  auto region = google::find_region(session.global.region, environment, configuration);
  const auto several = several_regions(session, regions);
  if (!several.empty()) {
    region.value = several.front();
  }
  if (!region.value && infers) {
    region = google::find_property("compute/region", environment, configuration);
  }
  // without a region a project is useless, and finding one may require the network
  if (!project.value && region.value) {
    project =
        google::find_project(flag, environment, configuration, project_of_credentials(session));
  }
  // A flag's value may come from its variable or from a file.
  const auto origin = [&](const google::Setting& setting, const std::optional<std::string>& value,
                          const std::string& name) -> std::optional<job::Origin> {
    if (value) {
      return session.flags.origin(name).value_or(job::Origin::flag(name));
    }
    return setting.origin.empty() ? std::nullopt
                                  : std::optional{job::Origin::setting(setting.origin)};
  };
  return {.project = project.value,
          .region = region.value,
          .regions = regions == Regions::several ? several : std::vector<std::string>{},
          .project_origin = origin(project, flag, "--project"),
          .region_origin = origin(region, session.global.region, "--region")};
}

}  // namespace autopack::cli
