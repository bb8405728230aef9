"""How the command line is read: options in any place, help, usage errors and completion."""

import re
import subprocess
import sys

import pytest

from child_processes import SHELL
from rankgauge.cli.command_line import command_names


class TestOptions:
    def test_they_may_stand_between_arguments(self, rankgauge, project, write):
        write("qrels", "q1 0 a 1\n")
        write("run", "q1 Q0 a 1 1 t\n")
        done = rankgauge("trec", "qrels", "-m", "RR", "run", "--json")
        assert done.mean("rr") == 1.0
        assert rankgauge("run", "--metric", "P@1", project, "--json").mean("p@1") == 0.5

    @pytest.mark.parametrize("typed", [["-qnf", "jsonl"], ["-q", "-n", "-fjsonl"], ["-nqf=jsonl"]])
    def test_short_ones_may_share_a_hyphen_and_the_last_may_have_a_value(self, typed, rankgauge, write):
        write("qrels", "q1 0 a 1\n")
        write("run", "q1 Q0 a 1 1 t\n")
        done = rankgauge("trec", *typed, "qrels", "run", "-m", "RR")
        assert (done.code, done.json["sample_id"]) == (0, "q1")

    @pytest.mark.parametrize("text", ["-5", "-x", "a b", "=", ""])
    def test_a_value_may_begin_with_a_hyphen_unless_it_is_an_option(self, text, rankgauge):
        typed = ["matchers", "try", "casefold > equal >= 1", "--gold", text, "--retrieved", text, "--json"]
        assert rankgauge(*typed).json["steps"][0] == {"after": "", "retrieved": text, "gold": text}

    def test_behind_two_hyphens_all_is_arguments(self, rankgauge):
        done = rankgauge("metrics", "show", "--", "--json")
        assert done.code == 2
        assert "'--json'" in done.err
        assert "no option" not in done.err

    def test_a_negative_number_is_an_argument(self, rankgauge):
        assert "there is no such folder" in rankgauge("explain", "nowhere", "-1").err


class TestUsageErrors:
    @pytest.mark.parametrize(
        ("typed", "words"),
        [
            ("runn", "no command 'runn' (did you mean 'run'?)"),
            ("metrics lst", "no command 'lst' (did you mean 'list'?)"),
            ("run --metrc x", "no option --metrc (did you mean '--metric'?)"),
            ("judge queue --outptu x", "no option --outptu (did you mean '--output'?)"),
            ("trec -Z a b", "no option -Z"),
            ("run --metric", "-m/--metric needs a value: METRIC"),
            ("trec a b -f --json", "-f/--format needs a value: FORMAT"),
            ("run --json=3", "argument --json: "),
            ("run a b c", "unexpected argument 'c'"),
            ("metrics list extra", "unexpected argument 'extra'"),
            ("judge queue a", "required: -o/--output"),
            ("metrics show", "required: NAME"),
            ("run -k x", "argument -k/--k: invalid int value: 'x'"),
            ("metrics check ndcg --cases 0", "argument --cases: takes a whole number from 1 on, not '0'"),
            ("run --max-failed much", "argument --max-failed: a share is a number from 0 to 1"),
            ("compare a b -f xml", "argument -f/--format: invalid choice: 'xml'"),
            ("--nope", "no option --nope"),
        ],
    )
    def test_they_say_what_is_wrong_and_how_it_is_used(self, typed, words, rankgauge):
        done = rankgauge(*typed.split())
        assert (done.code, done.out) == (2, "")
        usage, error = done.err.splitlines()[0], done.err.splitlines()[-1]
        assert usage.startswith("usage: rankgauge ")
        assert error.startswith("error: ")
        assert words in error

    @pytest.mark.parametrize("typed", [[], ["--plain"], ["judge"]])
    def test_without_a_command_the_commands_are_listed_on_stderr(self, typed, rankgauge):
        done = rankgauge(*typed)
        assert (done.code, done.out) == (2, "")
        assert "\ncommands:\n" in done.err


class TestHelp:
    @pytest.mark.parametrize("width", [60, 80, 140])
    @pytest.mark.parametrize("name", ["", *command_names()])
    def test_it_fits_the_terminal(self, name, width, rankgauge, monkeypatch):
        monkeypatch.setenv("COLUMNS", str(width))
        done = rankgauge(*name.split(), "--help")
        assert (done.code, done.err) == (0, "")
        usage, _, rest = done.out.partition("\n\n")
        assert usage.startswith(f"usage: rankgauge {name}".rstrip())
        assert max(map(len, rest.splitlines())) <= width - 2

    def test_it_wins_over_what_is_wrong_behind_it(self, rankgauge):
        assert rankgauge("plugins", "check", "--help", "one", "two").code == 0

    def test_all_of_it_groups_options_and_says_what_they_are_by_default(self, rankgauge):
        text = rankgauge("help", "run", "all").out
        order = ["\ndata:\n", "--sut FUNCTION", "-m, --metric METRIC", "[default: table]", "\ngates:\n"]
        places = [text.index(part) for part in order]
        assert places == sorted(places)
        assert "Exit codes:" in text

    @pytest.mark.parametrize("name", ["run", "rescore", "trec", "compare"])
    def test_that_of_a_command_with_many_options_fits_a_screen_and_leads_to_all(self, name, rankgauge, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        short = rankgauge(name, "--help").out
        assert len(short.splitlines()) <= 45
        assert rankgauge("help", name).out == short
        whole = rankgauge("help", name, "all").out
        options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", whole, re.MULTILINE))
        groups = re.findall(r"^  (\w+) +--", short.partition("\nall options:")[2], re.MULTILINE)
        parts = [rankgauge("help", name, group).out for group in groups]
        assert all(part.startswith(group) for part, group in zip(parts, groups, strict=True))
        grouped = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", "".join(parts), re.MULTILINE))
        assert grouped == options - {"--help"}
        assert len(options) > 20
        assert {*re.findall(r"^  (?:-\w, )?(--[\w-]+)", short, re.MULTILINE)} < options

    def test_that_of_a_command_with_few_options_shows_all(self, rankgauge):
        assert (
            rankgauge("help", "power", "all").out == rankgauge("power", "--help").out == rankgauge("help", "power").out
        )
        assert rankgauge("help").out == rankgauge("--help").out
        assert rankgauge("help", "gold").out == rankgauge("gold", "--help").out

    @pytest.mark.parametrize(
        ("typed", "message"),
        [
            ("run cals", "no group of options 'cals' (did you mean 'calls'?); there are data, calls, "),
            ("run calls gates", "help is of one group of options at a time, not of calls and gates"),
            ("rum", "no command 'rum' (did you mean 'run'?)"),
            ("gold chekc", "no command 'chekc' (did you mean 'check'?)"),
        ],
    )
    def test_of_what_there_is_not_says_what_there_is(self, typed, message, rankgauge):
        done = rankgauge("help", *typed.split())
        assert (done.code, done.out) == (2, "")
        assert message in done.err

    def test_a_mistyped_option_leads_to_all_of_them(self, rankgauge):
        assert "; `rankgauge help run all` shows all there is" in rankgauge("run", "--sutt", "f").err
        assert "; `rankgauge power --help` shows all there is" in rankgauge("power", "--sutt", "f").err

    def test_every_command_is_listed_with_what_it_does(self, rankgauge):
        for name in command_names():
            group, _, word = name.rpartition(" ")
            lines = rankgauge(*group.split(), "--help").out.partition("\ncommands:\n")[2].splitlines()
            assert word in {line.split()[0] for line in lines} or name == "eval"


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
    def test_it_knows_every_command(self, shell, rankgauge):
        pytest.importorskip("shtab")
        done = rankgauge("--print-completion", shell)
        assert (done.code, done.err) == (0, "")
        assert all(word in done.out for name in command_names() for word in name.split())
        assert "max-failed" in done.out

    @pytest.mark.usefixtures("process")
    @pytest.mark.promise
    def test_bash_can_read_it_and_completes_a_command(self, rankgauge):
        pytest.importorskip("shtab")
        script = rankgauge("--print-completion", "bash").out
        ask = 'COMP_WORDS=(rankgauge val); COMP_CWORD=1; _shtab_rankgauge; echo "${COMPREPLY[@]}"'
        done = subprocess.run([SHELL, "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["validate"]

    def test_without_shtab_it_says_what_to_install(self, rankgauge, monkeypatch):
        monkeypatch.setitem(sys.modules, "shtab", None)
        done = rankgauge("--print-completion", "bash")
        assert (done.code, done.out) == (2, "")
        assert "pip install 'rankgauge[completion]'" in done.err
