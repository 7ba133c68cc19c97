#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/packaging_options.hpp"
#include "compare/contents.hpp"
#include "packaging/settings.hpp"
#include "verify/comparison.hpp"
#include "verify/recorded.hpp"
#include "verify/verify.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace autopack::cli {

namespace {

class VerifyCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("Verification");
    flags.toggle("--offline", offline_,
                 "rebuild only from what is on this machine; IMAGE is still read");
    flags.text("--key", "FILE", key_,
               "public key: it must have signed the image, and only its provenance counts");
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_, session.flags);
    if (offline_ && build_.engine != "direct" && session.flags.is_typed("--engine")) {
      throw Error(ErrorKind::usage,
                  fmt::format("`--offline` and `--engine={}` exclude each other", build_.engine))
          .cause("builds need the network");
    }
    if (session.arguments.empty()) {
      throw Error(ErrorKind::usage, "`autopack verify` rebuilds an image, and none is named")
          .hint("autopack verify IMAGE");
    }
    const auto& name = session.arguments[0];
    auto& services = session.services;
    const auto image = compare::find_image(services, name, build_.platform);
    auto recorded = verify::recorded_in(image);
    recorded.is_signed = key_.has_value();
    recorded.provenance = key_ ? signed_provenance(session, name, image.digest)
                               : verify::attached_provenance(services, name, image.digest);
    const auto found = verify::verify(services, image, recorded, wish(session));
    for (const auto& remark : found.remarks) {
      session.console.done("Noted", remark);
    }
    if (!found.differs() && !found.unknown.empty()) {
      for (const auto& layer : found.layers) {
        session.console.done("Compared", printable(layer.name) + ": equal");
      }
      throw unknown(name, found);
    }
    report_result(session, verify::to_json(found), verify::to_text(found));
    return found.differs() ? exit_status(ErrorKind::drift) : 0;
  }

private:
  std::optional<attest::Provenance> signed_provenance(Session& session,
                                                      const std::string& name,
                                                      const Digest& digest) const {
    auto documents = verify::signed_documents(session.services, name, digest,
                                              expand_home(*key_, session.services.environment));
    const auto& types = documents.predicate_types;
    session.console.done("Verified",
                         fmt::format("`{}` signed: {}", printable(*key_),
                                     join(std::vector(types.begin(), types.end()), ", ")));
    return std::move(documents.provenance);
  }

  verify::Wish wish(Session& session) const {
    Problems problems;
    const auto given = packaging_.settings(problems);
    packaging::Settings typed;
    for (const auto& setting : packaging::settings) {
      if (session.flags.is_typed(fmt::format("--{}", setting.key))) {
        std::visit([&](const auto member) { typed.*member = given.*member; }, setting.member);
      }
    }
    return {
        .request = package_request(packaging_, build_, session.flags, session.services.environment),
        .typed = std::move(typed),
        .has_source = session.flags.is_typed("--source"),
        .has_engine = session.flags.is_typed("--engine"),
        .has_byte_code = session.flags.is_typed("--compile-bytecode"),
        .offline = offline_};
  }

  static Error unknown(const std::string& name, const verify::Comparison& found) {
    Error error(ErrorKind::environment,
                fmt::format("it cannot be determined whether all of `{}` equals a rebuild",
                            printable(name)));
    for (const auto& reason : found.unknown) {
      error.cause(reason);
    }
    return error;
  }

  PackagingOptions packaging_;
  BuildOptions build_;
  bool offline_{false};
  std::optional<std::string> key_{};
};

}  // namespace

std::unique_ptr<Command> make_verify_command() {
  return std::make_unique<VerifyCommand>();
}

}  // namespace autopack::cli
