#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "engine/docker.hpp"

#include <array>
#include <utility>

namespace autopack::engine {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<const char*, const char*>, 5> proxy_variables{
    {{"httpProxy", "HTTP_PROXY"},
     {"httpsProxy", "HTTPS_PROXY"},
     {"noProxy", "NO_PROXY"},
     {"ftpProxy", "FTP_PROXY"},
     {"allProxy", "ALL_PROXY"}}};

json member(const json& object, const std::string& name) {
  return object.is_object() && object.contains(name) ? object.at(name) : json{};
}

json read_configuration(const Environment& environment) {
  try {
    const auto text = read_file_if_exists(environment.docker_directory() / "config.json");
    return text ? parse_json(*text) : json{};
  } catch (const Error&) {
    return {};  // who needs the file for a context or a login reports it
  }
}

}  // namespace

Proxies find_proxies(const Environment& environment, const std::string& url) {
  const auto all = member(read_configuration(environment), "proxies");
  const auto own = member(all, url);
  const auto& chosen = own.is_object() ? own : member(all, "default");
  Proxies proxies;
  for (const auto& [key, name] : proxy_variables) {
    const auto value = member(chosen, key);
    if (value.is_string() && !value.get_ref<const std::string&>().empty()) {
      proxies[name] = Secret{value.get<std::string>()};
      proxies[to_lower(name)] = Secret{value.get<std::string>()};
    }
  }
  return proxies;
}

}  // namespace autopack::engine
