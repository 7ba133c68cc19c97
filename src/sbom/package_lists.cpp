#include "sbom/package_lists.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace autopack::sbom {

namespace {

/// Longer values are not names, versions or licences.
constexpr std::size_t longest_value{1000};
/// Longer lines are of no interest.
constexpr std::size_t longest_line{4096};

constexpr std::array dpkg_keys{"Package", "Status", "Version", "Architecture", "Source"};
constexpr std::array apk_keys{"P", "V", "A", "o", "L"};
constexpr std::array metadata_keys{"name", "version", "license-expression", "license",
                                   "classifier"};

/// Calls `take` with key and value of each line `KEY: VALUE` (or `K:VALUE`), and with two empty
/// texts at an empty line. Ignores continuation lines. Ends when `take` returns false.
template <class Take>
void each_field(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    const auto colon = line.find(':');
    if (line.empty()) {
      if (!take(std::string_view{}, std::string_view{})) {
        return;
      }
    } else if (colon != std::string_view::npos && !line.starts_with(' ') &&
               !line.starts_with('\t') && line.size() <= longest_line &&
               !take(line.substr(0, colon), trim(line.substr(colon + 1)))) {
      return;
    }
  }
}

template <std::size_t Size>
std::string shortened(std::string_view text, const std::array<const char*, Size>& keys) {
  std::string result;
  each_field(text, [&](std::string_view key, std::string_view value) {
    if (key.empty()) {
      result += result.empty() || result.ends_with("\n\n") ? "" : "\n";
    } else if (contains(keys, key)) {
      result += std::string{key} + ":" + std::string{value} + "\n";
    }
    return true;
  });
  return result;
}

/// A value that a document may contain: short UTF-8 without control characters.
std::string clean(std::string_view value) {
  const bool is_clean =
      value.size() <= longest_value && is_utf8(value) && std::ranges::none_of(value, [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      });
  return is_clean ? std::string{value} : std::string{};
}

/// Collects the packages of a database whose paragraphs `take` reads field by field.
template <class Take>
std::vector<SystemPackage> read_packages(std::string_view text, const Take& take) {
  std::vector<SystemPackage> packages;
  SystemPackage package;
  bool is_installed = true;
  const auto finish = [&] {
    if (is_installed && !package.name.empty() && !package.version.empty() &&
        packages.size() < most_packages) {
      packages.push_back(std::move(package));
    }
    package = {};
    is_installed = true;
  };
  each_field(text, [&](std::string_view key, std::string_view value) {
    if (key.empty()) {
      finish();
    } else {
      take(package, is_installed, key, value);
    }
    return true;
  });
  finish();
  return packages;
}

/// Returns true unless `status` (`install ok installed`) says that the package's files are gone or
/// incomplete.
bool is_there(std::string_view status) {
  static constexpr std::array gone{"not-installed", "config-files", "half-installed"};
  return !contains(gone, status.substr(status.rfind(' ') + 1));
}

/// Reads `NAME` or `NAME (VERSION)`.
void read_source(SystemPackage& package, std::string_view value) {
  const auto blank = value.find(' ');
  package.source = clean(value.substr(0, blank));
  const auto rest =
      blank == std::string_view::npos ? std::string_view{} : trim(value.substr(blank));
  if (rest.starts_with('(') && rest.ends_with(')')) {
    package.source_version = clean(rest.substr(1, rest.size() - 2));
  }
}

}  // namespace

std::vector<SystemPackage> read_dpkg_status(std::string_view text) {
  return read_packages(text, [](SystemPackage& package, bool& is_installed, std::string_view key,
                                std::string_view value) {
    if (key == "Package") {
      package.name = clean(value);
    } else if (key == "Version") {
      package.version = clean(value);
    } else if (key == "Architecture") {
      package.architecture = clean(value);
    } else if (key == "Source") {
      read_source(package, value);
    } else if (key == "Status") {
      is_installed = is_there(value);
    }
  });
}

std::vector<SystemPackage> read_apk_installed(std::string_view text) {
  return read_packages(
      text, [](SystemPackage& package, bool&, std::string_view key, std::string_view value) {
        if (key == "P") {
          package.name = clean(value);
        } else if (key == "V") {
          package.version = clean(value);
        } else if (key == "A") {
          package.architecture = clean(value);
        } else if (key == "o" && value != package.name) {
          package.source = clean(value);
        } else if (key == "L") {
          package.licence = non_empty(clean(value));
        }
      });
}

std::string shortened_dpkg_status(std::string_view text) {
  return shortened(text, dpkg_keys);
}

std::string shortened_apk_installed(std::string_view text) {
  return shortened(text, apk_keys);
}

std::optional<PythonMetadata> read_python_metadata(std::string_view text) {
  PythonMetadata metadata;
  each_field(text, [&](std::string_view name, std::string_view text_of_field) {
    const auto key = to_lower(name);
    const auto value = clean(text_of_field);
    if (key == "name") {
      metadata.name = value;
    } else if (key == "version") {
      metadata.version = value;
    } else if (key == "license-expression") {
      metadata.licence_expression = non_empty(value);
    } else if (key == "license") {
      metadata.licence = non_empty(value);
    } else if (key == "classifier" && value.starts_with("License ::")) {
      metadata.licence_classifiers.push_back(value);
    }
    return !key.empty();
  });
  return metadata.name.empty() ? std::nullopt : std::optional{std::move(metadata)};
}

std::string shortened_python_metadata(std::string_view text) {
  std::string result;
  each_field(text, [&](std::string_view name, std::string_view value) {
    const auto key = to_lower(name);
    const bool is_other = key == "classifier" && !value.starts_with("License ::");
    if (contains(metadata_keys, key) && !is_other) {
      result += key + ":" + std::string{value} + "\n";
    }
    return !key.empty();
  });
  return result;
}

std::map<std::string, std::string> read_os_release(std::string_view text) {
  constexpr std::size_t most_lines{200};
  std::map<std::string, std::string> values;
  for (const auto& line : split(text.substr(0, most_lines * longest_value), '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string::npos || line.starts_with('#')) {
      continue;
    }
    auto value = trim(std::string_view{line}.substr(equals + 1));
    if (value.size() > 1 && value.front() == value.back() &&
        (value.front() == '"' || value.front() == '\'')) {
      value = value.substr(1, value.size() - 2);
    }
    values[std::string{trim(std::string_view{line}.substr(0, equals))}] = clean(value);
  }
  return values;
}

std::optional<DirectUrl> read_direct_url(std::string_view text) {
  const auto document = parse_json(text);
  const auto url = text_at(document, "url");
  const auto parsed = Url::parse(url);
  if (!parsed || parsed->scheme == "file" || clean(url).empty()) {
    return std::nullopt;
  }
  DirectUrl found{.url = redact_url(url)};
  const auto info = document.find("vcs_info");
  if (info != document.end()) {
    found.commit = non_empty(clean(text_at(*info, "commit_id")));
  }
  return found;
}

}  // namespace autopack::sbom
