#include "build/wheels/direct_url.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::build {

namespace {

using nlohmann::json;

/// Formats like Python's json.dumps: a blank after each colon and comma.
std::string python_text(const json& value) {
  if (!value.is_object()) {
    return write_json(value);
  }
  std::vector<std::string> members;
  for (const auto& [key, member] : value.items()) {
    members.push_back(fmt::format("{}: {}", write_json(json(key)), python_text(member)));
  }
  return "{" + join(members, ", ") + "}";
}

/// Removes the account's name, as pip does, because it belongs to another person elsewhere; keeps
/// `git`.
std::string without_account(const std::string& url) {
  const auto begin = url.find("://");
  const auto end = begin == std::string::npos ? begin : url.find('/', begin + 3);
  const auto sign = begin == std::string::npos ? begin : url.substr(0, end).find('@', begin);
  if (sign == std::string::npos || url.substr(begin, sign - begin) == "://git") {
    return url;
  }
  return url.substr(0, begin + 3) + url.substr(sign + 1);
}

}  // namespace

std::string direct_url_of_archive(const std::string& url, const Digest& digest) {
  return python_text(
      {{"archive_info",
        {{"hash", "sha256=" + digest.hex()}, {"hashes", {{"sha256", digest.hex()}}}}},
       {"url", url}});
}

std::string direct_url_of(const lock::LockedSource& source) {
  if (source.directory) {
    return python_text({{"dir_info", json::object()}, {"url", url_in_build(*source.directory)}});
  }
  json info{{"commit_id", source.commit}, {"vcs", "git"}};
  if (source.revision) {
    info["requested_revision"] = *source.revision;
  }
  json document{{"url", without_account(source.repository)}, {"vcs_info", std::move(info)}};
  if (!source.subdirectory.empty()) {
    document["subdirectory"] = source.subdirectory;
  }
  return python_text(document);
}

std::string url_in_build(std::string_view path) {
  // The characters that urllib.parse.quote keeps.
  constexpr std::string_view plain{"-_.~/"};
  std::string url{"file:///mnt/"};
  for (const char letter : path) {
    if (is_alphanumeric({&letter, 1}, plain)) {
      url += letter;
    } else {
      url += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
  }
  return url;
}

}  // namespace autopack::build
