#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::google {

using nlohmann::json;

namespace {

constexpr auto config_variable = "GOOGLE_API_CERTIFICATE_CONFIG";
constexpr std::string_view begin_line = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view end_line = "-----END CERTIFICATE-----";

/// Returns the certificates of a PEM file, each as the base64 of its DER: the text between the
/// delimiter lines.
std::vector<std::string> read_certificates(const std::filesystem::path& path) {
  const auto text = read_file(path);
  std::vector<std::string> all;
  for (auto at = text.find(begin_line); at != std::string::npos; at = text.find(begin_line, at)) {
    at += begin_line.size();
    const auto end = text.find(end_line, at);
    if (end == std::string::npos) {
      break;
    }
    auto body = text.substr(at, end - at);
    std::erase_if(body, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
    if (!body.empty() && base64_decode(body)) {
      all.push_back(std::move(body));
    }
  }
  if (all.empty()) {
    throw Error(ErrorKind::environment, fmt::format("`{}` contains no certificate", path.string()));
  }
  return all;
}

/// The subject is a certificate of the machine: the token endpoint receives it in the handshake,
/// and the token repeats it with its certificate chain.
class OfCertificate final : public SubjectToken {
public:
  OfCertificate(const CredentialOptions& options, const CredentialsFile& file, const json& source) {
    const auto& settings = source["certificate"];
    const auto named = text_at(settings, "certificate_config_location");
    const bool by_default =
        settings.is_object() && settings.value("use_default_certificate_config", json{}) == true;
    if (by_default == !named.empty()) {
      throw file.fault(
          "has a `certificate` that names neither or both of `certificate_config_location` and "
          "`use_default_certificate_config`");
    }
    chain_ = text_at(settings, "trust_chain_path");
    read_config(by_default ? default_config(*options.environment) : std::filesystem::path{named});
  }

  std::string get() override {
    auto certificates = read_certificates(tls_.certificate_file);
    certificates.resize(1);
    if (!chain_.empty()) {
      for (auto& one : read_certificates(chain_)) {
        if (one != certificates.front()) {
          certificates.push_back(std::move(one));
        }
      }
    }
    return write_json(json(certificates));
  }

  http::Tls tls() const override { return tls_; }

private:
  static std::filesystem::path default_config(const Environment& environment) {
    const auto named = environment.get(config_variable);
    return named ? std::filesystem::path{*named}
                 : environment.gcloud_directory() / "certificate_config.json";
  }

  void read_config(const std::filesystem::path& path) {
    const auto config = parse_json(read_file(path));
    const auto at = [](const json& object, const char* key) {
      return object.is_object() && object.contains(key) ? object[key] : json{};
    };
    const auto workload = at(at(config, "cert_configs"), "workload");
    tls_ = {.certificate_file = text_at(workload, "cert_path"),
            .key_file = text_at(workload, "key_path")};
    if (tls_.certificate_file.empty() || tls_.key_file.empty()) {
      throw Error(ErrorKind::usage,
                  fmt::format("certificate configuration `{}` lacks `cert_path` and `key_path` "
                              "at `cert_configs.workload`",
                              path.string()))
          .hint("gcloud iam workload-identity-pools create-cred-config makes such a file");
    }
  }

  std::string chain_{};
  http::Tls tls_{};
};

}  // namespace

std::unique_ptr<SubjectToken> make_certificate_subject_token(const CredentialOptions& options,
                                                             const CredentialsFile& file,
                                                             const json& source) {
  return std::make_unique<OfCertificate>(options, file, source);
}

}  // namespace autopack::google
