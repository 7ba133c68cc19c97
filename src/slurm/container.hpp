#pragma once

#include "base/error.hpp"
#include "image/manifest.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::slurm {

/// What starts containers on the nodes, the preferred one first.
enum class ContainerKind {
  pyxis,      ///< NVIDIA's plugin of srun, which pulls the image itself
  native,     ///< srun's own `--container`, with an OCI bundle in a shared directory
  apptainer,  ///< starts an unpacked image
};

/// Returns the name in `--containers`: `pyxis`, `oci`, `apptainer`.
std::string_view to_string(ContainerKind kind);
/// Returns nothing for other words.
std::optional<ContainerKind> read_container_kind(std::string_view text);
/// Returns the name for people: "Slurm's own containers (oci.conf)".
std::string_view describe(ContainerKind kind);

/// A directory or file of the cluster that a program sees.
struct Mount {
  std::string source{};
  std::string target{};
  bool is_read_only{false};
};

/// Reads `SOURCE:TARGET[:ro]`; SOURCE alone is shown at the same path. Throws Error(usage).
Mount read_mount(const std::string& text);

/// A person on a cluster.
struct ClusterUser {
  unsigned id{0};
  unsigned group{0};
};

/// Returns the `config.json` of an OCI bundle for srun, which sets the program and its variables.
/// The image is read-only; /tmp, /var/tmp, /run and the working directory can be written, and are
/// lost at the end. `user` becomes root inside.
std::string bundle_configuration(const image::Configuration& configuration,
                                 const std::vector<Mount>& mounts,
                                 const ClusterUser& user);

/// Returns `HOST#REPOSITORY@sha256:...`, as pyxis takes it. `image` is
/// `HOST/REPOSITORY@sha256:...`.
std::string pyxis_image(const std::string& image);

/// Returns the options of srun for `kind`, each quoted for a shell, without the program.
/// `variables` is a word of the shell: the names of the variables, separated by commas.
std::string container_options(ContainerKind kind,
                              const std::string& image,
                              const std::string& bundle,
                              const std::string& directory,
                              const std::vector<Mount>& mounts,
                              const std::string& variables);

/// Returns the words before the program: those of apptainer.
std::string container_starter(ContainerKind kind,
                              const std::string& bundle,
                              const std::string& directory,
                              const std::vector<Mount>& mounts);

/// Returns the error for a cluster that has none of them; `where` is as Connection::place.
Error no_containers(const std::string& where);

}  // namespace autopack::slurm
