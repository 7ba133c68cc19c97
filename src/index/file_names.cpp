#include "index/file_names.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "python/archive_name.hpp"
#include "python/name.hpp"

namespace autopack::index {

namespace fs = std::filesystem;

bool is_file_of(std::string_view name, const std::string& project) {
  if (!python::is_archive_name(name)) {
    return false;
  }
  if (to_lower(name).ends_with(".whl")) {
    return !python::check_wheel_name(name) &&
           python::normalise_name(name.substr(0, name.find('-'))) == project;
  }
  // A name may contain dashes.
  for (auto dash = name.find('-'); dash != std::string_view::npos;
       dash = name.find('-', dash + 1)) {
    if (dash >= project.size() && python::normalise_name(name.substr(0, dash)) == project) {
      return true;
    }
  }
  return false;
}

std::optional<fs::path> local_path(const std::string& place) {
  const auto url = Url::parse(place);
  if (!url && place.find("://") == std::string::npos) {
    return fs::path{place};
  }
  const bool is_local =
      url && url->scheme == "file" && (url->host.empty() || url->host == "localhost");
  return is_local ? std::optional{fs::path{percent_decode(url->path)}} : std::nullopt;
}

std::string file_url(const fs::path& path) {
  std::error_code code;
  const fs::path whole = fs::absolute(path, code);
  return "file://" +
         replace_all(percent_encode((code ? path : whole).lexically_normal().string()), "%2F", "/");
}

}  // namespace autopack::index
