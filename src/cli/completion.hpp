#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

/// What can stand for the last of `words`, a command line without the program's name: one whole
/// word per element, with a tab and a description behind some. First may come `:files` or
/// `:directories`: file names fit too, below what stands behind the word's last `=` or `,`.
std::vector<std::string> complete(const std::vector<std::string>& words);

/// The script that teaches a shell (`bash`, `zsh`, `fish`) to ask autopack for completions.
std::string_view completion_script(std::string_view shell);

}  // namespace autopack::cli
