#include "python/archive_name.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace autopack::python {

bool is_archive_name(std::string_view name) {
  static constexpr std::array<std::string_view, 11> suffixes{
      ".whl", ".zip",    ".tar.gz", ".tgz",      ".tar", ".tar.bz2",
      ".tbz", ".tar.xz", ".txz",    ".tar.lzma", ".tlz"};
  const auto lower = to_lower(name);
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) {
    return lower.size() > suffix.size() && lower.ends_with(suffix);
  });
}

std::optional<std::string> check_wheel_name(std::string_view name) {
  const auto parts = split(name.substr(0, name.size() - std::string_view{".whl"}.size()), '-');
  const bool good =
      (parts.size() == 5 || parts.size() == 6) &&
      std::ranges::none_of(parts, [](const auto& part) { return part.empty(); }) &&
      (parts.size() == 5 || std::isdigit(static_cast<unsigned char>(parts[2].front())) != 0);
  return good ? std::nullopt
              : std::optional{fmt::format(
                    "`{}` is not a wheel's name: pip wants `NAME-VERSION-PYTHON-ABI-PLATFORM.whl`",
                    printable(name))};
}

}  // namespace autopack::python
