#include "cli/local_gpus.hpp"

#include <doctest/doctest.h>

namespace autopack::cli_local_gpu_test {

using cli::read_local_gpu;

TEST_CASE("equal GPUs of this machine are one device") {
  const auto found = read_local_gpu("NVIDIA L4, 8.9\nNVIDIA L4, 8.9\n");
  REQUIRE(found);
  CHECK(found->name == "NVIDIA L4");
  CHECK(found->capability == gpu::Capability{.major = 8, .minor = 9});
}

TEST_CASE("GPUs that differ, or that nobody knows, are no device") {
  for (const auto* const text : {"", "\n", "NVIDIA L4, 8.9\nTesla T4, 7.5\n", "Tesla K80, [N/A]\n",
                                 "No devices were found\n", "x,\n", "NVIDIA L4, 8.9\nerror\n"}) {
    CAPTURE(text);
    CHECK_FALSE(read_local_gpu(text));
  }
}

}  // namespace autopack::cli_local_gpu_test
