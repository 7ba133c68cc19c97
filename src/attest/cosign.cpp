#include "attest/cosign.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/scratch_directory.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace autopack::attest {

namespace {

namespace fs = std::filesystem;

/// No transparency log and no time stamps: a private key's signature needs neither, and a public
/// log would publish the image's name.
constexpr auto* signing_configuration =
    R"({"mediaType":"application/vnd.dev.sigstore.signingconfig.v0.2+json"})";
/// Without it, cosign fetches the roots of sigstore's public services.
constexpr auto* trusted_root =
    R"({"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1"})";

/// Returns the last lines of cosign's messages, for a cause.
std::string last_lines(const std::string& text) {
  const auto lines = split(std::string{trim(text)}, '\n');
  constexpr std::size_t most{4};
  const std::vector<std::string> last(
      lines.end() - static_cast<std::ptrdiff_t>(std::min(lines.size(), most)), lines.end());
  return printable(join(last, "; "));
}

}  // namespace

Cosign::Cosign(Services& services, std::string key) : services_{services}, key_{std::move(key)} {
  const auto found = find_program("cosign", services.environment.get("PATH").value_or(""));
  if (!found) {
    throw Error(ErrorKind::environment, "`--sign-key` needs the program `cosign`")
        .cause("no directory of PATH has it")
        .hint("install cosign 3, or leave out `--sign-key` to attach unsigned documents");
  }
  program_ = *found;
  const bool is_file = key_.find("://") == std::string::npos;
  std::error_code ignored;
  if (is_file && !fs::exists(key_, ignored)) {
    throw Error(ErrorKind::usage, fmt::format("there is no key `{}`", printable(key_)))
        .hint(
            "`cosign generate-key-pair` makes one; `--sign-key` also takes the URI of a KMS, such "
            "as `gcpkms://...`");
  }
}

std::string Cosign::sign(const std::string& statement) {
  const ScratchDirectory scratch{"signing"};
  const auto path = [&](const char* name) { return (scratch.path() / name).string(); };
  write_file(path("signing-config.json"), signing_configuration);
  write_file(path("trusted-root.json"), trusted_root);
  write_file(path("statement.json"), statement);
  run({"attest-blob", "--yes", "--key", key_, "--statement", path("statement.json"), "--bundle",
       path("bundle.json"), "--signing-config", path("signing-config.json"), "--trusted-root",
       path("trusted-root.json")},
      "sign with the key");
  return read_file(path("bundle.json"));
}

std::string Cosign::public_key() {
  return run({"public-key", "--key", key_}, "read the public key of");
}

std::string Cosign::run(const std::vector<std::string>& words, const std::string& what) {
  std::vector<std::string> command{program_};
  command.insert(command.end(), words.begin(), words.end());
  auto result = run_process(command, "", {.cancellation = services_.cancellation});
  if (!result || result->status != 0) {
    throw Error(ErrorKind::environment,
                fmt::format("cosign could not {} `{}`", what, printable(key_)))
        .cause(result ? last_lines(result->errors) : "it did not start")
        .hint("the variable COSIGN_PASSWORD contains the password of an encrypted key");
  }
  return std::move(result->output);
}

}  // namespace autopack::attest
