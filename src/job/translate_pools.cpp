#include "base/json.hpp"
#include "base/text.hpp"
#include "job/legacy.hpp"
#include "job/rules.hpp"
#include "job/translate_machines.hpp"

#include <fmt/format.h>

#include <array>

namespace autopack::job {

using nlohmann::json;

namespace {

/// The roles in the order of Vertex AI's pools, by the beginning of their keys.
constexpr std::array roles{std::string_view{"master"}, std::string_view{"worker"},
                           std::string_view{"parameterServer"}, std::string_view{"evaluator"}};

class PoolTranslation {
public:
  explicit PoolTranslation(Legacy& legacy) : legacy_{legacy} {}

  json run();

private:
  json config(std::string_view role) const;
  static std::string path(std::string_view role, std::string_view rest);
  std::string tier() const;
  json custom(std::string_view role);
  json tpu(std::string_view role);
  void accelerator(json& machine, std::string_view role);
  void program(json& pool, std::string_view role);
  json arguments(const json& config) const;
  void container(json& pool, const json& config);
  void package(json& pool);
  void check();
  void check_role(std::string_view role);
  void check_program();
  bool has_image() const;

  Legacy& legacy_;
};

std::string PoolTranslation::path(std::string_view role, std::string_view rest) {
  return fmt::format("trainingInput.{}{}", role, rest);
}

json PoolTranslation::config(std::string_view role) const {
  return legacy_.input().value(fmt::format("{}Config", role), json::object());
}

/// A machine type without a tier means CUSTOM, as gcloud reads it.
std::string PoolTranslation::tier() const {
  auto tier = legacy_.text("scaleTier");
  if (!tier.empty()) {
    return tier;
  }
  return legacy_.text("masterType").empty() ? "BASIC" : "CUSTOM";
}

bool PoolTranslation::has_image() const {
  return config("master").contains("imageUri");
}

void PoolTranslation::check_role(std::string_view role) {
  const auto type = legacy_.text(fmt::format("{}Type", role));
  const auto count = legacy_.text(fmt::format("{}Count", role));
  const bool is_custom = tier() == "CUSTOM";
  if (!is_custom && (!type.empty() || !count.empty())) {
    legacy_.error(path(role, type.empty() ? "Count" : "Type"),
                  fmt::format("scale tier {} sets the machines itself; `{}Type` and `{}Count` are "
                              "for CUSTOM",
                              tier(), role, role));
    return;
  }
  if (role == "master") {
    if (is_custom && type.empty()) {
      legacy_.missing(path(role, "Type"), "scale tier CUSTOM needs `masterType`");
    }
    return;
  }
  if (is_custom && type.empty() != (count.empty() || count == "0")) {
    legacy_.missing(path(role, type.empty() ? "Type" : "Count"),
                    fmt::format("`{0}Type` and `{0}Count` are given together or not at all", role));
  }
}

void PoolTranslation::check_program() {
  const auto& input = legacy_.input();
  const bool has_module = input.contains("pythonModule");
  const bool has_code = input.contains("packageUris") || !legacy_.package_path.empty() ||
                        !legacy_.local_packages.empty();
  if (has_image() && input.contains("runtimeVersion")) {
    legacy_.error("trainingInput.runtimeVersion",
                  "an image and `runtimeVersion` exclude each other");
  }
  if (has_image() && (has_module || has_code)) {
    legacy_.error("trainingInput.pythonModule", "an image and Python packages exclude each other");
  }
  if (!has_image() && !has_module) {
    legacy_.missing("trainingInput.masterConfig.imageUri",
                    "the job names nothing to run: an image, or a Python module with its packages",
                    {"--master-image-uri=IMAGE",
                     "--module-name=trainer.task --package-path=trainer --runtime-version=2.11"});
  }
  if (has_module && !has_code) {
    legacy_.error(
        "trainingInput.pythonModule",
        fmt::format("module `{}` is in no package", printable(legacy_.text("pythonModule"))),
        {"--package-path=DIRECTORY, or --packages=gs://BUCKET/FILE.tar.gz"});
  }
  for (const auto role : roles) {
    const auto own = config(role);
    if (input.contains("args") &&
        (own.contains("containerArgs") || own.contains("containerCommand"))) {
      legacy_.error("trainingInput.args",
                    fmt::format("`args` excludes `containerCommand` and `containerArgs` of `{}`",
                                fmt::format("{}Config", role)));
    }
  }
}

void PoolTranslation::check() {
  for (const auto role : roles) {
    check_role(role);
  }
  check_program();
}

/// The job's own accelerator takes the place of the one that comes with the machine.
void PoolTranslation::accelerator(json& machine, std::string_view role) {
  const auto given = config(role).value("acceleratorConfig", json::object());
  const auto type = text_of(given, "type");
  if (!type.empty() && type != "ACCELERATOR_TYPE_UNSPECIFIED") {
    machine["acceleratorType"] = type;
    machine["acceleratorCount"] = static_cast<std::int32_t>(std::stoll(given.value("count", "1")));
  }
  replace_old_accelerator(legacy_, machine, path(role, "Type"));
}

/// The program's arguments, the directory for its output last, as the legacy service gave them.
json PoolTranslation::arguments(const json& config) const {
  json result = legacy_.input().contains("args") ? legacy_.input()["args"]
                                                 : config.value("containerArgs", json::array());
  if (const auto directory = legacy_.text("jobDir"); !directory.empty()) {
    result.push_back("--job-dir=" + directory);
  }
  return result;
}

void PoolTranslation::container(json& pool, const json& config) {
  auto& form = pool["containerSpec"];
  form = json::object();
  const auto master = this->config("master");
  const auto image =
      config.contains("imageUri") ? text_of(config, "imageUri") : text_of(master, "imageUri");
  if (!image.empty()) {
    form["imageUri"] = image;
  }
  if (config.contains("containerCommand")) {
    form["command"] = config["containerCommand"];
  }
  if (auto args = arguments(config); !args.empty()) {
    form["args"] = std::move(args);
  }
}

void PoolTranslation::package(json& pool) {
  auto& form = pool["pythonPackageSpec"];
  form["executorImageUri"] =
      runtime_image(legacy_, text_of(pool["machineSpec"], "acceleratorType"));
  form["packageUris"] = legacy_.input()["packageUris"];
  form["pythonModule"] = legacy_.text("pythonModule");
  if (auto args = arguments(json::object()); !args.empty()) {
    form["args"] = std::move(args);
  }
}

/// Local code is packaged when the job is submitted; its pools then hold no image yet.
void PoolTranslation::program(json& pool, std::string_view role) {
  const bool is_local = !legacy_.package_path.empty() || !legacy_.local_packages.empty();
  if (!has_image() && !is_local && legacy_.input().contains("packageUris")) {
    package(pool);
  } else {
    container(pool, config(role));
  }
  const auto disk = config(role).value("diskConfig", json::object());
  for (const auto* key : {"bootDiskType", "bootDiskSizeGb"}) {
    if (disk.contains(key)) {
      pool["diskSpec"][key] = disk[key];
    }
  }
  if (config(role).contains("tpuTfVersion")) {
    legacy_.warn(path(role, "Config.tpuTfVersion"),
                 "`tpuTfVersion` has no equal: the image brings TensorFlow");
  }
}

json PoolTranslation::custom(std::string_view role) {
  const auto type = legacy_.text(fmt::format("{}Type", role));
  const auto count = legacy_.text(fmt::format("{}Count", role));
  if (type.empty() || count == "0") {
    return json::object();
  }
  json pool{{"machineSpec", machine_spec(legacy_, type, path(role, "Type"))},
            {"replicaCount", role == "master" ? "1" : count}};
  accelerator(pool["machineSpec"], role);
  program(pool, role);
  return pool;
}

/// On Vertex AI the program runs on the TPU's own host.
json PoolTranslation::tpu(std::string_view role) {
  auto pool = custom(role);
  pool["replicaCount"] = "1";
  legacy_.warn(path(role, "Type"),
               "a TPU job has one pool on Vertex AI: the program runs on the TPU's host, and the "
               "master's machine is left out");
  return pool;
}

json PoolTranslation::run() {
  check();
  auto pools = json::array();
  if (tier() == "CUSTOM") {
    if (legacy_.text("workerType") == "cloud_tpu") {
      return json::array({tpu("worker")});
    }
    for (const auto role : roles) {
      pools.push_back(custom(role));
    }
    while (pools.size() > 1 && pools.back().empty()) {
      pools.erase(pools.size() - 1);
    }
    return pools;
  }
  legacy_.warn("trainingInput.scaleTier",
               fmt::format("scale tier {} has no equal: its machines are approximate", tier()));
  std::size_t index = 0;
  for (const auto& role : tier_roles(tier())) {
    json pool{{"machineSpec", {{"machineType", role.machine}}},
              {"replicaCount", std::to_string(role.replicas)}};
    if (role.accelerators > 0) {
      pool["machineSpec"]["acceleratorType"] = role.accelerator;
      pool["machineSpec"]["acceleratorCount"] = role.accelerators;
    }
    accelerator(pool["machineSpec"], roles.at(index));
    program(pool, roles.at(index++));
    pools.push_back(std::move(pool));
  }
  return pools;
}

}  // namespace

json translate_pools(Legacy& legacy) {
  return PoolTranslation{legacy}.run();
}

}  // namespace autopack::job
