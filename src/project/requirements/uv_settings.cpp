#include "project/requirements/uv_settings.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

// uv reads these settings from the directory in which it runs. Here it runs in a directory of
// autopack's, with only those that choose versions: one that names an interpreter, a cache or a
// local path has no effect.
namespace autopack::project {

namespace {

using Node = toml::node_view<const toml::node>;

constexpr std::array<std::string_view, 4> options{"exclude-newer", "index-strategy", "prerelease",
                                                  "resolution"};

bool is_on_web(std::string_view url) {
  return (url.starts_with("https://") || url.starts_with("http://")) && !holds_credentials(url);
}

bool is_name(std::string_view text) {
  return !text.empty() && is_alphanumeric(text, "-_.");
}

/// Returns true if `text` can be written as a string of TOML without further escapes.
bool is_plain(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

std::string key_value(std::string_view key, std::string_view value) {
  return fmt::format("{} = {}", key, double_quoted(value));
}

std::string list_text(std::string_view key, const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const auto& value : values) {
    if (is_plain(value)) {
      quoted.push_back(double_quoted(value));
    }
  }
  return quoted.empty() ? "" : fmt::format("{} = [{}]\n", key, join(quoted, ", "));
}

/// Returns an entry of `[tool.uv.sources]` as an inline table; nothing if it names no index of
/// `indexes`, repository or file on a web server.
std::optional<std::string> source_text(const toml::table& source,
                                       const std::vector<UvIndex>& indexes) {
  std::vector<std::string> words;
  bool is_usable = true;
  const auto add = [&](const char* key) {
    if (const auto value = source[key].value<std::string>()) {
      is_usable = is_usable && is_plain(*value);
      words.push_back(key_value(key, *value));
    }
  };
  const auto index = source["index"].value<std::string>();
  const auto git = source["git"].value<std::string>();
  const auto url = source["url"].value<std::string>();
  if (index && std::ranges::find(indexes, *index, &UvIndex::name) != indexes.end()) {
    add("index");
  } else if (!index && git && is_on_web(*git)) {
    for (const char* const key : {"git", "rev", "tag", "branch", "subdirectory"}) {
      add(key);
    }
  } else if (!index && !git && url && is_on_web(*url)) {
    add("url");
    add("subdirectory");
  } else {
    return std::nullopt;
  }
  add("marker");
  return is_usable ? std::optional{"{ " + join(words, ", ") + " }"} : std::nullopt;
}

/// Returns the entry of a package as TOML; nothing if no part of it names an index: then the
/// requirement has it, or nobody follows it.
std::optional<std::string> sources_text(const toml::node& entry,
                                        const std::vector<UvIndex>& indexes,
                                        const Request& request) {
  std::vector<std::string> parts;
  const auto add = [&](const toml::node& node) {
    const auto* const table = node.as_table();
    if (table == nullptr || is_source_active(*table, request)) {
      parts.push_back(table == nullptr ? "" : source_text(*table, indexes).value_or(""));
    }
  };
  if (const auto* const list = entry.as_array()) {
    for (const auto& item : *list) {
      add(item);
    }
  } else if (const auto* const table = entry.as_table();
             table != nullptr && table->contains("index")) {
    add(entry);
  }
  return parts.empty() || contains(parts, std::string{})
             ? std::nullopt
             : std::optional{"[" + join(parts, ", ") + "]"};
}

/// Adds `index`, if it can be used. Only the first default one counts, as in Poetry.
void add_index(UvSettings& settings, UvIndex index) {
  index.is_default =
      index.is_default && std::ranges::none_of(settings.indexes, &UvIndex::is_default);
  if (is_on_web(index.url) && is_plain(index.url) && !is_usual_index(index.url) &&
      is_name(index.name) &&
      std::ranges::find(settings.indexes, index.name, &UvIndex::name) == settings.indexes.end()) {
    settings.indexes.push_back(std::move(index));
  }
}

void read_indexes(const toml::table& uv, UvSettings& settings) {
  const auto* const list = uv["index"].as_array();
  for (const auto& item : list == nullptr ? toml::array{} : *list) {
    const auto* const table = item.as_table();
    if (table != nullptr) {
      const auto number = settings.indexes.size() + 1;
      const auto priority = (*table)["priority"].value_or(std::string{});  // Poetry's
      add_index(settings, {.name = (*table)["name"].value_or(fmt::format("index-{}", number)),
                           .url = (*table)["url"].value_or(std::string{}),
                           .is_explicit = (*table)["explicit"].value_or(priority == "explicit"),
                           .is_default = (*table)["default"].value_or(priority == "primary" ||
                                                                      priority == "default"),
                           .is_flat = (*table)["format"].value_or(std::string{}) == "flat"});
    }
  }
  for (const char* const key : {"extra-index-url", "find-links", "index-url"}) {
    for (const auto& url : strings_of(Node{uv[key].node()})) {
      const auto name = fmt::format("{}-{}", key, settings.indexes.size() + 1);
      add_index(settings, {.name = name,
                           .url = url,
                           .is_default = std::string_view{key} == "index-url",
                           .is_flat = std::string_view{key} == "find-links"});
    }
  }
}

}  // namespace

bool is_usual_index(const std::string& url) {
  const auto parsed = Url::parse(url);
  const auto labels = split(parsed ? parsed->host : std::string{}, '.');
  return labels.size() == 2 && labels.front() == "pypi";
}

bool is_source_active(const toml::table& source, const Request& request) {
  const auto is_in = [&](const char* key, const std::vector<std::string>& asked) {
    const auto name = source[key].value<std::string>();
    return !name || std::ranges::any_of(asked, [&](const auto& one) {
      return python::normalise_name(one) == python::normalise_name(*name);
    });
  };
  return is_in("extra", request.package_extras) && is_in("group", request.groups);
}

UvSettings uv_settings(const toml::table& document, const Request& request) {
  UvSettings settings;
  const auto* const uv = document["tool"]["uv"].as_table();
  if (uv == nullptr) {
    return settings;
  }
  read_indexes(*uv, settings);
  if (const auto* const sources = (*uv)["sources"].as_table()) {
    for (const auto& [name, entry] : *sources) {
      if (auto text = sources_text(entry, settings.indexes, request); text && is_name(name.str())) {
        settings.sources[python::normalise_name(name.str())] = *std::move(text);
      }
    }
  }
  std::erase_if(settings.indexes, [&](const UvIndex& index) {
    return index.is_explicit && std::ranges::none_of(settings.sources, [&](const auto& source) {
             return source.second.find(key_value("index", index.name)) != std::string::npos;
           });
  });
  for (const auto key : options) {
    if (const auto value = (*uv)[key].value<std::string>(); value && is_plain(*value)) {
      settings.options += key_value(key, *value) + "\n";
      settings.chooses_strategy = settings.chooses_strategy || key == "index-strategy";
    }
  }
  const auto overrides = strings_of(Node{(*uv)["override-dependencies"].node()});
  for (const auto& text : overrides) {
    if (const auto name = python::parse_requirement(text).name) {
      settings.overridden.insert(*name);
    }
  }
  settings.options += list_text("override-dependencies", overrides);
  settings.options += list_text("constraint-dependencies",
                                strings_of(Node{(*uv)["constraint-dependencies"].node()}));
  return settings;
}

}  // namespace autopack::project
