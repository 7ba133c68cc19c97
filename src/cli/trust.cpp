#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/packaging_options.hpp"
#include "cli/settings.hpp"
#include "cli/trust_records.hpp"
#include "job/settings_file.hpp"
#include "packaging/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace autopack::cli {

namespace {

namespace fs = std::filesystem;
using project::ToolSetting;

struct FlagReach {
  std::string_view flag{};
  Reach reach{Reach::nothing};
};

/// Flags without a row in packaging::settings.
constexpr std::array reaches_of_others{
    FlagReach{"--accelerator-count", Reach::nothing},
    FlagReach{"--accelerator-type", Reach::nothing},
    FlagReach{"--access-token-file", Reach::path},
    FlagReach{"--account", Reach::nothing},
    FlagReach{"--algorithm", Reach::nothing},
    FlagReach{"--all", Reach::nothing},
    FlagReach{"--allow-multiline-logs", Reach::nothing},
    FlagReach{"--args", Reach::nothing},
    FlagReach{"--as", Reach::nothing},
    FlagReach{"--async", Reach::nothing},
    FlagReach{"--attest", Reach::nothing},
    FlagReach{"--base-output-dir", Reach::nothing},
    FlagReach{"--billing-project", Reach::nothing},
    FlagReach{"--boot-disk-size", Reach::nothing},
    FlagReach{"--boot-disk-type", Reach::nothing},
    FlagReach{"--build-network", Reach::nothing},
    FlagReach{"--builder", Reach::builder},
    FlagReach{"--check", Reach::nothing},
    FlagReach{"--color", Reach::nothing},
    FlagReach{"--compile-bytecode", Reach::nothing},
    FlagReach{"--config", Reach::path},
    FlagReach{"--configuration", Reach::nothing},
    FlagReach{"--container-image-uri", Reach::nothing},
    FlagReach{"--context", Reach::submitter},
    FlagReach{"--container-mounts", Reach::submitter},
    FlagReach{"--containers", Reach::nothing},
    FlagReach{"--current-base", Reach::nothing},
    FlagReach{"--dataset-id", Reach::nothing},
    FlagReach{"--detach", Reach::nothing},
    FlagReach{"--directory", Reach::nothing},
    FlagReach{"--disable-retries", Reach::nothing},
    FlagReach{"--display-name", Reach::nothing},
    FlagReach{"--dns-peering", Reach::nothing},
    FlagReach{"--docker-run-options", Reach::nothing},
    FlagReach{"--dockerfile", Reach::path},
    FlagReach{"--dry-run", Reach::nothing},
    FlagReach{"--early-stopping", Reach::nothing},
    FlagReach{"--enable-dashboard-access", Reach::nothing},
    FlagReach{"--enable-web-access", Reach::nothing},
    FlagReach{"--engine", Reach::nothing},
    FlagReach{"--engine-host", Reach::nothing},
    FlagReach{"--env", Reach::nothing},
    FlagReach{"--env-file", Reach::path},
    FlagReach{"--evaluator-accelerator", Reach::nothing},
    FlagReach{"--evaluator-count", Reach::nothing},
    FlagReach{"--evaluator-image-uri", Reach::nothing},
    FlagReach{"--evaluator-machine-type", Reach::nothing},
    FlagReach{"--exclude-newer", Reach::nothing},
    FlagReach{"--experiment", Reach::nothing},
    FlagReach{"--experiment-run", Reach::nothing},
    FlagReach{"--fail", Reach::nothing},
    FlagReach{"--filter", Reach::nothing},
    FlagReach{"--flags-file", Reach::nothing},
    FlagReach{"--follow", Reach::nothing},
    FlagReach{"--force", Reach::nothing},
    FlagReach{"--format", Reach::nothing},
    FlagReach{"--from", Reach::paths},
    FlagReach{"--gcs", Reach::bucket},
    FlagReach{"--gpu", Reach::nothing},
    FlagReach{"--gpu-partition-size", Reach::nothing},
    FlagReach{"--gpus", Reach::nothing},
    FlagReach{"--gres", Reach::nothing},
    FlagReach{"--help", Reach::nothing},
    FlagReach{"--help-all", Reach::nothing},
    FlagReach{"--html", Reach::nothing},
    FlagReach{"--impersonate-service-account", Reach::nothing},
    FlagReach{"--job-dir", Reach::nothing},
    FlagReach{"--kind", Reach::nothing},
    FlagReach{"--kms-key", Reach::nothing},
    FlagReach{"--kms-keyring", Reach::nothing},
    FlagReach{"--kms-location", Reach::nothing},
    FlagReach{"--kms-project", Reach::nothing},
    FlagReach{"--label-git", Reach::nothing},
    FlagReach{"--labels", Reach::nothing},
    FlagReach{"--latest", Reach::nothing},
    FlagReach{"--limit", Reach::nothing},
    FlagReach{"--list", Reach::nothing},
    FlagReach{"--login", Reach::submitter},
    FlagReach{"--lustre-mount", Reach::nothing},
    FlagReach{"--machine-type", Reach::nothing},
    FlagReach{"--man", Reach::nothing},
    FlagReach{"--master-accelerator", Reach::nothing},
    FlagReach{"--master-image-uri", Reach::nothing},
    FlagReach{"--master-machine-type", Reach::nothing},
    FlagReach{"--max-dependency-age", Reach::nothing},
    FlagReach{"--max-failed-trial-count", Reach::nothing},
    FlagReach{"--max-replicas", Reach::nothing},
    FlagReach{"--max-trial-count", Reach::nothing},
    FlagReach{"--max-wait-duration", Reach::nothing},
    FlagReach{"--measurement-selection", Reach::nothing},
    FlagReach{"--metric", Reach::nothing},
    FlagReach{"--model-artifact-uri", Reach::nothing},
    FlagReach{"--model-description", Reach::nothing},
    FlagReach{"--model-display-name", Reach::nothing},
    FlagReach{"--model-env", Reach::nothing},
    FlagReach{"--model-health-route", Reach::nothing},
    FlagReach{"--model-id", Reach::nothing},
    FlagReach{"--model-image-uri", Reach::nothing},
    FlagReach{"--model-labels", Reach::nothing},
    FlagReach{"--model-ports", Reach::nothing},
    FlagReach{"--model-predict-route", Reach::nothing},
    FlagReach{"--model-version-aliases", Reach::nothing},
    FlagReach{"--model-version-description", Reach::nothing},
    FlagReach{"--models", Reach::nothing},
    FlagReach{"--module-name", Reach::nothing},
    FlagReach{"--namespace", Reach::nothing},
    FlagReach{"--network", Reach::nothing},
    FlagReach{"--network-attachment", Reach::nothing},
    FlagReach{"--nfs-mount", Reach::nothing},
    FlagReach{"--no-cache", Reach::nothing},
    FlagReach{"--no-infer", Reach::nothing},
    FlagReach{"--no-push", Reach::nothing},
    FlagReach{"--object", Reach::nothing},
    FlagReach{"--old", Reach::nothing},
    FlagReach{"--offline", Reach::nothing},
    FlagReach{"--onto", Reach::nothing},
    FlagReach{"--output", Reach::output},
    FlagReach{"--package-path", Reach::path},
    FlagReach{"--packages", Reach::paths},
    FlagReach{"--page-size", Reach::nothing},
    FlagReach{"--parallel-trial-count", Reach::nothing},
    FlagReach{"--parameter", Reach::nothing},
    FlagReach{"--parameter-server-accelerator", Reach::nothing},
    FlagReach{"--parameter-server-count", Reach::nothing},
    FlagReach{"--parameter-server-image-uri", Reach::nothing},
    FlagReach{"--parameter-server-machine-type", Reach::nothing},
    FlagReach{"--parent-model", Reach::nothing},
    FlagReach{"--partition", Reach::nothing},
    FlagReach{"--persistent-resource-id", Reach::nothing},
    FlagReach{"--pin", Reach::nothing},
    FlagReach{"--platform", Reach::nothing},
    FlagReach{"--pod-template", Reach::pod_template},
    FlagReach{"--polling-interval", Reach::nothing},
    FlagReach{"--priority-class", Reach::nothing},
    FlagReach{"--progress", Reach::nothing},
    FlagReach{"--project", Reach::nothing},
    FlagReach{"--protected-artifact-location", Reach::nothing},
    FlagReach{"--publish", Reach::nothing},
    FlagReach{"--python-package-uris", Reach::nothing},
    FlagReach{"--python-version", Reach::nothing},
    FlagReach{"--queue", Reach::nothing},
    FlagReach{"--qos", Reach::nothing},
    FlagReach{"--quiet", Reach::nothing},
    FlagReach{"--region", Reach::nothing},
    FlagReach{"--remove", Reach::nothing},
    FlagReach{"--replica-count", Reach::nothing},
    FlagReach{"--replica-cpus", Reach::nothing},
    FlagReach{"--replica-memory", Reach::nothing},
    FlagReach{"--reservation-affinity", Reach::nothing},
    FlagReach{"--reserved-ip-ranges", Reach::nothing},
    FlagReach{"--resolver", Reach::nothing},
    FlagReach{"--restart-on-worker-restart", Reach::nothing},
    FlagReach{"--resume", Reach::nothing},
    FlagReach{"--runtime", Reach::nothing},
    FlagReach{"--runtime-version", Reach::nothing},
    FlagReach{"--save", Reach::nothing},
    FlagReach{"--sbom", Reach::paths},
    FlagReach{"--scale-tier", Reach::nothing},
    FlagReach{"--schema", Reach::nothing},
    FlagReach{"--service-account", Reach::nothing},
    FlagReach{"--service-account-key-file", Reach::path},
    FlagReach{"--shared-directory", Reach::submitter},
    FlagReach{"--shell", Reach::nothing},
    FlagReach{"--sign-key", Reach::signing_key},
    FlagReach{"--signal", Reach::nothing},
    FlagReach{"--skip-checks", Reach::nothing},
    FlagReach{"--slurm-account", Reach::nothing},
    FlagReach{"--source", Reach::nothing},
    FlagReach{"--staging-bucket", Reach::staging_bucket},
    FlagReach{"--state", Reach::nothing},
    FlagReach{"--strategy", Reach::nothing},
    FlagReach{"--stream-logs", Reach::nothing},
    FlagReach{"--strict", Reach::nothing},
    FlagReach{"--submitter", Reach::submitter},
    FlagReach{"--task-name", Reach::nothing},
    FlagReach{"--tag", Reach::nothing},
    FlagReach{"--templates", Reach::path},
    FlagReach{"--tensorboard", Reach::nothing},
    FlagReach{"--time", Reach::nothing},
    FlagReach{"--timeout", Reach::nothing},
    FlagReach{"--to", Reach::nothing},
    FlagReach{"--tpu-topology", Reach::nothing},
    FlagReach{"--upgrade", Reach::nothing},
    FlagReach{"--use-chief-in-tf-config", Reach::nothing},
    FlagReach{"--verbose", Reach::nothing},
    FlagReach{"--verbosity", Reach::nothing},
    FlagReach{"--version", Reach::nothing},
    FlagReach{"--volume", Reach::volume},
    FlagReach{"--wait", Reach::nothing},
    FlagReach{"--watch", Reach::nothing},
    FlagReach{"--whole", Reach::nothing},
    FlagReach{"--with-hypertune", Reach::nothing},
    FlagReach{"--worker-accelerator", Reach::nothing},
    FlagReach{"--worker-count", Reach::nothing},
    FlagReach{"--worker-image-uri", Reach::nothing},
    FlagReach{"--worker-machine-type", Reach::nothing},
    FlagReach{"--worker-pool-spec", Reach::pool},
};

Reach reach_of(packaging::Setting::Reach reach) {
  switch (reach) {
    case packaging::Setting::Reach::path: return Reach::path;
    case packaging::Setting::Reach::paths: return Reach::paths;
    case packaging::Setting::Reach::nothing: break;
  }
  return Reach::nothing;
}

std::map<std::string, Reach, std::less<>> reaches_of_all() {
  std::map<std::string, Reach, std::less<>> all;
  for (const auto& [flag, reach] : reaches_of_others) {
    all.emplace(flag, reach);
  }
  for (const auto& setting : packaging::settings) {
    all.emplace(fmt::format("--{}", setting.key), reach_of(setting.reach));
  }
  return all;
}

Reach reach_of(std::string_view flag) {
  const auto& all = flag_reaches();
  const auto found = all.find(flag);
  return found == all.end() ? Reach::nothing : found->second;
}

/// The target of `text`; a dangling link could lead anywhere later.
struct Destination {
  fs::path path{};
  bool is_outside{false};
};

Destination destination_of(const std::string& text, const Environment& environment) {
  std::error_code failure;
  const auto written = fs::absolute(expand_home(text, environment), failure);
  auto whole = fs::weakly_canonical(written, failure);
  if (failure) {
    whole = written.lexically_normal();
  }
  const bool is_open = fs::is_symlink(fs::symlink_status(whole, failure));
  const auto below = whole.lexically_relative(trusted_directory());
  return {.path = whole, .is_outside = is_open || below.empty() || *below.begin() == ".."};
}

/// Examines the settings of one project.
class Search {
public:
  explicit Search(const Environment& environment) : environment_{environment} {}

  void look(const ToolSetting& setting) {
    origin_ = job::Origin::file(printable(setting.file), setting.line);
    const auto flag = "--" + setting.key;
    const auto reach = reach_of(flag);
    is_document_ = setting.is_document;
    if (reach == Reach::nothing || setting.value->is_null() ||
        (is_document_ && reach != Reach::pod_template)) {
      return;
    }
    for (const auto& value : job::flag_values(setting)) {
      look(flag, reach, value);
    }
  }

  std::vector<ReachingSetting> take() { return std::move(found_); }

private:
  void look(const std::string& flag, Reach reach, const job::FlagValue& value) {
    // Unparsable values are refused where the flag is read.
    Problems ignored;
    switch (reach) {
      case Reach::nothing: break;
      case Reach::path: look_at_path(flag, value.text(), value.text()); break;
      case Reach::paths:
        for (const auto& path : value.elements(flag, ignored)) {
          look_at_path(flag, path, path);
        }
        break;
      case Reach::volume:
        look_at_path(flag, value.text(), value.text().substr(0, value.text().find(':')));
        break;
      case Reach::bucket:
        look_at_path(flag, value.text(), value.text().substr(value.text().find('=') + 1));
        break;
      case Reach::output:
        look_at_path(flag, value.text(), value.text().substr(value.text().find(':') + 1));
        break;
      case Reach::submitter:
        if (value.text() != "vertex" && value.text() != "none") {
          add(flag, value.text(), "it chooses where the program runs", value.text());
        }
        break;
      case Reach::pod_template:
        if (is_document_) {
          add(flag, "an object", "it decides what the pods may reach", value.text());
        } else {
          look_at_path(flag, value.text(), value.text());
        }
        break;
      case Reach::builder:
        if (value.text() != "auto") {
          add(flag, value.text(), "it sends the project's files away, and costs money",
              value.text());
        }
        break;
      case Reach::staging_bucket:
        add(flag, value.text(), "the project's files go there", value.text());
        break;
      case Reach::signing_key:
        add(flag, value.text(), "it signs with a key of yours", value.text());
        break;
      case Reach::pool:
        for (const auto& [key, inner] : value.keys(flag, ignored)) {
          look_at_key("--" + key, inner);
        }
        break;
    }
  }

  void look_at_key(const std::string& flag, const job::KeyValue& value) {
    const auto reach = reach_of(flag);
    if (reach == Reach::path || reach == Reach::paths) {
      for (const auto& path : job::to_list(value)) {
        look_at_path(flag, path, path);
      }
    }
  }

  void look_at_path(const std::string& flag, const std::string& value, const std::string& path) {
    const bool is_text = path.find('\n') != std::string::npos || trim(path).starts_with('{');
    const bool is_file_url = to_lower(path).starts_with("file:");
    const bool is_url = path.find("://") != std::string::npos && !is_file_url;
    if (path.empty() || path == "-" || is_text || is_url) {
      return;
    }
    const auto there = is_file_url ? Destination{.path = path, .is_outside = true}
                                   : destination_of(path, environment_);
    if (there.is_outside) {
      add(flag, value, fmt::format("`{}` is outside the project", printable(path)),
          there.path.string());
    }
  }

  void add(const std::string& flag,
           const std::string& value,
           std::string reason,
           const std::string& destination) {
    const std::string zero(1, '\0');
    found_.push_back({.flag = flag,
                      .value = value,
                      .reason = std::move(reason),
                      .fingerprint = sha256(flag + zero + value + zero + destination).hex(),
                      .origin = origin_,
                      .is_document = is_document_});
  }

  const Environment& environment_;
  job::Origin origin_{};
  bool is_document_{false};
  std::vector<ReachingSetting> found_{};
};

std::vector<ReachingSetting> found_in(const std::vector<ToolSetting>& settings,
                                      const Environment& environment) {
  Search search{environment};
  for (const auto& setting : settings) {
    search.look(setting);
  }
  return search.take();
}

}  // namespace

const std::map<std::string, Reach, std::less<>>& flag_reaches() {
  static const auto all = reaches_of_all();
  return all;
}

std::vector<ReachingSetting> reaching_settings(const std::vector<ToolSetting>& of_project,
                                               const std::vector<ToolSetting>& of_user,
                                               const Environment& environment) {
  auto found = found_in(of_project, environment);
  if (!found.empty()) {
    const auto allowed = found_in(of_user, environment);
    std::erase_if(found, [&](const auto& one) {
      return std::ranges::any_of(
          allowed, [&](const auto& other) { return one.fingerprint == other.fingerprint; });
    });
  }
  return found;
}

void refuse_untrusted(std::vector<ReachingSetting> settings,
                      const FlagSet& flags,
                      const Environment& environment) {
  const auto counts = [&](const ReachingSetting& setting) {
    const auto& help = flags.help();
    return flags.given(setting.flag).empty() &&
           std::ranges::any_of(
               help, [&](const FlagHelp& flag) { return flag.long_name == setting.flag; });
  };
  std::erase_if(settings, [&](const auto& setting) { return !counts(setting); });
  if (settings.empty()) {
    return;
  }
  const auto records = read_trust(environment);
  const auto here = records.find(trusted_directory());
  Problems problems;
  for (const auto& setting : settings) {
    if (here != records.end() && here->second.contains(setting.fingerprint)) {
      continue;
    }
    const auto flag = fmt::format("{}={}", setting.flag, shell_quote(setting.value));
    problems.push_back(
        {.message = fmt::format("`{}` is `{}`, which a project's settings may not say by "
                                "themselves: {}",
                                setting.flag.substr(2), printable(setting.value), setting.reason),
         .origin = to_string(setting.origin),
         .hints = {setting.is_document
                       ? fmt::format("`{}=FILE` uses a file of yours instead", setting.flag)
                       : fmt::format("`{}` allows it for one command", printable(flag))}});
  }
  if (!problems.empty()) {
    problems.back().hints.push_back(
        fmt::format("the same line in `{}` allows it everywhere",
                    printable(user_settings_file(environment).string())));
    problems.back().hints.emplace_back("`autopack trust` allows all of it in this directory");
  }
  throw_if_errors(problems, ErrorKind::usage);
}

}  // namespace autopack::cli
