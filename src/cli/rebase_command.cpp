#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "packaging/output.hpp"
#include "rebase/rebase.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

namespace {

class RebaseCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("Rebase");
    flags.text("--onto", "BASE", onto_,
               "the new base: an image of a registry, oci:DIR or tar:FILE");
    flags.text("-t,--tag", "NAME", wish_.target,
               "the repository of the result, and its tag if NAME has one; by default the image's "
               "repository, without a tag");
    flags.list("--output", "WHERE", outputs_,
               "write the result to oci:DIR[:TAG] or tar:FILE; repeatable");
    flags.text("--platform", "PLATFORM", wish_.platform,
               "the one to move, of an image for several platforms");
    flags.text("--current-base", "BASE", wish_.current_base,
               "a place that has the present base, if the one in the image's labels has lost it");
    flags.toggle("--dry-run", wish_.dry_run, "check, and print the result's name; send nothing");
  }

  int run(Session& session) override {
    if (session.arguments.empty() || !onto_) {
      throw Error(ErrorKind::usage,
                  session.arguments.empty()
                      ? "`autopack rebase` moves an image to another base, and no image is named"
                      : "`autopack rebase` moves an image to another base, and no base is named")
          .hint("autopack rebase IMAGE --onto=BASE");
    }
    wish_.image = session.arguments[0];
    wish_.onto = *onto_;
    if (session.flags.is_typed("--output")) {  // those of a settings file are for builds
      for (const auto& text : outputs_) {
        wish_.outputs.push_back(packaging::Output::parse(text));
      }
    }
    rebase::check(wish_);
    const auto moved = rebase::move_image(session.services, wish_);
    session.console.result(render(session, rebase::to_json(moved), moved.uri));
    return 0;
  }

private:
  rebase::Wish wish_{};
  std::optional<std::string> onto_{};
  std::vector<std::string> outputs_{};
};

}  // namespace

std::unique_ptr<Command> make_rebase_command() {
  return std::make_unique<RebaseCommand>();
}

}  // namespace autopack::cli
