#include "base/file.hpp"
#include "base/text.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

namespace {

class AccessTokenFile final : public CachingTokenSource {
public:
  explicit AccessTokenFile(CredentialOptions options) : CachingTokenSource{std::move(options)} {
    static_cast<void>(read());
  }

  std::string describe() const override {
    return fmt::format("access token file `{}`, named by {}", path(),
                       options().access_token_file_origin);
  }

protected:
  AccessToken fetch() override { return read(); }

private:
  std::string path() const { return options().access_token_file.value().string(); }

  AccessToken read() const {
    const auto text = read_file_if_exists(options().access_token_file.value(), FileSort::any);
    if (!text) {
      throw Error(ErrorKind::usage, describe() + ", does not exist")
          .hint(fmt::format("make it: gcloud auth print-access-token >{}", shell_quote(path())));
    }
    const auto token = trim(*text);
    if (token.empty() || token.find_first_of(" \t\r\n") != std::string_view::npos) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}, {}", describe(),
                              token.empty() ? "is empty" : "contains more than one word"));
    }
    return {.token = Secret{std::string{token}}};
  }
};

}  // namespace

std::unique_ptr<CachingTokenSource> make_access_token_file(CredentialOptions options) {
  return std::make_unique<AccessTokenFile>(std::move(options));
}

}  // namespace autopack::google
