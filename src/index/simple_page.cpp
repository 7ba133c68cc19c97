#include "index/simple_page.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "index/html_tags.hpp"
#include "index/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace autopack::index {

using nlohmann::json;

namespace {

constexpr int known_major{1};
constexpr int known_minor{4};

/// Returns a warning if the version of the API is newer than the known ones.
std::optional<std::string> check_version(std::string_view version, const std::string& url) {
  int major = 0;
  int minor = 0;
  const char* const end = version.data() + version.size();
  const auto [stop, code] = std::from_chars(version.data(), end, major);
  if (code != std::errc{}) {
    return std::nullopt;
  }
  if (major > known_major) {
    throw Error(
        ErrorKind::remote,
        fmt::format(
            "the package index uses version {} of the simple API, but autopack supports version {}",
            printable(version), known_major))
        .cause(redact_url(url))
        .hint("check whether a newer autopack supports it");
  }
  if (stop != end && *stop == '.') {
    std::from_chars(stop + 1, end, minor);
  }
  return minor <= known_minor ? std::nullopt
                              : std::optional{fmt::format(
                                    "`{}` uses version {} of the simple API; autopack supports "
                                    "{}.{} and reads the common part",
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
    // An empty text is not a reason, and for pip it means that the file is not yanked.
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

/// More than any project has. It limits the memory that a page can use.
constexpr std::size_t most_files{100'000};

/// A server cannot know which files of this machine are packages.
bool names_file_of_machine(const Candidate& candidate, const std::string& page_url) {
  constexpr std::string_view local{"file:"};
  return candidate.url.starts_with(local) && !page_url.starts_with(local);
}

void check_count(std::size_t files, const std::string& url) {
  if (files > most_files) {
    throw Error(ErrorKind::remote,
                fmt::format("a page of the package index lists more than {} files", most_files))
        .cause(redact_url(url));
  }
}

void add(SimplePage& page, std::optional<Candidate> candidate, const std::string& url) {
  if (candidate && !names_file_of_machine(*candidate, url)) {
    check_count(page.files.size() + 1, url);
    page.files.push_back(std::move(*candidate));
  }
}

/// Keeps only the fields that candidate_of() and check_version() read, and only one file at a time:
/// a page may contain any number of other values.
class PageFilter {
public:
  using Event = json::parse_event_t;

  /// All must outlive it; `cancellation` may be null.
  PageFilter(const PageText& page, SimplePage& result, const Cancellation* cancellation)
      : page_{page}, result_{result}, cancellation_{cancellation} {}

  /// Returns false for a value to skip. The document has `depth` 0, a file 2.
  bool keeps(int depth, Event event, json& value) {
    if (cancellation_ != nullptr && ++events_ % events_to_a_look == 0) {
      cancellation_->throw_if_requested();
    }
    switch (event) {
      case Event::key: return keeps_key(depth, value.get_ref<const std::string&>());
      case Event::object_start: return keeps_object(depth);
      case Event::array_start: return depth == 1 && key_ == files_key;
      case Event::object_end: return depth != 2 || !take(value);
      case Event::array_end: return true;
      case Event::value: return depth == 0 || depth > 2 || (depth == 2 && key_ == meta_key);
    }
    return false;
  }

private:
  static constexpr std::string_view files_key{"files"};
  static constexpr std::string_view meta_key{"meta"};
  static constexpr std::size_t events_to_a_look{4096};
  /// Limit for the hashes of a file.
  static constexpr std::size_t most_keys{64};

  static bool is_field(const std::string& key) {
    static constexpr std::array<std::string_view, 9> fields{
        "url",    "filename",        "hashes",     "size", "core-metadata", "dist-info-metadata",
        "yanked", "requires-python", "upload-time"};
    return contains(fields, key);
  }

  bool keeps_key(int depth, const std::string& key) {
    switch (depth) {
      case 1: key_ = key; return key == files_key || key == meta_key;
      case 2: return key_ == meta_key && key == "api-version";
      case 3: return is_field(key);
      case 4: return ++keys_ <= most_keys;
      default: return false;
    }
  }

  bool keeps_object(int depth) {
    keys_ = 0;
    return depth == 0 || (depth == 1 && key_ == meta_key) ||
           ((depth == 2 || depth == 3) && key_ == files_key);
  }

  /// Returns true for a file.
  bool take(const json& value) {
    if (key_ != files_key) {
      return false;
    }
    check_count(++files_, page_.url);
    add(result_, candidate_of(value, page_.url), page_.url);
    return true;
  }

  const PageText& page_;
  SimplePage& result_;
  const Cancellation* cancellation_;
  std::string key_{};     ///< of the document
  std::size_t keys_{0};   ///< of the object in a file
  std::size_t files_{0};  ///< including skipped ones
  std::size_t events_{0};
};

SimplePage read_json(const PageText& page, const Cancellation* cancellation) {
  SimplePage result;
  PageFilter filter{page, result, cancellation};
  const json document =
      parse_json(page.body, [&](int depth, json::parse_event_t event, json& value) {
        return filter.keeps(depth, event, value);
      });
  const auto meta = document.is_object() ? document.find("meta") : document.end();
  if (!document.is_object()) {
    throw Error(ErrorKind::remote, "the package index did not return a JSON object")
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

SimplePage read_html(const PageText& page, const Cancellation* cancellation) {
  const auto stop_if_requested = [&] {
    if (cancellation != nullptr) {
      cancellation->throw_if_requested();
    }
  };
  SimplePage result;
  std::optional<std::string> base;  // also applies to the links before it
  read_tags(page.body, [&](const std::string& name, const Attributes& attributes) {
    stop_if_requested();
    if (name == "base" && !base && attributes.contains("href")) {
      base = attributes.at("href");
    } else if (name == "meta" && value_of(attributes, "name") == "pypi:repository-version") {
      result.warning = check_version(value_of(attributes, "content"), page.url);
    }
  });
  const std::string from = base ? resolve_url(page.url, *base).value_or(page.url) : page.url;
  read_tags(page.body, [&](const std::string& name, const Attributes& attributes) {
    stop_if_requested();
    if (name == "a") {
      add(result, candidate_of(attributes, from), page.url);
    }
  });
  return result;
}

}  // namespace

SimplePage read_simple_page(const PageText& page, const Cancellation* cancellation) {
  const std::string type{trim(to_lower(page.content_type.substr(0, page.content_type.find(';'))))};
  if (type == "application/vnd.pypi.simple.v1+json") {
    return read_json(page, cancellation);
  }
  if (type == "application/vnd.pypi.simple.v1+html" || type == "text/html") {
    return read_html(page, cancellation);
  }
  throw Error(
      ErrorKind::remote,
      fmt::format("the package index returned the type `{}`, which is not a page of the simple API",
                  printable(page.content_type)))
      .cause(redact_url(page.url));
}

}  // namespace autopack::index
