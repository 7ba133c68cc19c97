#include "index/access.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/line.hpp"
#include "base/netrc.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "base/url.hpp"
#include "project/requirements/pip_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

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

namespace {

Secret basic(const std::string& user, const std::string& password) {
  return Secret{"Basic " + base64_encode(user + ":" + password)};
}

}  // namespace

bool is_google_python_host(const std::string& host) {
  return to_lower(host).ends_with("-python.pkg.dev");
}

std::string place_of(const Url& url) {
  Url whole = url;
  whole.port = url.port.value_or(url.scheme == "https" ? 443 : 80);
  return whole.origin();
}

Logins::Logins(const IndexSettings& settings, GoogleToken google)
    : settings_{settings}, google_{std::move(google)} {}

std::optional<Secret> Logins::find(const Url& url) const {
  if (!url.user.empty() && !url.password.empty()) {
    return basic(url.user, url.password);
  }
  const Location* const location = location_of(url);
  if (location != nullptr && location->user && location->password) {
    return basic(*location->user, location->password->reveal());
  }
  const auto login = settings_.netrc && may_have_netrc(url)
                         ? netrc_login(settings_.netrc->reveal(), url.host)
                         : std::nullopt;
  if (login) {
    return basic(login->user, login->password.reveal());
  }
  // A page must not choose the token's destination.
  if (location != nullptr && url.scheme == "https" && is_google_python_host(url.host)) {
    if (const auto token = google_token()) {
      return basic("oauth2accesstoken", token->reveal());
    }
  }
  if (!url.user.empty()) {
    return basic(url.user, "");
  }
  return location != nullptr && location->user ? std::optional{basic(*location->user, "")}
                                               : std::nullopt;
}

/// Like pip, returns the index or find-links page on the host of `url` with the longest common
/// path.
const Location* Logins::location_of(const Url& url) const {
  const Location* found = nullptr;
  std::size_t longest = 0;
  for (const auto* const list : {&settings_.indexes, &settings_.find_links}) {
    for (const auto& location : *list) {
      const auto known = Url::parse(location.url);
      if (!known || place_of(*known) != place_of(url)) {
        continue;
      }
      const auto shared = static_cast<std::size_t>(
          std::mismatch(known->path.begin(), known->path.end(), url.path.begin(), url.path.end())
              .first -
          known->path.begin());
      if (found == nullptr || shared > longest) {
        found = &location;
        longest = shared;
      }
    }
  }
  return found;
}

/// A page or a lock can name any URL on a host in netrc. Over plain HTTP others could read the
/// login, so the user must already use that host over HTTP.
bool Logins::may_have_netrc(const Url& url) const {
  if (url.scheme != "http" || url.is_loopback()) {
    return true;
  }
  const auto is_plain_on_host = [&](const Location& location) {
    const auto known = Url::parse(location.url);
    return known && known->scheme == "http" && known->host == url.host;
  };
  const auto& hosts = settings_.trusted_hosts;
  return std::ranges::any_of(settings_.indexes, is_plain_on_host) ||
         std::ranges::any_of(settings_.find_links, is_plain_on_host) ||
         std::ranges::any_of(hosts, [&](const std::string& host) {
           return host.substr(0, host.rfind(':')) == url.host || host == url.host;
         });
}

std::optional<Secret> Logins::google_token() const {
  const std::scoped_lock lock{mutex_};
  return google_ ? google_() : std::nullopt;
}

namespace {

constexpr int most_redirects{10};
/// Limit for a server's text in a message.
constexpr std::size_t shown_words{200};

std::vector<std::string> remedies(const Url& url, int status) {
  if (is_google_python_host(url.host)) {
    return {"log in with `gcloud auth application-default login`",
            "the account needs the role `roles/artifactregistry.reader` on the repository"};
  }
  if (status == 403) {
    return {fmt::format("ask for permission to read packages on `{}`", url.host)};
  }
  const bool is_plain = url.scheme == "http" && !url.is_loopback();
  return {fmt::format(
      "add a login to pip's index-url (`{}://USER:PASSWORD@{}`), or `machine {}` to ~/.netrc{}",
      url.scheme, url.origin().substr(url.scheme.size() + 3), url.host,
      is_plain ? fmt::format("; over plain HTTP also add `--trusted-host={}`", url.host) : "")};
}

}  // namespace

Access::Access(AccessOptions options)
    : options_{std::move(options)}, logins_{options_.settings, options_.google} {
  if (!options_.sleep) {
    options_.sleep = [cancellation = options_.cancellation](std::chrono::milliseconds time) {
      sleep_unless_cancelled(time, cancellation);
    };
  }
}

http::Request Access::request(const std::string& what, const std::string& url) const {
  return request(what, Location::parse(url));
}

http::Request Access::request(const std::string& what, const Location& place) const {
  auto url = Url::parse(place.url);
  if (!url || (url->scheme != "http" && url->scheme != "https")) {
    throw Error(ErrorKind::usage, fmt::format("cannot {}", what))
        .cause(fmt::format("`{}` is not an http or https URL", printable(redact_url(place.url))));
  }
  http::Request request{.what = what,
                        .url = place.url,
                        .connect_timeout = options_.settings.timeout,
                        .timeout = std::chrono::milliseconds{0},
                        .stall_timeout = options_.settings.timeout,
                        .tls = tls_for(*url),
                        .proxy = options_.settings.proxy.value_or(Secret{}),
                        .max_redirects = most_redirects};
  url->user = place.user.value_or("");
  url->password = place.password.value_or(Secret{}).reveal();
  if (const auto login = logins_.find(*url)) {
    request.headers.push_back({"Authorization", login->reveal()});
  }
  return request;
}

http::Response Access::send(const std::function<http::Request()>& make) const {
  return http::retry([&] { return options_.client->send(make()); }, options_.sleep,
                     {.attempts = options_.settings.retries + 1});
}

Error Access::refusal(const http::Request& request, const http::Response& response) {
  const std::string words{trim(response.body.substr(0, shown_words))};
  const std::string shown = redact_url(response.url.empty() ? request.url : response.url);
  Error error{ErrorKind::remote, fmt::format("could not {}", request.what)};
  error.cause(fmt::format("GET {}: {}{}", shown, response.status,
                          words.empty() ? "" : ": " + printable(single_spaced(words))));
  if (response.status == 401 || response.status == 403) {
    for (const auto& remedy : remedies(*Url::parse(request.url), response.status)) {
      error.hint(remedy);
    }
  } else if (response.status == 404 || response.status == 410) {
    error.hint("the server no longer has this file: make the lock again, or repeat the command");
  }
  return error;
}

bool Access::is_secure(const Url& url) const {
  return url.scheme == "https" || url.scheme == "file" || url.is_loopback() || is_trusted(url);
}

bool Access::is_trusted(const Url& url) const {
  const auto& hosts = options_.settings.trusted_hosts;
  const std::string with_port = url.host + (url.port ? ":" + std::to_string(*url.port) : "");
  return std::ranges::any_of(
      hosts, [&](const std::string& host) { return host == url.host || host == with_port; });
}

http::Tls Access::tls_for(const Url& url) const {
  const auto& settings = options_.settings;
  http::Tls tls{.ca_file = settings.certificates.value_or(""), .ca_for_redirects = true};
  tls.verify = !is_trusted(url);
  const auto is_host_of = [&](const Location& location) {
    const auto known = Url::parse(location.url);
    return known && place_of(*known) == place_of(url);
  };
  if (std::ranges::any_of(settings.indexes, is_host_of)) {
    tls.certificate_file = settings.client_certificate.value_or("");
  }
  return tls;
}

void Access::detail(const std::string& text) const {
  if (options_.reporter != nullptr) {
    options_.reporter->detail(text);
  }
}

void Access::warn(const Problem& problem) const {
  const std::scoped_lock lock{mutex_};
  const bool is_new = !contains(reported_, problem.message);
  if (is_new && options_.reporter != nullptr) {
    reported_.push_back(problem.message);
    options_.reporter->warn(problem);
  }
}

}  // namespace autopack::index
