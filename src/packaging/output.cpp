#include "packaging/output.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "image/file_reference.hpp"

#include <fmt/format.h>

namespace autopack::packaging {

Output Output::parse(std::string_view text) {
  if (text == "docker") {
    return {.kind = Kind::docker, .text = "docker"};
  }
  const auto files = image::FileReference::parse(text);
  if (!files || files->digest) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is not a value of `--output`{}", printable(text),
                            files ? ": the digest is computed, not chosen" : ""))
        .hint("the values are `oci:DIR`, `oci:DIR:TAG`, `tar:FILE` and `docker`");
  }
  const bool is_layout = files->kind == image::FileReference::Kind::layout;
  return {.kind = is_layout ? Kind::layout : Kind::archive,
          .path = files->path,
          .tag = files->tag,
          .text = files->text};
}

}  // namespace autopack::packaging
