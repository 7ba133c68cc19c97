#include "sbom/purl.hpp"

#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::sbom {

namespace {

/// Encodes everything but the characters that purl-spec leaves as they are, and those in `kept`.
std::string encoded(std::string_view text, std::string_view kept = {}) {
  std::string result;
  for (const char c : text) {
    if (is_alphanumeric({&c, 1}, ".-_~:") || kept.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

}  // namespace

std::string to_text(const PackageUrl& url) {
  std::string text = "pkg:" + url.type + "/";
  for (const auto& part : split(url.space, '/')) {
    text += part.empty() ? "" : encoded(part) + "/";
  }
  text += encoded(url.name);
  text += url.version.empty() ? "" : "@" + encoded(url.version);
  char separator = '?';
  for (const auto& [key, value] : url.qualifiers) {
    if (!value.empty()) {
      text += separator + key + "=" + encoded(value, "/");
      separator = '&';
    }
  }
  return text;
}

std::string python_purl(std::string_view name, std::string_view version) {
  return to_text({.type = "pypi",
                  .name = replace_all(to_lower(name), "_", "-"),
                  .version = std::string{version}});
}

std::string image_purl(const ImageName& image) {
  const auto parts = split(image.platform, '/');
  return to_text({.type = "oci",
                  .name = to_lower(image.repository.substr(image.repository.rfind('/') + 1)),
                  .version = image.digest,
                  .qualifiers = {{"arch", parts.size() > 1 ? parts[1] : ""},
                                 {"repository_url", image.is_in_registry ? image.repository : ""},
                                 {"tag", image.tag.value_or("")}}});
}

std::optional<std::string> git_location(const std::string& remote,
                                        const std::optional<std::string>& commit) {
  static constexpr std::array schemes{"https", "http", "git", "ssh"};
  std::string address = remote;
  const auto colon = remote.find(':');
  if (remote.find("://") == std::string::npos && colon != std::string::npos &&
      remote.find('/') > colon) {  // git@host:path
    address = "ssh://" + remote.substr(0, colon) + "/" + remote.substr(colon + 1);
  }
  const auto url = Url::parse(address);
  if (!url || std::ranges::find(schemes, url->scheme) == schemes.end() || !url->password.empty()) {
    return std::nullopt;
  }
  return (url->scheme == "git" ? "" : "git+") + address + (commit ? "@" + *commit : "");
}

std::string project_purl(const std::string& name,
                         const std::string& version,
                         const std::optional<std::string>& location) {
  return to_text({.type = "generic",
                  .name = name,
                  .version = version,
                  .qualifiers = {{"vcs_url", location.value_or("")}}});
}

}  // namespace autopack::sbom
