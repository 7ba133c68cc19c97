#include "base/url.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace autopack {

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::string percent_decode(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
        hex_value(text[i + 2]) >= 0) {
      result += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string percent_encode(std::string_view text) {
  static constexpr std::string_view digits{"0123456789ABCDEF"};
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~') {
      result += c;
    } else {
      result += '%';
      result += digits[byte >> 4U];
      result += digits[byte & 15U];
    }
  }
  return result;
}

std::optional<Url> Url::parse(std::string_view text) {
  const auto colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) {
    return std::nullopt;
  }
  Url url;
  url.scheme = to_lower(text.substr(0, colon));
  text.remove_prefix(colon + 3);
  text = text.substr(0, text.find('#'));
  if (const auto question = text.find('?'); question != std::string_view::npos) {
    url.query = text.substr(question + 1);
    text = text.substr(0, question);
  }
  std::string_view authority = text.substr(0, text.find('/'));
  url.path = text.substr(authority.size());
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = authority.substr(0, at);
    const auto separator = login.find(':');
    url.user = percent_decode(login.substr(0, separator));
    if (separator != std::string_view::npos) {
      url.password = percent_decode(login.substr(separator + 1));
    }
    authority.remove_prefix(at + 1);
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    url.host = to_lower(authority.substr(1, end - 1));
    authority.remove_prefix(end + 1);
    if (!authority.empty() && !authority.starts_with(':')) {
      return std::nullopt;
    }
    port = authority.empty() ? authority : authority.substr(1);
  } else {
    const auto separator = authority.find(':');
    url.host = to_lower(authority.substr(0, separator));
    port =
        separator == std::string_view::npos ? std::string_view{} : authority.substr(separator + 1);
  }
  if (!port.empty()) {
    std::uint16_t number = 0;
    const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (code != std::errc{} || end != port.data() + port.size()) {
      return std::nullopt;
    }
    url.port = number;
  }
  const bool has_place =
      url.scheme == "unix" || url.scheme == "file" ? !url.path.empty() : !url.host.empty();
  return has_place ? std::optional{url} : std::nullopt;
}

std::string Url::origin() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return scheme + "://" + (ipv6 ? "[" + host + "]" : host) +
         (port ? ":" + std::to_string(*port) : "");
}

bool Url::is_loopback() const {
  if (host == "localhost" || host == "::1") {
    return true;
  }
  const auto octets = split(host, '.');
  if (octets.size() != 4 || octets[0] != "127") {
    return false;
  }
  return std::ranges::all_of(octets, [](const std::string& octet) {
    return !octet.empty() && octet.size() <= 3 &&
           octet.find_first_not_of("0123456789") == std::string::npos;
  });
}

namespace {

bool has_scheme(std::string_view reference) {
  const auto colon = reference.find_first_of(":/?");
  return colon != std::string_view::npos && colon > 0 && reference[colon] == ':' &&
         is_alphanumeric(reference.substr(0, colon), "+-.");
}

/// Implements RFC 3986 section 5.2.4.
std::string without_dot_segments(std::string_view path) {
  std::vector<std::string> kept;
  const auto segments = split(path.substr(std::min<std::size_t>(1, path.size())), '/');
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool up = segments[i] == "..";
    if (up && !kept.empty()) {
      kept.pop_back();
    }
    if (!up && segments[i] != ".") {
      kept.push_back(segments[i]);
    } else if (i + 1 == segments.size()) {
      kept.emplace_back();
    }
  }
  return "/" + join(kept, "/");
}

}  // namespace

std::optional<std::string> resolve_url(std::string_view base, std::string_view reference) {
  const auto parsed = Url::parse(base);
  if (!parsed) {
    return std::nullopt;
  }
  reference = reference.substr(0, reference.find('#'));
  std::string result{reference};
  if (reference.starts_with("//")) {
    result = parsed->scheme + ":" + result;
  } else if (!has_scheme(reference)) {
    const auto start = base.find("://") + 3;
    const std::string place{base.substr(0, base.find_first_of("/?#", start))};
    const auto question = std::min(reference.find('?'), reference.size());
    const auto path = reference.substr(0, question);
    std::string query{reference.substr(question)};
    if (path.empty()) {
      query = query.empty() && !parsed->query.empty() ? "?" + parsed->query : query;
      return place + parsed->path + query;
    }
    const auto slash = parsed->path.rfind('/');
    const std::string before = slash == std::string::npos ? "/" : parsed->path.substr(0, slash + 1);
    result = place +
             without_dot_segments((path.starts_with('/') ? "" : before) + std::string{path}) +
             query;
  }
  return Url::parse(result) ? std::optional{result} : std::nullopt;
}

std::string redact_url(std::string_view text) {
  const auto url = Url::parse(text);
  if (!url) {
    return redact_credentials(std::string{text});
  }
  std::string result = url->origin() + url->path;
  char separator = '?';
  if (!url->query.empty()) {
    for (const auto& pair : split(url->query, '&')) {
      result += separator;
      const auto equals = pair.find('=');
      result += equals == std::string::npos ? pair : pair.substr(0, equals + 1) + "***";
      separator = '&';
    }
  }
  return result;
}

std::string redact_credentials(std::string text) {
  for (std::size_t at = 0; (at = text.find("://", at)) != std::string::npos;) {
    const bool by_ssh = at >= 3 && to_lower(std::string_view{text}.substr(at - 3, 3)) == "ssh";
    at += 3;
    const auto end = text.find_first_of("/ \t\r\n\"'`?#", at);
    const auto sign = text.rfind('@', end == std::string::npos ? text.size() : end);
    if (sign != std::string::npos && sign >= at) {
      // For ssh, the name of an account is not a secret; elsewhere a name alone may be a token.
      const auto login = std::string_view{text}.substr(at, sign - at);
      if (!by_ssh || login.find_first_of(":@") != std::string_view::npos) {
        text.replace(at, sign - at, "***");
      }
    }
  }
  return text;
}

std::vector<std::string> variables_of(std::string_view text) {
  std::vector<std::string> names;
  for (auto at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    const auto end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at + 2);
    if (end != std::string_view::npos && text[end] == '}' && end > at + 2) {
      names.emplace_back(text.substr(at + 2, end - at - 2));
    }
  }
  return names;
}

namespace {

/// Returns `text` without its `${NAME}` variables.
std::string literal_part(std::string_view text) {
  std::string result{text};
  for (auto open = result.find("${"); open != std::string::npos; open = result.find("${")) {
    const auto close = result.find('}', open);
    result.erase(open, close == std::string::npos ? close : close - open + 1);
  }
  return result;
}

}  // namespace

bool holds_credentials(std::string_view text) {
  for (auto at = text.find("://"); at != std::string_view::npos; at = text.find("://", at)) {
    const auto scheme_begin = text.find_last_of(" \t=@\"'", at);
    const auto scheme =
        to_lower(text.substr(scheme_begin == std::string_view::npos ? 0 : scheme_begin + 1,
                             at - (scheme_begin == std::string_view::npos ? 0 : scheme_begin + 1)));
    at += 3;
    const auto end = std::min(text.find_first_of("/ \t\"'?#", at), text.size());
    const auto sign = text.substr(at, end - at).rfind('@');
    if (sign == std::string_view::npos) {
      continue;
    }
    const auto login = text.substr(at, sign);
    const auto colon = std::min(login.find(':'), login.size());
    const bool has_password = colon + 1 < login.size();
    const auto secret =
        literal_part(has_password ? login.substr(colon + 1) : login.substr(0, colon));
    if (!secret.empty() && (has_password || (secret != "git" && !scheme.ends_with("ssh")))) {
      return true;
    }
  }
  return false;
}

}  // namespace autopack
