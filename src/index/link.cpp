#include "index/link.hpp"

#include "base/named_hash.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <algorithm>

namespace autopack::index {

namespace {

/// Encodes each character of a path component that needs it exactly once, as pip does.
std::string quoted_part(std::string_view part) {
  return replace_all(percent_encode(percent_decode(part)), "%2F", "/");
}

/// `@` and an encoded `/` have a meaning for servers, so they stay unchanged.
std::string quoted_path(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    auto end = std::min(path.find('@'), path.size());
    for (auto at = path.find('%'); at < end; at = path.find('%', at + 1)) {
      if (to_upper(path.substr(at, 3)) == "%2F") {
        end = at;
      }
    }
    result += quoted_part(path.substr(0, end));
    path.remove_prefix(end);
    const std::size_t sign = path.starts_with('@') ? 1 : 3;
    result += to_upper(path.substr(0, sign));
    path.remove_prefix(std::min(sign, path.size()));
  }
  return result;
}

/// Removes what surrounds URLs in pages that were written by hand.
std::string bare_reference(std::string_view text) {
  std::string result;
  for (const char c : trim(text)) {
    if (c != '\t' && c != '\r' && c != '\n') {
      result += c;
    }
  }
  return result;
}

std::string file_name_of(std::string_view path) {
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  const auto slash = path.rfind('/');
  return percent_decode(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

/// pip uses the first hash of a fragment.
void add_hash_of_fragment(std::vector<python::Hash>& hashes, std::string_view fragment) {
  for (const auto& part : split(fragment, '&')) {
    const auto equals = part.find('=');
    if (equals != std::string::npos && hashes.empty()) {
      add_hash(hashes, part.substr(0, equals), part.substr(equals + 1));
    }
  }
}

}  // namespace

bool is_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
         name.find('/') == std::string_view::npos && printable(name) == name;
}

void add_hash(std::vector<python::Hash>& hashes,
              std::string_view algorithm,
              std::string_view digits) {
  if (NamedHash::make(algorithm)) {
    hashes.push_back({std::string{algorithm}, to_lower(digits)});
  }
}

std::optional<Candidate> candidate_at(std::string_view base, std::string_view reference) {
  const std::string bare = bare_reference(reference);
  const auto sign = std::min(bare.find('#'), bare.size());
  const auto resolved = bare.empty() ? std::nullopt : resolve_url(base, bare);
  const auto url = resolved ? Url::parse(*resolved) : std::nullopt;
  if (!url || (url->scheme != "http" && url->scheme != "https" && url->scheme != "file")) {
    return std::nullopt;
  }
  Candidate candidate{
      .name = file_name_of(url->path),
      .url = url->origin() + quoted_path(url->path) + (url->query.empty() ? "" : "?" + url->query)};
  add_hash_of_fragment(candidate.hashes,
                       std::string_view{bare}.substr(sign).substr(sign < bare.size() ? 1 : 0));
  return candidate;
}

}  // namespace autopack::index
