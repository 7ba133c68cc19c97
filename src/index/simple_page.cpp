#include "index/simple_page.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "index/html_tags.hpp"
#include "index/link.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace autopack::index {

using nlohmann::json;

namespace {

constexpr int known_major{1};
constexpr int known_minor{4};

/// A warning for a version of the API that has more than is known.
std::optional<std::string> check_version(std::string_view version, const std::string& url) {
  int major = 0;
  int minor = 0;
  const char* const end = version.data() + version.size();
  const auto [stop, code] = std::from_chars(version.data(), end, major);
  if (code != std::errc{}) {
    return std::nullopt;
  }
  if (major > known_major) {
    throw Error(ErrorKind::remote,
                fmt::format("the package index speaks version {} of the simple API, and autopack "
                            "knows version {}",
                            printable(version), known_major))
        .cause(redact_url(url))
        .hint("see whether a newer autopack knows it");
  }
  if (stop != end && *stop == '.') {
    std::from_chars(stop + 1, end, minor);
  }
  return minor <= known_minor ? std::nullopt
                              : std::optional{fmt::format(
                                    "`{}` speaks version {} of the simple API; autopack "
                                    "knows {}.{}, and reads what both have",
                                    redact_url(url), printable(version), known_major, known_minor)};
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<python::Hash> hashes_of(const json& object) {
  std::vector<python::Hash> hashes;
  for (const auto& [name, digits] : object.items()) {
    if (digits.is_string()) {
      add_hash(hashes, name, digits.get_ref<const std::string&>());
    }
  }
  return hashes;
}

std::optional<std::vector<python::Hash>> metadata_of(const json& file) {
  for (const char* const key : {"core-metadata", "dist-info-metadata"}) {
    const auto found = file.find(key);
    if (found == file.end() || found->is_null()) {
      continue;
    }
    if (found->is_object()) {
      return hashes_of(*found);
    }
    return found->is_boolean() && found->get<bool>() ? std::optional{std::vector<python::Hash>{}}
                                                     : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> yanked_of(const json& file) {
  const auto found = file.find("yanked");
  if (found == file.end()) {
    return std::nullopt;
  }
  if (found->is_string()) {
    // An empty text is no reason, and to pip no yanking either.
    const auto& reason = found->get_ref<const std::string&>();
    return reason.empty() ? std::nullopt : std::optional{reason};
  }
  return found->is_boolean() && found->get<bool>() ? std::optional{std::string{}} : std::nullopt;
}

std::optional<Candidate> candidate_of(const json& file, const std::string& page_url) {
  auto candidate = candidate_at(page_url, text_of(file, "url"));
  if (!candidate) {
    return std::nullopt;
  }
  if (const std::string name = text_of(file, "filename"); !name.empty()) {
    candidate->name = name;
  }
  if (!is_file_name(candidate->name)) {
    return std::nullopt;
  }
  if (const auto found = file.find("hashes"); found != file.end() && found->is_object()) {
    candidate->hashes = hashes_of(*found);
  }
  if (const auto found = file.find("size"); found != file.end() && found->is_number_unsigned()) {
    candidate->size = found->get<std::uint64_t>();
  }
  candidate->requires_python = non_empty(text_of(file, "requires-python"));
  candidate->metadata = metadata_of(file);
  candidate->yanked = yanked_of(file);
  candidate->uploaded = non_empty(text_of(file, "upload-time"));
  return candidate;
}

/// More than any project has: what a page makes of each byte must not fill the memory.
constexpr std::size_t most_files{100'000};

/// A server does not say which files of this machine are packages.
bool names_file_of_machine(const Candidate& candidate, const std::string& page_url) {
  constexpr std::string_view local{"file:"};
  return candidate.url.starts_with(local) && !page_url.starts_with(local);
}

void add(SimplePage& page, std::optional<Candidate> candidate, const std::string& url) {
  if (!candidate || names_file_of_machine(*candidate, url)) {
    return;
  }
  if (page.files.size() == most_files) {
    throw Error(ErrorKind::remote,
                fmt::format("a page of the package index lists more than {} files", most_files))
        .cause(redact_url(url));
  }
  page.files.push_back(std::move(*candidate));
}

SimplePage read_json(const PageText& page) {
  SimplePage result;
  std::string key;
  const JsonFilter filter = [&](int depth, json::parse_event_t event, json& value) {
    if (depth == 1 && event == json::parse_event_t::key) {
      key = value.get<std::string>();
      return key == "meta" || key == "files";
    }
    if (depth != 2 || key != "files" || event != json::parse_event_t::object_end) {
      return true;
    }
    add(result, candidate_of(value, page.url), page.url);
    return false;
  };
  const json document = parse_json(page.body, filter);
  const auto meta = document.is_object() ? document.find("meta") : document.end();
  if (!document.is_object()) {
    throw Error(ErrorKind::remote, "the package index answered what is no JSON object")
        .cause(redact_url(page.url));
  }
  if (meta != document.end() && meta->is_object()) {
    result.warning = check_version(text_of(*meta, "api-version"), page.url);
  }
  return result;
}

std::optional<std::vector<python::Hash>> metadata_of(const Attributes& anchor) {
  for (const char* const key : {"data-core-metadata", "data-dist-info-metadata"}) {
    const auto found = anchor.find(key);
    if (found == anchor.end()) {
      continue;
    }
    std::vector<python::Hash> hashes;
    const auto equals = found->second.find('=');
    if (equals != std::string::npos) {
      add_hash(hashes, found->second.substr(0, equals), found->second.substr(equals + 1));
    }
    return hashes;
  }
  return std::nullopt;
}

std::string value_of(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? "" : found->second;
}

std::optional<Candidate> candidate_of(const Attributes& anchor, const std::string& base) {
  const auto href = anchor.find("href");
  auto candidate = href == anchor.end() ? std::nullopt : candidate_at(base, href->second);
  if (!candidate || !is_file_name(candidate->name)) {
    return std::nullopt;
  }
  candidate->requires_python = non_empty(value_of(anchor, "data-requires-python"));
  candidate->metadata = metadata_of(anchor);
  if (const auto yanked = anchor.find("data-yanked"); yanked != anchor.end()) {
    candidate->yanked = yanked->second;
  }
  return candidate;
}

SimplePage read_html(const PageText& page) {
  SimplePage result;
  std::optional<std::string> base;  // it holds for the links before it, too
  read_tags(page.body, [&](const std::string& name, const Attributes& attributes) {
    if (name == "base" && !base && attributes.contains("href")) {
      base = attributes.at("href");
    } else if (name == "meta" && value_of(attributes, "name") == "pypi:repository-version") {
      result.warning = check_version(value_of(attributes, "content"), page.url);
    }
  });
  const std::string from = base ? resolve_url(page.url, *base).value_or(page.url) : page.url;
  read_tags(page.body, [&](const std::string& name, const Attributes& attributes) {
    if (name == "a") {
      add(result, candidate_of(attributes, from), page.url);
    }
  });
  return result;
}

}  // namespace

SimplePage read_simple_page(const PageText& page) {
  const std::string type{trim(to_lower(page.content_type.substr(0, page.content_type.find(';'))))};
  if (type == "application/vnd.pypi.simple.v1+json") {
    return read_json(page);
  }
  if (type == "application/vnd.pypi.simple.v1+html" || type == "text/html") {
    return read_html(page);
  }
  throw Error(ErrorKind::remote,
              fmt::format("the package index answered with the type `{}`, which is no page of the "
                          "simple API",
                          printable(page.content_type)))
      .cause(redact_url(page.url));
}

}  // namespace autopack::index
