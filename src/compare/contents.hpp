#pragma once

#include "base/digest.hpp"
#include "base/report.hpp"
#include "image/source.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::compare {

/// The compared properties of a file, link or directory.
struct FileFacts {
  char kind{'f'};         ///< `f` a file, `x` a program, `l` a link, `d` a directory, `o` other
  std::uint64_t size{0};  ///< of a file
  std::string content{};  ///< the hash of a file, the target of a link

  bool operator==(const FileFacts&) const = default;
};

struct LayerFacts {
  Digest digest;          ///< of its uncompressed tar
  std::uint64_t size{0};  ///< as transferred
};

/// One side of a comparison.
struct Contents {
  std::string name{};
  bool is_image{true};                            ///< false: a project's files, not packaged
  std::map<std::string, FileFacts> files{};       ///< by path without a leading slash
  std::set<std::string> removed{};                ///< in layers below, which were not read
  std::map<std::string, std::string> packages{};  ///< version by normalised name
  /// Packages of layers below that it removed.
  std::map<std::string, std::string> removed_packages{};
  std::map<std::string, std::string> configuration{};
  std::vector<LayerFacts> layers{};
  std::uint64_t size{0};         ///< of an image: as transferred; else of its files
  std::size_t unread_layers{0};  ///< layers that both sides have
};

/// Returns the image `name`: `oci:DIR`, `tar:FILE`, else an image of the registry that it names, of
/// the engine, or of Docker Hub. Throws Error(usage) if `name` is not the name of an image, and the
/// last error if nothing has it.
image::Source find_image(Services& services, const std::string& name, const std::string& platform);

/// Limits for reading an image.
struct ReadingLimits {
  std::uint64_t bytes{std::uint64_t{64} << 30U};  ///< unpacked size of files
  std::size_t entries{2'000'000};
};

/// Returns the layers of an image, from the base upwards.
std::vector<LayerFacts> layers_of(const image::Source& source);

/// Returns the contents of `source`; skips the layers in `unread`. Throws Error(environment) for a
/// layer that is damaged or beyond the limits, Error(remote) for one that does not match the
/// configuration, and Interrupted.
Contents read_image(const Cancellation& cancellation,
                    const image::Source& source,
                    const std::set<Digest>& unread,
                    const ReadingLimits& limits = {});

/// Returns the project's own files in an image of `work`, at their places there, without installed
/// packages.
Contents contents_of(const packaging::Packaging& work, const std::string& name);

/// Returns the changes in the installation from `before` to `after`, in words: `requirements.txt
/// changed (numpy 2.1 -> 2.2)`.
std::vector<std::string> installation_changes(const packaging::Packaging& before,
                                              const packaging::Packaging& after);

}  // namespace autopack::compare
