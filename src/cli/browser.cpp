#include "cli/browser.hpp"

#include "base/process.hpp"
#include "base/text.hpp"

#include <optional>
#include <vector>

namespace autopack::cli {

namespace {

/// Returns the words of the browser command: xdg-open reads BROWSER as `PROGRAM:PROGRAM`, each with
/// its own words and `%s` for the address.
std::vector<std::string> browser_of(const Environment& environment) {
  if (const auto named = environment.get("BROWSER"); named && !named->empty()) {
    std::vector<std::string> words;
    for (auto& word : split(split(*named, ':').front(), ' ')) {
      if (!word.empty()) {
        words.push_back(std::move(word));
      }
    }
    return words;
  }
  const bool has_display = !environment.get("DISPLAY").value_or("").empty() ||
                           !environment.get("WAYLAND_DISPLAY").value_or("").empty();
  return has_display ? std::vector<std::string>{"xdg-open"} : std::vector<std::string>{};
}

}  // namespace

bool open_browser(const std::string& address, const Environment& environment) {
  auto words = browser_of(environment);
  const auto path = environment.get("PATH").value_or("");
  if (words.empty() || !find_program(words.front(), path)) {
    return false;
  }
  bool has_place = false;
  for (auto& word : words) {
    has_place = has_place || word.find("%s") != std::string::npos;
    word = replace_all(word, "%s", address);
  }
  if (!has_place) {
    words.push_back(address);
  }
  // A browser may run as long as its window: the shell detaches it.
  std::vector<std::string> argv{"/bin/sh", "-c", R"("$@" </dev/null >/dev/null 2>&1 &)", "browser"};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_process(argv, "").has_value();
}

}  // namespace autopack::cli
