#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

/// Which characters a terminal shows.
enum class Charset { utf8, ascii };

/// `hint` as a terminal shows it, so that a command in it can be pasted: a word in single quotes
/// that holds what cannot be shown is written as `$'...'`, which bash and zsh read as the same
/// bytes. Elsewhere such bytes become `\xNN`; line feeds stay.
std::string hint_text(std::string_view hint, Charset charset);
/// The same of each, in UTF-8, as JSON holds them.
std::vector<std::string> hint_texts(const std::vector<std::string>& hints);

}  // namespace autopack::cli
