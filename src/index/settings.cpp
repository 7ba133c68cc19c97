#include "index/settings.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "project/requirements/pip_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>

namespace autopack::index {

namespace fs = std::filesystem;

namespace {

using Options = std::map<std::string, std::string>;

std::string value_of(const Options& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? "" : std::string{trim(found->second)};
}

Error bad_value(std::string_view name, std::string_view value) {
  return {ErrorKind::usage,
          fmt::format("pip's option `{}` is `{}`", name, printable(redact_url(value)))};
}

/// Like distutils' strtobool, which pip uses.
bool truth_of(const Options& options, const std::string& name) {
  const std::string value = to_lower(value_of(options, name));
  if (value == "y" || value == "yes" || value == "t" || value == "true" || value == "on" ||
      value == "1") {
    return true;
  }
  if (value.empty() || value == "n" || value == "no" || value == "f" || value == "false" ||
      value == "off" || value == "0") {
    return false;
  }
  throw bad_value(name, value).hint("it must be `true` or `false`");
}

/// Returns nothing if the option is not set. pip accepts fractions of seconds, which are rounded up
/// here.
std::optional<int> number_of(const Options& options, const std::string& name) {
  const std::string value = value_of(options, name);
  if (value.empty()) {
    return std::nullopt;
  }
  int number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, code] = std::from_chars(value.data(), end, number);
  const std::string_view rest{stop, static_cast<std::size_t>(end - stop)};
  const bool fraction =
      rest.starts_with('.') && rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (code != std::errc{} || number < 0 || (!rest.empty() && !fraction)) {
    throw bad_value(name, value).hint("it must be a number");
  }
  return number + (rest.find_first_not_of(".0") == std::string_view::npos ? 0 : 1);
}

void add_locations(std::vector<Location>& list, std::string_view value) {
  for (const auto& word : project::pip_words(value)) {
    list.push_back(Location::parse(word));
  }
}

/// pip expands `~` only if the resulting path exists.
std::string expanded(const std::string& place, const Environment& environment) {
  if (!place.starts_with("~/")) {
    return place;
  }
  const fs::path path = environment.home() / place.substr(2);
  std::error_code ignored;
  return fs::exists(path, ignored) ? path.string() : place;
}

std::string with_variables(std::string text, const Environment& environment) {
  for (const auto& name : variables_of(text)) {
    if (const auto value = environment.get(name)) {
      text = replace_all(std::move(text), "${" + name + "}", *value);
    }
  }
  return text;
}

void add_find_links(IndexSettings& settings,
                    const std::string& value,
                    const fs::path& directory,
                    const Environment& environment) {
  std::error_code ignored;
  const bool is_here = !Url::parse(value) && fs::exists(directory / value, ignored);
  settings.find_links.push_back(
      Location::parse(is_here ? (directory / value).string() : expanded(value, environment)));
}

}  // namespace

Location Location::parse(std::string_view text) {
  const auto url = Url::parse(text);
  if (!url || url->scheme == "file") {
    return {.url = std::string{text}};
  }
  Location place{.url = url->origin() + url->path + (url->query.empty() ? "" : "?" + url->query)};
  if (!url->user.empty()) {
    place.user = url->user;
  }
  if (!url->password.empty()) {
    place.password = Secret{url->password};
  }
  return place;
}

IndexSettings find_index_settings(const Environment& environment,
                                  const std::optional<std::string>& default_index,
                                  const fs::path& system) {
  const Options options = project::find_pip_options(environment, system);
  IndexSettings settings;
  settings.no_index = truth_of(options, "no-index");
  if (!settings.no_index) {
    const std::string first = value_of(options, "index-url");
    add_locations(settings.indexes, first.empty() ? default_index.value_or("") : first);
    add_locations(settings.indexes, value_of(options, "extra-index-url"));
  }
  for (const auto& word : project::pip_words(value_of(options, "find-links"))) {
    settings.find_links.push_back(Location::parse(expanded(word, environment)));
  }
  settings.trusted_hosts = project::pip_words(to_lower(value_of(options, "trusted-host")));
  settings.certificates = non_empty(value_of(options, "cert"));
  settings.client_certificate = non_empty(value_of(options, "client-cert"));
  if (auto proxy = value_of(options, "proxy"); !proxy.empty()) {
    settings.proxy = Secret{std::move(proxy)};
  }
  settings.timeout = std::chrono::seconds{number_of(options, "timeout").value_or(15)};
  settings.retries = number_of(options, "retries").value_or(5);
  settings.netrc = project::find_netrc(environment);
  return settings;
}

void add_line_options(IndexSettings& settings,
                      const std::vector<std::pair<std::string, std::string>>& options,
                      const fs::path& directory,
                      const Environment& environment) {
  // In this order, whatever the order on the line.
  const auto each = [&](std::string_view wanted, const auto& action) {
    for (const auto& [name, value] : options) {
      if (name == wanted) {
        action(with_variables(value, environment));
      }
    }
  };
  each("--no-index", [&](const std::string&) {
    settings.no_index = true;
    settings.indexes.clear();
  });
  if (!settings.no_index) {
    each("--index-url",
         [&](const std::string& value) { settings.indexes = {Location::parse(value)}; });
    each("--extra-index-url",
         [&](const std::string& value) { settings.indexes.push_back(Location::parse(value)); });
  }
  bool is_first = true;  // pip ignores the others of a line
  each("--find-links", [&](const std::string& value) {
    if (std::exchange(is_first, false)) {
      add_find_links(settings, value, directory, environment);
    }
  });
  each("--trusted-host",
       [&](const std::string& value) { settings.trusted_hosts.push_back(to_lower(value)); });
}

}  // namespace autopack::index
