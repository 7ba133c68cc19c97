#include "lock/readers.hpp"

#include "base/text.hpp"
#include "project/requirements/locks.hpp"

#include <fmt/format.h>

namespace autopack::lock {

LockedSet read_lock(const source::Tree& tree, const std::string& file, const Target& target) {
  const auto format = project::lock_format(file);
  if (!format) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not the name of a lock", printable(file)))
        .hint(
            "autopack reads `pylock.toml`, `uv.lock`, `poetry.lock`, `pdm.lock` and "
            "`Pipfile.lock`");
  }
  const auto text = tree.read(file);
  switch (*format) {
    case project::LockFormat::pylock: return read_pylock(text, file, target);
    case project::LockFormat::uv: return read_uv_lock(text, file, target);
    case project::LockFormat::poetry: return read_poetry_lock(text, file, target);
    case project::LockFormat::pdm: return read_pdm_lock(text, file, target);
    case project::LockFormat::pipfile: return read_pipfile_lock(text, file, target);
  }
  return {};
}

}  // namespace autopack::lock
