// SPDX-License-Identifier: Apache-2.0
// Manual pages and shell completion.
#include <cctype>

#include "cornea/cli/manual.h"
#include "cornea/core/build.h"
#include "cornea/core/error.h"

namespace cornea::cli {
namespace {

// Escapes text for troff.
std::string troff(const std::string& words) {
  std::string out;
  for (const char c : words) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

void add_option(const OptionEntry& option, std::string& out) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "\\fB" : ", \\fB") + troff(name) + "\\fR";
  }
  if (!option.value.empty())
    names += (names.empty() ? "\\fI" : " \\fI") + troff(option.value) + "\\fR";
  out += ".TP\n" + names + "\n";
  if (option.owners.empty()) {
    out += troff(option.help);
    if (!option.default_text.empty()) out += " [" + troff(option.default_text) + "]";
  } else {
    out += troff(option.owners.front().flag.help) + " [";
    std::string defaults;
    for (const FlagOwner& owner : option.owners) {
      defaults += (defaults.empty() ? "" : ", ") + owner.name + ": " + owner.flag.default_text;
    }
    out += troff(defaults) + "]";
  }
  out += "\n";
}

std::string in_capitals(std::string words) {
  for (char& c : words) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return words;
}

std::string head(const std::string& page, const std::string& summary) {
  return ".TH " + troff(in_capitals(page)) + " 1 \"\" \"Cornea " + kVersion +
         "\" \"Cornea\"\n.SH NAME\n" + troff(page) + " \\- " + troff(summary) + "\n";
}

std::vector<CommandEntry> all_of(const CommandList& commands) {
  std::vector<CommandEntry> all = commands.work;
  all.insert(all.end(), commands.about.begin(), commands.about.end());
  return all;
}

std::string in_quotes(const std::string& words) {
  std::string out = "'";
  for (const char c : words) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

template <class F>
void each_option(const CommandEntry& command, const F& f) {
  for (const OptionGroup& group : command.groups) {
    for (const OptionEntry& option : group.options) f(option);
  }
}

std::string bash_script(const std::vector<CommandEntry>& commands) {
  std::string names, cases;
  for (const CommandEntry& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    std::string flags, values;
    each_option(command, [&](const OptionEntry& option) {
      flags += (flags.empty() ? "" : " ") + joined(option.names);
      if (option.choices.empty()) return;
      values += "        " + option.names.back() + ") COMPREPLY=($(compgen -W " +
                in_quotes(joined(option.choices)) + " -- \"$word\")); return ;;\n";
    });
    cases += "    " + command.name + ")\n";
    if (!values.empty()) cases += "      case $before in\n" + values + "      esac\n";
    cases += "      flags=" + in_quotes(flags) + " ;;\n";
  }
  return "# bash completion for cornea\n_cornea() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} flags=\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n    COMPREPLY=($(compgen -W " +
         in_quotes(names + " help --help --version") +
         " -- \"$word\"))\n    return\n  fi\n  if [ \"${COMP_WORDS[1]}\" = help ]; then\n"
         "    COMPREPLY=($(compgen -W " +
         in_quotes(names) + " -- \"$word\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n  if [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n  else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n  fi\n}\n"
         "complete -o filenames -F _cornea cornea\n";
}

// Escapes text for zsh's _arguments, in which brackets and colons have a meaning.
std::string zsh_help(const std::string& words) {
  std::string out;
  for (const char c : words)
    out += c == '[' || c == ']' || c == ':' ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::string zsh_script(const std::vector<CommandEntry>& commands) {
  std::string names, cases;
  for (const CommandEntry& command : commands) {
    names += "    " + in_quotes(command.name + ":" + command.summary) + "\n";
    cases += "    " + command.name + ")\n      _arguments \\\n";
    each_option(command, [&](const OptionEntry& option) {
      for (const std::string& name : option.names) {
        std::string spec = name + "[" + zsh_help(option.help) + "]";
        if (!option.value.empty()) {
          spec += ":" + zsh_help(option.value) + ":";
          spec += option.choices.empty() ? "_files" : "(" + joined(option.choices) + ")";
        }
        cases += "        " + in_quotes(spec) + " \\\n";
      }
    });
    cases += "        '*:file:_files' ;;\n";
  }
  return "#compdef cornea\n_cornea() {\n  local -a commands=(\n" + names +
         "    'help:show the options of a command'\n  )\n"
         "  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then\n"
         "    _describe command commands\n    return\n  fi\n  local command=$words[2]\n"
         "  shift words\n  (( CURRENT-- ))\n  case $command in\n" +
         cases + "  esac\n}\n_cornea \"$@\"\n";
}

std::string fish_script(const std::vector<CommandEntry>& commands) {
  std::string out = "# fish completion for cornea\n";
  const std::string first = "complete -c cornea -n __fish_use_subcommand -f -a ";
  for (const CommandEntry& command : commands) {
    out += first + command.name + " -d " + in_quotes(command.summary) + "\n";
  }
  out += first + "help -d 'show the options of a command'\n";
  for (const CommandEntry& command : commands) {
    const std::string in =
        "complete -c cornea -n '__fish_seen_subcommand_from " + command.name + "'";
    each_option(command, [&](const OptionEntry& option) {
      out += in;
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.value.empty()) out += " -r";
      if (!option.choices.empty()) out += " -f -a " + in_quotes(joined(option.choices));
      out += " -d " + in_quotes(option.help) + "\n";
    });
  }
  return out;
}

}  // namespace

std::string man_page(const CommandEntry& command) {
  std::string out = head("cornea-" + command.name, command.summary);
  out += ".SH SYNOPSIS\n\\fBcornea " + troff(command.name) + "\\fR";
  for (const OptionEntry& p : command.positionals) out += " \\fI" + troff(p.value) + "\\fR";
  out += " [OPTIONS]\n.SH EXAMPLES\n.nf\n";
  for (const std::string& line : command.examples) out += troff(line) + "\n";
  out += ".fi\n";
  if (!command.positionals.empty()) out += ".SH ARGUMENTS\n";
  for (const OptionEntry& p : command.positionals) add_option(p, out);
  for (const OptionGroup& group : command.groups) {
    out += ".SH " + troff(in_capitals(group.title)) + "\n";
    for (const OptionEntry& option : group.options) add_option(option, out);
  }
  return out +
         ".SH EXIT STATUS\n0; 1 when something failed, with one line on standard error; 2 for "
         "wrong usage; 130 after Ctrl\\-C.\n.SH SEE ALSO\n.BR cornea (1)\n";
}

std::string man_page(const CommandList& commands) {
  std::string out = head("cornea", "interest points and two-view geometry, on GPU and CPU");
  out += ".SH SYNOPSIS\n\\fBcornea\\fR \\fICOMMAND\\fR [OPTIONS]\n.SH COMMANDS\n";
  std::string also;
  for (const CommandEntry& command : all_of(commands)) {
    out += ".TP\n\\fB" + troff(command.name) + "\\fR\n" + troff(command.summary) + "\n";
    also += (also.empty() ? ".BR cornea\\-" : ",\n.BR cornea\\-") + troff(command.name) + " (1)";
  }
  return out + ".SH SEE ALSO\n" + also + "\n";
}

std::string completion_script(const CommandList& commands, const std::string& shell) {
  const std::vector<CommandEntry> all = all_of(commands);
  if (shell == "bash") return bash_script(all);
  if (shell == "zsh") return zsh_script(all);
  if (shell == "fish") return fish_script(all);
  fail(ErrorCode::invalid_argument, "there is no completion for the shell '", shell,
       "'; use bash, zsh or fish");
}

}  // namespace cornea::cli
