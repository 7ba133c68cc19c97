#include "base/json.hpp"
#include "base/text.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

namespace {

constexpr auto own_universe = "googleapis.com";

/// gcloud supports every existing kind.
Error unknown_type(const CredentialsFile& file, const std::string& type) {
  return file
      .fault(fmt::format("is of type `{}`, which is not supported", printable(type.substr(0, 60))))
      .hint(
          "gcloud can get a token with it: gcloud auth print-access-token >TOKEN, then "
          "--access-token-file=TOKEN");
}

}  // namespace

std::string CredentialsFile::place() const {
  return fmt::format("`{}`{}", path.string(), origin ? ", " + *origin : "");
}

Error CredentialsFile::fault(const std::string& what) const {
  return {ErrorKind::usage,
          fmt::format("credentials file {}{} {}", place(), origin ? "," : "", what)};
}

std::optional<std::string> CredentialsFile::optional(const char* key) const {
  const auto found = content->find(key);
  return found != content->end() && found->is_string() ? non_empty(found->get<std::string>())
                                                       : std::nullopt;
}

std::string CredentialsFile::required(const char* key) const {
  auto value = optional(key);
  if (!value) {
    throw fault(fmt::format("has no `{}`", key));
  }
  return std::move(*value);
}

std::unique_ptr<CachingTokenSource> make_from_file(const CredentialOptions& options,
                                                   const CredentialsFile& file) {
  const auto type = file.optional("type");
  if (!type) {
    throw file.fault("has no `type`, so it is not a credentials file")
        .hint("log in: gcloud auth application-default login");
  }
  if (const auto universe = file.optional("universe_domain");
      universe && *universe != own_universe) {
    throw file.fault(fmt::format("is for the universe `{}`, and autopack knows `{}` only",
                                 printable(universe->substr(0, 100)), own_universe));
  }
  if (type == "service_account") {
    return make_service_account(options, file);
  }
  if (type == "authorized_user") {
    return make_authorized_user(options, file);
  }
  if (type == "external_account_authorized_user") {
    return make_workforce_user(options, file);
  }
  if (type == "external_account") {
    return make_external_account(options, file);
  }
  if (type == "impersonated_service_account") {
    return make_impersonated_file(options, file);
  }
  throw unknown_type(file, *type);
}

}  // namespace autopack::google
