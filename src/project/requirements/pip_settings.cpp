#include "project/requirements/pip_settings.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/netrc.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "project/requirements/pip_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace autopack::project {

namespace fs = std::filesystem;

namespace {

/// Options for finding packages; all others of pip stay on this machine.
constexpr std::array<std::string_view, 10> carried{
    "index-url", "extra-index-url", "trusted-host", "find-links", "no-index",
    "cert",      "client-cert",     "proxy",        "timeout",    "retries"};

using Options = std::map<std::string, std::string>;

/// Paths of this machine are useless in a build: keeps only URLs in `find-links`.
void drop_local_links(Options& options, std::vector<std::string>& notes) {
  const auto links = options.find("find-links");
  if (links == options.end()) {
    return;
  }
  auto words = pip_words(links->second);
  std::erase_if(words, [&](const std::string& word) {
    const auto url = Url::parse(word);
    const bool local = !url || url->scheme == "file";
    if (local) {
      notes.push_back(fmt::format("find-links `{}` left out, as a build cannot reach it", word));
    }
    return local;
  });
  if (words.empty()) {
    options.erase(links);
  } else {
    links->second = join(words, "\n");
  }
}

void add_certificate(PipSettings& settings, Options& options, const std::string& option) {
  const auto found = options.find(option);
  if (found == options.end() || found->second.empty()) {
    return;
  }
  const std::string name = option + ".pem";
  settings.files[name] = Secret{with_context(fmt::format("could not read pip's `{}`", option),
                                             [&] { return read_file(found->second); })};
  found->second = fmt::format("{}/{}", pip_settings_directory, name);
  settings.has_credentials = settings.has_credentials || option == "client-cert";
}

std::string configuration_text(const Options& options) {
  std::string text = "[global]\n";
  for (const auto& [name, value] : options) {
    // A line that is not indented would be a separate option or section.
    const auto words = name == "proxy"
                           ? std::vector{replace_all(std::string{trim(value)}, "\n", "\n    ")}
                           : pip_words(value);
    if (words.size() == 1) {
      text += fmt::format("{} = {}\n", name, words.front());
    } else if (!words.empty()) {
      text += fmt::format("{} =\n    {}\n", name, join(words, "\n    "));
    }
  }
  return text;
}

std::set<std::string> hosts_of(const Options& options, const std::vector<std::string>& named) {
  std::set<std::string> hosts{named.begin(), named.end()};
  for (const char* const option : {"index-url", "extra-index-url", "find-links"}) {
    const auto found = options.find(option);
    if (found == options.end()) {
      continue;
    }
    for (const auto& word : pip_words(found->second)) {
      if (const auto url = Url::parse(word)) {
        hosts.insert(url->host);
      }
    }
  }
  return hosts;
}

/// Returns the shell file that makes pip use the settings.
std::string environment_text(const PipSettings& settings,
                             const std::map<std::string, std::string>& values) {
  std::string text;
  if (settings.files.contains("pip.conf")) {
    text += fmt::format("export PIP_CONFIG_FILE={}/pip.conf\n", pip_settings_directory);
  }
  if (settings.files.contains("netrc")) {
    text += fmt::format("export NETRC={}/netrc\n", pip_settings_directory);
  }
  for (const auto& [name, value] : values) {
    text += fmt::format("export {}={}\n", name, shell_quote(value));
  }
  return text;
}

std::string describe(const Options& options) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : options) {
    auto words = pip_words(value);
    std::ranges::transform(words, words.begin(),
                           [](const std::string& word) { return printable(redact_url(word)); });
    parts.push_back(fmt::format("{} {}", name, join(words, " ")));
  }
  return join(parts, ", ");
}

}  // namespace

PipSettings find_pip_settings(const Environment& environment,
                              const std::vector<std::string>& hosts,
                              const std::vector<std::string>& variables,
                              const fs::path& system) {
  Options options = find_pip_options(environment, system);
  std::erase_if(options, [](const auto& option) { return !contains(carried, option.first); });
  std::vector<std::string> notes;
  drop_local_links(options, notes);
  PipSettings settings;
  if (const std::string shown = describe(options); !shown.empty()) {
    notes.insert(notes.begin(), shown);
  }
  for (const auto& [name, value] : options) {
    settings.has_credentials = settings.has_credentials || holds_credentials(value);
  }
  add_certificate(settings, options, "cert");
  add_certificate(settings, options, "client-cert");
  if (!options.empty()) {
    settings.files["pip.conf"] = Secret{configuration_text(options)};
  }
  const auto netrc = find_netrc(environment);
  if (const std::string entries =
          netrc ? netrc_entries(netrc->reveal(), hosts_of(options, hosts)) : std::string{};
      !entries.empty()) {
    settings.files["netrc"] = Secret{entries};
    settings.has_credentials = true;
    notes.emplace_back("netrc entries for its hosts");
  }
  std::map<std::string, std::string> values;
  for (const auto& name : variables) {
    if (const auto value = environment.get(name)) {
      values[name] = *value;
      settings.has_credentials = true;
      notes.push_back(fmt::format("the variable `{}`", name));
    }
  }
  if (const auto text = environment_text(settings, values); !text.empty()) {
    settings.files["environment"] = Secret{text};
  }
  if (!notes.empty()) {
    settings.description = "pip settings: " + join(notes, "; ");
  }
  return settings;
}

void add_constraints(PipSettings& settings, const std::vector<ConstraintFile>& constraints) {
  if (constraints.empty()) {
    return;
  }
  std::vector<std::string> words;
  for (const auto& [name, text, is_url] : constraints) {
    settings.has_credentials = settings.has_credentials || holds_credentials(is_url ? name : text);
    if (is_url) {
      words.push_back(name);
      continue;
    }
    const auto file = fmt::format("constraints-{}.txt", words.size() + 1);
    settings.files[file] = Secret{text};
    words.push_back(fmt::format("{}/{}", pip_settings_directory, file));
  }
  auto& lines = settings.files["environment"];
  lines = Secret{lines.reveal() +
                 fmt::format("export PIP_CONSTRAINT={}\n", shell_quote(join(words, " ")))};
}

}  // namespace autopack::project
