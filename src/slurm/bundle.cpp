#include "slurm/bundle.hpp"

#include "base/digest.hpp"
#include "base/elapsed.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "bundle/bundle.hpp"
#include "slurm/commands.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace autopack::slurm {

namespace {

constexpr std::size_t digest_length{32};
constexpr std::size_t configuration_length{8};

}  // namespace

std::string bundle_key(const image::Source& source, const std::string& configuration) {
  return source.manifest.config.digest.hex().substr(0, digest_length) + "." +
         sha256(configuration).hex().substr(0, configuration_length);
}

std::string deliver(Connection& connection,
                    const image::Source& source,
                    const std::string& configuration,
                    const std::string& directory,
                    const ClusterUser& user,
                    Reporter& reporter) {
  const auto key = bundle_key(source, configuration);
  auto path = directory + "/images/" + key;
  const auto answer = connection.run(bundle_script(directory, key, configuration));
  const auto said = std::string{trim(answer.output)};
  if (answer.status == 0 && said == "present") {
    return path;
  }
  if (answer.status != 0 || said != "absent") {
    throw Error(ErrorKind::remote,
                fmt::format("the shared directory `{}` cannot be written", printable(directory)))
        .cause(answer.errors)
        .hint("`--shared-directory=DIR` names another one that all nodes see");
  }
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t size = 0;
  {
    const LiveStep step{reporter, "sending the image to " + connection.place()};
    connection.send(receiver_path(directory, key), [&](const Take& out) {
      bundle::write_bundle_archive(source, {.user = user.id, .group = user.group, .is_root = false},
                                   [&](std::string_view bytes) {
                                     size += bytes.size();
                                     out(bytes);
                                   });
    });
  }
  reporter.done("Sent", fmt::format("the image to `{}`: {} in {}", path, human_size(size),
                                    elapsed_text(std::chrono::steady_clock::now() - began)));
  return path;
}

}  // namespace autopack::slurm
