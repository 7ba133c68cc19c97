#pragma once

#include <string_view>

namespace autopack::project {

/// Where Python code looks for a file that it opens.
enum class OpenedFrom {
  nowhere,    ///< it is not known to read the file
  directory,  ///< from the working directory: `open("conf/a.yaml")`
  file,       ///< from its own directory: `Path(__file__).parent / "vocab.json"`
};

/// Determines how the Python code `text` reads the file that the string `path` in `line` names.
/// Uses only the code itself: an argument of a function that reads, a constant passed to such a
/// function, and settings (`default="conf/a.yaml"`). Files that are written do not count.
OpenedFrom opened_from(std::string_view text, int line, std::string_view path);

/// True if the line of `text` that holds the string `path` surely makes the file of that name, in a
/// directory that must exist: `torch.save(model, "out/model.pt")`.
bool is_written(std::string_view text, int line, std::string_view path);

}  // namespace autopack::project
