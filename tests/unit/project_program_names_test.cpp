#include "project/program/program_candidates.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace autopack::project_program_names_test {

using namespace autopack::project;

TEST_CASE("the name of a program says what it is for") {
  const auto all_are = [](Purpose purpose, std::initializer_list<std::string_view> paths) {
    for (const auto path : paths) {
      CAPTURE(path);
      CHECK(purpose_of_program(path) == purpose);
    }
  };
  all_are(Purpose::training,
          {"train.py", "src/image_train.py", "finetune.py", "fine_tune_gpt2.py", "TrainVAE.py",
           "train_model.py", "train_eval.py", "main_pretrain.py", "fit.py", "pre-training.py",
           "finetune/lora.py", "trainer/task.py", "train_test.py", "train_net.py", "sft.py"});
  all_are(Purpose::entry, {"main.py", "run.py", "run_nerf.py", "main_dino.py", "pkg/__main__.py"});
  all_are(Purpose::unknown,
          {"qlora.py", "08_2_dataset_loade_logistic.py", "ppo.py", "restrain.py"});
  all_are(Purpose::helper, {"utils.py", "train_utils.py", "model.py", "trainer.py", "train_data.py",
                            "run_nerf_helpers.py"});
  all_are(Purpose::other,
          {"test_model.py", "model_test.py", "evaluate.py", "run_eval.py", "predict.py", "demo.py",
           "convert_checkpoint.py", "prepare_train_data.py", "plot_loss.py", "infer/infer.py",
           "test_train.py", "export_hf_checkpoint.py", "run_with_submitit.py", "download.py",
           "super_res_sample.py", "app.py", "benchmark.py"});
  all_are(Purpose::tool, {"setup.py", "conftest.py", "noxfile.py", "fabfile.py", "dodo.py",
                          "manage.py", "_version.py", "__init__.py", "hubconf.py"});
}

TEST_CASE("directories without a program to train with") {
  CHECK(is_aside("tests"));
  CHECK(is_aside("Docs"));
  CHECK(is_aside(".venv"));
  CHECK_FALSE(is_aside("src"));
  CHECK_FALSE(is_aside("scripts"));
  CHECK(holds_examples("examples"));
}

}  // namespace autopack::project_program_names_test
