#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/local_jobs.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace autopack::cli {

namespace {

constexpr std::string_view bash_script{R"(# Completion of autopack for bash.
_autopack() {
  local line=${COMP_LINE:0:COMP_POINT} words=() word= part prefix answer=() quote= i c
  # The words as the shell would read them, without their quotes.
  for ((i = 0; i < ${#line}; i++)); do
    c=${line:i:1}
    if [[ $c == \\ && $quote != \' ]]; then
      ((i++))
      word+=${line:i:1}
    elif [[ -n $quote && $c == "$quote" ]]; then
      quote=
    elif [[ -z $quote && $c == [\'\"] ]]; then
      quote=$c
    elif [[ -z $quote && $c == [[:space:]] ]]; then
      [[ -n $word ]] && words+=("$word")
      word=
    else
      word+=$c
    fi
  done
  words+=("$word")
  mapfile -t answer < <(autopack completion bash -- "${words[@]:1}" 2>/dev/null)
  # bash takes the part behind the last of these as the word.
  prefix=
  [[ $COMP_WORDBREAKS == *=* && $word == *=* ]] && prefix=${word%"${word##*=}"}
  [[ $COMP_WORDBREAKS == *:* && ${word#"$prefix"} == *:* ]] && prefix=${word%"${word##*:}"}
  COMPREPLY=()
  local candidate
  for candidate in "${answer[@]}"; do
    candidate=${candidate%%$'\t'*}
    case $candidate in
      :files | :directories)
        part=${word##*[=,]}
        local kind=-f
        [[ $candidate == :directories ]] && kind=-d
        local found=()
        mapfile -t found < <(compgen "$kind" -- "$part")
        compopt -o filenames
        local name
        for name in "${found[@]}"; do
          candidate=${word%"$part"}$name
          COMPREPLY+=("${candidate#"$prefix"}")
        done
        ;;
      *)
        [[ $candidate == *[=,] ]] && compopt -o nospace
        COMPREPLY+=("${candidate#"$prefix"}")
        ;;
    esac
  done
}
complete -F _autopack autopack
)"};

constexpr std::string_view zsh_script{R"(#compdef autopack
# Completion of autopack for zsh.
_autopack() {
  local -a answer open whole open_texts whole_texts
  local line text
  answer=("${(@f)$(autopack completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $answer; do
    case $line in
      :files) compset -P '*[=,]'; _files ;;
      :directories) compset -P '*[=,]'; _files -/ ;;
      ?*)
        text=${line%%$'\t'*}
        [[ $line == *$'\t'* ]] && text+="  -- ${line#*$'\t'}"
        case $line in
          *$'='|*$'=\t'*|*,) open+=("${line%%$'\t'*}"); open_texts+=("$text") ;;
          *) whole+=("${line%%$'\t'*}"); whole_texts+=("$text") ;;
        esac
        ;;
    esac
  done
  (( $#open )) && compadd -l -d open_texts -S '' -- $open
  (( $#whole )) && compadd -l -d whole_texts -- $whole
}
if [[ $funcstack[1] == _autopack ]]; then
  _autopack "$@"
else
  compdef _autopack autopack
fi
)"};

constexpr std::string_view fish_script{R"(# Completion of autopack for fish.
function __autopack_complete
    set -l token (commandline -ct)
    set -l word
    # A quote may still be open.
    for end in '' '"' "'"
        set word (string unescape -- "$token$end")
        and break
    end
    set -l words (commandline -opc) "$word"
    for line in (autopack completion fish -- $words[2..-1] 2>/dev/null)
        switch $line
            case ':files' ':directories'
                set -l part (string replace -r '.*[=,]' '' -- $word)
                set -l before (string sub -l (math (string length -- $word) - (string length -- $part)) -- $word)
                for name in $part*
                    test -d $name; and set name $name/
                    test $line = ':files' -o -d $name; and echo -- $before$name
                end
            case '*'
                echo -- $line
        end
    end
end
complete -c autopack -f -a '(__autopack_complete)'
)"};

/// Returns the jobs of this machine, each with its display name and state.
std::vector<std::string> job_names(Session& session) {
  std::vector<std::string> names;
  for (const auto& job : local_jobs(session)) {
    names.push_back(fmt::format("{}\t{}, {}", printable(text_at(job, "name")),
                                printable(text_at(job, "displayName")),
                                submit::state_of(job).word));
  }
  return names;
}

class CompletionCommand : public Command {
public:
  void add_flags(FlagSet& /*flags*/) override {}

  int run(Session& session) override {
    if (session.arguments.empty()) {
      throw Error(ErrorKind::usage, "`autopack completion` needs the name of a shell")
          .hint("`eval \"$(autopack completion bash)\"` in `~/.bashrc`");
    }
    if (session.program_arguments.empty()) {
      session.console.result(completion_script(session.arguments.front()));
      return 0;
    }
    std::string text;
    for (const auto& candidate :
         complete(session.program_arguments, [&] { return job_names(session); })) {
      text += candidate + "\n";
    }
    session.console.result(text);
    return 0;
  }
};

}  // namespace

std::string_view completion_script(std::string_view shell) {
  return shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : fish_script;
}

std::unique_ptr<Command> make_completion_command() {
  return std::make_unique<CompletionCommand>();
}

}  // namespace autopack::cli
