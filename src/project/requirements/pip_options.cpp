#include "project/requirements/pip_options.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"

#include <optional>
#include <utility>

namespace autopack::project {

namespace fs = std::filesystem;

namespace {

using Options = std::map<std::string, std::string>;

/// pip treats `default-timeout`, `index_url` and `index-url` alike.
std::string option_name(std::string_view name) {
  const std::string dashed = replace_all(to_lower(name), "_", "-");
  return dashed == "default-timeout" ? "timeout" : dashed == "pypi-url" ? "index-url" : dashed;
}

class Collector {
public:
  Collector(const Environment& environment, const fs::path& system)
      : environment_{&environment}, system_{&system} {}

  Options run() {
    for (const auto& file : files()) {
      read(file);
    }
    // A command's own section overrides [global], wherever each is.
    Options options = global_;
    for (const auto& [name, value] : install_) {
      options[name] = value;
    }
    for (const auto& [name, value] : environment_->all()) {
      if (name.starts_with("PIP_") && !value.empty()) {
        options[option_name(std::string_view{name}.substr(4))] = value;
      }
    }
    return options;
  }

private:
  /// In the order in which later ones override earlier ones.
  std::vector<fs::path> files() const {
    const auto own = environment_->get("PIP_CONFIG_FILE");
    if (own == "/dev/null") {
      return {};
    }
    std::vector<fs::path> list;
    const auto shared = environment_->get("XDG_CONFIG_DIRS");
    for (const auto& directory : split(shared.value_or((*system_ / "xdg").string()), ':')) {
      list.push_back(fs::path{directory} / "pip" / "pip.conf");
    }
    list.push_back(*system_ / "pip.conf");
    std::error_code code;
    if (!own || !fs::exists(*own, code)) {
      const auto configuration = environment_->get("XDG_CONFIG_HOME");
      list.push_back(environment_->home() / ".pip" / "pip.conf");
      list.push_back((configuration ? fs::path{*configuration} : environment_->home() / ".config") /
                     "pip" / "pip.conf");
    }
    if (const auto virtual_environment = environment_->get("VIRTUAL_ENV")) {
      list.push_back(fs::path{*virtual_environment} / "pip.conf");
    }
    if (own) {
      list.emplace_back(*own);
    }
    return list;
  }

  void read(const fs::path& file) {
    const auto text = read_file_if_exists(file);
    if (!text) {
      return;
    }
    const Ini ini = parse_ini(*text);
    for (const auto& [section, target] : {std::pair{"global", &global_}, {"install", &install_}}) {
      const auto found = ini.find(section);
      if (found == ini.end()) {
        continue;
      }
      for (const auto& [name, value] : found->second) {
        (*target)[option_name(name)] = value;
      }
    }
  }

  const Environment* environment_;
  const fs::path* system_;
  Options global_;
  Options install_;
};

}  // namespace

std::vector<std::string> pip_words(std::string_view value) {
  std::vector<std::string> words;
  for (const auto& line : split(value, '\n')) {
    for (const auto& word : split(replace_all(line, "\t", " "), ' ')) {
      if (const auto bare = trim(word); !bare.empty()) {
        words.emplace_back(bare);
      }
    }
  }
  return words;
}

Options find_pip_options(const Environment& environment, const fs::path& system) {
  return Collector{environment, system}.run();
}

UserPip find_user_pip(const Environment& environment) {
  UserPip pip;
  try {
    const auto options = find_pip_options(environment);
    const auto add = [&](const char* name, std::vector<std::string>& words) {
      if (const auto found = options.find(name); found != options.end()) {
        const auto more = pip_words(found->second);
        words.insert(words.end(), more.begin(), more.end());
      }
    };
    add("constraint", pip.constraints);
    for (const char* const name : {"index-url", "extra-index-url", "find-links"}) {
      add(name, pip.indexes);
    }
  } catch (const Error&) {
    return {};  // reported where pip's settings are needed
  }
  return pip;
}

std::optional<Secret> find_netrc(const Environment& environment) {
  std::vector<fs::path> places{environment.home() / ".netrc", environment.home() / "_netrc"};
  if (const auto named = environment.get("NETRC")) {
    places = {*named};
  }
  for (const auto& place : places) {
    if (auto text = read_file_if_exists(place)) {
      return Secret{std::move(*text)};
    }
  }
  return std::nullopt;
}

}  // namespace autopack::project
