#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::google {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr auto default_address = "169.254.169.254";
constexpr auto default_host = "metadata.google.internal";
constexpr auto product_file = "/sys/class/dmi/id/product_name";
/// On a Google machine the server may start slowly; elsewhere nothing responds.
constexpr std::chrono::milliseconds wait_here = 3s;
constexpr std::chrono::milliseconds wait_elsewhere = 500ms;

http::Request ask_for(const std::string& what, const std::string& url) {
  return {.what = what,
          .url = url,
          .headers = {{"Metadata-Flavor", "Google"}},
          .connect_timeout = wait_here,
          .timeout = wait_here};
}

/// The address may belong to another cloud, or to a router that responds to everything.
bool is_google(const http::Response& response) {
  return response.header("Metadata-Flavor") == "Google";
}

/// Returns true for a name or an address with an optional port: the start of a URL.
bool is_host(std::string_view text) {
  return !text.empty() && text.size() < 256 && is_alphanumeric(text, "-._:[]");
}

std::string host_of(const Environment& environment, const char* variable, const char* otherwise) {
  auto host = environment.get(variable).value_or(otherwise);
  if (!is_host(host)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` of `{}` is not a host",
                                              printable(host.substr(0, 200)), variable));
  }
  return host;
}

class MetadataServer final : public CachingTokenSource {
public:
  explicit MetadataServer(CredentialOptions options)
      : CachingTokenSource{std::move(options)},
        host_{host_of(*this->options().environment, "GCE_METADATA_HOST", default_host)} {}

  std::string describe() const override {
    return fmt::format("metadata server `{}`: there are no credentials files", host_);
  }

  std::optional<std::string> project() const override {
    const auto response = ask("the project", "project/project-id");
    return response.ok() ? non_empty(std::string{trim(response.body)}) : std::nullopt;
  }

protected:
  AccessToken fetch() override {
    const auto what = fmt::format("get an access token of {}", describe());
    const auto response = ask(what, fmt::format("instance/service-accounts/default/token?scopes={}",
                                                "https://www.googleapis.com/auth/cloud-platform"));
    if (!response.ok()) {
      auto error = Error(ErrorKind::remote, "could not " + what)
                       .cause(fmt::format("GET http://{}: {}", host_, response.status));
      throw response.status == 404
          ? error.hint("give the machine a service account with the cloud-platform scope")
          : error;
    }
    const auto answer = parse_json(response.body);
    if (!answer.is_object() || !answer.contains("access_token") ||
        !answer["access_token"].is_string() || !answer.contains("expires_in") ||
        !answer["expires_in"].is_number_integer()) {
      throw Error(ErrorKind::remote, "could not " + what)
          .cause(fmt::format("GET http://{}: the response has no access token", host_));
    }
    constexpr std::int64_t a_day = 86400;  // no token is valid longer
    const auto lifetime =
        std::clamp(answer["expires_in"].get<std::int64_t>(), std::int64_t{0}, a_day);
    return {.token = Secret{answer["access_token"].get<std::string>()},
            .expires_at = options().now() + lifetime};
  }

private:
  http::Response ask(const std::string& what, const std::string& path) const {
    auto response = send_patiently(
        options(), ask_for(what, fmt::format("http://{}/computeMetadata/v1/{}", host_, path)));
    if (!is_google(response)) {
      throw Error(ErrorKind::remote, "could not " + what)
          .cause(fmt::format("`{}` is not a Google metadata server: its response lacks "
                             "`Metadata-Flavor: Google`",
                             host_));
    }
    return response;
  }

  std::string host_;
};

bool runs_on_google() {
  try {
    const auto product = read_file_if_exists(product_file);
    return product && trim(*product).starts_with("Google");
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::unique_ptr<CachingTokenSource> find_metadata_server(CredentialOptions options) {
  const auto& environment = *options.environment;
  if (to_lower(environment.get("NO_GCE_CHECK").value_or("")) == "true") {
    return nullptr;
  }
  const bool is_named = environment.get("GCE_METADATA_HOST").has_value();
  const auto host = host_of(environment, "GCE_METADATA_HOST", default_host);
  const auto address =
      host_of(environment, "GCE_METADATA_IP", is_named ? host.c_str() : default_address);
  auto request = ask_for("look for a metadata server", fmt::format("http://{}/", address));
  const bool is_likely = is_named || runs_on_google();
  if (!is_likely) {
    request.connect_timeout = wait_elsewhere;
    request.timeout = wait_elsewhere;
  }
  try {
    const auto response =
        is_likely ? send_patiently(options, request) : options.client->send(request);
    return is_google(response) ? std::make_unique<MetadataServer>(std::move(options)) : nullptr;
  } catch (const http::TransportError&) {
    return nullptr;
  }
}

}  // namespace autopack::google
