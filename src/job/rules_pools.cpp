#include "base/text.hpp"
#include "job/rules.hpp"

#include <fmt/format.h>

#include <set>

namespace autopack::job {

namespace {

constexpr std::size_t most_pools = 4;
constexpr std::size_t most_argument_characters = 100'000;
constexpr std::size_t most_variables = 100;
constexpr std::size_t most_packages = 100;

bool is_c_identifier(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') && is_alphanumeric(name, "_");
}

void check_environment(const std::vector<Variable>& env,
                       const std::string& path,
                       Findings& findings) {
  if (env.size() > most_variables) {
    findings.error(path + ".env",
                   fmt::format("{} has {} variables; the service takes {}",
                               shown_path(path + ".env"), env.size(), most_variables));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < env.size(); ++i) {
    const auto entry = fmt::format("{}.env[{}]", path, i);
    const auto& name = env[i].name;
    if (name && !is_c_identifier(*name)) {
      findings.error(entry,
                     fmt::format("`{}` is no name for an environment variable: letters, digits and "
                                 "`_`, not a digit first",
                                 printable(*name)));
    } else if (name && !name->empty() && !seen.insert(*name).second) {
      findings.error(entry, fmt::format("environment variable `{}` is set twice", *name));
    }
  }
}

void check_arguments(const std::vector<std::string>& args,
                     const std::string& path,
                     Findings& findings) {
  std::size_t total = 0;
  for (const auto& argument : args) {
    total += characters(argument);
  }
  if (total > most_argument_characters) {
    findings.error(path + ".args",
                   fmt::format("{} holds {} characters; the service takes {}",
                               shown_path(path + ".args"), total, most_argument_characters));
  }
}

void check_container(const Pool& pool, const std::string& pool_path, Findings& findings) {
  const auto path = pool_path + ".containerSpec";
  const auto& container = *pool.container;
  check_environment(container.env, path, findings);
  check_arguments(container.args, path, findings);
  if (pool.is_packaged) {
    return;
  }
  const auto image = container.image.value_or("");
  if (image.empty() && !findings.was_given(path + ".imageUri")) {
    findings.error(path, fmt::format("{} names no `imageUri`", shown_path(path)));
  }
  check_prebuilt_image(image, path + ".imageUri", findings);
}

void check_python_package(const PythonPackage& package,
                          const std::string& pool_path,
                          Findings& findings) {
  const auto path = pool_path + ".pythonPackageSpec";
  const auto executor = package.executor_image.value_or("");
  check_environment(package.env, path, findings);
  check_arguments(package.args, path, findings);
  if (executor.empty() && !findings.was_given(path + ".executorImageUri")) {
    findings.error(path, fmt::format("{} needs an executor image: `executor-image-uri`, or "
                                     "`executorImageUri` in a file",
                                     shown_path(pool_path)));
  }
  if (package.module.value_or("").empty() && !findings.was_given(path + ".pythonModule")) {
    findings.error(path,
                   fmt::format("{} needs a module to run: `python-module`, or `pythonModule` in a "
                               "file",
                               shown_path(pool_path)));
  }
  check_prebuilt_image(executor, path + ".executorImageUri", findings);
  if (package.uris.empty() && !findings.was_given(path + ".packageUris")) {
    findings.warning(path,
                     fmt::format("{} names no packages; the service asks for `packageUris`, on the "
                                 "command line `--python-package-uris`",
                                 shown_path(pool_path)));
  }
  if (package.uris.size() > most_packages) {
    findings.error(path + ".packageUris", fmt::format("{} names {} packages; the service takes {}",
                                                      shown_path(path + ".packageUris"),
                                                      package.uris.size(), most_packages));
  }
}

void check_program(const Pool& pool, const std::string& path, Findings& findings) {
  if (pool.container && pool.package) {
    findings.error(path,
                   fmt::format("{} has both a container and a Python package to run; drop one",
                               shown_path(path)));
  } else if (!pool.container && !pool.package && !findings.was_given(path + ".containerSpec") &&
             !findings.was_given(path + ".pythonPackageSpec")) {
    findings.error(path, fmt::format("{} has nothing to run", shown_path(path)),
                   {"name an image (container-image-uri=IMAGE), a Python package "
                    "(executor-image-uri=IMAGE,python-module=MODULE), or package this directory "
                    "(executor-image-uri=IMAGE,local-package-path=.,script=FILE)"});
  }
  if (pool.container) {
    check_container(pool, path, findings);
  }
  if (pool.package) {
    check_python_package(*pool.package, path, findings);
  }
}

void check_replicas(const Number& replicas, std::size_t index, Findings& findings) {
  if (!replicas) {
    return;
  }
  const auto path = pool_path(index) + ".replicaCount";
  const auto count = *replicas;
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

void check_mounts(const Spec& spec, const Pool& pool, const std::string& path, Findings& findings) {
  if (spec.network || spec.psc_interface || spec.persistent_resource) {
    return;
  }
  const auto warn = [&](const std::string& mounts) {
    findings.warning(mounts, fmt::format("{} is reached through a network, and the job names none",
                                         shown_path(mounts)));
  };
  if (!pool.nfs_mounts.empty()) {
    warn(path + ".nfsMounts");
  }
  if (!pool.lustre_mounts.empty()) {
    warn(path + ".lustreMounts");
  }
}

}  // namespace

void check_pools(const Spec& spec, Findings& findings) {
  const auto& pools = spec.pools;
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
    if (pools[i].is_empty()) {
      if (i == 0 && !findings.was_given(pool_path(i) + ".machineSpec")) {
        findings.error(pool_path(i),
                       "the first worker pool is empty; the job's primary runs in it");
      }
      continue;
    }
    check_replicas(pools[i].replicas, i, findings);
    check_program(pools[i], pool_path(i), findings);
    check_machine(pools[i], pool_path(i), findings);
    check_mounts(spec, pools[i], pool_path(i), findings);
  }
}

}  // namespace autopack::job
