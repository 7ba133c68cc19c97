#include "base/json.hpp"
#include "job/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace autopack::job {

using nlohmann::json;

namespace {

void merge_machine(json& pool, const PoolFlags& flags) {
  if (flags.machine_type) {
    pool["machineSpec"]["machineType"] = *flags.machine_type;
  }
  if (flags.accelerator_type) {
    pool["machineSpec"]["acceleratorType"] = *flags.accelerator_type;
    if (!pool["machineSpec"].contains("acceleratorCount")) {
      pool["machineSpec"]["acceleratorCount"] = 1;
    }
  }
  if (flags.accelerator_count) {
    pool["machineSpec"]["acceleratorCount"] = *flags.accelerator_count;
  }
  if (flags.replica_count || !pool.contains("replicaCount")) {
    pool["replicaCount"] = std::to_string(flags.replica_count.value_or(1));
  }
}

/// Lays `flags` over what the file says of one pool.
void merge_pool(json& pool, const PoolFlags& flags, bool packaged) {
  if (!flags.empty()) {
    merge_machine(pool, flags);
  }
  if (packaged) {
    auto& form = pool["containerSpec"];
    form = form.is_object() ? form : json::object();
    form.erase("imageUri");
    return;
  }
  if (flags.container_image_uri) {
    pool["containerSpec"]["imageUri"] = *flags.container_image_uri;
  }
  if (flags.executor_image_uri) {
    pool["pythonPackageSpec"]["executorImageUri"] = *flags.executor_image_uri;
  }
  if (flags.python_module) {
    pool["pythonPackageSpec"]["pythonModule"] = *flags.python_module;
  }
}

class PoolMerge {
public:
  PoolMerge(const JobFlags& flags, Draft& draft, Problems& problems)
      : flags_{flags}, draft_{draft}, problems_{problems} {}

  void run();

private:
  json& list() { return (*draft_.body)["jobSpec"]["workerPoolSpecs"]; }

  void pool(std::size_t index);
  void origins(const std::string& path, const PoolFlags& flags);
  std::vector<std::size_t> addressed_pools(std::size_t file_pools);
  void without_pool();
  void read_messages();
  void container_flags(const std::vector<std::size_t>& addressed);
  void form_flags(json& form, const std::string& path, bool is_container);
  void env(json& form, const std::string& path);
  void machine(json& pool, const std::string& path);
  void mounts(json& pool, const std::string& path);

  const JobFlags& flags_;
  Draft& draft_;
  Problems& problems_;
  json reservation_{};
  std::vector<json> nfs_mounts_{};
  std::vector<json> lustre_mounts_{};
};

void PoolMerge::run() {
  read_messages();
  const bool packaging =
      !flags_.pools.empty() && (flags_.own_dockerfile || flags_.pools[0].local_package_path);
  if (packaging) {
    draft_.packaging = flags_.pools[0];
  }
  if (!list().is_array()) {
    list() = json::array();
  }
  const auto file_pools = list().size();
  for (std::size_t i = 0; i < std::max(file_pools, flags_.pools.size()); ++i) {
    if (i == list().size()) {
      list().push_back(json::object());
    }
    pool(i);
  }
  container_flags(addressed_pools(file_pools));
}

void PoolMerge::origins(const std::string& path, const PoolFlags& flags) {
  const std::array<std::pair<bool, const char*>, 8> typed{{
      {true, ""},
      {flags.machine_type.has_value(), ".machineSpec.machineType"},
      {flags.accelerator_type.has_value(), ".machineSpec.acceleratorType"},
      {flags.accelerator_count.has_value(), ".machineSpec.acceleratorCount"},
      {flags.replica_count.has_value(), ".replicaCount"},
      {flags.container_image_uri.has_value(), ".containerSpec.imageUri"},
      {flags.executor_image_uri.has_value(), ".pythonPackageSpec.executorImageUri"},
      {flags.python_module.has_value(), ".pythonPackageSpec.pythonModule"},
  }};
  for (const auto& [is_typed, key] : typed) {
    if (is_typed) {
      draft_.origins[path + key] = flags.origin;
    }
  }
}

void PoolMerge::pool(std::size_t index) {
  static const PoolFlags none;
  auto& pool = list()[index];
  const auto& flags = index < flags_.pools.size() ? flags_.pools[index] : none;
  if (!flags.empty()) {
    origins(pool_path(index), flags);
  }
  if (pool.empty() && flags.empty()) {
    return;
  }
  const bool has_image =
      (pool.contains("containerSpec") && pool["containerSpec"].contains("imageUri")) ||
      pool.contains("pythonPackageSpec");
  const bool packaged = draft_.packaging && (index == 0 || !has_image);
  if (packaged) {
    draft_.packaged_pools.push_back(index);
  }
  merge_pool(pool, flags, packaged);
}

/// Those that flags name. Without any, a file's only pool is meant.
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
  const std::array<std::pair<bool, std::string_view>, 11> given{{
      {flags_.args.has_value(), "--args"},
      {flags_.command.has_value(), "--command"},
      {!flags_.env.empty(), "--env"},
      {!flags_.python_package_uris.empty(), "--python-package-uris"},
      {!flags_.boot_disk_type.empty(), "--boot-disk-type"},
      {flags_.boot_disk_size.has_value(), "--boot-disk-size"},
      {!flags_.tpu_topology.empty(), "--tpu-topology"},
      {!flags_.gpu_partition_size.empty(), "--gpu-partition-size"},
      {!flags_.reservation_affinity.empty(), "--reservation-affinity"},
      {!flags_.nfs_mounts.empty(), "--nfs-mount"},
      {!flags_.lustre_mounts.empty(), "--lustre-mount"},
  }};
  for (const auto& [is_given, flag] : given) {
    if (is_given) {
      problems_.push_back(
          {.message = fmt::format("`{}` reaches no pool: only the file names the pools", flag),
           .origin = fmt::format("`{}`", flag),
           .hints = {"name the pools it is for: --worker-pool-spec=replica-count=1 is enough for "
                     "the first"}});
    }
  }
}

void PoolMerge::env(json& form, const std::string& path) {
  for (const auto& variable : flags_.env) {
    const auto& name = variable.first;
    auto& list = form["env"];
    const auto same = std::find_if(list.begin(), list.end(), [&](const json& entry) {
      return entry.value("name", "") == name;
    });
    const json entry{{"name", name}, {"value", variable.second}};
    if (same != list.end()) {
      *same = entry;
    } else {
      list.push_back(entry);
    }
    draft_.origins[path + ".env"] = "`--env`";
  }
}

void PoolMerge::machine(json& pool, const std::string& path) {
  if (!flags_.boot_disk_type.empty()) {
    pool["diskSpec"]["bootDiskType"] = flags_.boot_disk_type;
    draft_.origins[path + ".diskSpec.bootDiskType"] = "`--boot-disk-type`";
  }
  if (flags_.boot_disk_size) {
    pool["diskSpec"]["bootDiskSizeGb"] = *flags_.boot_disk_size;
    draft_.origins[path + ".diskSpec.bootDiskSizeGb"] = "`--boot-disk-size`";
  }
  if (!flags_.tpu_topology.empty()) {
    pool["machineSpec"]["tpuTopology"] = flags_.tpu_topology;
    draft_.origins[path + ".machineSpec.tpuTopology"] = "`--tpu-topology`";
  }
  if (!flags_.gpu_partition_size.empty()) {
    pool["machineSpec"]["gpuPartitionSize"] = flags_.gpu_partition_size;
    draft_.origins[path + ".machineSpec.gpuPartitionSize"] = "`--gpu-partition-size`";
  }
  if (!flags_.reservation_affinity.empty()) {
    pool["machineSpec"]["reservationAffinity"] = reservation_;
    draft_.origins[path + ".machineSpec.reservationAffinity"] = "`--reservation-affinity`";
  }
}

/// A mount takes the place of the file's at the same mount point.
void PoolMerge::mounts(json& pool, const std::string& path) {
  for (const auto& [key, flag, given] : {std::tuple{"nfsMounts", "--nfs-mount", &nfs_mounts_},
                                         {"lustreMounts", "--lustre-mount", &lustre_mounts_}}) {
    for (const auto& mount : *given) {
      auto& list = pool[key];
      const auto same = std::find_if(list.begin(), list.end(), [&](const json& entry) {
        return entry.value("mountPoint", "") == mount.value("mountPoint", "");
      });
      if (same != list.end()) {
        *same = mount;
      } else {
        list.push_back(mount);
      }
      draft_.origins[path + "." + key] = fmt::format("`{}`", flag);
    }
  }
}

/// What needs splitting, once for all pools.
void PoolMerge::read_messages() {
  if (!flags_.reservation_affinity.empty()) {
    reservation_ =
        message_of_pairs(flags_.reservation_affinity, tables::message("ReservationAffinity"),
                         "--reservation-affinity", problems_);
  }
  for (const auto& mount : flags_.nfs_mounts) {
    nfs_mounts_.push_back(
        message_of_pairs(mount, tables::message("NfsMount"), "--nfs-mount", problems_));
  }
  for (const auto& mount : flags_.lustre_mounts) {
    lustre_mounts_.push_back(
        message_of_pairs(mount, tables::message("LustreMount"), "--lustre-mount", problems_));
  }
}

void PoolMerge::form_flags(json& form, const std::string& path, bool is_container) {
  const auto replace = [&](const char* key, const std::vector<std::string>& values) {
    form.erase(key);
    if (!values.empty()) {
      form[key] = values;
    }
    draft_.origins[path + "." + key] = fmt::format("`--{}`", key);
  };
  if (flags_.args) {
    replace("args", *flags_.args);
  }
  if (is_container && flags_.command) {
    replace("command", *flags_.command);
  }
  if (!is_container && !flags_.python_package_uris.empty()) {
    form["packageUris"] = flags_.python_package_uris;
    draft_.origins[path + ".packageUris"] = "`--python-package-uris`";
  }
  env(form, path);
}

void PoolMerge::container_flags(const std::vector<std::size_t>& addressed) {
  bool any_container = false;
  bool any_package = false;
  for (const auto index : addressed) {
    auto& pool = list()[index];
    machine(pool, pool_path(index));
    mounts(pool, pool_path(index));
    for (const std::string form : {"containerSpec", "pythonPackageSpec"}) {
      if (pool.contains(form)) {
        const bool is_container = form == "containerSpec";
        form_flags(pool[form], pool_path(index) + "." + form, is_container);
        (is_container ? any_container : any_package) = true;
      }
    }
  }
  if (!flags_.python_package_uris.empty() && any_container && !any_package) {
    problems_.push_back({.message = "`--python-package-uris` reaches no pool: all run containers",
                         .origin = "`--python-package-uris`"});
  }
  if (flags_.command && any_package && !any_container) {
    problems_.push_back({.severity = Problem::Severity::warning,
                         .message = "`--command` is not used: no pool runs a container",
                         .origin = "`--command`"});
  }
}

}  // namespace

void merge_pools(const JobFlags& flags, Draft& draft, Problems& problems) {
  PoolMerge{flags, draft, problems}.run();
}

}  // namespace autopack::job
