#include "cli/job_options.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/named_files.hpp"
#include "cli/settings.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <iostream>

namespace autopack::cli {

namespace {

/// Returns a flag's value; nothing if it is equivalent to none.
class GivenValue {
public:
  GivenValue(const FieldOption& option, Problems& problems)
      : option_{option}, problems_{problems} {}

  using Value = std::optional<job::FieldValue>;

  Value operator()(const job::TextField& /*field*/) const { return text(); }

  Value operator()(const job::DurationField& /*field*/) const { return text(); }

  Value operator()(const job::PoolTextField& /*field*/) const { return text(); }

  Value operator()(const job::PoolNumberField& /*field*/) const { return option_.number; }

  Value operator()(const job::SwitchField& /*field*/) const { return option_.choice; }

  Value operator()(const job::ListField& /*field*/) const {
    auto list = job::all_elements(option_.list, std::string{option_.flag->flag}, problems_);
    return list.empty() ? Value{} : std::move(list);
  }

private:
  Value text() const { return option_.text ? Value{*option_.text} : Value{}; }

  const FieldOption& option_;
  Problems& problems_;
};

/// Adds the flag to a command.
class FieldFlagAdder {
public:
  FieldFlagAdder(FieldOption& option, FlagSet& flags) : option_{option}, flags_{flags} {}

  void operator()(const job::TextField& /*field*/) const { text(); }

  void operator()(const job::DurationField& /*field*/) const { text(); }

  void operator()(const job::PoolTextField& /*field*/) const { text(); }

  void operator()(const job::PoolNumberField& /*field*/) const {
    flags_.number(name(), label(), option_.number, help());
  }

  void operator()(const job::SwitchField& /*field*/) const {
    flags_.choice(name(), option_.choice, help());
  }

  void operator()(const job::ListField& /*field*/) const {
    flags_.list(name(), label(), option_.list, help());
  }

private:
  void text() const { flags_.text(name(), label(), option_.text, help()); }

  std::string name() const { return std::string{option_.flag->flag}; }

  std::string label() const { return std::string{option_.flag->label.value()}; }

  std::string help() const { return std::string{option_.flag->help}; }

  FieldOption& option_;
  FlagSet& flags_;
};

std::vector<job::GivenField> given_fields(const JobOptions& options,
                                          const FlagSet& typed,
                                          Problems& problems) {
  std::vector<job::GivenField> fields;
  for (const auto& option : options.fields) {
    const auto origin = typed.origin(std::string{option.flag->flag});
    auto value = std::visit(GivenValue{option, problems}, option.flag->place);
    if (origin && value) {
      fields.push_back({.flag = option.flag, .value = std::move(*value), .origin = *origin});
    }
  }
  return fields;
}

}  // namespace

std::vector<FieldOption> field_options() {
  std::vector<FieldOption> options;
  for (const auto& flag : job::field_flags()) {
    options.push_back({.flag = &flag});
  }
  return options;
}

void add_field_flags(FlagSet& flags, JobOptions& options, job::FlagGroup group) {
  for (auto& option : options.fields) {
    if (option.flag->group == group) {
      std::visit(FieldFlagAdder{option, flags}, option.flag->place);
    }
  }
}

void add_job_flags(FlagSet& flags, JobOptions& options) {
  using Group = job::FlagGroup;
  auto& job = options.flags;
  flags.section("The only pool, or with --worker-pool-spec a KEY of one");
  add_pool_flags(flags, options.only_pool, true);
  flags.section("Job");
  flags.list("--worker-pool-spec", "KEY=VALUE,...", options.pools,
             "a pool by its KEYs, which are the flags above");
  flags.text("--display-name", "NAME", options.display_name, "job name; default: the directory's");
  flags.text("--config", "FILE", options.config, "a job as the API has it; - is stdin");
  flags.list("--args", "ARG,...", options.args, "arguments of the program; or -- ARGS at the end");
  flags.list("--env", "NAME=VALUE,...", options.env, "environment variables");
  flags.section("More of the only pool, or of a KEY", false);
  add_pool_flags(flags, options.only_pool, false);
  add_field_flags(flags, options, Group::machines);
  flags.section("More of the job", false);
  flags.list("--labels", "KEY=VALUE,...", options.labels, "labels of the job");
  flags.list("--command", "WORD,...", options.command, "replaces the image's entry point");
  flags.list("--python-package-uris", "URI,...", options.python_package_uris,
             "packages in Cloud Storage, with an executor image");
  add_field_flags(flags, options, Group::places);
  flags.text("--kms-key", "KEY", job.kms.key, "encryption key, or its whole resource name");
  flags.text("--kms-keyring", "RING", job.kms.keyring, "key ring of the key");
  flags.text("--kms-location", "REGION", job.kms.location, "location of the key");
  flags.text("--kms-project", "ID", job.kms.project, "project of the key");
  add_field_flags(flags, options, Group::limits);
  flags.list("--nfs-mount", "KEY=VALUE,...", job.nfs_mounts,
             "server=HOST,path=PATH,mount-point=NAME; one each time");
  flags.list("--lustre-mount", "KEY=VALUE,...", job.lustre_mounts,
             "keys instance-ip, volume-handle, filesystem, mount-point; one each time");
  flags.text("--reservation-affinity", "KEY=VALUE,...", job.reservation_affinity,
             "reservation-affinity-type=any; or specific, with key=KEY,values=NAME;NAME");
  add_field_flags(flags, options, Group::network);
  flags.list("--dns-peering", "KEY=VALUE,...", job.dns_peerings,
             "keys domain, target-project, target-network; one each time");
  add_field_flags(flags, options, Group::records);
}

job::JobFlags job_flags(const JobOptions& options, const FlagSet& typed, Problems& problems) {
  job::JobFlags flags = options.flags;
  for (const auto& flag : typed.help()) {
    if (const auto origin = typed.origin(flag.long_name)) {
      flags.origins.emplace(flag.long_name, *origin);
    }
  }
  if (options.display_name) {
    flags.display_name = options.display_name;
  } else if (const auto named = typed.origin("--display-name")) {
    problems.push_back({.message = to_string(*named) + " is empty",
                        .hints = {"leave it out to use the directory's name"}});
  }
  flags.fields = given_fields(options, typed, problems);
  flags.pools = read_pools(typed, problems);
  if (typed.origin("--args")) {
    flags.args = job::all_elements(options.args, "--args", problems);
  }
  if (typed.origin("--command")) {
    flags.command = job::all_elements(options.command, "--command", problems);
  }
  flags.python_package_uris =
      job::all_elements(options.python_package_uris, "--python-package-uris", problems);
  flags.labels = job::all_pairs(options.labels, "--labels", problems);
  flags.env = job::all_pairs(options.env, "--env", problems);
  flags.serving = {.ports = job::all_elements(options.model_ports, "--model-ports", problems),
                   .env = job::all_pairs(options.model_env, "--model-env", problems),
                   .labels = job::all_pairs(options.model_labels, "--model-labels", problems)};
  return flags;
}

std::optional<job::Config> read_config(const std::vector<FlagSetting>& places,
                                       const std::string& source,
                                       const Environment& environment,
                                       Problems& problems) {
  const auto given = places.empty() ? job::FlagValue{} : places.front().values.back();
  const auto file = given.text();
  if (file.empty()) {
    return std::nullopt;
  }
  if (file == "-") {
    const std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
    return job::parse_config(text, file, problems);
  }
  const bool is_text = file.find('\n') != std::string::npos || trim(file).starts_with('{');
  if (given.is_document() || is_text) {
    return job::parse_config(file, settings_file_name, problems);
  }
  const auto named = read_named_file("--config", file, source, environment, problems);
  return job::parse_config(named.text, named.name, problems, named.printed_by);
}

std::string today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace autopack::cli
