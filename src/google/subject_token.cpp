#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/shell_words.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

using nlohmann::json;

namespace {

constexpr auto may_run = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";
constexpr std::int64_t default_timeout = 30'000;  // milliseconds, as are the next two
constexpr std::int64_t shortest_timeout = 5'000;
constexpr std::int64_t longest_timeout = 120'000;

/// The format of the token in a file or a response.
class Format {
public:
  Format(const CredentialsFile& file, const json& source) {
    const auto found = source.find("format");
    if (found == source.end()) {
      return;
    }
    const auto type = text_at(*found, "type");
    field_ = type == "json" ? non_empty(text_at(*found, "subject_token_field_name")) : std::nullopt;
    if (type == "json" ? !field_ : type != "text" && !type.empty()) {
      throw file.fault(
          "has a `credential_source` whose `format` is neither `text` nor `json` with "
          "a `subject_token_field_name`");
    }
  }

  std::string read(const std::string& text, const std::string& place) const {
    auto token = field_ ? text_at(parse_json(text), field_->c_str()) : std::string{trim(text)};
    if (token.empty()) {
      throw Error(
          ErrorKind::environment,
          field_ ? fmt::format("{} contains no JSON with the text `{}`", place, printable(*field_))
                 : place + " is empty");
    }
    return token;
  }

private:
  std::optional<std::string> field_{};  ///< absent: the whole text
};

class OfFile final : public SubjectToken {
public:
  OfFile(std::string path, Format format) : path_{std::move(path)}, format_{std::move(format)} {}

  std::string get() override {
    return format_.read(read_file(path_, FileSort::any),
                        fmt::format("subject token file `{}`", path_));
  }

private:
  std::string path_;
  Format format_;
};

class OfUrl final : public SubjectToken {
public:
  OfUrl(CredentialOptions options, const CredentialsFile& file, const json& source, Format format)
      : options_{std::move(options)}, format_{std::move(format)} {
    request_ = {.what = "get the subject token", .url = text_at(source, "url")};
    require_safe_endpoint(request_.url,
                          fmt::format("`url` in `credential_source` of {}", file.place()));
    const json headers = source.value("headers", json::object());
    for (const auto& [name, value] : headers.items()) {
      if (!headers.is_object() || !value.is_string() ||
          (name + value.get<std::string>()).find_first_of("\r\n") != std::string::npos) {
        throw file.fault("has a `credential_source` with invalid `headers`");
      }
      request_.headers.push_back({name, value.get<std::string>()});
    }
  }

  std::string get() override {
    const auto response = send_patiently(options_, request_);
    if (!response.ok()) {
      throw Error(ErrorKind::remote,
                  fmt::format("GET {}: {}", redact_url(request_.url), response.status));
    }
    return format_.read(response.body, "the response of " + redact_url(request_.url));
  }

private:
  CredentialOptions options_;
  Format format_;
  http::Request request_{};
};

/// Runs a program of the user (google.aip.dev/auth/4117), only if the environment allows it:
/// otherwise whoever writes the file could run anything.
class OfProgram final : public SubjectToken {
public:
  OfProgram(const CredentialOptions& options, const CredentialsFile& file, const json& source)
      : options_{options} {
    const auto& settings = source["executable"];
    command_ = shell_words(text_at(settings, "command")).value_or(std::vector<std::string>{});
    if (command_.empty()) {
      throw file.fault(
          "has a `credential_source` whose `executable` has no `command` that can be run");
    }
    if (options.environment->get(may_run) != "1") {
      throw file
          .fault(fmt::format("wants to run `{}`, which `{}` does not allow", printable(command_[0]),
                             may_run))
          .hint(fmt::format("if you trust the file: export {}=1", may_run));
    }
    timeout_ = read_timeout(file, settings);
    cache_ = text_at(settings, "output_file");
    variables_ = {{"GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE", file.required("audience")},
                  {"GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE", file.required("subject_token_type")},
                  {"GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE", "0"}};
    if (!cache_.empty()) {
      variables_["GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE"] = cache_;
    }
    if (file.optional("service_account_impersonation_url")) {
      variables_["GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL"] = impersonation_of(file).account();
    }
  }

  std::string get() override {
    if (const auto kept = cache_.empty() ? std::nullopt : read_file_if_exists(cache_)) {
      const auto answer = parse_json(*kept);
      if (answer.is_object() && answer.value("success", json{}) == true && !has_ended(answer)) {
        return token_of(answer);
      }
    }
    const auto result = run_process(command_, "",
                                    {.environment = variables_,
                                     .timeout = std::chrono::milliseconds{timeout_},
                                     .cancellation = options_.cancellation});
    if (!result) {
      throw Error(ErrorKind::environment, fmt::format("{} is not there", program()));
    }
    const auto answer = parse_json(result->output);
    if (result->status != 0 && !answer.is_object()) {
      throw Error(ErrorKind::environment,
                  fmt::format("{} ended with status {}", program(), result->status));
    }
    return token_of(answer);
  }

private:
  static std::int64_t read_timeout(const CredentialsFile& file, const json& settings) {
    const auto found = settings.find("timeout_millis");
    if (found == settings.end()) {
      return default_timeout;
    }
    if (!found->is_number_integer() || found->get<std::int64_t>() < shortest_timeout ||
        found->get<std::int64_t>() > longest_timeout) {
      throw file.fault(fmt::format("has a `timeout_millis` that is not between {} and {}",
                                   shortest_timeout, longest_timeout));
    }
    return found->get<std::int64_t>();
  }

  std::string program() const { return fmt::format("program `{}`", printable(command_[0])); }

  bool has_ended(const json& answer) const {
    const auto end = answer.value("expiration_time", json{});
    return !end.is_number_integer() || end.get<std::int64_t>() <= options_.now();
  }

  std::string token_of(const json& answer) const {
    if (!answer.is_object() || answer.value("version", json{}) != 1 ||
        !answer.contains("success")) {
      throw Error(ErrorKind::environment,
                  program() + " does not answer in JSON with `version` 1 and `success`");
    }
    if (answer["success"] != true) {
      throw Error(ErrorKind::environment, program() + " could not give a token")
          .cause(fmt::format("{}: {}", printable(text_at(answer, "code").substr(0, 100)),
                             printable(text_at(answer, "message").substr(0, 300))));
    }
    const auto type = text_at(answer, "token_type");
    const bool is_saml = type == "urn:ietf:params:oauth:token-type:saml2";
    auto token = text_at(answer, is_saml ? "saml_response" : "id_token");
    if (token.empty()) {
      throw Error(ErrorKind::environment, program() + " answers without a token");
    }
    if (answer.contains("expiration_time") && has_ended(answer)) {
      throw Error(ErrorKind::environment, program() + " answers with a token that has ended");
    }
    return token;
  }

  CredentialOptions options_;
  std::vector<std::string> command_{};
  std::map<std::string, std::string> variables_{};
  std::string cache_{};
  std::int64_t timeout_{default_timeout};
};

}  // namespace

std::unique_ptr<SubjectToken> make_subject_token(const CredentialOptions& options,
                                                 const CredentialsFile& file) {
  const auto found = file.content->find("credential_source");
  if (found == file.content->end() || !found->is_object()) {
    throw file.fault("has no `credential_source`");
  }
  const auto& source = *found;
  if (source.contains("executable")) {
    return std::make_unique<OfProgram>(options, file, source);
  }
  if (source.contains("environment_id")) {
    return make_aws_subject_token(options, file, source);
  }
  if (source.contains("certificate")) {
    return make_certificate_subject_token(options, file, source);
  }
  if (source.contains("file") == source.contains("url")) {
    throw file.fault(
        "has a `credential_source` that is not one of `file`, `url`, `executable`, "
        "`environment_id` and `certificate`");
  }
  if (source.contains("file")) {
    if (text_at(source, "file").empty()) {
      throw file.fault("has a `credential_source` whose `file` is not a path");
    }
    return std::make_unique<OfFile>(text_at(source, "file"), Format{file, source});
  }
  return std::make_unique<OfUrl>(options, file, source, Format{file, source});
}

}  // namespace autopack::google
