#pragma once

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

// The parts that every `config.json` of an OCI runtime has (runtime-spec, config.md), for runc and
// crun.

namespace autopack::image {

/// PATH of a container whose image sets none, as engines set it.
inline constexpr std::string_view usual_path{
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};

/// The capabilities of the root of a container that runs without an engine.
inline constexpr std::array container_capabilities{
    "CAP_CHOWN",  "CAP_DAC_OVERRIDE", "CAP_FOWNER",  "CAP_FSETID",           "CAP_KILL",
    "CAP_SETGID", "CAP_SETUID",       "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT",
};

/// Returns one of `mounts`.
nlohmann::json runtime_mount(const std::string& destination,
                             const std::string& type,
                             const std::string& source,
                             const std::vector<std::string>& options);

/// Returns the mounts of a container that shares the network of the machine: /proc, /dev, and the
/// machine's /dev/shm and /sys.
nlohmann::json machine_mounts();

/// Returns `process.capabilities` with container_capabilities.
nlohmann::json runtime_capabilities();

/// Returns the variables of an image, with PATH and HOME if it does not set them.
std::vector<std::string> with_usual_variables(std::vector<std::string> variables,
                                              const std::string& home);

}  // namespace autopack::image
