#include "registry/credential_helper.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace autopack::registry {

namespace {

constexpr std::string_view not_found = "credentials not found in native keychain";
constexpr std::string_view no_secret = "***";
constexpr std::size_t message_limit = 400;

bool is_helper_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

/// Long runs of letters and digits are tokens or keys, not words.
bool looks_secret(std::string_view word) {
  const auto has = [&](int (*test)(int)) {
    return std::ranges::any_of(word, [&](unsigned char c) { return test(c) != 0; });
  };
  return word.size() >= 30 && has(&std::isdigit) && has(&std::isalpha);
}

bool announces_secret(std::string_view word) {
  const std::string lower = to_lower(word);
  static constexpr std::array<std::string_view, 5> names{"password", "secret", "token", "bearer",
                                                         "basic"};
  return std::ranges::any_of(names, [&](std::string_view name) { return lower.ends_with(name); });
}

std::optional<Credential> read_answer(const std::string& name, const std::string& output) {
  const auto answer = parse_json(output);
  const auto text = [&](const char* key) -> std::string {
    const auto found = answer.find(key);
    return found != answer.end() && found->is_string() ? found->get<std::string>() : "";
  };
  if (!answer.is_object()) {
    throw Error(
        ErrorKind::environment,
        fmt::format("the credential helper `docker-credential-{}` did not print JSON", name));
  }
  Credential credential{.origin = fmt::format("helper `{}`", name)};
  if (text("Secret").empty()) {
    return std::nullopt;
  }
  if (text("Username") == "<token>") {
    credential.identity_token = Secret{text("Secret")};
  } else {
    credential.username = text("Username");
    credential.password = Secret{text("Secret")};
  }
  return credential;
}

}  // namespace

std::string without_secrets(std::string_view text) {
  const std::string source = redact_credentials(join(split(trim(text), '\n'), " "));
  std::string result;
  bool announced = false;
  for (std::string_view rest = source; !rest.empty();) {
    const auto end = std::min(rest.find_first_of(" \t:=\"'`,;()[]{}"), rest.size());
    const std::string_view word = rest.substr(0, end);
    const bool hidden =
        !word.empty() && (announced || std::ranges::any_of(split(word, '/'), looks_secret));
    result += hidden ? no_secret : word;
    if (!word.empty()) {
      announced = announces_secret(word);
    }
    if (end == rest.size()) {
      break;
    }
    result += rest[end];
    rest.remove_prefix(end + 1);
  }
  return printable(result.size() > message_limit ? result.substr(0, message_limit) + "..."
                                                 : result);
}

std::optional<Credential> ask_helper(const Environment& environment,
                                     const std::string& name,
                                     const std::string& server,
                                     const std::string& configured_in,
                                     const Cancellation* cancellation) {
  const std::string program = "docker-credential-" + name;
  if (!is_helper_name(name)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not the name of a credential helper ({})",
                                              printable(name), configured_in));
  }
  const auto path = find_program(program, environment.get("PATH").value_or(""));
  if (!path) {
    throw Error(ErrorKind::environment,
                fmt::format("the credential helper `{}` is not on PATH", program))
        .cause(fmt::format("{} names it for `{}`", configured_in, server))
        .hint(fmt::format("install `{}`, or remove it from {}", program, configured_in));
  }
  const auto result =
      run_process({*path, "get"}, server,
                  {.environment = {environment.all().begin(), environment.all().end()},
                   .cancellation = cancellation});
  if (result && result->status == 0) {
    return read_answer(name, result->output);
  }
  if (result && trim(result->output) == not_found) {
    return std::nullopt;
  }
  // Helpers print errors on either stream. Output that looks like an answer is not shown.
  const bool on_output =
      result && trim(result->errors).empty() && result->output.find('{') == std::string::npos;
  const std::string said =
      !result ? "" : without_secrets(on_output ? result->output : result->errors);
  throw Error(ErrorKind::environment,
              fmt::format("the credential helper `{}` has no login for `{}`: exit status {}",
                          program, server, result ? result->status : 127))
      .cause(said.empty() ? "it printed no reason" : said)
      .hint(fmt::format("check its output: `echo {} | {} get`", shell_quote(server), program));
}

}  // namespace autopack::registry
