#include "base/scratch_directory.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace autopack {

namespace fs = std::filesystem;

ScratchDirectory::ScratchDirectory(const std::string& purpose) {
  std::error_code code;
  const auto parent = fs::temp_directory_path(code);
  std::string text = (parent / fmt::format("autopack-{}-XXXXXX", purpose)).string();
  if (code || ::mkdtemp(text.data()) == nullptr) {
    throw Error(ErrorKind::environment,
                fmt::format("cannot make a directory in `{}`", printable(parent.string())))
        .cause(code ? code.message() : std::strerror(errno));
  }
  path_ = text;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace autopack
