#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

/// The characters that a terminal can show.
enum class Charset { utf8, ascii };

/// Returns `hint` for a terminal, such that a command in it can be pasted: writes a word in single
/// quotes with unshowable characters as `$'...'`, which bash and zsh read as the same bytes.
/// Elsewhere such bytes become `\xNN`; keeps line feeds.
std::string hint_text(std::string_view hint, Charset charset);
/// The same for each hint, in UTF-8, for JSON.
std::vector<std::string> hint_texts(const std::vector<std::string>& hints);

}  // namespace autopack::cli
