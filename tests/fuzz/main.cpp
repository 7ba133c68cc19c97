#include "base/error.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using autopack::fuzz::Target;

std::vector<Target> all_targets() {
  using namespace autopack::fuzz;
  std::vector<Target> all;
  for (const auto& some :
       {project_targets(), lock_targets(), local_targets(), job_targets(), kubernetes_targets(),
        wire_targets(), settings_targets(), git_targets(), service_targets(), tree_targets(),
        index_targets(), wheel_targets(), python_targets(), sbom_targets()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Target target;

}  // namespace

void autopack::fuzz::fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

/// AUTOPACK_FUZZ_TARGET names what is fuzzed; without it the names are printed.
// The names are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  const char* wanted = std::getenv("AUTOPACK_FUZZ_TARGET");
  for (const auto& known : all_targets()) {
    if (wanted == nullptr) {
      std::printf("%s\n", std::string{known.name}.c_str());
    } else if (known.name == wanted) {
      target = known;
    }
  }
  if (target.run == nullptr) {
    std::exit(wanted == nullptr ? 0 : 2);
  }
  return 0;
}

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    target.run({reinterpret_cast<const char*>(data), size});
  } catch (const autopack::Error& error) {
    if (error.kind() == autopack::ErrorKind::internal) {
      autopack::fuzz::fail("an internal error: " + error.message());
    }
  }
  return 0;
}
