#include "gpu/fit.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::gpu_fit_test {

using namespace autopack::gpu;

namespace {

/// Returns the code that `words` name: `75 90a ptx90`.
LibraryCode code_for(const std::string& words) {
  LibraryCode library;
  for (std::size_t at = 0; at < words.size();) {
    const auto end = std::min(words.find(' ', at), words.size());
    auto word = words.substr(at, end - at);
    const bool is_ptx = word.starts_with("ptx");
    library.code.push_back(
        {.kind = is_ptx ? CodeKind::ptx : CodeKind::cubin,
         .architecture = Architecture::parse(word.substr(is_ptx ? 3 : 0)).value(),
         .count = 1,
         .bytes = 1000});
    at = end + 1;
  }
  return library;
}

Fit fit(const std::string& words, const std::string& gpu) {
  return fit_of(code_for(words), Capability::parse(gpu).value());
}

Library library(const std::string& path, const std::string& words) {
  return {.path = path, .size = 10'000, .code = code_for(words)};
}

Capability capability(const char* accelerator) {
  return capability_of(accelerator).value();
}

}  // namespace

TEST_CASE("machine code runs on its major capability, from its minor one on") {
  CHECK(fit("80", "8.0") == Fit::runs);
  CHECK(fit("80", "8.9") == Fit::runs);
  CHECK(fit("86", "8.0") == Fit::fails);
  CHECK(fit("75", "8.0") == Fit::fails);
  CHECK(fit("90", "8.9") == Fit::fails);
  CHECK(fit("100", "10.3") == Fit::runs);
  CHECK(fit("100", "12.0") == Fit::fails);
  CHECK(fit("120", "1.2") == Fit::fails);
}

TEST_CASE("code of an architecture or of a family runs nowhere else") {
  CHECK(fit("90a", "9.0") == Fit::runs);
  CHECK(fit("100a", "10.0") == Fit::runs);
  CHECK(fit("100a", "10.3") == Fit::fails);
  CHECK(fit("100f", "10.3") == Fit::runs);
  CHECK(fit("103f", "10.0") == Fit::fails);
  CHECK(fit("ptx90a", "10.0") == Fit::fails);
  CHECK(fit("ptx90a", "9.0") == Fit::compiles);
  CHECK(fit("ptx100f", "12.0") == Fit::fails);
}

TEST_CASE("PTX fits every later GPU, after the driver compiled it") {
  CHECK(fit("70 ptx70", "12.0") == Fit::compiles);
  CHECK(fit("70 ptx70", "7.5") == Fit::runs);
  CHECK(fit("ptx80", "7.5") == Fit::fails);
}

TEST_CASE("code that is damaged or absent is not judged") {
  CHECK(fit("", "9.0") == Fit::unknown);
  auto damaged = code_for("70");
  damaged.is_damaged = true;
  CHECK(fit_of(damaged, {.major = 9, .minor = 0}) == Fit::unknown);
  CHECK(fit_of(damaged, {.major = 7, .minor = 5}) == Fit::runs);
}

TEST_CASE("torch is judged by the library with its kernels") {
  const Package torch{
      .name = "torch",
      .libraries = {library("torch/lib/libtorch_cuda.so", "75 80 86 90 100 120 89 120a 121a"),
                    library("torch/lib/libcudnn_ops_infer.so.8", "60 70 80"),
                    library("torch/lib/libtorch_cuda_linalg.so", "75 80 86 90 100 120")}};
  for (const auto* const old : {"NVIDIA_TESLA_P100", "NVIDIA_TESLA_V100", "NVIDIA_TESLA_K80"}) {
    const auto judged = fit_of(torch, capability(old));
    CHECK(judged.fit == Fit::fails);
    CHECK(judged.libraries.size() == 2);
  }
  for (const auto* const able : {"NVIDIA_TESLA_T4", "NVIDIA_TESLA_A100", "NVIDIA_L4",
                                 "NVIDIA_H100_80GB", "NVIDIA_B200", "NVIDIA_RTX_PRO_6000"}) {
    CHECK(fit_of(torch, capability(able)).fit == Fit::runs);
  }
}

TEST_CASE("of libraries for several versions of CUDA one suffices") {
  const Package package{.name = "bitsandbytes",
                        .libraries = {library("b/libbitsandbytes_cuda118.so", "60 70 80"),
                                      library("b/libbitsandbytes_cuda130.so", "75 80 ptx120"),
                                      library("b/libplain.so", "")}};
  const auto on_v100 = fit_of(package, capability("NVIDIA_TESLA_V100"));
  CHECK(on_v100.fit == Fit::runs);
  REQUIRE(on_v100.failing.size() == 1);
  CHECK(on_v100.failing.front()->path == "b/libbitsandbytes_cuda130.so");
  CHECK(fit_of(package, capability("NVIDIA_RTX_PRO_6000")).fit == Fit::compiles);
  CHECK(fit_of(package, capability("NVIDIA_TESLA_K80")).fit == Fit::fails);
}

TEST_CASE("a damaged library makes a failure uncertain") {
  Package package{.name = "x", .libraries = {library("a.so", "70"), library("b.so", "70")}};
  package.libraries.back().code.is_damaged = true;
  CHECK(fit_of(package, capability("NVIDIA_L4")).fit == Fit::unknown);
}

TEST_CASE("other packages of NVIDIA may lack code for a GPU") {
  const auto fit_on_t4 = [](const std::string& name, const std::string& path) {
    return fit_of(Package{.name = name, .libraries = {library(path, "80 90")}},
                  capability("NVIDIA_TESLA_T4"))
        .fit;
  };
  CHECK(fit_on_t4("nvidia-cusparselt-cu12", "nvidia/cusparselt/lib/libcusparseLt.so.0") ==
        Fit::unknown);
  CHECK(fit_on_t4("nvidia-cudnn-cu12", "nvidia/cudnn/lib/libcudnn_ops.so.9") == Fit::fails);
  CHECK(fit_on_t4("nvidia-cudnn-frontend", "cudnn/libcudnn_x.so") == Fit::unknown);
  CHECK(fit_on_t4("nvidia-cublas", "nvidia/cu13/lib/libcublasLt.so.13") == Fit::fails);
  CHECK(fit_on_t4("torchvision", "torchvision/_C.so") == Fit::fails);
}

TEST_CASE("every GPU in the list of accelerators has its capability") {
  CHECK(known_accelerators().size() == 14);
  CHECK(capability("NVIDIA_TESLA_P4").str() == "6.1");
  CHECK(capability("NVIDIA_GB200").str() == "10.0");
  CHECK_FALSE(capability_of("TPU_V3"));
  CHECK_FALSE(capability_of(""));
}

TEST_CASE("capabilities and architectures are read strictly") {
  CHECK(Capability::parse("12.0") == Capability{.major = 12, .minor = 0});
  CHECK(Architecture::parse("90a")->str() == "90a");
  CHECK(Architecture::parse("103f")->capability() == Capability{.major = 10, .minor = 3});
  for (const auto* const text : {"", "9", "9.", ".0", "9.0.1", "-1.0", "9.x", "1000.0", "[N/A]"}) {
    CHECK_FALSE(Capability::parse(text));
  }
  for (const auto* const text : {"", "a", "9", "1000", "90b", "90aa", "sm_90"}) {
    CHECK_FALSE(Architecture::parse(text));
  }
}

TEST_CASE("the architectures are shown") {
  const auto code = code_for("75 80 90a ptx90");
  CHECK(architectures_of(code) == "75 80 90a, PTX 90");
  CHECK(architectures_of(code_for("ptx90")) == "PTX 90");
  CHECK(architectures_of(code, CodeKind::cubin) == std::vector<std::string>{"75", "80", "90a"});
}

}  // namespace autopack::gpu_fit_test
