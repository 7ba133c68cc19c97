#include "lock/repository.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "source/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace autopack::lock {

namespace {

constexpr std::array<std::string_view, 5> schemes{"https", "http", "ssh", "git", "file"};
constexpr std::size_t sha1_digits{40};
constexpr std::size_t sha256_digits{64};

bool is_commit(std::string_view text) {
  return (text.size() == sha1_digits || text.size() == sha256_digits) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// True for a URL that git cannot interpret in another way, without a login other than the name of
/// an ssh account.
bool is_plain_url(const std::string& url) {
  const auto end = url.find("://");
  const auto scheme = url.substr(0, std::min(end, url.size()));
  const bool known = end != std::string::npos && contains(schemes, scheme);
  auto host = known ? url.substr(end + 3, url.find('/', end + 3) - (end + 3)) : "";
  const auto sign = host.find('@');
  const bool has_account = scheme == "ssh" && sign != std::string::npos && sign > 0 &&
                           is_alphanumeric(host.substr(0, 1)) &&
                           is_alphanumeric(host.substr(0, sign), "-_.");
  if (has_account) {
    host.erase(0, sign + 1);
  }
  return known && printable(url) == url && url.find(' ') == std::string::npos &&
         host.find('@') == std::string::npos && !host.starts_with('-') &&
         url.find_first_of("?#") == std::string::npos && variables_of(url).empty() &&
         !holds_credentials(url);
}

}  // namespace

void set_repository(LockedPackage& package, LockedSource source) {
  const bool is_inside =
      source.subdirectory.empty() ||
      (!source.subdirectory.starts_with('/') && source::normalise(source.subdirectory) &&
       printable(source.subdirectory) == source.subdirectory);
  if (!is_plain_url(source.repository)) {
    package.obstacle = "it comes from version control by a URL with a login, a query or a variable";
  } else if (!is_commit(source.commit)) {
    package.obstacle =
        fmt::format("it comes from version control, but {} is not a full commit hash",
                    source.commit.empty() ? "its branch" : "`" + printable(source.commit) + "`");
  } else if (!is_inside) {
    package.obstacle = "its directory is outside its repository";
  } else {
    package.source = std::move(source);
    package.is_direct = true;
  }
}

void set_repository(LockedPackage& package, std::string_view requirement) {
  if (!requirement.starts_with("git+")) {
    package.obstacle = "it comes from a version control system other than git";
    return;
  }
  LockedSource source{.repository = std::string{requirement.substr(4)}};
  auto& url = source.repository;
  if (const auto mark = url.find('#'); mark != std::string::npos) {
    for (const auto& part : split(std::string_view{url}.substr(mark + 1), '&')) {
      if (part.starts_with("subdirectory=")) {
        source.subdirectory = percent_decode(part.substr(part.find('=') + 1));
      }
    }
    url.resize(mark);
  }
  // The user name before the host ends with `@`, too.
  const auto at = url.rfind('@');
  const auto scheme = url.find("://");
  const auto path = scheme == std::string::npos ? scheme : url.find('/', scheme + 3);
  if (at != std::string::npos && path != std::string::npos && at > path) {
    source.commit = url.substr(at + 1);
    source.revision = non_empty(source.commit);
    url.resize(at);
  }
  set_repository(package, std::move(source));
}

}  // namespace autopack::lock
