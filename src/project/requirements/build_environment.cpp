#include "project/requirements/build_environment.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "project/code/shell_commands.hpp"
#include "source/secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

/// Returns true if `upper` contains TOKEN, except in words about a tokenizer
/// (`TOKENIZERS_PARALLELISM`) and for a number of tokens (`MAX_TOKENS=512`).
bool looks_like_token(std::string_view upper, std::string_view value) {
  constexpr std::string_view sign{"TOKEN"};
  const bool is_number = std::ranges::all_of(value, is_digit);
  for (auto at = upper.find(sign); at != std::string_view::npos; at = upper.find(sign, at + 1)) {
    const auto rest = upper.substr(at + sign.size());
    if (!rest.starts_with("IZ") && !(rest.starts_with('S') && is_number)) {
      return true;
    }
  }
  return false;
}

bool names_secret(const std::string& name, std::string_view value) {
  static constexpr std::array<std::string_view, 8> signs{"SECRET",      "PASSWORD",  "PASSWD",
                                                         "CREDENTIAL",  "API_KEY",   "ACCESS_KEY",
                                                         "PRIVATE_KEY", "PASSPHRASE"};
  const std::string upper = to_upper(name);
  if (looks_like_token(upper, value)) {
    return true;
  }
  return std::ranges::any_of(
      signs, [&](std::string_view sign) { return upper.find(sign) != std::string::npos; });
}

}  // namespace

bool looks_secret(const std::string& name, const std::string& value) {
  if (value.empty()) {
    return false;
  }
  source::SecretScan scan{"", source::SecretScan::Detail::whether};
  scan.feed(fmt::format("{}=\"{}\"\n", name, value));
  return names_secret(name, value) || holds_credentials(value) || !scan.finish().empty();
}

std::map<std::string, std::string> read_build_environment(const std::vector<std::string>& values,
                                                          const std::optional<std::string>& origin,
                                                          Problems& problems) {
  std::map<std::string, std::string> variables;
  for (const auto& text : values) {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || !is_variable_name(name)) {
      problems.push_back(
          {.message = fmt::format("`{}` is not NAME=VALUE", redact_credentials(printable(text))),
           .origin = origin,
           .hints = {"a value with `,` needs another delimiter: "
                     "--build-env='^|^ARCHITECTURES=8.0,9.0|FORCE_CUDA=1'"}});
      continue;
    }
    const std::string value = text.substr(equals + 1);
    if (looks_secret(name, value)) {
      problems.push_back(
          {.message = fmt::format("the value of `{}` looks like a secret, and it would stay in the "
                                  "image's history",
                                  name),
           .origin = origin,
           .hints = {"credentials of an index belong into PIP_INDEX_URL, pip.conf or .netrc, which "
                     "stay out of the image"}});
      continue;
    }
    if (!variables.emplace(name, value).second && variables[name] != value) {
      problems.push_back(
          {.message = fmt::format("`{}` is given twice, with two values", name), .origin = origin});
    }
  }
  return variables;
}

}  // namespace autopack::project
