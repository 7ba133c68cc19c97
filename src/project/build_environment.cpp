#include "project/build_environment.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "project/requirement_lines.hpp"
#include "source/secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

const std::string origin = "build-env";

bool is_variable_name(std::string_view name) {
  return !name.empty() && name.find_first_of("0123456789") != 0 && is_alphanumeric(name, "_");
}

bool is_secret_name(std::string_view name) {
  static constexpr std::array<std::string_view, 9> signs{"TOKEN",      "SECRET",      "PASSWORD",
                                                         "PASSWD",     "CREDENTIAL",  "API_KEY",
                                                         "ACCESS_KEY", "PRIVATE_KEY", "PASSPHRASE"};
  const std::string upper = to_upper(std::string{name});
  return std::any_of(signs.begin(), signs.end(),
                     [&](std::string_view sign) { return upper.find(sign) != std::string::npos; });
}

bool looks_secret(const std::string& name, const std::string& value) {
  if (value.empty()) {
    return false;
  }
  source::SecretScan scan{"", source::SecretScan::Detail::whether};
  scan.feed(fmt::format("{}=\"{}\"\n", name, value));
  return is_secret_name(name) || holds_credentials(value) || !scan.finish().empty();
}

}  // namespace

std::map<std::string, std::string> read_build_environment(const std::vector<std::string>& values,
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
           .hints = {"credentials of an index stand in PIP_INDEX_URL, pip.conf or .netrc, which "
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
