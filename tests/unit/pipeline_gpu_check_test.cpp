#include "pipeline/gpu_check.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::pipeline::pipeline_gpu_check_test {

namespace {

gpu::Package package(const std::string& name, const std::string& path = "lib/x.so") {
  return {.name = name, .version = "1.0", .libraries = {{.path = path, .size = 1000}}};
}

std::vector<plan::OpenImport> imports(const std::string& module, bool certain, bool sure) {
  return {{.module = module, .path = "train.py", .line = 1, .certain = certain, .sure = sure}};
}

}  // namespace

TEST_CASE("torch is needed if the project requires it or its code imports it") {
  CHECK(needs_gpu_code(package("torch"), {"numpy", "torch"}, {}));
  CHECK(needs_gpu_code(package("torch"), {}, imports("torch", true, false)));
  CHECK(needs_gpu_code(package("torch"), {}, imports("torch.nn", true, true)));
  CHECK_FALSE(needs_gpu_code(package("torch"), {"numpy"}, {}));
  CHECK_FALSE(needs_gpu_code(package("torch"), {}, imports("torch", false, false)));
  CHECK_FALSE(needs_gpu_code(package("torch"), {}, imports("torchvision", true, true)));
}

TEST_CASE("an extension is needed only if every start of the program imports it") {
  const std::vector<std::string> required{"flash-attn", "other"};
  CHECK(needs_gpu_code(package("flash-attn"), required, imports("flash_attn", true, true)));
  CHECK(needs_gpu_code(package("flash-attn"), {}, imports("flash_attn.ops", true, true)));
  CHECK(needs_gpu_code(package("cupy-cuda12x", "cupy/_core/core.so"), required,
                       imports("cupy", true, true)));
  CHECK_FALSE(needs_gpu_code(package("flash-attn"), required, {}));
  CHECK_FALSE(needs_gpu_code(package("flash-attn"), required, imports("flash_attn", true, false)));
  CHECK_FALSE(needs_gpu_code(package("flash-attn"), required, imports("other", true, true)));
  CHECK_FALSE(needs_gpu_code(package(""), required, imports("", true, true)));
}

TEST_CASE("a package that can do without its kernels is never needed") {
  for (const std::string name :
       {"tensorflow", "tensorflow-cpu", "jax", "jaxlib", "jax-cuda12-plugin", "xgboost", "catboost",
        "lightgbm", "nvidia-cudnn-cu12", "nvidia-nccl-cu12", "onnxruntime-gpu", "torchvision"}) {
    CAPTURE(name);
    CHECK_FALSE(needs_gpu_code(package(name, name + "/x.so"), {name}, imports(name, true, true)));
  }
}

}  // namespace autopack::pipeline::pipeline_gpu_check_test
