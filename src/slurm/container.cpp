#include "slurm/container.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "image/runtime_configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

// srun's own containers take one configuration for each bundle, and versions before 23.02 want the
// files of the image in `rootfs` beside it. So a bundle belongs to one image with one set of
// mounts, and the variables and the program, which differ, come from srun.

namespace autopack::slurm {

namespace {

using nlohmann::json;

struct KindRow {
  ContainerKind kind;
  std::string_view word;
  std::string_view text;
};

constexpr std::array kinds{
    KindRow{ContainerKind::pyxis, "pyxis", "pyxis, which pulls the image on the nodes"},
    KindRow{ContainerKind::native, "oci", "Slurm's own containers (oci.conf)"},
    KindRow{ContainerKind::apptainer, "apptainer", "apptainer"},
};

json in_memory(const std::string& target, const std::string& mode) {
  return image::runtime_mount(target, "tmpfs", "tmpfs",
                              {"nosuid", "nodev", "mode=" + mode, "tmpcopyup"});
}

bool is_path(const std::string& text) {
  return text.starts_with('/') && is_alphanumeric(text, "/._-+@=") &&
         ("/" + text + "/").find("/../") == std::string::npos;
}

/// Returns `HOME`, if it is a directory below the root.
std::string home_of(const std::vector<std::string>& variables) {
  constexpr std::string_view name{"HOME="};
  for (const auto& one : variables) {
    if (one.starts_with(name) && is_path(one.substr(name.size()))) {
      return one.substr(name.size());
    }
  }
  return "/root";
}

std::string bound(const Mount& mount) {
  return mount.source + ":" + mount.target + (mount.is_read_only ? ":ro" : "");
}

std::string all_bound(const std::vector<Mount>& mounts) {
  std::vector<std::string> all;
  for (const auto& one : mounts) {
    all.push_back(bound(one));
  }
  return join(all, ",");
}

}  // namespace

std::string_view to_string(ContainerKind kind) {
  return std::ranges::find(kinds, kind, &KindRow::kind)->word;
}

std::optional<ContainerKind> read_container_kind(std::string_view text) {
  const auto* const found = std::ranges::find(kinds, text, &KindRow::word);
  return found == kinds.end() ? std::nullopt : std::optional{found->kind};
}

std::string_view describe(ContainerKind kind) {
  return std::ranges::find(kinds, kind, &KindRow::kind)->text;
}

Mount read_mount(const std::string& text) {
  const auto parts = split(text, ':');
  Mount mount{.source = parts[0],
              .target = parts.size() > 1 ? parts[1] : parts[0],
              .is_read_only = parts.size() > 2 && parts[2] == "ro"};
  const bool has_flag = parts.size() < 3 || parts[2] == "ro" || parts[2] == "rw";
  if (parts.size() > 3 || !has_flag || !is_path(mount.source) || !is_path(mount.target) ||
      mount.target == "/") {
    throw Error(ErrorKind::usage,
                fmt::format("`--container-mounts={}` is not `DIR[:DIR[:ro]]`", printable(text)))
        .hint(
            "`--container-mounts=/scratch/data:/data:ro` shows the program a directory of the "
            "cluster at /data; both paths are absolute, without spaces");
  }
  return mount;
}

std::string bundle_configuration(const image::Configuration& configuration,
                                 const std::vector<Mount>& mounts,
                                 const ClusterUser& user) {
  auto variables = image::with_usual_variables(configuration.environment(), "/root");
  const auto start = configuration.working_directory();
  auto all = image::machine_mounts();
  for (const auto& [directory, mode] : {std::pair{"/tmp", "1777"}, std::pair{"/var/tmp", "1777"},
                                        std::pair{"/run", "0755"}, std::pair{"/root", "0700"}}) {
    all.push_back(in_memory(directory, mode));
  }
  std::set<std::string> writable{"/", "/tmp", "/var/tmp", "/run", "/root"};
  for (const auto& directory : {home_of(variables), start}) {
    if (writable.insert(directory).second) {
      all.push_back(in_memory(directory, "0755"));
    }
  }
  // The network is that of the node, and so are its names.
  for (const auto* file : {"/etc/hosts", "/etc/resolv.conf"}) {
    all.push_back(image::runtime_mount(file, "bind", file, {"bind", "ro"}));
  }
  for (const auto& one : mounts) {
    all.push_back(image::runtime_mount(one.target, "bind", one.source,
                                       {"rbind", one.is_read_only ? "ro" : "rw"}));
  }
  json linux_part{{"namespaces", json::array({json{{"type", "pid"}}, json{{"type", "mount"}}})}};
  if (user.id != 0) {
    linux_part["namespaces"].push_back({{"type", "user"}});
    linux_part["uidMappings"] =
        json::array({json{{"containerID", 0}, {"hostID", user.id}, {"size", 1}}});
    linux_part["gidMappings"] =
        json::array({json{{"containerID", 0}, {"hostID", user.group}, {"size", 1}}});
  }
  return write_json(json{{"ociVersion", "1.0.2"},
                         {"process",
                          {{"terminal", false},
                           {"user", {{"uid", 0}, {"gid", 0}}},
                           {"args", json::array({"/bin/true"})},
                           {"env", std::move(variables)},
                           {"cwd", start},
                           {"noNewPrivileges", true},
                           {"capabilities", image::runtime_capabilities()}}},
                         {"root", {{"path", "rootfs"}, {"readonly", true}}},
                         {"mounts", std::move(all)},
                         {"linux", std::move(linux_part)}});
}

std::string pyxis_image(const std::string& image) {
  const auto slash = image.find('/');
  return slash == std::string::npos ? image
                                    : image.substr(0, slash) + "#" + image.substr(slash + 1);
}

std::string container_options(ContainerKind kind,
                              const std::string& image,
                              const std::string& bundle,
                              const std::string& directory,
                              const std::vector<Mount>& mounts,
                              const std::string& variables) {
  switch (kind) {
    case ContainerKind::pyxis: {
      auto options = "--container-image=" + shell_quote(pyxis_image(image)) +
                     " --container-workdir=" + shell_quote(directory) +
                     " --container-env=" + variables +
                     " --container-writable --no-container-mount-home --no-container-entrypoint"
                     " --container-mounts=\"$autopack_directory:$autopack_directory\"";
      for (const auto& one : mounts) {
        options += "," + shell_quote(bound(one));
      }
      return options;
    }
    case ContainerKind::native: return "--container=" + shell_quote(bundle);
    case ContainerKind::apptainer: break;
  }
  return {};
}

std::string container_starter(ContainerKind kind,
                              const std::string& bundle,
                              const std::string& directory,
                              const std::vector<Mount>& mounts) {
  if (kind != ContainerKind::apptainer) {
    return {};
  }
  // srun passes on few variables, and apptainer those with its prefix.
  auto words = "\"$autopack_apptainer\" exec --contain --no-eval --writable-tmpfs --pwd " +
               shell_quote(directory) + " --bind \"$autopack_directory:$autopack_directory\"";
  if (!mounts.empty()) {
    words += " --bind " + shell_quote(all_bound(mounts));
  }
  return words + " ${CUDA_VISIBLE_DEVICES:+--nv} " + shell_quote(bundle + "/rootfs");
}

Error no_containers(const std::string& where) {
  return Error(ErrorKind::remote,
               fmt::format("the cluster of {} has nothing that starts a container", where))
      .cause(
          "srun has no `--container-image` (pyxis), there is no oci.conf for `--container`, and "
          "no `apptainer`")
      .hint(
          "ask its administrator for one of these: the plugin pyxis, an oci.conf with runc or "
          "crun (containers of Slurm 21.08 or later), or apptainer on all nodes");
}

}  // namespace autopack::slurm
