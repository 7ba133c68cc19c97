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

void check_environment(const std::vector<Variable>& env, const std::string& path, Review& review) {
  if (env.size() > most_variables) {
    review.error(path + ".env", fmt::format("{} has {} variables; the service accepts {}",
                                            shown_path(path + ".env"), env.size(), most_variables));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < env.size(); ++i) {
    const auto entry = fmt::format("{}.env[{}]", path, i);
    const auto& name = env[i].name;
    if (name && !is_c_identifier(*name)) {
      review.error(
          entry,
          fmt::format("`{}` is not a valid name for an environment variable: letters, digits and "
                      "`_`, not a digit first",
                      printable(*name)));
    } else if (name && !name->empty() && !seen.insert(*name).second) {
      review.error(entry, fmt::format("environment variable `{}` is set twice", *name));
    }
  }
}

void check_arguments(const std::vector<std::string>& args,
                     const std::string& path,
                     Review& review) {
  std::size_t total = 0;
  for (const auto& argument : args) {
    total += characters(argument);
  }
  if (total > most_argument_characters) {
    review.error(path + ".args",
                 fmt::format("{} has {} characters; the service accepts {}",
                             shown_path(path + ".args"), total, most_argument_characters));
  }
}

void check_container(const Pool& pool, const std::string& pool_path, Review& review) {
  const auto path = pool_path + ".containerSpec";
  const auto& container = *pool.container;
  check_environment(container.env, path, review);
  check_arguments(container.args, path, review);
  if (pool.is_packaged) {
    return;
  }
  const auto image = container.image.value_or("");
  if (image.empty() && !review.was_given(path + ".imageUri")) {
    review.error(path, fmt::format("{} names no `imageUri`", shown_path(path)));
  }
  check_prebuilt_image(image, path + ".imageUri", review);
}

void check_python_package(const PythonPackage& package,
                          const std::string& pool_path,
                          Review& review) {
  const auto path = pool_path + ".pythonPackageSpec";
  const auto executor = package.executor_image.value_or("");
  check_environment(package.env, path, review);
  check_arguments(package.args, path, review);
  if (executor.empty() && !review.was_given(path + ".executorImageUri")) {
    review.error(path, fmt::format("{} needs an executor image: `executor-image-uri`, or "
                                   "`executorImageUri` in a file",
                                   shown_path(pool_path)));
  }
  if (package.module.value_or("").empty() && !review.was_given(path + ".pythonModule")) {
    review.error(path,
                 fmt::format("{} needs a module to run: `python-module`, or `pythonModule` in a "
                             "file",
                             shown_path(pool_path)));
  }
  check_prebuilt_image(executor, path + ".executorImageUri", review);
  if (package.uris.empty() && !review.was_given(path + ".packageUris")) {
    review.warning(path,
                   fmt::format("{} names no packages; the service requires `packageUris`, on the "
                               "command line `--python-package-uris`",
                               shown_path(pool_path)));
  }
  if (package.uris.size() > most_packages) {
    review.error(path + ".packageUris", fmt::format("{} names {} packages; the service accepts {}",
                                                    shown_path(path + ".packageUris"),
                                                    package.uris.size(), most_packages));
  }
}

void check_program(const Pool& pool, const std::string& path, Review& review) {
  if (pool.container && pool.package) {
    review.error(path, fmt::format("{} has both a container and a Python package to run; drop one",
                                   shown_path(path)));
  } else if (!pool.container && !pool.package && !review.was_given(path + ".containerSpec") &&
             !review.was_given(path + ".pythonPackageSpec")) {
    review.error(path, fmt::format("{} has nothing to run", shown_path(path)),
                 {review.has_own_flags(path)
                      ? "name an image (`--container-image-uri=IMAGE`), or package this directory "
                        "(`--executor-image-uri=IMAGE --script=FILE`)"
                      : "name an image (container-image-uri=IMAGE), a Python package "
                        "(executor-image-uri=IMAGE,python-module=MODULE), or package this "
                        "directory (executor-image-uri=IMAGE,local-package-path=.,script=FILE)"});
  }
  if (pool.container) {
    check_container(pool, path, review);
  }
  if (pool.package) {
    check_python_package(*pool.package, path, review);
  }
}

void check_replicas(const Number& replicas, std::size_t index, Review& review) {
  if (!replicas) {
    return;
  }
  const auto path = pool_path(index) + ".replicaCount";
  const auto count = *replicas;
  if (count < 1) {
    review.error(path, fmt::format("{} is {}; a pool has at least one replica",
                                   review.name(path, "replica-count"), count));
  } else if (index == 0 && count != 1 && !review.options().on_cluster) {
    review.error(path,
                 fmt::format("{} is {}; the primary pool has exactly one replica",
                             review.name(path, "replica-count"), count),
                 {"put the other replicas into a second pool: --worker-pool-spec=machine-type="
                  "...,replica-count=" +
                  std::to_string(count - 1)});
  }
}

void check_mounts(const Spec& spec, const Pool& pool, const std::string& path, Review& review) {
  if (spec.network || spec.psc_interface || spec.persistent_resource) {
    return;
  }
  const auto warn = [&](const std::string& mounts) {
    review.warning(mounts,
                   fmt::format("{} requires a network, but the job has none", shown_path(mounts)));
  };
  if (!pool.nfs_mounts.empty()) {
    warn(path + ".nfsMounts");
  }
  if (!pool.lustre_mounts.empty()) {
    warn(path + ".lustreMounts");
  }
}

}  // namespace

void check_pools(const Spec& spec, Review& review) {
  const auto& pools = spec.pools;
  const std::string list = "jobSpec.workerPoolSpecs";
  if (pools.empty()) {
    if (!review.was_given(list)) {
      review.error(list, "the job has no worker pool",
                   {"name it: --machine-type=n1-standard-4 --executor-image-uri=python:3.11 "
                    "--script=FILE",
                    "or several pools, one by one: --worker-pool-spec=machine-type=...,..."});
    }
    return;
  }
  if (pools.size() > most_pools) {
    review.error(
        list + "[4]",
        fmt::format("the job has {} worker pools; the service accepts {}: primary, workers, "
                    "parameter servers, evaluators",
                    pools.size(), most_pools));
  }
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].is_empty()) {
      if (i == 0 && !review.was_given(pool_path(i) + ".machineSpec")) {
        review.error(pool_path(i),
                     "the first worker pool is empty, but the job's primary replica runs in it");
      }
      continue;
    }
    check_replicas(pools[i].replicas, i, review);
    check_program(pools[i], pool_path(i), review);
    check_machine(pools[i], pool_path(i), review);
    check_mounts(spec, pools[i], pool_path(i), review);
  }
}

}  // namespace autopack::job
