#include "image/file_reference.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "image/reference.hpp"

#include <fmt/format.h>

namespace autopack::image {

namespace {

constexpr std::string_view layout_prefix{"oci:"};
constexpr std::string_view archive_prefix{"tar:"};

/// Splits `:TAG` or `@sha256:...` off the end of `path`.
void split_layout(std::string_view path, FileReference& reference) {
  if (const auto at = path.rfind("@sha256:"); at != std::string_view::npos) {
    reference.digest = Digest::parse(path.substr(at + 1));
    if (!reference.digest) {
      throw Error(ErrorKind::usage,
                  fmt::format("the digest in `{}` is not `sha256:` and 64 hexadecimal digits",
                              printable(reference.text)));
    }
    reference.path = path.substr(0, at);
    return;
  }
  const auto colon = path.rfind(':');
  const auto slash = path.rfind('/');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    reference.tag = non_empty(std::string{path.substr(colon + 1)});
    path = path.substr(0, colon);
  }
  reference.path = path;
}

}  // namespace

std::optional<FileReference> FileReference::parse(std::string_view text) {
  if (!names_files(text)) {
    return std::nullopt;
  }
  FileReference reference{.text = std::string{text}};
  if (text.starts_with(layout_prefix)) {
    split_layout(text.substr(layout_prefix.size()), reference);
  } else {
    reference.kind = Kind::archive;
    reference.path = text.substr(archive_prefix.size());
  }
  if (reference.path.empty()) {
    throw Error(ErrorKind::usage, fmt::format("`{}` names no file", printable(text)))
        .hint(
            "use `oci:DIR` or `oci:DIR:TAG` for an OCI layout, `tar:FILE` for an archive of "
            "`docker save`");
  }
  return reference;
}

bool names_files(std::string_view reference) {
  return reference.starts_with(layout_prefix) || reference.starts_with(archive_prefix);
}

std::optional<std::string> base_fault(std::string_view text) {
  if (!names_files(text)) {
    return Reference::fault(text);
  }
  try {
    FileReference::parse(text);
  } catch (const Error& error) {
    return error.message();
  }
  return std::nullopt;
}

std::string build_name(const BaseFacts& base) {
  if (!names_files(base.reference)) {
    return base.reference;
  }
  const std::string id = base.image_id.value_or("");
  return "autopack/base:" + id.substr(id.find(':') + 1).substr(0, 16);
}

}  // namespace autopack::image
