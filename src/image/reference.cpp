#include "image/reference.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::image {

namespace {

constexpr std::string_view default_host = "docker.io";
constexpr std::string_view legacy_default_host = "index.docker.io";
constexpr std::string_view official = "library/";
constexpr std::size_t longest_repository_path = 255;
constexpr std::size_t longest_tag = 128;

constexpr std::string_view digits = "0123456789";
constexpr std::string_view lower_hexadecimal = "0123456789abcdef";
constexpr std::string_view lower_alphanumeric = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view alphanumeric =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// The error, and what the user could type instead.
struct Fault {
  std::string message{};
  std::optional<std::string> hint{};
};

using MaybeFault = std::optional<Fault>;

bool is_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

bool has_upper_case(std::string_view text) {
  return to_lower(text) != text;
}

/// Returns the registry host of a name (nothing if the name begins with its path), and the rest.
std::pair<std::optional<std::string_view>, std::string_view> split_host(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) {
    return {std::nullopt, text};
  }
  const auto first = text.substr(0, slash);
  const bool is_host = first == "localhost" ||
                       first.find_first_of(".:") != std::string_view::npos || has_upper_case(first);
  if (!is_host) {
    return {std::nullopt, text};
  }
  return {first, text.substr(slash + 1)};
}

MaybeFault fault_of_host(std::string_view host) {
  auto name = host;
  std::string_view port;
  const auto bracket = host.rfind(']');
  const auto colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    name = host.substr(0, colon);
    port = host.substr(colon + 1);
    if (!is_of(port, digits)) {
      return Fault{fmt::format("the port `{}` of the registry `{}` is not a number", port, name)};
    }
  }
  if (name.starts_with('[')) {
    const bool valid = name.ends_with(']') && name.size() > 2 &&
                       is_of(name.substr(1, name.size() - 2), "0123456789abcdefABCDEF:");
    return valid ? MaybeFault{}
                 : Fault{fmt::format("`{}` is not an IPv6 address in brackets", name)};
  }
  for (const auto& label : split(name, '.')) {
    if (label.empty() || label.starts_with('-') || label.ends_with('-') ||
        label.find_first_not_of(std::string{alphanumeric} + "-") != std::string::npos) {
      return Fault{fmt::format("`{}` is not the name of a registry host", name)};
    }
  }
  return std::nullopt;
}

/// Letters and digits, with one of `.`, `_`, `__` or any number of `-` between them.
bool is_component(std::string_view component) {
  while (!component.empty()) {
    const auto end = std::min(component.find_first_not_of(lower_alphanumeric), component.size());
    if (end == 0) {
      return false;
    }
    component.remove_prefix(end);
    if (component.empty()) {
      return true;
    }
    const auto next = std::min(component.find_first_of(lower_alphanumeric), component.size());
    const auto separator = component.substr(0, next);
    if (separator != "." && separator != "_" && separator != "__" && !is_of(separator, "-")) {
      return false;
    }
    component.remove_prefix(next);
  }
  return false;
}

MaybeFault fault_of_path(std::string_view path) {
  if (path.empty()) {
    return Fault{"it has no path"};
  }
  if (has_upper_case(path)) {
    return Fault{fmt::format("the path `{}` has upper-case letters", path)};
  }
  for (const auto& component : split(path, '/')) {
    if (component.empty()) {
      return Fault{fmt::format("the path `{}` has an empty part", path)};
    }
    if (!is_component(component)) {
      return Fault{
          fmt::format("`{}` is not letters and digits joined by `.`, `_`, `__` or `-`", component)};
    }
  }
  return std::nullopt;
}

MaybeFault fault_of_tag(std::string_view tag) {
  if (tag.empty()) {
    return Fault{"the tag after `:` is empty"};
  }
  if (tag.size() > longest_tag) {
    return Fault{fmt::format("the tag is longer than {} characters", longest_tag)};
  }
  const std::string word = std::string{alphanumeric} + "_";
  if (!is_of(tag.substr(0, 1), word) || !is_of(tag, word + ".-")) {
    return Fault{fmt::format(
        "the tag `{}` is not letters, digits, `_`, `.` and `-`, the first a letter, digit or `_`",
        tag)};
  }
  return std::nullopt;
}

/// Finds common mistakes that are not names at all, before the parts are checked.
MaybeFault fault_of_whole(std::string_view text) {
  if (text.empty()) {
    return Fault{"it is empty"};
  }
  if (text.find_first_of(" \t\r\n\f\v") != std::string_view::npos) {
    return Fault{"it has white space"};
  }
  if (const auto scheme = text.find("://"); scheme != std::string_view::npos) {
    auto name = text.substr(scheme + 3);
    if (const auto login = name.find('@'); login < name.find('/')) {
      name.remove_prefix(login + 1);
    }
    return Fault{fmt::format("it begins with `{}`", text.substr(0, scheme + 3)),
                 fmt::format("`{}`", name)};
  }
  if ((text.size() == 64 && is_of(text, lower_hexadecimal)) || Digest::parse(text)) {
    return Fault{"it is the ID of an image, not a name"};
  }
  const auto [host, rest] = split_host(text);
  const auto colon = rest.find(':');
  const auto slash = rest.find('/', colon == std::string_view::npos ? rest.size() : colon);
  const auto digest = rest.find('@');
  if (slash != std::string_view::npos && slash < digest) {
    // A Google project that belongs to a domain: `example.com:project`.
    const auto project = rest.substr(0, slash);
    return Fault{
        fmt::format("`{}` has a `:` before a `/`", project),
        host && (host->ends_with("gcr.io") || host->ends_with("pkg.dev"))
            ? std::optional{fmt::format("`{}/{}`", *host, replace_all(std::string{rest}, ":", "/"))}
            : std::nullopt};
  }
  return std::nullopt;
}

/// Reads the parts of `text` into `reference`, up to the first error.
MaybeFault read(std::string_view text, Reference& reference) {
  if (auto fault = fault_of_whole(text)) {
    return fault;
  }
  auto [host, rest] = split_host(text);
  if (host) {
    if (auto fault = fault_of_host(*host)) {
      return fault;
    }
  }
  reference.text = text;
  reference.host = !host || host == legacy_default_host ? default_host : *host;
  const auto at = rest.find('@');
  const auto name = rest.substr(0, at);
  const auto colon = name.find(':');
  const auto path = name.substr(0, colon);
  if (auto fault = fault_of_path(path)) {
    if (has_upper_case(path)) {
      const auto offset = static_cast<std::size_t>(path.data() - text.data());
      fault->hint = fmt::format("`{}{}{}`", text.substr(0, offset), to_lower(path),
                                text.substr(offset + path.size()));
    }
    return fault;
  }
  const bool is_official =
      reference.host == default_host && path.find('/') == std::string_view::npos;
  reference.path = std::string{is_official ? official : ""} + std::string{path};
  if (reference.path.size() > longest_repository_path) {
    return Fault{fmt::format("the path is longer than {} characters", longest_repository_path)};
  }
  if (colon != std::string_view::npos) {
    if (auto fault = fault_of_tag(name.substr(colon + 1))) {
      return fault;
    }
    reference.tag = name.substr(colon + 1);
  }
  if (at != std::string_view::npos) {
    reference.digest = Digest::parse(rest.substr(at + 1));
    if (!reference.digest) {
      return Fault{fmt::format("the digest `{}` is not `sha256:` and 64 hexadecimal digits",
                               rest.substr(at + 1))};
    }
  }
  return std::nullopt;
}

std::string message_of(std::string_view text, const Fault& fault) {
  return fmt::format("`{}` is not an image name: {}",
                     printable(redact_credentials(std::string{text})), printable(fault.message));
}

}  // namespace

Reference Reference::parse(std::string_view text) {
  Reference reference;
  if (const auto fault = read(text, reference)) {
    Error error{ErrorKind::usage, message_of(text, *fault)};
    error.hint(fault->hint ? "write " + printable(*fault->hint)
                           : "image names are [HOST[:PORT]/]PATH[:TAG][@sha256:DIGEST]");
    throw error;
  }
  return reference;
}

std::optional<std::string> Reference::fault(std::string_view text) {
  Reference ignored;
  const auto fault = read(text, ignored);
  return fault ? std::optional{message_of(text, *fault)} : std::nullopt;
}

std::string Reference::repository() const {
  if (host != default_host) {
    return host + "/" + path;
  }
  const bool is_official =
      path.starts_with(official) && path.find('/', official.size()) == std::string::npos;
  return is_official ? path.substr(official.size()) : path;
}

std::string Reference::tagged() const {
  if (tag) {
    return with_tag(*tag);
  }
  return digest ? with_digest(*digest) : with_tag("latest");
}

std::string Reference::with_digest(const Digest& content) const {
  return repository() + "@" + content.str();
}

std::string Reference::with_tag(std::string_view name) const {
  return repository() + ":" + std::string{name};
}

bool Reference::names_registry() const {
  return split_host(text).first.has_value();
}

bool Reference::is_loopback() const {
  const auto url = Url::parse("http://" + host);
  return url && url->is_loopback();
}

std::string sanitize_component(std::string_view text) {
  static constexpr std::size_t longest = 128;
  const std::string lower = to_lower(text);
  std::string result;
  for (std::string_view rest = lower; !rest.empty();) {
    const auto word = std::min(rest.find_first_not_of(lower_alphanumeric), rest.size());
    result += rest.substr(0, word);
    rest.remove_prefix(word);
    const auto gap = std::min(rest.find_first_of(lower_alphanumeric), rest.size());
    const auto separator = rest.substr(0, gap);
    if (!result.empty() && gap != rest.size()) {
      const bool kept = separator == "." || separator == "_" || is_of(separator, "-");
      result += kept ? separator : ".";
    }
    rest.remove_prefix(gap);
  }
  if (result.size() > longest) {
    result.resize(longest);
    result.resize(result.find_last_of(lower_alphanumeric) + 1);
  }
  return result.empty() ? "name-" + sha256(text).hex().substr(0, 8) : result;
}

}  // namespace autopack::image
