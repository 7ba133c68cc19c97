#include "base/json.hpp"
#include "base/text.hpp"
#include "bundle/bundle.hpp"
#include "bundle/mark.hpp"
#include "image/runtime_configuration.hpp"

#include <fmt/format.h>

#include <vector>

namespace autopack::bundle {

namespace {

using nlohmann::json;

/// What an engine permits the root of a container.
json capabilities() {
  return json::array({"CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER",
                      "CAP_FSETID", "CAP_KILL", "CAP_MKNOD", "CAP_NET_BIND_SERVICE", "CAP_NET_RAW",
                      "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT"});
}

using image::runtime_mount;

json mounts(bool is_root) {
  std::vector<std::string> terminals{"nosuid", "noexec", "newinstance", "ptmxmode=0666",
                                     "mode=0620"};
  if (is_root) {
    terminals.emplace_back("gid=5");  // no other user has this group in the container
  }
  auto all = json::array({
      runtime_mount("/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}),
      runtime_mount("/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}),
      runtime_mount("/dev/pts", "devpts", "devpts", terminals),
      runtime_mount("/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777"}),
      runtime_mount("/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}),
  });
  if (is_root) {
    all.push_back(runtime_mount("/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}));
    all.push_back(runtime_mount("/sys/fs/cgroup", "cgroup", "cgroup",
                                {"nosuid", "noexec", "nodev", "relatime", "ro"}));
  } else {
    // sysfs belongs to the namespace of the network, which is the machine's.
    all.push_back(
        runtime_mount("/sys", "none", "/sys", {"rbind", "nosuid", "noexec", "nodev", "ro"}));
  }
  // The container has the machine's network.
  for (const auto* file : {"/etc/resolv.conf", "/etc/hosts"}) {
    all.push_back(runtime_mount(file, "bind", file, {"bind", "ro"}));
  }
  return all;
}

json process_of(const image::Configuration& configuration,
                const Starter& starter,
                const image::ReadFile& read) {
  auto words = configuration.entrypoint();
  const auto rest = configuration.command();
  words.insert(words.end(), rest.begin(), rest.end());
  if (words.empty()) {
    words.emplace_back("sh");
  }
  const auto user = image::process_user(configuration.user(), read);
  json account{{"uid", 0}, {"gid", 0}};
  json permitted{{"bounding", capabilities()}};
  if (starter.is_root) {
    account = {{"uid", user.user}, {"gid", user.group}};
    if (!user.more_groups.empty()) {
      account["additionalGids"] = user.more_groups;
    }
  }
  if (account["uid"] == 0) {
    permitted["effective"] = permitted["permitted"] = capabilities();
  }
  return {{"terminal", false},
          {"user", std::move(account)},
          {"args", words},
          {"env", image::with_usual_variables(configuration.environment(), user.home)},
          {"cwd", configuration.working_directory()},
          {"capabilities", std::move(permitted)},
          {"noNewPrivileges", !starter.is_root}};
}

json mapping(std::uint32_t id) {
  return json::array({{{"containerID", 0}, {"hostID", id}, {"size", 1}}});
}

json linux_of(const Starter& starter) {
  auto namespaces = json::array();
  for (const auto* type : {"pid", "ipc", "uts", "mount"}) {
    namespaces.push_back({{"type", type}});
  }
  json result{{"maskedPaths",
               {"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
                "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi",
                "/sys/firmware"}},
              {"readonlyPaths",
               {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}}};
  if (!starter.is_root) {
    namespaces.push_back({{"type", "user"}});
    result["uidMappings"] = mapping(starter.user);
    result["gidMappings"] = mapping(starter.group);
  }
  result["namespaces"] = std::move(namespaces);
  return result;
}

}  // namespace

std::string bundle_configuration(const image::Source& source,
                                 const Starter& starter,
                                 const image::ReadFile& read) {
  const auto configuration = image::Configuration::parse(
      source.configuration, fmt::format("the configuration of `{}`", printable(source.name)));
  return write_json(json{{"ociVersion", "1.0.2"},
                         {"annotations", {{image_annotation, source.manifest.config.digest.str()}}},
                         {"process", process_of(configuration, starter, read)},
                         {"root", {{"path", "rootfs"}, {"readonly", false}}},
                         {"mounts", mounts(starter.is_root)},
                         {"linux", linux_of(starter)}}) +
         "\n";
}

}  // namespace autopack::bundle
