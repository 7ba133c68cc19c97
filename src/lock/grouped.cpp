#include "lock/grouped.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::lock {

bool is_in_groups(const std::vector<std::string>& groups, const std::vector<std::string>& asked) {
  return std::ranges::any_of(
      groups, [&](const auto& group) { return contains(asked, python::normalise_name(group)); });
}

std::pair<std::uint64_t, std::uint64_t> format_version(std::string_view text,
                                                       const std::string& place) {
  const auto version = python::Version::parse(text);
  if (!version) {
    refuse(fmt::format("`{}` is not the version of a lock", printable(text)), place);
  }
  return {version->release[0], version->release.size() > 1 ? version->release[1] : 0};
}

}  // namespace autopack::lock
