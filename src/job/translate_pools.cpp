#include "base/text.hpp"
#include "job/legacy.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

namespace {

/// One role's replicas in a scale tier.
struct TierRole {
  std::string_view machine{};
  std::optional<std::string_view> accelerator{};
  int accelerators{0};
  int replicas{0};
};

constexpr std::string_view t4 = "NVIDIA_TESLA_T4";
constexpr int most_t4 = 4;  // in one machine

/// A machine of the legacy service, and its nearest equivalent.
struct LegacyMachine {
  std::string_view name;
  std::string_view machine;
  std::optional<std::string_view> accelerator{};
  int accelerators{0};
};

constexpr std::array machines{
    LegacyMachine{"standard", "n1-standard-4"},
    LegacyMachine{"large_model", "n1-highmem-8"},
    LegacyMachine{"complex_model_s", "n1-highcpu-8"},
    LegacyMachine{"complex_model_m", "n1-highcpu-16"},
    LegacyMachine{"complex_model_l", "n1-highcpu-32"},
    LegacyMachine{"standard_gpu", "n1-standard-8", "NVIDIA_TESLA_K80", 1},
    LegacyMachine{"complex_model_m_gpu", "n1-standard-16", "NVIDIA_TESLA_K80", 4},
    LegacyMachine{"complex_model_l_gpu", "n1-standard-32", "NVIDIA_TESLA_K80", 8},
    LegacyMachine{"standard_p100", "n1-standard-8", "NVIDIA_TESLA_P100", 1},
    LegacyMachine{"complex_model_m_p100", "n1-standard-16", "NVIDIA_TESLA_P100", 4},
    LegacyMachine{"standard_v100", "n1-standard-8", "NVIDIA_TESLA_V100", 1},
    LegacyMachine{"large_model_v100", "n1-highmem-8", "NVIDIA_TESLA_V100", 1},
    LegacyMachine{"complex_model_m_v100", "n1-standard-16", "NVIDIA_TESLA_V100", 4},
    LegacyMachine{"complex_model_l_v100", "n1-standard-32", "NVIDIA_TESLA_V100", 8},
    LegacyMachine{"cloud_tpu", "cloud-tpu", "TPU_V2", 8},
};

Machine machine_of(std::string_view type,
                   std::optional<std::string_view> accelerator,
                   int accelerators) {
  Machine machine{.type = std::string{type}};
  if (accelerator) {
    machine.accelerator = std::string{*accelerator};
    machine.accelerators = accelerators;
  }
  return machine;
}

/// Returns master, workers and parameter servers of a scale tier; empty for CUSTOM and unknown
/// tiers.
std::vector<TierRole> tier_roles(std::string_view tier) {
  if (tier == "BASIC") {
    return {{"n1-standard-4", std::nullopt, 0, 1}};
  }
  if (tier == "BASIC_GPU") {
    return {{"n1-standard-8", "NVIDIA_TESLA_K80", 1, 1}};
  }
  if (tier == "BASIC_TPU") {
    return {{"cloud-tpu", "TPU_V2", 8, 1}};
  }
  if (tier == "STANDARD_1") {
    return {{"n1-highcpu-8", std::nullopt, 0, 1},
            {"n1-highcpu-8", std::nullopt, 0, 4},
            {"n1-standard-4", std::nullopt, 0, 3}};
  }
  if (tier == "PREMIUM_1") {
    return {{"n1-highcpu-16", std::nullopt, 0, 1},
            {"n1-highcpu-16", std::nullopt, 0, 19},
            {"n1-highmem-8", std::nullopt, 0, 11}};
  }
  return {};
}

/// Returns the equivalent of a machine type of the legacy service or of Compute Engine.
Machine translate_machine(Legacy& legacy, const std::string& machine, const std::string& path) {
  const auto* const known =
      std::ranges::find_if(machines, [&](const auto& m) { return m.name == machine; });
  if (known != machines.end()) {
    legacy.warn(path, fmt::format("`{}` has no exact equivalent: `{}` is the nearest", machine,
                                  known->machine));
    return machine_of(known->machine, known->accelerator, known->accelerators);
  }
  const auto* const vertex = tables::find_machine(machine);
  if (vertex == nullptr) {
    std::vector<std::string_view> names;
    names.reserve(machines.size() + tables::machines().size());
    for (const auto& legacy_machine : machines) {
      names.push_back(legacy_machine.name);
    }
    for (const auto& other : tables::machines()) {
      names.push_back(other.name);
    }
    legacy.warn(path, fmt::format("Vertex AI is not known to have machine type `{}`{}",
                                  printable(machine), tables::did_you_mean(machine, names)));
    return {.type = machine};
  }
  if (vertex->fixed.empty()) {
    return {.type = machine};
  }
  return machine_of(machine, vertex->fixed[0].type, vertex->fixed[0].counts[0]);
}

/// Replaces an accelerator that no longer exists by its successor on Vertex AI.
void replace_old_accelerator(Legacy& legacy, Machine& machine, const std::string& path) {
  const auto type = machine.accelerator.value_or("");
  if (type == "NVIDIA_TESLA_K80") {
    const auto count = std::min<std::int64_t>(machine.accelerators.value_or(1), most_t4);
    machine.accelerator = std::string{t4};
    machine.accelerators = count;
    legacy.warn(path, fmt::format("`{}` no longer exists: {} `{}` replace it", type, count, t4));
  } else if (type.starts_with("TPU_V") && type.ends_with("_POD") && type != "TPU_V4_POD") {
    const auto name = type.substr(0, type.size() - std::string_view{"_POD"}.size());
    machine.accelerator = name;
    legacy.warn(path, fmt::format("`{}` has no equivalent: `{}` with the same count is the nearest",
                                  type, name));
  }
}

constexpr const auto& master = legacy_roles[0];
constexpr const auto& worker = legacy_roles[1];

class PoolTranslation {
public:
  explicit PoolTranslation(Legacy& legacy) : legacy_{legacy}, input_{legacy.input()} {}

  std::vector<Pool> run();

private:
  LegacyReplica replica(const LegacyRole& role) const;
  std::string type(const LegacyRole& role) const;
  Number count(const LegacyRole& role) const;
  static std::string path(const LegacyRole& role, std::string_view rest);
  std::string tier() const;
  Pool custom(const LegacyRole& role);
  std::vector<Pool> custom_pools();
  std::vector<Pool> tier_pools();
  Pool tpu();
  void accelerator(Machine& machine, const LegacyRole& role);
  void program(Pool& pool, const LegacyRole& role);
  std::vector<std::string> arguments(const LegacyReplica& replica) const;
  Container container(const LegacyReplica& replica) const;
  PythonPackage package(const Pool& pool);
  void check();
  void check_role(const LegacyRole& role);
  void check_program();

  bool has_image() const { return replica(master).image.has_value(); }

  Legacy& legacy_;
  const LegacyInput& input_;
};

std::string PoolTranslation::path(const LegacyRole& role, std::string_view rest) {
  return fmt::format("trainingInput.{}{}", role.name, rest);
}

LegacyReplica PoolTranslation::replica(const LegacyRole& role) const {
  return (input_.*role.replica).value_or(LegacyReplica{});
}

std::string PoolTranslation::type(const LegacyRole& role) const {
  return (input_.*role.type).value_or("");
}

Number PoolTranslation::count(const LegacyRole& role) const {
  return role.count == nullptr ? std::nullopt : input_.*role.count;
}

/// A machine type without a tier means CUSTOM, as in gcloud.
std::string PoolTranslation::tier() const {
  auto tier = input_.scale_tier.value_or("");
  if (!tier.empty()) {
    return tier;
  }
  return type(master).empty() ? "BASIC" : "CUSTOM";
}

void PoolTranslation::check_role(const LegacyRole& role) {
  const bool has_type = !type(role).empty();
  const bool has_count = count(role).has_value();
  const bool is_custom = tier() == "CUSTOM";
  if (!is_custom && (has_type || has_count)) {
    legacy_.error(path(role, has_type ? "Type" : "Count"),
                  fmt::format("scale tier {} sets the machines itself; `{}Type` and `{}Count` are "
                              "for CUSTOM",
                              tier(), role.name, role.name));
    return;
  }
  if (role.count == nullptr) {
    if (is_custom && !has_type) {
      legacy_.missing(path(role, "Type"), "scale tier CUSTOM needs `masterType`");
    }
    return;
  }
  if (is_custom && has_type != (count(role).value_or(0) != 0)) {
    legacy_.missing(
        path(role, has_type ? "Count" : "Type"),
        fmt::format("`{0}Type` and `{0}Count` are given together or not at all", role.name));
  }
}

void PoolTranslation::check_program() {
  const bool has_module = input_.module.has_value();
  const bool has_code = input_.package_uris || legacy_.is_local();
  if (has_image() && input_.runtime_version) {
    legacy_.error("trainingInput.runtimeVersion",
                  "an image and `runtimeVersion` exclude each other");
  }
  if (has_image() && (has_module || has_code)) {
    legacy_.error("trainingInput.pythonModule", "an image and Python packages exclude each other");
  }
  if (!has_image() && !has_module) {
    legacy_.missing(
        "trainingInput.masterConfig.imageUri",
        "the job has nothing to run: it needs an image, or a Python module with its packages",
        {"--master-image-uri=IMAGE",
         "--module-name=trainer.task --package-path=trainer --runtime-version=2.11"});
  }
  if (has_module && !has_code) {
    legacy_.error("trainingInput.pythonModule",
                  fmt::format("module `{}` is in no package", printable(*input_.module)),
                  {"--package-path=DIRECTORY, or --packages=gs://BUCKET/FILE.tar.gz"});
  }
  for (const auto& role : legacy_roles) {
    const auto own = replica(role);
    if (input_.args && (own.args || own.command)) {
      legacy_.error("trainingInput.args",
                    fmt::format("`args` excludes `containerCommand` and `containerArgs` of "
                                "`{}Config`",
                                role.name));
    }
  }
}

void PoolTranslation::check() {
  for (const auto& role : legacy_roles) {
    check_role(role);
  }
  check_program();
}

/// The job's own accelerator replaces the one that comes with the machine.
void PoolTranslation::accelerator(Machine& machine, const LegacyRole& role) {
  const auto given = replica(role).accelerator.value_or(LegacyAccelerator{});
  const auto type = given.type.value_or("");
  if (!type.empty() && type != "ACCELERATOR_TYPE_UNSPECIFIED") {
    machine.accelerator = type;
    machine.accelerators = given.count.value_or(1);
  }
  replace_old_accelerator(legacy_, machine, path(role, "Type"));
}

/// Returns the program's arguments, followed by the output directory, as in the legacy service.
std::vector<std::string> PoolTranslation::arguments(const LegacyReplica& replica) const {
  auto result = (input_.args ? input_.args : replica.args).value_or(std::vector<std::string>{});
  if (const auto directory = input_.job_directory.value_or(""); !directory.empty()) {
    result.push_back("--job-dir=" + directory);
  }
  return result;
}

Container PoolTranslation::container(const LegacyReplica& replica) const {
  Container container{.image = replica.image ? replica.image : this->replica(master).image,
                      .command = replica.command.value_or(std::vector<std::string>{}),
                      .args = arguments(replica)};
  if (container.image == "") {
    container.image.reset();
  }
  return container;
}

PythonPackage PoolTranslation::package(const Pool& pool) {
  const auto machine = pool.machine.value_or(Machine{});
  return {.executor_image = runtime_image(legacy_, machine.accelerator),
          .uris = input_.package_uris.value_or(std::vector<std::string>{}),
          .module = input_.module.value_or(""),
          .args = arguments({})};
}

/// Local code is packaged at submission, so its pools have no image yet.
void PoolTranslation::program(Pool& pool, const LegacyRole& role) {
  const auto own = replica(role);
  if (!has_image() && !legacy_.is_local() && input_.package_uris) {
    pool.package = package(pool);
  } else {
    pool.container = container(own);
  }
  if (own.disk && (own.disk->type || own.disk->size)) {
    pool.disk = Disk{.type = own.disk->type, .size = own.disk->size};
  }
  if (own.tensorflow_version) {
    legacy_.warn(path(role, "Config.tpuTfVersion"),
                 "`tpuTfVersion` has no equivalent: the image contains TensorFlow");
  }
}

Pool PoolTranslation::custom(const LegacyRole& role) {
  if (type(role).empty() || count(role) == 0) {
    return {};
  }
  Pool pool{.machine = translate_machine(legacy_, type(role), path(role, "Type")),
            .replicas = role.count == nullptr ? Number{1} : count(role)};
  accelerator(*pool.machine, role);
  program(pool, role);
  return pool;
}

/// On Vertex AI the program runs on the TPU's host.
Pool PoolTranslation::tpu() {
  auto pool = custom(worker);
  pool.replicas = 1;
  legacy_.warn(path(worker, "Type"),
               "a TPU job has one pool on Vertex AI: the program runs on the TPU's host, and the "
               "master's machine is left out");
  return pool;
}

std::vector<Pool> PoolTranslation::custom_pools() {
  if (type(worker) == "cloud_tpu") {
    return {tpu()};
  }
  std::vector<Pool> pools;
  for (const auto& role : legacy_roles) {
    pools.push_back(custom(role));
  }
  while (pools.size() > 1 && pools.back().is_empty()) {
    pools.pop_back();
  }
  return pools;
}

std::vector<Pool> PoolTranslation::tier_pools() {
  legacy_.warn(
      "trainingInput.scaleTier",
      fmt::format("scale tier {} has no equivalent: its machines are approximate", tier()));
  std::vector<Pool> pools;
  for (const auto& of_role : tier_roles(tier())) {
    const auto& role = legacy_roles.at(pools.size());
    Pool pool{.machine = Machine{.type = std::string{of_role.machine}},
              .replicas = of_role.replicas};
    if (of_role.accelerator) {
      pool.machine->accelerator = std::string{*of_role.accelerator};
      pool.machine->accelerators = of_role.accelerators;
    }
    accelerator(*pool.machine, role);
    program(pool, role);
    pools.push_back(std::move(pool));
  }
  return pools;
}

std::vector<Pool> PoolTranslation::run() {
  check();
  return tier() == "CUSTOM" ? custom_pools() : tier_pools();
}

}  // namespace

std::vector<Pool> translate_pools(Legacy& legacy) {
  return PoolTranslation{legacy}.run();
}

}  // namespace autopack::job
