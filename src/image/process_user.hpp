#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace autopack::image {

/// Returns the text of a file of an image, by its relative path; nothing if there is none.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

/// The user of a program in a container.
struct ProcessUser {
  unsigned user{0};
  unsigned group{0};
  std::vector<unsigned> more_groups{};
  std::string home{"/"};
};

/// Returns the user that `USER` of an image names: `name[:group]`, or numbers, as an engine looks
/// them up in the image's files. Throws Error(environment) if the image has no such user or group.
ProcessUser process_user(const std::string& text, const ReadFile& read);

}  // namespace autopack::image
