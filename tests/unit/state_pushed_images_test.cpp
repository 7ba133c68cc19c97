#include "base/file.hpp"
#include "state/records.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace autopack::state_pushed_images_test {

TEST_CASE("the image that was pushed last is known by its repository") {
  const TemporaryDirectory directory;
  const state::PushedImages images{directory.path()};
  CHECK_FALSE(images.get("r.example/a"));
  images.put("r.example/a", sha256("one"));
  images.put("r.example/b", sha256("other"));
  images.put("r.example/a", sha256("two"));
  CHECK(images.get("r.example/a") == sha256("two"));
  CHECK(images.get("r.example/b") == sha256("other"));
  write_file(directory.path() / sha256("r.example/a").hex(), "sha256:cut");
  CHECK_FALSE(images.get("r.example/a"));
}

}  // namespace autopack::state_pushed_images_test
