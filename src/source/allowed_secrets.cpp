#include "source/allowed_secrets.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::source {

namespace {

constexpr std::size_t fingerprint_size{12};

bool is_fingerprint(std::string_view text) {
  return text.size() == fingerprint_size &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string take_word(std::string_view& text) {
  text = trim(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  std::string word{text.substr(0, end)};
  text = trim(text.substr(end));
  return word;
}

}  // namespace

std::vector<AllowedSecret> read_allowed_secrets(std::string_view text) {
  std::vector<AllowedSecret> allowed;
  Problems problems;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    std::string_view rest = trim(line);
    if (rest.empty() || rest.starts_with('#')) {
      continue;
    }
    AllowedSecret entry{.line = number};
    entry.fingerprint = take_word(rest);
    entry.kind = take_word(rest);
    entry.path = rest;
    if (is_fingerprint(entry.fingerprint) && !entry.path.empty()) {
      allowed.push_back(std::move(entry));
    } else {
      problems.push_back({.message = "not a line of the form `FINGERPRINT KIND PATH`",
                          .origin = fmt::format("{}:{}", allowed_secrets_file, number)});
    }
  }
  throw_if_errors(problems, ErrorKind::project);
  return allowed;
}

bool allows(const AllowedSecret& allowed, const FoundSecret& secret) {
  return allowed.fingerprint == secret.fingerprint && allowed.kind == secret.kind &&
         allowed.path == printable(secret.path);
}

std::string allowing_line(const FoundSecret& secret) {
  return fmt::format("{} {} {}", secret.fingerprint, secret.kind, printable(secret.path));
}

}  // namespace autopack::source
