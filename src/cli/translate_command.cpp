#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/named_files.hpp"
#include "job/flag_value.hpp"
#include "job/translate.hpp"

#include <fmt/format.h>

#include <iostream>
#include <iterator>

namespace autopack::cli {

namespace {

class TranslateCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("The legacy job");
    flags.text("--config", "FILE", config_, "Job or TrainingInput, YAML or JSON; - is stdin");
    flags.text("--scale-tier", "TIER", job_.scale_tier,
               "basic, basic-gpu, basic-tpu, standard-1, premium-1, custom");
    flags.text("--module-name", "MODULE", job_.module_name, "module that runs");
    flags.text("--package-path", "DIR", job_.package_path, "local package, packaged by `submit`");
    flags.list("--packages", "FILE,...", packages_, "packages, local or in Cloud Storage");
    flags.text("--runtime-version", "VERSION", job_.runtime_version, "2.11 and the like");
    flags.text("--job-dir", "GS_URI", job_.job_dir, "directory for the job's output");
    role(flags, "--master", job_.master);
    flags.section("More of the legacy job", false);
    role(flags, "--worker", job_.worker);
    role(flags, "--parameter-server", job_.parameter_server);
    role(flags, "--evaluator", job_.evaluator);
    flags.text("--python-version", "VERSION", job_.python_version, "3.7 and the like");
    flags.text("--service-account", "EMAIL", job_.service_account, "account the job runs as");
    flags.text("--network", "NAME", job_.network, "VPC network to peer with");
    flags.text("--kms-key", "KEY", job_.kms_key, "whole resource name of an encryption key");
    flags.list("--labels", "KEY=VALUE,...", labels_, "labels of the job");
    flags.text("--use-chief-in-tf-config", "true|false|...", job_.use_chief,
               "name of the first replica in TF_CONFIG");
    flags.toggle("--enable-web-access", job_.enable_web_access, "shell in the running job");
    flags.text("--staging-bucket", "GS_URI", staging_bucket_, "not used: nothing is staged");
    flags.toggle("--stream-logs", stream_logs_, "not used: `submit` has it");
    flags.toggle("--async", async_, "not used");
  }

  int run(Session& session) override {
    const auto translation = job::translate(job(session), file());
    session.console.warn(
        Problem::warning({.message = "AI Platform Training has ended; this job is for Vertex AI",
                          .hints = {next_command(translation)}}));
    for (const auto& warning : translation.warnings) {
      session.console.warn(warning);
    }
    session.console.result(print_json(job::resource(translation.job), 2) + "\n");
    return 0;
  }

private:
  /// Adds the flags of a role of replicas; the master has no count.
  static void role(FlagSet& flags, const std::string& name, job::LegacyRoleFlags& role) {
    flags.text(name + "-machine-type", "TYPE", role.machine_type, "machine, by old or new name");
    if (name != "--master") {
      flags.text(name + "-count", "N", role.count, "number of replicas");
    }
    flags.text(name + "-image-uri", "IMAGE", role.image_uri, "image that they run");
    flags.text(name + "-accelerator", "type=TYPE,count=N", role.accelerator,
               "accelerators of each, as type=nvidia-tesla-t4,count=1");
  }

  job::LegacyFlags job(const Session& session) const {
    auto flags = job_;
    Problems problems;
    if (!session.arguments.empty()) {
      const auto& word = session.arguments.front();
      if (config_.empty() && (word.ends_with(".yaml") || word.ends_with(".yml"))) {
        throw Error(ErrorKind::usage, fmt::format("`{}` is not the name of a job", printable(word)))
            .hint(fmt::format("`--config={}` reads the file", printable(shell_quote(word))));
      }
      flags.job_id = non_empty(word);
    }
    const auto regions = session.flags.listed("--region");
    flags.region = regions.size() > 1 ? regions.front() : session.global.region;
    flags.packages = job::all_elements(packages_, "--packages", problems);
    flags.labels = job::all_pairs(labels_, "--labels", problems);
    throw_if_errors(problems, ErrorKind::usage);
    if (!session.program_arguments.empty()) {
      flags.args = session.program_arguments;
    }
    return flags;
  }

  std::optional<job::LegacyFile> file() const {
    if (config_.empty()) {
      return std::nullopt;
    }
    if (config_ == "-") {
      return job::LegacyFile{.text = {std::istreambuf_iterator<char>{std::cin}, {}}, .name = "-"};
    }
    return job::LegacyFile{.text = read_named_file("--config", config_), .name = config_};
  }

  static std::string next_command(const job::Translation& translation) {
    std::string command = "autopack translate ... | autopack submit";
    if (translation.region) {
      command += " --region=" + shell_quote(*translation.region);
    }
    command += " --config=-";
    if (translation.pool_flag) {
      command += " " + shell_quote(*translation.pool_flag);
    }
    return command;
  }

  job::LegacyFlags job_{};
  std::string config_{};
  job::FlagValues packages_{};
  job::FlagValues labels_{};
  std::string staging_bucket_{};
  bool stream_logs_{false};
  bool async_{false};
};

}  // namespace

std::unique_ptr<Command> make_translate_command() {
  return std::make_unique<TranslateCommand>();
}

}  // namespace autopack::cli
