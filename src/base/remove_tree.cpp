#include "base/remove_tree.hpp"

#include <sys/stat.h>

#include <system_error>

namespace autopack {

namespace {

namespace fs = std::filesystem;

/// Lets the owner change `directory` and those below it.
void open_to_owner(const fs::path& directory) {
  std::error_code code;
  ::chmod(directory.c_str(), S_IRWXU);
  for (fs::directory_iterator entry{directory, code}; !code && entry != fs::directory_iterator{};
       entry.increment(code)) {
    std::error_code ignored;
    if (entry->symlink_status(ignored).type() == fs::file_type::directory) {
      open_to_owner(entry->path());
    }
  }
}

}  // namespace

void remove_tree(const fs::path& path) {
  std::error_code code;
  fs::remove_all(path, code);
  std::error_code ignored;
  if (code && fs::symlink_status(path, ignored).type() == fs::file_type::directory) {
    open_to_owner(path);
    fs::remove_all(path, ignored);
  }
}

}  // namespace autopack
