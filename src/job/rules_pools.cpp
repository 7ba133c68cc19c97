#include "base/json.hpp"
#include "base/text.hpp"
#include "job/rules.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace autopack::job {

using nlohmann::json;

namespace {

constexpr std::size_t most_pools = 4;
constexpr std::size_t most_argument_characters = 100'000;
constexpr std::size_t most_variables = 100;
constexpr std::size_t most_packages = 100;

bool is_c_identifier(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') && is_alphanumeric(name, "_");
}

/// UTF-8 continuation bytes do not begin a character.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

void check_environment(const json& form, const std::string& path, Findings& findings) {
  const auto env = form.value("env", json::array());
  if (env.size() > most_variables) {
    findings.error(path + ".env",
                   fmt::format("{} has {} variables; the service takes {}",
                               shown_path(path + ".env"), env.size(), most_variables));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < env.size(); ++i) {
    const auto entry = fmt::format("{}.env[{}]", path, i);
    const auto name = text_of(env[i], "name");
    if (env[i].contains("name") && !is_c_identifier(name)) {
      findings.error(entry,
                     fmt::format("`{}` is no name for an environment variable: letters, digits and "
                                 "`_`, not a digit first",
                                 printable(name)));
    } else if (!name.empty() && !seen.insert(name).second) {
      findings.error(entry, fmt::format("environment variable `{}` is set twice", name));
    }
  }
}

void check_arguments(const json& form, const std::string& path, Findings& findings) {
  std::size_t total = 0;
  for (const auto& argument : form.value("args", json::array())) {
    total += characters(argument.get<std::string>());
  }
  if (total > most_argument_characters) {
    findings.error(path + ".args",
                   fmt::format("{} holds {} characters; the service takes {}",
                               shown_path(path + ".args"), total, most_argument_characters));
  }
}

void check_container(const json& pool, std::size_t index, Findings& findings) {
  const auto path = pool_path(index) + ".containerSpec";
  const auto& form = pool["containerSpec"];
  check_environment(form, path, findings);
  check_arguments(form, path, findings);
  if (findings.draft().is_packaged(index)) {
    return;
  }
  const auto image = text_of(form, "imageUri");
  if (image.empty() && !findings.was_given(path + ".imageUri")) {
    findings.error(path, fmt::format("{} names no `imageUri`", shown_path(path)));
  }
  check_prebuilt_image(image, path + ".imageUri", findings);
}

void check_python_package(const json& pool, std::size_t index, Findings& findings) {
  const auto path = pool_path(index) + ".pythonPackageSpec";
  const auto& form = pool["pythonPackageSpec"];
  check_environment(form, path, findings);
  check_arguments(form, path, findings);
  if (text_of(form, "executorImageUri").empty() &&
      !findings.was_given(path + ".executorImageUri")) {
    findings.error(path, fmt::format("{} needs an executor image: `executor-image-uri`, or "
                                     "`executorImageUri` in a file",
                                     shown_path(pool_path(index))));
  }
  if (text_of(form, "pythonModule").empty() && !findings.was_given(path + ".pythonModule")) {
    findings.error(path,
                   fmt::format("{} needs a module to run: `python-module`, or `pythonModule` in a "
                               "file",
                               shown_path(pool_path(index))));
  }
  check_prebuilt_image(text_of(form, "executorImageUri"), path + ".executorImageUri", findings);
  const auto packages = form.value("packageUris", json::array());
  if (packages.empty() && !findings.was_given(path + ".packageUris")) {
    findings.warning(path,
                     fmt::format("{} names no packages; the service asks for `packageUris`, on the "
                                 "command line `--python-package-uris`",
                                 shown_path(pool_path(index))));
  }
  if (packages.size() > most_packages) {
    findings.error(path + ".packageUris",
                   fmt::format("{} names {} packages; the service takes {}",
                               shown_path(path + ".packageUris"), packages.size(), most_packages));
  }
}

void check_image(const json& pool, std::size_t index, Findings& findings) {
  const bool container = pool.contains("containerSpec");
  const bool package = pool.contains("pythonPackageSpec");
  const auto path = pool_path(index);
  if (container && package) {
    findings.error(path,
                   fmt::format("{} has both a container and a Python package to run; drop one",
                               shown_path(path)));
  } else if (!container && !package && !findings.was_given(path + ".containerSpec") &&
             !findings.was_given(path + ".pythonPackageSpec")) {
    findings.error(path, fmt::format("{} has nothing to run", shown_path(path)),
                   {"name an image (container-image-uri=IMAGE), a Python package "
                    "(executor-image-uri=IMAGE,python-module=MODULE), or package this directory "
                    "(executor-image-uri=IMAGE,local-package-path=.,script=FILE)"});
  }
  if (container) {
    check_container(pool, index, findings);
  }
  if (package) {
    check_python_package(pool, index, findings);
  }
}

void check_replicas(const json& pool, std::size_t index, Findings& findings) {
  const auto text = text_of(pool, "replicaCount");
  if (text.empty()) {
    return;
  }
  const auto path = pool_path(index) + ".replicaCount";
  const auto count = std::stoll(text);
  if (count < 1) {
    findings.error(path, fmt::format("{} is {}; a pool has at least one replica",
                                     findings.name(path, "replica-count"), count));
  } else if (index == 0 && count != 1) {
    findings.error(path,
                   fmt::format("{} is {}; the primary pool has exactly one replica",
                               findings.name(path, "replica-count"), count),
                   {"put the other replicas into a second pool: --worker-pool-spec=machine-type="
                    "...,replica-count=" +
                    std::to_string(count - 1)});
  }
}

void check_mounts(const json& body, const json& pool, const std::string& path, Findings& findings) {
  const auto& spec = body["jobSpec"];
  for (const auto* key : {"nfsMounts", "lustreMounts"}) {
    if (!pool.value(key, json::array()).empty() && !spec.contains("network") &&
        !spec.contains("pscInterfaceConfig") && !spec.contains("persistentResourceId")) {
      findings.warning(path + "." + key,
                       fmt::format("{} is reached through a network, and the job names none",
                                   shown_path(path + "." + key)));
    }
  }
}

}  // namespace

void check_pools(const json& body, Findings& findings) {
  const auto& pools = body["jobSpec"]["workerPoolSpecs"];
  const std::string list = "jobSpec.workerPoolSpecs";
  if (pools.empty()) {
    if (!findings.was_given(list)) {
      findings.error(list, "the job has no worker pool",
                     {"name one: --worker-pool-spec=machine-type=n1-standard-4,..."});
    }
    return;
  }
  if (pools.size() > most_pools) {
    findings.error(
        list + "[4]",
        fmt::format("the job has {} worker pools; the service takes {}: primary, workers, "
                    "parameter servers, evaluators",
                    pools.size(), most_pools));
  }
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].empty()) {
      if (i == 0 && !findings.was_given(pool_path(i) + ".machineSpec")) {
        findings.error(pool_path(i),
                       "the first worker pool is empty; the job's primary runs in it");
      }
      continue;
    }
    check_replicas(pools[i], i, findings);
    check_image(pools[i], i, findings);
    check_machine(pools[i], pool_path(i), findings);
    check_mounts(body, pools[i], pool_path(i), findings);
  }
}

}  // namespace autopack::job
