"""Crontabs as they are found: what is understood, what is warned of, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.cron import parse
from horae.model.crontab import read_crontab


def only(text, system=False):
    (entry,) = read_crontab(text, system)
    return entry


def test_a_line_becomes_a_rule_a_command_and_plain_words():
    entry = only("# weekly\n\n0 10 * * FRI  /usr/bin/report --week\n")
    assert (entry.line, entry.rule.cron, entry.command) == (3, "0 10 * * FRI", "/usr/bin/report --week")
    assert entry.notes[0].startswith("at 10:00 on Friday")
    assert (entry.warnings, entry.error, entry.tz, entry.user) == ((), None, None, None)


def test_a_system_crontab_names_the_user():
    entry = only("17 *\t* * *\troot    cd / && run-parts --report /etc/cron.hourly", system=True)
    assert (entry.rule.cron, entry.user, entry.command) == (
        "17 * * * *", "root", "cd / && run-parts --report /etc/cron.hourly",
    )  # fmt: skip
    assert only("25 6 * * * root", system=True).error == "there is no command after the user"


def test_variables_hold_for_the_lines_below_them():
    first, second = read_crontab("A=1\n@daily one\nA = 'two words'\nPATH=/bin\n@hourly two", False)
    assert (first.env, second.env) == ({"A": "1"}, {"A": "two words", "PATH": "/bin"})
    assert (first.rule.cron, second.rule.cron) == ("@daily", "@hourly")


def test_zones_are_honoured_and_cron_tz_goes_before_tz():
    first, second, third = read_crontab(
        "TZ=Asia/Tokyo\n@daily a\nCRON_TZ=Europe/Berlin\n@daily b\nCRON_TZ=Mars\n@daily c", False
    )
    assert (first.tz, second.tz, first.env) == ("Asia/Tokyo", "Europe/Berlin", {})
    assert "to the command only" in first.warnings[0]
    assert second.warnings == ()
    assert (third.rule, third.tz) == (None, None)
    assert "CRON_TZ: 'Mars'" in third.error


def test_a_percent_sign_starts_the_input_and_an_escaped_one_does_not():
    entry = only(r"0 0 * * * mail -s hi bob%Dear Bob,%see you at 100\% %")
    assert (entry.command, entry.stdin) == ("mail -s hi bob", "Dear Bob,\nsee you at 100% \n")
    assert "command's input" in entry.warnings[0]
    plain = only(r"0 0 * * * date +\%F")
    assert (plain.command, plain.stdin, plain.warnings) == ("date +%F", None, ())


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ("0 0 13 * 5 x", "match either"),
        ("0 0 */2 * 1 x", "match both"),
        ("*/45 * * * * x", "no even interval"),
        ("0 */5 * * * x", "no even interval"),
        ("MAILTO=ops@example.com\n0 0 * * * x", "MAILTO"),
        ("RANDOM_DELAY=5\n0 0 * * * x", "jitter"),
        ("*/10 * * * * * x", "six fields"),
        ("0 0 12 ? * MON x", "six fields"),
        ("0 0 12 ? * 2 x", "Quartz"),
        ("0 12 ? * 2#1 x", "Quartz"),
    ],
)
def test_traps_of_the_dialect_are_warned_of(line, warning):
    entry = only(line)
    assert any(warning in text for text in entry.warnings), entry.warnings
    assert entry.command == "x"


@pytest.mark.parametrize("line", ["*/15 * * * * x", "0 */6 * * MON x", "0 0 1 * * x", "0 12 ? * MON x", "@weekly x"])
def test_what_means_the_same_everywhere_is_not_warned_of(line):
    assert only(line).warnings == ()


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("@reboot /bin/start", "@reboot is no time"),
        ("@fortnightly x", "@fortnightly"),
        ("0~30 * * * * x", "H(a-b)"),
        ("75 * * * * x", "75 is outside"),
        ("0 0 12 ? * 2 2027 x", "7 fields"),
        ("0 1 * * *", "no command"),
        ("@daily", "no command"),
        ("hello", "no command"),
    ],
)
def test_what_cannot_become_a_schedule_says_why_and_spares_the_others(line, error):
    bad, good = read_crontab(f"{line}\n0 0 * * * fine", False)
    assert bad.rule is None
    assert error in bad.error
    assert (good.line, good.command, good.error) == (2, "fine", None)


def test_a_leading_minus_is_cron_keeping_quiet():
    assert only("-*/15 * * * * x").rule.cron == "*/15 * * * *"


@given(st.text(max_size=200) | st.text("01*/,-?LH#@%=\\ \n\tabMONTZ'\"", max_size=120), st.booleans())
def test_any_text_is_read(text, system):
    for entry in read_crontab(text, system):
        assert (entry.rule is None) == (entry.error is not None)
        if entry.rule is not None:
            assert parse(entry.rule.cron, "x")
            assert entry.command
