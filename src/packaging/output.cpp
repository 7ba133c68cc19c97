#include "packaging/output.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "image/file_reference.hpp"

#include <fmt/format.h>

#include <array>

namespace autopack::packaging {

namespace {

/// What the image becomes when it is not a format of images.
struct RootFormat {
  std::string_view prefix;
  Output::Kind kind;
};

constexpr std::array root_formats{RootFormat{"bundle:", Output::Kind::bundle},
                                  RootFormat{"squashfs:", Output::Kind::squashfs}};

}  // namespace

Output Output::parse(std::string_view text) {
  if (text == "docker") {
    return {.kind = Kind::docker, .text = "docker"};
  }
  for (const auto& format : root_formats) {
    if (text.starts_with(format.prefix) && text != format.prefix) {
      return {.kind = format.kind,
              .path = text.substr(format.prefix.size()),
              .text = std::string{text}};
    }
  }
  const auto files = image::FileReference::parse(text);
  if (!files || files->digest) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is not a value of `--output`{}", printable(text),
                            files ? ": the digest is computed, not chosen" : ""))
        .hint(
            "the values are `oci:DIR`, `oci:DIR:TAG`, `tar:FILE`, `bundle:DIR`, `squashfs:FILE` "
            "and "
            "`docker`");
  }
  const bool is_layout = files->kind == image::FileReference::Kind::layout;
  return {.kind = is_layout ? Kind::layout : Kind::archive,
          .path = files->path,
          .tag = files->tag,
          .text = files->text};
}

}  // namespace autopack::packaging
