#include "build/docker/step_names.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace autopack::build_step_names_test {

TEST_CASE("the steps of a generated Dockerfile are named by what they do") {
  plan::ReadablePlan plan;
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("requirements.txt", "# a comment\nnumpy\n\n--no-index\nscipy>=1\n");
  plan.trees.push_back({.tree = tree});
  plan.dependencies.inputs.push_back({.path = "requirements.txt"});
  plan.dependencies.requirement_files = {"requirements.txt"};
  plan.dependencies.apt_packages = {"a", "b", "c", "d", "e"};
  build::ContextParts parts;
  parts.plan = &plan;
  parts.dockerfile =
      "FROM base AS base\n"
      "RUN mkdir -p /usr/app /home\n"
      "RUN apt-get update && apt-get install --yes a b c d e\n"
      "RUN cd /mnt && python3 -m pip install --requirement requirements.txt\n"
      "COPY [\".\", \"./\"]\n"
      "RUN python3 -m pip install -e .\n"
      "RUN true\n";
  const auto name = [&](const std::string& step) { return build::step_for_people(parts, step); };
  CHECK(name("[base 2/7] RUN mkdir -p /usr/app /home") == "make directories");
  CHECK(name("[base 3/7] RUN apt-get update && apt-get install --yes a b c d e") ==
        "install a, b, c, 2 more");
  CHECK(name("[base 4/7] RUN cd /mnt && python3 -m pip install --requirement requirements.txt") ==
        "install requirements.txt (2 packages)");
  CHECK(name("Step 5/7 : COPY [\".\", \"./\"]") == "copy files");
  CHECK(name("[base 6/7] RUN python3 -m pip install -e .") == "install the project's package");
  CHECK(name("[base 7/7] RUN true") == "[base 7/7] RUN true");
  CHECK(name("[internal] load build context") == "[internal] load build context");
  plan.dependencies.requirements = {"torch"};
  CHECK(name("Step 4/7 : RUN cd /mnt && x") == "install requirements.txt, torch (3 packages)");
  plan.dependencies.lock = project::Lock{.file = "uv.lock"};
  CHECK(name("Step 4/7 : RUN cd /mnt && x") == "install the packages of uv.lock");
  plan.user_dockerfile = "Dockerfile";
  CHECK(name("Step 4/7 : RUN cd /mnt && x") == "Step 4/7 : RUN cd /mnt && x");
}

}  // namespace autopack::build_step_names_test
