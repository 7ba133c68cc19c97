#include "job/make_job.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::job_usual_machine_test {

TEST_CASE("the usual machine is the smallest that supports the accelerators") {
  struct Case {
    std::string accelerator;
    std::int64_t count;
    std::string machine;
  };

  for (const auto& item : std::vector<Case>{{"NVIDIA_TESLA_T4", 1, "n1-standard-8"},
                                            {"NVIDIA_TESLA_T4", 4, "n1-standard-8"},
                                            {"NVIDIA_TESLA_V100", 8, "n1-standard-8"},
                                            {"NVIDIA_L4", 1, "g2-standard-4"},
                                            {"NVIDIA_TESLA_A100", 8, "a2-highgpu-8g"},
                                            {"NVIDIA_GB200", 4, "n1-standard-8"},
                                            {"NVIDIA_TESLA_T4", 3, "n1-standard-8"},
                                            {"T4", 1, "n1-standard-8"}}) {
    CAPTURE(item.accelerator);
    CAPTURE(item.count);
    job::PoolFlags pool;
    pool.accelerator_type = item.accelerator;
    pool.accelerator_count = item.count;
    CHECK(job::usual_machine(pool) == item.machine);
  }
  CHECK(job::usual_machine({}) == "n1-standard-4");
}

}  // namespace autopack::job_usual_machine_test
