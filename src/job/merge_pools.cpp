#include "base/json.hpp"
#include "job/merge.hpp"
#include "job/message_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::job {

namespace {

/// Merges `flags` into one pool of the file.
void merge_pool(Pool& pool, const PoolFlags& flags) {
  if (flags.machine_type) {
    ensure(pool.machine).type = flags.machine_type;
  }
  if (flags.accelerator_type) {
    auto& machine = ensure(pool.machine);
    machine.accelerator = flags.accelerator_type;
    machine.accelerators = machine.accelerators.value_or(1);
  }
  if (flags.accelerator_count) {
    ensure(pool.machine).accelerators = flags.accelerator_count;
  }
  if (flags.replica_count || !pool.replicas) {
    pool.replicas = flags.replica_count.value_or(1);
  }
}

/// Merges the program of a pool that is not packaged.
void merge_program(Pool& pool, const PoolFlags& flags) {
  if (flags.container_image_uri) {
    ensure(pool.container).image = flags.container_image_uri;
  }
  if (flags.executor_image_uri) {
    ensure(pool.package).executor_image = flags.executor_image_uri;
  }
  if (flags.python_module) {
    ensure(pool.package).module = flags.python_module;
  }
}

/// A mount replaces the file's mount at the same mount point.
template <class Mount>
void merge_mounts(std::vector<Mount>& mounts, const std::vector<Mount>& given) {
  for (const auto& mount : given) {
    const auto same = std::ranges::find_if(mounts, [&](const Mount& other) {
      return other.mount_point.value_or("") == mount.mount_point.value_or("");
    });
    if (same != mounts.end()) {
      *same = mount;
    } else {
      mounts.push_back(mount);
    }
  }
}

class PoolMerge {
public:
  PoolMerge(const JobFlags& flags, Job& job, Problems& problems)
      : flags_{flags}, job_{job}, problems_{problems} {}

  void run();

private:
  void pool(std::size_t index);
  void origins(const std::string& path, const PoolFlags& flags);
  std::vector<std::size_t> addressed_pools(std::size_t file_pools);
  void without_pool();
  void read_messages();
  void flags_of_pools(const std::vector<std::size_t>& addressed);
  void container(Container& container, const std::string& path);
  void package(PythonPackage& package, const std::string& path);
  void args(std::vector<std::string>& args, const std::string& path);
  void env(std::vector<Variable>& env, const std::string& path);
  void machine(Pool& pool, const std::string& path);
  void mounts(Pool& pool, const std::string& path);

  const JobFlags& flags_;
  Job& job_;
  Problems& problems_;
  std::optional<ReservationAffinity> reservation_{};
  std::vector<NfsMount> nfs_mounts_{};
  std::vector<LustreMount> lustre_mounts_{};
};

void PoolMerge::run() {
  read_messages();
  const auto file_pools = job_.spec.pools.size();
  job_.spec.pools.resize(std::max(file_pools, flags_.pools.size()));
  for (std::size_t i = 0; i < job_.spec.pools.size(); ++i) {
    pool(i);
  }
  flags_of_pools(addressed_pools(file_pools));
}

void PoolMerge::origins(const std::string& path, const PoolFlags& flags) {
  struct Row {
    bool is_typed;
    const char* key;
    const char* path;
  };

  const std::array rows{
      Row{true, "", ""},
      Row{flags.machine_type.has_value(), "machine-type", ".machineSpec.machineType"},
      Row{flags.accelerator_type.has_value(), "accelerator-type", ".machineSpec.acceleratorType"},
      Row{flags.accelerator_count.has_value(), "accelerator-count",
          ".machineSpec.acceleratorCount"},
      Row{flags.replica_count.has_value(), "replica-count", ".replicaCount"},
      Row{flags.container_image_uri.has_value(), "container-image-uri", ".containerSpec.imageUri"},
      Row{flags.executor_image_uri.has_value(), "executor-image-uri",
          ".pythonPackageSpec.executorImageUri"},
      Row{flags.python_module.has_value(), "python-module", ".pythonPackageSpec.pythonModule"},
  };
  for (const auto& row : rows) {
    if (const auto origin = flags.origin_of(row.key); origin && row.is_typed) {
      job_.origins[path + row.path] = *origin;
    }
  }
}

void PoolMerge::pool(std::size_t index) {
  static const PoolFlags none;
  auto& pool = job_.spec.pools[index];
  const auto& flags = index < flags_.pools.size() ? flags_.pools[index] : none;
  if (!flags.empty()) {
    origins(pool_path(index), flags);
  }
  if (pool.is_empty() && flags.empty()) {
    return;
  }
  const bool has_image = (pool.container && pool.container->image) || pool.package;
  // A script without `local-package-path` is an error of its own, and the only one.
  const bool means_to_package = index == 0 && flags.script && !flags.container_image_uri;
  const bool packaged = (flags_.packages() && (index == 0 || !has_image)) || means_to_package;
  if (!flags.empty()) {
    merge_pool(pool, flags);
  }
  if (packaged) {
    ensure(pool.container).image.reset();
    pool.is_packaged = true;
  } else {
    merge_program(pool, flags);
  }
}

/// Returns the pools that flags name. Without any, the file's only pool.
std::vector<std::size_t> PoolMerge::addressed_pools(std::size_t file_pools) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < flags_.pools.size(); ++i) {
    if (!flags_.pools[i].empty()) {
      result.push_back(i);
    }
  }
  if (flags_.pools.empty() && file_pools == 1) {
    result.push_back(0);
  }
  if (!result.empty() || file_pools == 0) {
    return result;
  }
  without_pool();
  return result;
}

void PoolMerge::without_pool() {
  std::vector<std::string_view> given;
  const auto add = [&](bool is_given, std::string_view flag) {
    if (is_given) {
      given.push_back(flag);
    }
  };
  add(flags_.args.has_value(), "--args");
  add(flags_.command.has_value(), "--command");
  add(!flags_.env.empty(), "--env");
  add(!flags_.python_package_uris.empty(), "--python-package-uris");
  for (const auto& field : flags_.fields) {
    add(is_of_pool(*field.flag), field.flag->flag);
  }
  add(flags_.reservation_affinity.has_value(), "--reservation-affinity");
  add(!flags_.nfs_mounts.empty(), "--nfs-mount");
  add(!flags_.lustre_mounts.empty(), "--lustre-mount");
  for (const auto flag : given) {
    problems_.push_back(
        {.message = fmt::format("`{}` reaches no pool: only the file names the pools", flag),
         .origin = to_string(flags_.origin(flag)),
         .hints = {"name the pools it is for: --worker-pool-spec=replica-count=1 is enough for "
                   "the first"}});
  }
}

/// A variable replaces the file's variable with the same name.
void PoolMerge::env(std::vector<Variable>& env, const std::string& path) {
  for (const auto& [name, value] : flags_.env) {
    const auto same = std::ranges::find_if(
        env, [&name = name](const Variable& other) { return other.name.value_or("") == name; });
    const Variable variable{.name = name, .value = value};
    if (same != env.end()) {
      *same = variable;
    } else {
      env.push_back(variable);
    }
    job_.origins[path + ".env"] = flags_.origin("--env");
  }
}

void PoolMerge::machine(Pool& pool, const std::string& path) {
  for (const auto& given : flags_.fields) {
    set_field(given, pool, path, job_.origins);
  }
  if (reservation_) {
    ensure(pool.machine).reservation = reservation_;
    job_.origins[path + ".machineSpec.reservationAffinity"] =
        flags_.origin("--reservation-affinity");
  }
}

void PoolMerge::mounts(Pool& pool, const std::string& path) {
  merge_mounts(pool.nfs_mounts, nfs_mounts_);
  merge_mounts(pool.lustre_mounts, lustre_mounts_);
  if (!nfs_mounts_.empty()) {
    job_.origins[path + ".nfsMounts"] = flags_.origin("--nfs-mount");
  }
  if (!lustre_mounts_.empty()) {
    job_.origins[path + ".lustreMounts"] = flags_.origin("--lustre-mount");
  }
}

/// Parses the flags that need splitting, once for all pools.
void PoolMerge::read_messages() {
  if (flags_.reservation_affinity) {
    reservation_ = read_message<ReservationAffinity>(
        message_of_pairs(*flags_.reservation_affinity, tables::message("ReservationAffinity"),
                         "--reservation-affinity", problems_));
  }
  for (const auto& mount : flags_.nfs_mounts) {
    nfs_mounts_.push_back(read_message<NfsMount>(
        message_of_pairs(mount, tables::message("NfsMount"), "--nfs-mount", problems_)));
  }
  for (const auto& mount : flags_.lustre_mounts) {
    lustre_mounts_.push_back(read_message<LustreMount>(
        message_of_pairs(mount, tables::message("LustreMount"), "--lustre-mount", problems_)));
  }
}

void PoolMerge::args(std::vector<std::string>& args, const std::string& path) {
  if (flags_.args) {
    args = *flags_.args;
    job_.origins[path + ".args"] = flags_.origin("--args");
  }
}

void PoolMerge::container(Container& container, const std::string& path) {
  args(container.args, path);
  if (flags_.command) {
    container.command = *flags_.command;
    job_.origins[path + ".command"] = flags_.origin("--command");
  }
  env(container.env, path);
}

void PoolMerge::package(PythonPackage& package, const std::string& path) {
  args(package.args, path);
  if (!flags_.python_package_uris.empty()) {
    package.uris = flags_.python_package_uris;
    job_.origins[path + ".packageUris"] = flags_.origin("--python-package-uris");
  }
  env(package.env, path);
}

void PoolMerge::flags_of_pools(const std::vector<std::size_t>& addressed) {
  bool any_container = false;
  bool any_package = false;
  for (const auto index : addressed) {
    auto& pool = job_.spec.pools[index];
    const auto path = pool_path(index);
    machine(pool, path);
    mounts(pool, path);
    if (pool.container) {
      container(*pool.container, path + ".containerSpec");
      any_container = true;
    }
    if (pool.package) {
      package(*pool.package, path + ".pythonPackageSpec");
      any_package = true;
    }
  }
  if (!flags_.python_package_uris.empty() && any_container && !any_package) {
    problems_.push_back({.message = "`--python-package-uris` reaches no pool: all run containers",
                         .origin = to_string(flags_.origin("--python-package-uris"))});
  }
  if (flags_.command && any_package && !any_container) {
    problems_.push_back(
        Problem::warning({.message = "`--command` is not used: no pool runs a container",
                          .origin = to_string(flags_.origin("--command"))}));
  }
}

}  // namespace

void merge_pools(const JobFlags& flags, Job& job, Problems& problems) {
  PoolMerge{flags, job, problems}.run();
}

}  // namespace autopack::job
