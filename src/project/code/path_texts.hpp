#pragma once

#include <string_view>
#include <vector>

namespace autopack::project {

/// Returns whether a string of a program may be a path in its project: not a sentence, a pattern, a
/// format, a URL or an absolute path.
bool may_be_path(std::string_view text);

/// Returns the literal parts of an f-string, as parts of a path: `data` and `train.bin` for
/// `data/{name}/train.bin`. Views of `text`.
std::vector<std::string_view> plain_parts(std::string_view text);

struct TextWord {
  std::string_view text{};
  int line{0};  ///< 1-based
};

/// Returns the words of a shell script or of a settings file. Views of `text`.
std::vector<TextWord> words_of_text(std::string_view text);

}  // namespace autopack::project
