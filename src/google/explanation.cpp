#include "google/explanation.hpp"

#include "base/text.hpp"
#include "base/url.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::google {

namespace {

bool holds(std::string_view text, std::string_view fragment) {
  return text.find(fragment) != std::string_view::npos;
}

/// Returns true for a letter, a digit, `_`, or one of `more`.
bool may_name(char c, std::string_view more) {
  return c == '_' || is_alphanumeric({&c, 1}, more);
}

/// Returns the longest name that starts at `at`.
std::string_view name_at(std::string_view text, std::size_t at, std::string_view more) {
  std::size_t end = at;
  while (end < text.size() && may_name(text[end], more)) {
    ++end;
  }
  return text.substr(at, end - at);
}

/// Returns the longest name that ends before `end`.
std::string_view name_before(std::string_view text, std::size_t end, std::string_view more) {
  std::size_t begin = end;
  while (begin > 0 && may_name(text[begin - 1], more)) {
    --begin;
  }
  return text.substr(begin, end - begin);
}

/// Returns `name` up to its last letter, digit or `_`.
std::string_view without_punctuation(std::string_view name) {
  while (!name.empty() && !may_name(name.back(), "")) {
    name.remove_suffix(1);
  }
  return name;
}

/// Calls `read` at each occurrence of `mark` in `text`; returns its first non-empty result.
template <class Read>
std::optional<std::string> first_at(std::string_view text, std::string_view mark, Read read) {
  for (auto at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    if (std::string found{read(at)}; !found.empty()) {
      return found;
    }
  }
  return std::nullopt;
}

/// Returns the first name directly after `mark` and, if given, directly before `end`.
std::optional<std::string> name_behind(std::string_view text,
                                       std::string_view mark,
                                       std::string_view more,
                                       std::string_view end = {}) {
  return first_at(text, mark, [&](std::size_t at) {
    const auto name = name_at(text, at + mark.size(), more);
    return text.substr(at + mark.size() + name.size()).starts_with(end) ? name : "";
  });
}

/// Returns `HOST/PATH` of an image in one of Google's registries.
std::optional<std::string> image_in(std::string_view text) {
  return first_at(text, "/", [&](std::size_t at) {
    const auto host = name_before(text, at, ".-");
    const auto path = without_punctuation(name_at(text, at + 1, "./@:-"));
    const bool is_google = host.ends_with("-docker.pkg.dev") || host.ends_with("gcr.io");
    return is_google && !path.empty() ? text.substr(at - host.size(), host.size() + 1 + path.size())
                                      : std::string_view{};
  });
}

std::optional<std::string> registry_host_in(std::string_view text) {
  constexpr std::string_view domain = ".pkg.dev";
  constexpr std::string_view service = "-docker";
  return first_at(text, domain, [&](std::size_t at) {
    const auto location = name_before(text, at, "-");
    return location.ends_with(service) && location.size() > service.size()
               ? text.substr(at - location.size(), location.size() + domain.size())
               : std::string_view{};
  });
}

std::optional<std::string> repository_in(std::string_view text) {
  constexpr std::array<std::string_view, 4> marks{"repositories/", "Repository \"", "Repository `",
                                                  "Repository '"};
  return first_at(text, "", [&](std::size_t at) {
    const auto* const mark = std::ranges::find_if(
        marks, [&](std::string_view each) { return text.substr(at).starts_with(each); });
    return mark == marks.end() ? "" : name_at(text, at + mark->size(), "-");
  });
}

/// Returns the project in a repository's resource name.
std::optional<std::string> owner_in(std::string_view text) {
  constexpr std::string_view mark = "/locations/";
  return first_at(text, mark, [&](std::size_t at) {
    const auto owner = name_before(text, at, ":.-");
    const auto location = name_at(text, at + mark.size(), "-");
    const auto before = text.substr(0, at - owner.size());
    const auto after = text.substr(at + mark.size() + location.size());
    return before.ends_with("projects/") && !location.empty() && after.starts_with("/repositories")
               ? owner
               : "";
  });
}

/// Returns the mail address around the `@` at `at` with the domain `domain`; empty without a user.
std::string_view address_at(std::string_view text, std::size_t at, std::string_view domain) {
  const auto user = name_before(text, at, ".-");
  return user.empty() ? "" : text.substr(at - user.size(), user.size() + 1 + domain.size());
}

/// Returns the account of one of Google's services.
std::optional<std::string> agent_in(std::string_view text) {
  constexpr std::string_view begin = "gcp-sa-";
  return first_at(text, "@", [&](std::size_t at) {
    const auto domain = without_punctuation(name_at(text, at + 1, ".-"));
    const bool is_agent = domain.starts_with(begin) && domain.size() > begin.size() + 1;
    return is_agent ? address_at(text, at, domain) : "";
  });
}

std::optional<std::string> service_account_in(std::string_view text) {
  constexpr std::string_view end = "gserviceaccount.com";
  return first_at(text, "@", [&](std::size_t at) {
    const auto domain = name_at(text, at + 1, ".-");
    const auto last = domain.rfind(end);
    const bool is_account = last != std::string_view::npos && last > 0;
    return is_account ? address_at(text, at, domain.substr(0, last + end.size())) : "";
  });
}

/// A placeholder of the table, and its value from the failure's text.
struct Filling {
  const char* placeholder;
  std::optional<std::string> value;
};

std::vector<Filling> fillings(const std::string& text, const FieldPlace& place) {
  using Text = std::optional<std::string>;
  const auto image = image_in(text);
  const auto parts = split(image.value_or(""), '/');
  const bool registry = parts.size() > 2 && parts[0].ends_with("-docker.pkg.dev");
  const auto either = [](const Text& first, const Text& second) { return first ? first : second; };
  const auto part = [&](std::size_t i) { return registry ? non_empty(parts[i]) : std::nullopt; };
  return {
      {"LOCATION",
       either(name_behind(text, "locations/", "-", "/repositories"),
              registry ? non_empty(parts[0].substr(0, parts[0].rfind("-docker"))) : std::nullopt)},
      {"REPOSITORY", either(repository_in(text), part(2))},
      {"OWNER", either(owner_in(text), registry ? part(1) : place.project)},
      {"AGENT", agent_in(text)},
      {"ACCOUNT", service_account_in(text)},
      {"BUCKET", either(name_behind(text, "gs://", ".-"), name_behind(text, "buckets/", ".-"))},
      {"HOST", image ? Text{parts[0]} : registry_host_in(text)},
      {"IMAGE", image},
      {"PROJECT", place.project},
      {"REGION", place.region},
  };
}

}  // namespace

std::optional<FailureExplanation> explain(std::string_view text, const FieldPlace& place) {
  const auto known = known_failures();
  const auto found = std::ranges::find_if(known, [&](const KnownFailure& failure) {
    return holds(text, failure.fragment) && holds(text, failure.and_also);
  });
  if (found == known.end()) {
    return std::nullopt;
  }
  FailureExplanation result{.why = std::string{found->why}, .command = std::string{found->command}};
  for (const auto& [placeholder, value] : fillings(std::string{text}, place)) {
    if (value) {
      result.command = replace_all(result.command, placeholder, *value);
    }
  }
  return result;
}

}  // namespace autopack::google
