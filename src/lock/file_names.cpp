#include "lock/file_names.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "python/name.hpp"

#include <algorithm>

namespace autopack::lock {

std::string file_name_of(std::string_view source) {
  const bool is_url = source.find("://") != std::string_view::npos;
  if (is_url) {
    source = source.substr(0, source.find_first_of("?#"));
  }
  const auto last = source.substr(std::min(source.rfind('/') + 1, source.size()));
  return is_url ? percent_decode(last) : std::string{last};
}

bool is_wheel(std::string_view file) {
  return file.ends_with(".whl");
}

std::optional<std::pair<std::string, python::Version>> parse_source_name(std::string_view file) {
  for (const std::string_view suffix : {".tar.gz", ".zip"}) {
    if (!file.ends_with(suffix)) {
      continue;
    }
    const auto stem = file.substr(0, file.size() - suffix.size());
    const auto dash = stem.rfind('-');
    if (dash == std::string_view::npos || dash == 0 ||
        !is_alphanumeric(stem.substr(0, dash), "-_.")) {
      return std::nullopt;
    }
    if (auto version = python::Version::parse(stem.substr(dash + 1))) {
      return std::pair{python::normalise_name(stem.substr(0, dash)), std::move(*version)};
    }
  }
  return std::nullopt;
}

}  // namespace autopack::lock
