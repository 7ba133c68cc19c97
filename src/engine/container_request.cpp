#include "engine/container_request.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "engine/container_owner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

namespace autopack::engine {

namespace {

using nlohmann::json;

constexpr auto* message_queues = "/dev/mqueue";
constexpr auto* selinux_state = "/sys/fs/selinux/enforce";

bool is_cdi_name(const std::string& id) {
  return id.find('=') != std::string::npos;
}

/// A container without a label of its own may read what it mounts, as without SELinux. Labelling
/// the user's files is the alternative, but only if `z` or `Z` asks for it.
bool needs_no_label(const Api& api, const ContainerSpec& spec) {
  std::error_code ignored;
  return api.is_local() &&
         std::ranges::any_of(spec.mounts,
                             [](const auto& mount) { return mount.selinux_label.empty(); }) &&
         std::filesystem::exists(selinux_state, ignored);
}

/// Rootless Podman cannot share the host's message queues if there are none.
bool may_share_host_ipc(Api& api) {
  std::error_code ignored;
  return !api.info().podman || !api.is_local() || std::filesystem::exists(message_queues, ignored);
}

std::uint64_t half_of_memory() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) / 2
             : 0;
}

void add_limits(const ContainerSpec& spec, json& host) {
  constexpr double nano = 1e9;
  if (spec.shared_memory > 0) {
    host["ShmSize"] = spec.shared_memory;
  }
  if (spec.memory > 0) {
    host["Memory"] = spec.memory;
    host["MemorySwap"] = spec.memory;  // no additional swap
  }
  if (spec.processors > 0) {
    host["NanoCpus"] = static_cast<std::int64_t>(spec.processors * nano);
  }
}

void add_gpus(const ContainerSpec& spec, json& host) {
  if (!spec.gpu_ids.empty() && is_cdi_name(spec.gpu_ids.front())) {
    host["DeviceRequests"] = {{{"Driver", "cdi"}, {"DeviceIDs", spec.gpu_ids}}};
  } else if (!spec.gpu_ids.empty()) {
    host["DeviceRequests"] = {{{"DeviceIDs", spec.gpu_ids}, {"Capabilities", {{"gpu"}}}}};
  } else if (spec.gpus) {
    const auto count = spec.gpu_count > 0 ? spec.gpu_count : -1;
    host["DeviceRequests"] = {{{"Count", count}, {"Capabilities", {{"gpu"}}}}};
  }
}

}  // namespace

std::string container_body(const ContainerSpec& spec, bool has_input, bool has_no_label) {
  json body{{"Image", spec.image},    {"Tty", spec.tty},          {"AttachStdout", true},
            {"AttachStderr", true},   {"AttachStdin", has_input}, {"OpenStdin", has_input},
            {"StdinOnce", has_input}, {"Env", json::array()}};
  for (const auto& [name, value] : spec.environment) {
    body["Env"].push_back(fmt::format("{}={}", name, value));
  }
  if (!spec.command.empty()) {
    body["Entrypoint"] = spec.command;
  }
  if (!spec.arguments.empty()) {
    body["Cmd"] = spec.arguments;
  }
  json& host = body["HostConfig"] = {{"AutoRemove", false}, {"Mounts", json::array()}};
  for (const auto& mount : spec.mounts) {
    if (!mount.selinux_label.empty()) {
      // Only a bind of the older kind has a label.
      host["Binds"].push_back(fmt::format("{}:{}:{},{}", mount.host_path, mount.container_path,
                                          mount.read_only ? "ro" : "rw", mount.selinux_label));
      continue;
    }
    // A bind of this kind fails if the host has no such path, instead of creating it.
    host["Mounts"].push_back({{"Type", "bind"},
                              {"Source", mount.host_path},
                              {"Target", mount.container_path},
                              {"ReadOnly", mount.read_only}});
  }
  for (const auto& port : spec.ports) {
    body["ExposedPorts"][port.container_port] = json::object();
    host["PortBindings"][port.container_port].push_back(
        {{"HostIp", port.host_address.value_or("")}, {"HostPort", port.host_port.value_or("")}});
  }
  if (spec.host_ipc) {
    host["IpcMode"] = "host";
  }
  if (spec.network_mode) {
    host["NetworkMode"] = *spec.network_mode;
  }
  if (has_no_label) {
    host["SecurityOpt"] = {"label=disable"};
  }
  add_gpus(spec, host);
  add_limits(spec, host);
  if (spec.host_name) {
    body["Hostname"] = *spec.host_name;
    body["NetworkingConfig"]["EndpointsConfig"][spec.network_mode.value_or("")]["Aliases"] = {
        *spec.host_name};
  }
  if (!spec.labels.empty()) {
    body["Labels"] = spec.labels;
  }
  body["Labels"][owner_label.data()] = this_owner();
  return write_json(body);
}

namespace {

json podman_port(const ContainerSpec::Port& port) {
  const auto slash = port.container_port.find('/');
  json mapping{{"container_port", std::stoi(port.container_port)}};
  if (slash != std::string::npos) {
    mapping["protocol"] = port.container_port.substr(slash + 1);
  }
  if (port.host_port) {
    mapping["host_port"] = std::stoi(*port.host_port);
  }
  if (port.host_address) {
    mapping["host_ip"] = *port.host_address;
  }
  return mapping;
}

}  // namespace

std::string podman_body(const std::string& name,
                        const ContainerSpec& spec,
                        bool has_input,
                        bool has_no_label) {
  constexpr double period = 100'000;  // microseconds
  json body{{"name", name},
            {"image", spec.image},
            {"terminal", spec.tty},
            {"stdin", has_input},
            {"env", spec.environment},
            {"mounts", json::array()},
            {"devices", json::array()},
            {"labels", spec.labels}};
  body["labels"][owner_label.data()] = this_owner();
  if (!spec.command.empty()) {
    body["entrypoint"] = spec.command;
  }
  if (!spec.arguments.empty()) {
    body["command"] = spec.arguments;
  }
  for (const auto& mount : spec.mounts) {
    json options{"rbind", mount.read_only ? "ro" : "rw"};
    if (!mount.selinux_label.empty()) {
      options.push_back(mount.selinux_label);
    }
    body["mounts"].push_back({{"type", "bind"},
                              {"source", mount.host_path},
                              {"destination", mount.container_path},
                              {"options", options}});
  }
  for (const auto& device : cdi_names(spec)) {
    body["devices"].push_back({{"path", device}});
  }
  for (const auto& port : spec.ports) {
    body["portmappings"].push_back(podman_port(port));
  }
  if (spec.host_ipc) {
    body["ipcns"] = {{"nsmode", "host"}};
  }
  if (spec.network_mode == "host") {
    body["netns"] = {{"nsmode", "host"}};
  } else if (spec.network_mode) {
    body["netns"] = {{"nsmode", "bridge"}};
    body["Networks"][*spec.network_mode] = json::object();
    if (spec.host_name) {
      body["Networks"][*spec.network_mode]["aliases"] = {*spec.host_name};
    }
  }
  if (spec.host_name) {
    body["hostname"] = *spec.host_name;
  }
  if (has_no_label) {
    body["selinux_opts"] = {"disable"};
  }
  if (spec.shared_memory > 0) {
    body["shm_size"] = spec.shared_memory;
  }
  if (spec.memory > 0) {
    body["resource_limits"]["memory"] = {{"limit", spec.memory}, {"swap", spec.memory}};
  }
  if (spec.processors > 0) {
    body["resource_limits"]["cpu"] = {
        {"period", static_cast<std::uint64_t>(period)},
        {"quota", static_cast<std::int64_t>(spec.processors * period)}};
  }
  return write_json(body);
}

std::vector<std::string> cdi_names(const ContainerSpec& spec) {
  const std::string kind{"nvidia.com/gpu="};
  std::vector<std::string> names;
  for (const auto& id : spec.gpu_ids) {
    names.push_back(is_cdi_name(id) ? id : kind + id);
  }
  if (names.empty()) {
    for (std::int64_t i = 0; i < spec.gpu_count; ++i) {
      names.push_back(kind + std::to_string(i));
    }
  }
  if (names.empty() && spec.gpus) {
    names.push_back(kind + "all");
  }
  return names;
}

http::Request creation_of(Api& api, const std::string& name, ContainerSpec spec, bool has_input) {
  constexpr auto* what = "make a container";
  spec = api.with_proxies(std::move(spec));
  if (spec.host_ipc && !may_share_host_ipc(api)) {
    spec.host_ipc = false;
    spec.shared_memory = half_of_memory();  // as the machine's own /dev/shm
  }
  const bool has_no_label = needs_no_label(api, spec);
  const bool is_podmans = api.info().podman && !cdi_names(spec).empty();
  auto request = is_podmans ? api.podman_request(what, "POST", "/containers/create")
                            : api.short_request(what, "POST", "/containers/create?name=" + name);
  request.timeout = std::chrono::minutes{2};
  request.headers.push_back({"Content-Type", "application/json"});
  request.body = is_podmans ? podman_body(name, spec, has_input, has_no_label)
                            : container_body(spec, has_input, has_no_label);
  return request;
}

}  // namespace autopack::engine
